"""What grades distances and entropy: gradients beside a distance or probability of 0; no epsilon, NaN."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_gradients, expect_that
from grader.checks.contract import Contract, dtypes, given, gradients, untouched, values


def far(points, centres):
    """Distances whose gradient is 0 where they are."""
    apart = points[:, None] - centres[None]
    same = (apart == 0).all(-1, keepdim=True)
    return torch.where(same, 1.0, apart).square().sum(-1).sqrt().where(~same[..., 0], 0.0)


def spread(p):
    none = p == 0
    return -torch.where(none, 0.0, p * torch.where(none, 1.0, p).log()).sum(-1)


SIZES = [(5, 3, 2), (3, 6, 4), (4, 4, 1)]


def apart(gen):
    return {
        f"{points} points and {centres} centres": given(
            torch.randn(points, dim, generator=gen), torch.randn(centres, dim, generator=gen)
        )
        for points, centres, dim in SIZES
    }


def together(gen):
    """Some centres lie at points; another shares a coordinate with one."""
    drawn = {}
    for about, call in apart(gen).items():
        x, c = call.args
        c[:2] = x[-2:]
        c[-1, -1] = x[0, -1]
        drawn[f"{about}, two of them at points"] = given(x, c)
    return drawn


def scaled(size):
    def draw(gen):
        drawn = {about: call.args for about, call in together(gen).items()}
        grown = lambda t: t.sign() * (1 + t.abs()) * size  # noqa: E731
        return {f"{about}, at a scale of {size:g}": given(*map(grown, args)) for about, args in drawn.items()}

    return draw


def probabilities(gen):
    p = torch.randn(4, 5, generator=gen).softmax(1)
    return {
        "four rows": given(p),
        "a row alone": given(p[0]),
        "two dimensions before": given(p.view(2, 2, 5)),
    }


def zeros(gen):
    p = torch.rand(4, 3, generator=gen)
    p[:, 1] = 0.0
    p[2] = torch.tensor([1.0, 0.0, 1e-30])
    return {"rows with 0 among them": given(p)}


distances = Contract(
    "distances(points, centres)",
    reference=far,
    inputs=apart,
    dims="points centres",
    suspects={
        "these are the squares: the root is missing": lambda x, c: far(x, c).square(),
        "the squares' rounding is that of large numbers: x² + c² - 2xc is no good for short distances": (
            lambda x, c: torch.cdist(x.float(), c.float(), compute_mode="use_mm_for_euclid_dist").double()
        ),
    },
    job=[
        gradients(
            "points centres",
            inputs=together,
            title="Points and centres get their whole gradients, also where some lie at the same place.",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {**together(gen), **scaled(1e-12)(gen)},
            name="exact",
            title="A distance of 0 is 0, and one of 1e-12 is 1e-12.",
            suspects={
                f"an epsilon of {eps:g} is part of it": lambda x, c, eps=eps: (
                    far(x, c).square() + eps
                ).sqrt()
                for eps in (1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-16)
            },
        ),
        gradients(
            "points centres",
            inputs=scaled(1e-12),
            name="exact_gradients",
            title="Short distances have unit vectors for gradients.",
        ),
        dtypes(torch.float64, inputs=together),
    ],
)
entropy = Contract(
    "entropy(probabilities)",
    reference=spread,
    inputs=probabilities,
    gradient="probabilities",
    suspects={
        "this is of the whole batch: each row has its own": lambda p: spread(p).sum(),
        "this is the first term alone: the sum is missing": lambda p: -p * p.log(),
    },
    fine=[
        values(
            inputs=zeros,
            name="exact",
            title="A probability of 1e-30 has its share, and one of 0 has none.",
            scale=1e-30,
        ),
        gradients(
            "probabilities",
            inputs=zeros,
            name="gradient_at_0",
            title="The gradient for a probability of 0 is 0, and for one of 1e-30 it is exact.",
        ),
        dtypes(torch.float64),
        untouched(inputs=zeros),
    ],
)


def cold(gen):
    """Logits whose softmax rounds some probabilities to 0."""
    return 200 * torch.randn(4, 3, generator=gen)


def test_behind_a_softmax(answer, gen):
    """Where a softmax rounds probabilities to 0, the gradients for its logits are right."""
    logits = torch.cat([cold(gen), torch.randn(4, 3, generator=gen)])
    logits[4:, 0] = -300.0
    call = "entropy(logits.softmax(-1))"
    z = logits.clone().requires_grad_()
    answer.entropy(z.softmax(-1)).sum().backward()
    expect_that(
        not bool(z.grad.isnan().any()),
        f"NaN in the gradient of {call} for logits",
        yours=z.grad,
        likely="the gradient for a probability of 0 is inf, and the softmax multiplies it by 0",
    )
    expect_gradients(
        lambda z: answer.entropy(z.softmax(-1)),
        [logits],
        lambda z: spread(z.softmax(-1)),
        gen=gen,
        call=call,
        names="logits",
        scale=10.0,
    )


def test_clustering(answer, gen):
    """Centres that start at points move as they should, step by step."""
    points = torch.randn(6, 2, generator=gen)

    def moved(distances, entropy, x):
        centres = x[:3].clone()
        for _ in range(3):
            leaf = centres.clone().requires_grad_()
            d = distances(x, leaf)
            belongs = torch.softmax(-d / 0.5, dim=1)
            ((belongs * d).sum(1).mean() + 0.1 * entropy(belongs).mean()).backward()
            centres = centres - 0.3 * leaf.grad
        return centres

    yours = moved(answer.distances, answer.entropy, points)
    wanted = moved(far, spread, points.double()).float()
    stuck = {"the centres have not moved: their gradients are lost": lambda: points[:3]}
    expect_close(yours, wanted, "the centres after three steps", ulps=1e3, scale=10.0, suspects=stuck)


@pytest.mark.fine
def test_nan_is_not_hidden(answer, gen):
    """NaN gives NaN in its own distances and its own row, and in its own gradient."""
    x, c = torch.randn(4, 2, generator=gen), torch.randn(3, 2, generator=gen)
    x[1, 0] = math.nan
    x.requires_grad_()
    yours = answer.distances(x, c)
    yours.sum().backward()
    p = torch.rand(4, 3, generator=gen)
    p[1, 2] = math.nan
    p.requires_grad_()
    rows = answer.entropy(p)
    rows.sum().backward()
    told = {
        "distances of point 1, which is NaN, to the centres": (yours.isnan().all(1), yours.isnan().any(1)),
        "entropy of row 1, which holds NaN": (rows.isnan(), rows.isnan()),
        "gradients of point 1, which is NaN": (x.grad.isnan().any(1), x.grad.isnan().any(1)),
        "gradients of row 1, which holds NaN": (p.grad.isnan().any(1), p.grad.isnan().any(1)),
    }
    for what, found in told.items():
        for part in found:
            expect_equal(part.tolist(), [False, True, False, False], f"where NaN is: {what}")


def oracle(answer, gen):
    x, c = next(iter(apart(gen).values())).args
    at, own = next(iter(together(gen).values())).args
    at, own = at.requires_grad_(), own.requires_grad_()
    logits, p = cold(gen).requires_grad_(), next(iter(probabilities(gen).values())).args[0]
    weights = torch.randn(5, 3, generator=gen)

    def at_points():
        return list(torch.autograd.grad((answer.distances(at, own) * weights).sum(), [at, own]))

    def behind_a_softmax():
        mild = logits / 100
        mild = torch.cat([mild, torch.full((4, 1), -300.0)], dim=1)
        (grad,) = torch.autograd.grad((answer.entropy(mild.softmax(1)) * weights[:4, 0]).sum(), logits)
        return 100 * grad

    return {
        "distances": lambda: answer.distances(x, c),
        "gradients where centres lie at points": at_points,
        "entropies": lambda: answer.entropy(p),
        "gradients where a softmax has rounded to 0": behind_a_softmax,
    }
