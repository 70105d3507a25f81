"""What grades attention in tiles: values, gradients, memory; hidden tiles, half precision, devices."""

import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    given,
    half_precision,
    untouched,
    values,
    without,
)


def plain(q, k, v, tile, keep=None, scale=True):
    """All scores at once."""
    scores = q @ k.mT / (q.shape[-1] ** 0.5 if scale else 1.0)
    if keep is not None:
        scores = scores.masked_fill(~keep[..., None, :], -torch.inf)
    return scores.softmax(-1) @ v


def scaled(old, new):
    return (old - new).exp()


def same(old, new):
    return 1.0


def inverse(old, new):
    return (new - old).clamp(-50, 50).exp()


def at_most_one(old, new):
    return (old - new).clamp(max=0).exp()


def tiled(of_sum=scaled, of_result=scaled, best=torch.maximum):
    """By tiles, where something is not scaled to the largest score, or that one is not the largest of all."""

    def wrong(q, k, v, tile, keep=None):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if keep is not None:
            scores = scores.masked_fill(~keep[..., None, :], -torch.inf)
        largest, total, result = torch.full_like(scores[..., :1], -torch.inf), 0.0, 0.0
        for part, some in zip(scores.split(tile, -1), v.split(tile, -2), strict=True):
            new = best(largest, part.amax(-1, keepdim=True))
            weights = (part - new).exp()
            total = total * of_sum(largest, new) + weights.sum(-1, keepdim=True)
            result = result * of_result(largest, new) + weights @ some
            largest = new
        return result / total

    return wrong


def averaged(q, k, v, tile, keep=None):
    parts = [*zip(k.split(tile, -2), v.split(tile, -2), strict=True)]
    return sum(plain(q, some, its, tile) for some, its in parts) / len(parts)


def whole_tiles(q, k, v, tile, keep=None):
    keys = max(k.shape[-2] // tile * tile, 1)
    return plain(q, k[..., :keys, :], v[..., :keys, :], tile, None if keep is None else keep[..., :keys])


def drawn(gen, *batch, queries=4, keys=7, dim=3, width=2, tile=3, size=2.0, **options):
    """A call with scores that are far from equal."""
    q, k, v = (
        size * torch.randn(*batch, queries, dim, generator=gen),
        torch.randn(*batch, keys, dim, generator=gen),
        torch.randn(*batch, keys, width, generator=gen),
    )
    return given(q, k, v, tile, **options)


def below(gen):
    """A call whose scores are about -125: exp makes zeros of them."""
    q, k = (8 + torch.rand(4, 3, generator=gen), -8 - torch.rand(7, 3, generator=gen))
    return given(q, k, torch.randn(7, 2, generator=gen), 3)


def shown(gen, *batch, keys, hidden, each=None):
    """Some keys hidden, among them the first, never the last; with `each`, no whole tile of that size."""
    keep = torch.rand(*batch, keys, generator=gen) < 0.6
    keep[..., :hidden], keep[..., -1] = False, True
    if each is not None:
        keep[..., each - 1 :: each] = True
    return keep


contract = Contract(
    "attention(q, k, v, tile)",
    reference=plain,
    inputs=lambda gen: {
        "seven keys in tiles of three": drawn(gen),
        "tiles that fit": drawn(gen, 2, queries=5, keys=8, dim=4, width=3, tile=4),
        "one key a tile": drawn(gen, 2, 3, keys=5, tile=1),
        "a single tile, larger than all keys": drawn(gen, keys=5, tile=9),
        "some keys hidden": drawn(gen, 2, keys=9, tile=4, keep=shown(gen, 2, keys=9, hidden=1, each=4)),
    },
    gradient="q k v",
    dims="queries width",
    ulps=200,
    scale=4.0,
    suspects={
        "the sum of weights is not scaled to the new largest score": tiled(of_sum=same),
        "the result so far is not scaled to the new largest score": tiled(of_result=same),
        "nothing is scaled to the new largest score": tiled(same, same),
        "what was summed is scaled by exp(new - old), the inverse": tiled(inverse, inverse),
        "the largest score is that of the last tile, not of all so far": tiled(
            at_most_one, at_most_one, best=lambda old, new: new
        ),
        "each tile has a softmax of its own": averaged,
        "keys behind the last whole tile are left out": whole_tiles,
        "scores are not divided by sqrt(dim)": lambda *call, **options: plain(*call, **options, scale=False),
        "keep is turned round: True shows a key": lambda *call, keep=None: plain(
            *call, keep=None if keep is None else ~keep
        ),
        "keep is left out": lambda *call, keep=None: plain(*call),
    },
    job=[
        values(
            inputs=lambda gen: {
                "scores of some thousands": drawn(gen, keys=9, size=3000.0),
                "scores far below 0": below(gen),
            },
            name="large_scores",
            title="Large scores do not overflow, and scores far below 0 do not vanish.",
        ),
        without("scaled_dot_product_attention"),
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "the first tile hidden": drawn(gen, 2, keys=8, keep=shown(gen, 2, keys=8, hidden=3)),
                "all tiles hidden but the last": drawn(gen, keys=8, keep=torch.arange(8) > 6),
            },
            name="hidden_tiles",
            title="All keys of a tile may be hidden.",
        ),
        half_precision(inputs=lambda gen: [drawn(gen, 2, keys=40, dim=16, tile=6)], scale=0.1),
        dtypes(torch.float64, name="float64", title="float64 is computed in float64."),
        untouched(),
        device(),
    ],
)


def test_memory(answer):
    """No tensor of queries × keys numbers is made: memory is that of a few tiles."""
    queries, keys, tile = 64, 4096, 32
    q, k, v = torch.ones(queries, 4), torch.ones(keys, 4), torch.ones(keys, 4)
    with torch.no_grad():
        used = peak_bytes(lambda: answer.attention(q, k, v, tile))
    expect_that(
        used < 4 * queries * keys / 4,
        f"attention(q, k, v, tile={tile}) of {queries} queries and {keys} keys holds more than a few tiles",
        yours=f"{used} bytes at once",
        all_scores=f"{4 * queries * keys} bytes",
        one_tile=f"{4 * queries * tile} bytes",
    )
