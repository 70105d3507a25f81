"""What grades patch_embedding: order of patches, class token, positions; sizes, dtypes, devices."""

from functools import partial

import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    layer,
    loads,
    registered,
    untouched,
)


def embedded(
    state,
    images,
    patch,
    order=lambda places: places.flatten(1, 2),
    join=lambda first, rest: torch.cat([first, rest], 1),
    place=lambda tokens, positions: tokens + positions,
    pixels=lambda cut: cut,
):
    """Patch by patch; what comes after `patch` is as people get it wrong."""
    cut = images.unfold(2, patch, patch).unfold(3, patch, patch)  # (batch, channels, rows, columns, p, p)
    rows = pixels(cut).permute(0, 2, 3, 1, 4, 5).flatten(3)
    found = rows @ state["proj.weight"].flatten(1).mT + state["proj.bias"]  # (batch, rows, columns, dim)
    first = state["class_token"].expand(len(images), -1, -1)
    return place(join(first, order(found)), state["positions"])


def numbers(gen, image, patch, channels, dim):
    tokens = 1 + (image[0] // patch) * (image[1] // patch)
    shapes = {
        "proj.weight": (dim, channels, patch, patch),
        "proj.bias": (dim,),
        "class_token": (1, 1, dim),
        "positions": (1, tokens, dim),
    }
    return {name: torch.randn(shape, generator=gen) for name, shape in shapes.items()}


def call(gen, batch, image, patch, channels, dim):
    images = torch.randn(batch, channels, *image, generator=gen)
    state = numbers(gen, image, patch, channels, dim)
    return layer(image, patch, channels, dim, state=state)(images)


def at_first(state, images, patch, **how):
    """Positions are added to patches alone, the first of them left out."""
    tokens = embedded(state, images, patch, place=lambda tokens, positions: tokens, **how)
    return torch.cat([tokens[:, :1], tokens[:, 1:] + state["positions"][:, 1:]], 1)


contract = Contract(
    "PatchEmbedding(image, patch, channels, dim)(images)",
    reference=embedded,
    inputs=lambda gen: {
        "images": call(gen, 3, (6, 8), 2, 3, 5),
        "higher than wide": call(gen, 2, (9, 6), 3, 1, 4),
        "as many rows as columns": call(gen, 2, (8, 8), 4, 2, 3),
        "patches of a pixel": call(gen, 1, (2, 3), 1, 2, 4),
    },
    gradient="images state",
    dims="image token dim",
    ulps=100,
    scale=10.0,
    suspects={
        "patches go column by column: rows come first": partial(
            embedded, order=lambda places: places.transpose(1, 2).flatten(1, 2)
        ),
        "features and patches are mixed up by a view: flatten the places, then transpose": partial(
            embedded,
            order=lambda places: places.permute(0, 3, 1, 2).reshape(len(places), -1, places.shape[-1]),
        ),
        "the class token comes last": partial(embedded, join=lambda first, rest: torch.cat([rest, first], 1)),
        "positions are left out": partial(embedded, place=lambda tokens, positions: tokens),
        "positions are not added to the class token": at_first,
        "positions are one place off: the class token has the first": partial(
            embedded, place=lambda tokens, positions: tokens + positions.roll(-1, 1)
        ),
        "height and width are exchanged inside of each patch": partial(
            embedded, pixels=lambda cut: cut.transpose(-1, -2)
        ),
    },
    job=[
        registered(),
        loads(),
        flat_cost(
            {
                "images": lambda n: layer((4, 6), 2, 1, 3)(torch.ones(n, 1, 4, 6)),
                "patches": lambda n: layer((2 * n, 2), 2, 1, 3)(torch.ones(2, 1, 2 * n, 2)),
            }
        ),
    ],
    fine=[
        empties(),
        dtypes(torch.float64, torch.bfloat16, ulps=100),
        untouched(),
        device(),
        errors(
            ValueError,
            lambda gen: [layer((4, 6), 4, 1, 3), layer((2, 8), 4, 1, 3), layer((5, 5), 2, 1, 3)],
            name="patches_that_do_not_fit",
            title="Patches that do not divide the image raise ValueError.",
        ),
        errors(
            ValueError,
            lambda gen: [
                layer((4, 6), 2, 1, 3)(torch.ones(2, 1, *size)) for size in ((6, 4), (4, 7), (5, 6), (2, 12))
            ],
            name="other_images",
            title="Images of another size raise ValueError, also where there are as many patches.",
        ),
    ],
)


@pytest.mark.parametrize("name", ["class_token", "positions"])
def test_start(answer, name):
    """The class token and the positions begin normal, with standard deviation 0.02."""
    found = getattr(answer.PatchEmbedding((40, 32), 4, 1, 400), name).detach()
    std = float(found.std())
    told = f"{name} of a new layer is not normal with standard deviation 0.02"
    expect_that(abs(std / 0.02 - 1) < 0.2, told, deviation=f"{std:.3g}")
    share = float((found.abs() < 0.02).float().mean())
    expect_that(abs(share - 0.683) < 0.1, told, within_one=f"{100 * share:.0f} %, of 68 %")
