"""How much oracle results differ from seed to seed: what repeats, or hardly varies, counts little."""

import pytest
import torch

from grader.authoring import variety
from grader.protocol.oracle_codec import encode


def differing(draw, seeds=3):
    """The bits by which what `draw` makes of a generator differs from seed to seed."""
    return variety.bits([encode(draw(seeded(seed))) for seed in range(seeds)])


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def problem(results):
    return variety.problem([encode(result) for result in results])


def size(gen):
    return int(torch.randint(9, (), generator=gen))


@pytest.mark.parametrize(
    "draw",
    [
        lambda gen: [3, "text", torch.ones(5)],
        lambda gen: size(gen),
        lambda gen: [size(gen)] * 50,
        lambda gen: torch.full((5, 5), float(size(gen))),
        lambda gen: torch.arange(50.0)[: size(gen)],
        lambda gen: {"loss": torch.rand((), generator=gen).item(), "ok": True},
        lambda gen: torch.ones(99) + 1e-7 * torch.rand(99, generator=gen),
        lambda gen: torch.tensor([float("nan"), float("inf"), -1.0]),
        lambda gen: {f"layer {n}": "frozen" for n in range(9) if size(gen) > 4},
        lambda gen: ["float32" if size(gen) > 4 else "float64" for _ in range(9)],
    ],
    ids=range(10),
)
def test_little_variety(draw):
    assert differing(draw) < variety.LEAST


@pytest.mark.parametrize(
    "draw",
    [
        lambda gen: torch.randn(8, generator=gen),
        lambda gen: torch.randn(8, generator=gen).tolist(),
        lambda gen: torch.randn(8, generator=gen).bfloat16() + 0.01,
        lambda gen: torch.randn(4, generator=gen, dtype=torch.complex64),
        lambda gen: {"ids": torch.randint(1000, (12,), generator=gen), "mask": torch.ones(12).bool()},
        lambda gen: {f"layer {n}": f"reason {size(gen)}" for n in range(40)},
    ],
    ids=range(6),
)
def test_enough_variety(draw):
    assert differing(draw) >= variety.LEAST


def test_the_two_seeds_that_differ_least_count():
    results = [encode(torch.full((9,), float(n)).cumsum(0).sin()) for n in (1, 2, 3, 2)]
    assert variety.bits(results[:3]) == 72
    assert variety.bits(results) == 0
    assert "differ by 0 bits" in variety.problem(results)


def test_an_oracle_wants_three_cases_that_differ():
    drawn = [{f"{n} rows": torch.randn(9, generator=gen) for n in "123"} for gen in map(seeded, range(3))]
    refused = [{**one, "bad input": "ValueError"} for one in drawn]
    some = [{**one, "bad input": "ValueError" if seed else ""} for seed, one in enumerate(drawn)]
    assert (problem(drawn), problem(some)) == (None, None)
    assert "the same for every seed in 'bad input': draw" in problem(refused)
    assert "has 2 of the 3 cases" in problem([{name: one[name] for name in [*one][:2]} for one in drawn])
    assert "has 1 of the 3 cases" in problem([one["1 rows"] for one in drawn])
