"""What grades sliding_windows: windows, views, gradients, shared memory; strides, errors, empty tensors."""

import pytest
import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, empties, errors, given, strides, values, views


def cut(x, size, step):
    """Window by window."""
    height, width = x.shape[-2:]
    tops, lefts = range(0, height - size + 1, step), range(0, width - size + 1, step)
    rows = [torch.stack([x[..., t : t + size, s : s + size] for s in lefts], -3) for t in tops]
    return torch.stack(rows, -4)


def over_the_edge(x, size, step):
    """Padded with zeros for windows that are not complete."""
    height, width = x.shape[-2:]
    more = [-(side - size) % step for side in (width, height)]
    return cut(torch.nn.functional.pad(x, (0, more[0], 0, more[1])), size, step)


def one_apart(x, size, step):
    rows, columns = cut(x, size, step).shape[-4:-2]
    return cut(x, size, 1)[..., :rows, :columns, :, :]


def image(gen, *shape):
    return torch.randn(shape, generator=gen)


def images(gen):
    return {
        "an image": given(image(gen, 5, 7), 3, 1),
        "an image, two steps apart": given(image(gen, 7, 10), 3, 2),
        "windows side by side": given(image(gen, 4, 6), 2, 2),
        "windows with gaps": given(image(gen, 9, 8), 2, 3),
        "a batch of images of channels": given(image(gen, 2, 3, 5, 6), 4, 1),
        "windows of one pixel": given(image(gen, 3, 2, 4), 1, 1),
        "a single window": given(image(gen, 4, 4), 4, 3),
    }


contract = Contract(
    "windows(x, size, step)",
    reference=cut,
    inputs=images,
    gradient="x",
    suspects={
        "rows and columns of each window change places": lambda x, size, step: cut(x, size, step).mT,
        "rows and columns of windows change places": lambda x, size, step: cut(x, size, step).transpose(
            -3, -4
        ),
        "the step is left out": lambda x, size, step: cut(x, size, 1),
        "windows are one pixel apart: the step is left out": one_apart,
        "windows lie side by side: they are `step` apart": lambda x, size, step: cut(x, size, size),
        "the last windows are missing": lambda x, size, step: cut(x[..., :-1, :-1], size, step),
        "windows that are not complete are there, padded": over_the_edge,
        "a window's pixels are `step` apart: only the windows are": lambda x, size, step: cut(
            x, (size - 1) * step + 1, step
        )[..., ::step, ::step],
    },
    job=[views(title="The windows are a view of x: nothing is copied.")],
    fine=[
        strides(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                "size 0": given(image(gen, 4, 5), 0, 1),
                "a size below 0": given(image(gen, 4, 5), -1, 1),
                "step 0": given(image(gen, 4, 5), 2, 0),
                "a step below 0": given(image(gen, 4, 5), 2, -1),
                "too little height": given(image(gen, 4, 6), 5, 1),
                "too little width": given(image(gen, 2, 6, 4), 5, 2),
            },
            title="Where not one window fits, or size or step is below 1, an error is raised.",
        ),
        empties(inputs=lambda gen: [given(torch.ones(0, 4, 5), 3, 1), given(torch.ones(2, 0, 3, 3), 2, 1)]),
    ],
)


def pairs(x, i, j):
    """Pairs as a learner would write them, and whether they share; x is contiguous and not square."""
    y = x.clone()
    return {
        f"x[{i}], x": (x[i], x, True),
        f"x, x[:, {j}:]": (x, x[:, j:], True),
        f"x[{i}], x[{i - 1}]": (x[i], x[i - 1], True),
        f"x.T[{j}], x.view(-1)[{i}:]": (x.T[j], x.view(-1)[i:], True),
        "x, x.contiguous()": (x, x.contiguous(), True),
        f"x.expand({i}, -1, -1), x.detach()": (x.expand(i, -1, -1), x.detach(), True),
        "x, x.clone()": (x, y, False),
        f"y[{i}], x[{i}]": (y[i], x[i], False),
        "x.T, x.T.contiguous()": (x.T, x.T.contiguous(), False),
        f"x[[{i}, {j}]], x": (x[[i, j]], x, False),
    }


sharing = Contract(
    "shares_storage(a, b)",
    reference=lambda x, i, j: {text: held for text, (_, _, held) in pairs(x, i, j).items()},
    inputs=lambda gen: {
        f"x with {n} rows": given(image(gen, n, 21), *torch.randint(1, n, (2,), generator=gen).tolist())
        for n in (5, 8, 17)
    },
    use=lambda answer, x, i, j: {
        text: answer.shares_storage(a, b) for text, (a, b, _) in pairs(x, i, j).items()
    },
    job=[values(title="Views share the memory of x, wherever they begin; copies do not.")],
)


@pytest.mark.fine
def test_empty_tensors(answer):
    """Two empty tensors that were made apart share nothing."""
    for shape in ((0,), (2, 0)):
        a, b = torch.ones(shape), torch.ones(shape)
        expect_equal(answer.shares_storage(a, b), False, f"shares_storage of two tensors of shape {shape}")
