"""The suite of repeatable_dice."""

import torch

from grader.checks import expect_equal, expect_that


def sizes(gen):
    return torch.randint(1000, 9000, (3, 2), generator=gen).tolist()


def facts(dice, n, seed):
    """What is true of every fair die, whatever it shows."""
    throws, again, other = dice(n, seed), dice(n, seed), dice(n, seed + 1)
    fair = min(int((throws == face).sum()) for face in range(1, 7)) > n / 9
    ends = [tuple(throws.shape), int(throws.min()), int(throws.max())]
    return [*ends, fair, torch.equal(throws, again), torch.equal(throws, other)]


def test_dice(answer, gen):
    """There are n whole numbers from 1 to 6, each about as often, and the seed alone decides which."""
    for n, seed in sizes(gen):
        call, another = f"dice({n}, seed={seed})", f"dice({n}, seed={seed + 1})"
        shape, low, high, fair, same, also = facts(answer.dice, n, seed)
        expect_equal(shape, (n,), f"the shape of {call}")
        mistakes = {"the numbers begin at 0: `randint` can begin at 1": lambda: 0}
        expect_equal(low, 1, f"the smallest throw of {call}", suspects=mistakes)
        mistakes = {"the upper end of `randint` is left out, as in `range`": lambda: 5}
        expect_equal(high, 6, f"the largest throw of {call}", suspects=mistakes)
        expect_that(fair, f"the six numbers do not come about equally often in {call}")
        why = "the numbers are not drawn from a source that this seed starts"
        expect_that(same, f"{call} gives other throws when it is called again", likely=why)
        expect_that(not also, f"{call} and {another} give the same throws", likely="the seed is not used")


def oracle(answer, gen):
    return {f"{n} throws": facts(answer.dice, n, seed) for n, seed in sizes(gen)}
