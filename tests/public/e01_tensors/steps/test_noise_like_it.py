"""The suite of noise_like_it."""

import torch

from grader.checks import expect_equal, expect_that


def recordings(gen):
    first, second, third = torch.randint(2000, 9000, (3,), generator=gen).tolist()
    for shape, size in [((first,), 0.5), ((2, second), 2.0), ((third, 1, 2), 0.1)]:
        yield torch.rand(shape, generator=gen), size


def facts(noisy, x, size):
    """What is true of all such noise, whatever is drawn: of 2000 numbers, chance fails none."""
    before, first, again = x.clone(), noisy(x, size), noisy(x, size)
    noise = first - before
    near = abs(float(noise.mean())) < 0.2 * size
    wide = 0.9 * size < float(noise.std()) < 1.1 * size
    all_differ = len(noise.unique()) > noise.numel() // 100
    return [tuple(first.shape), near, wide, all_differ, torch.equal(first, again), torch.equal(x, before)]


def test_noise(answer, gen):
    """Each number gets noise of its own, around 0 and as large as `size` says, and x stays as it is."""
    for x, size in recordings(gen):
        call = f"noisy(x, {size})"
        shape, near, wide, all_differ, same, kept = facts(answer.noisy, x.clone(), size)
        expect_equal(shape, tuple(x.shape), f"the shape of {call}")
        expect_that(kept, f"{call} changes x", likely="`+=` and `add_` write into x")
        why = "one number is added to all of x: each number is to have noise of its own"
        expect_that(all_differ, f"the noise of {call} is the same at many places", likely=why)
        why = "the noise is not around 0: `rand` draws from 0 to 1, `randn` around 0"
        expect_that(near, f"the mean of the noise of {call} is not near 0", likely=why)
        why = "the noise is not multiplied by size"
        expect_that(wide, f"the noise of {call} does not have the standard deviation size", likely=why)
        expect_that(
            not same, f"{call} gives the same when it is called again", likely="no new numbers are drawn"
        )


def oracle(answer, gen):
    return {f"noise of size {size}": facts(answer.noisy, x, size) for x, size in recordings(gen)}
