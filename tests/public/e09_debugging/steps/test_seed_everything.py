"""The suite of seed_everything."""

import random

import numpy as np
import torch

from grader.checks import expect_that

WANTED = {
    "Python": lambda seed: random.Random(seed).random(),
    "NumPy": lambda seed: float(np.random.RandomState(seed).rand()),
    "PyTorch": lambda seed: torch.rand((), generator=torch.Generator().manual_seed(seed)).item(),
}


def expect_seeded(answer, seed):
    call = f"seed_everything({seed})"
    yours = answer.seed_everything(seed)
    three = isinstance(yours, tuple) and len(yours) == 3
    expect_that(three, f"{call} returns no tuple of three numbers", yours=yours)
    for mine, (library, draw) in zip(yours, WANTED.items(), strict=True):
        wanted = draw(seed)
        what = f"{library} is not seeded by {call}: its number is another one"
        expect_that(abs(mine - wanted) < 1e-6, what, yours=mine, wanted=wanted)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    expect_seeded(answer, 7)


def test_values(answer, gen):
    """Each library starts from the seed, also a second time, and from another one otherwise."""
    one, other = torch.randint(10**6, (2,), generator=gen).tolist()
    for seed in (one, other, one):
        expect_seeded(answer, seed)


def oracle(answer, gen):
    seeds = torch.randint(10**6, (3,), generator=gen).tolist()
    return {f"the seed {seed}": answer.seed_everything(seed) for seed in seeds}
