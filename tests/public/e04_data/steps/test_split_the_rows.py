"""The suite of split_the_rows."""

import torch

from grader.checks import expect_equal, expect_that

CALL = "split_the_rows(dataset, seed)"


def parts(answer, rows, seed):
    """The rows of both parts."""
    return [[part[i] for i in range(len(part))] for part in answer.split_the_rows(rows, seed)]


def test_sizes(answer):
    """80 % of the rows come first, then 20 %."""
    for n in (10, 5, 40):
        train, validation = parts(answer, list(range(n)), 1)
        sizes = n * 4 // 5, n // 5
        swapped = {"the larger part comes first, to train on": lambda sizes=sizes: sizes[::-1]}
        call = f"the sizes of a split of {n} rows"
        expect_equal((len(train), len(validation)), sizes, call, suspects=swapped)


def test_every_row_once(answer):
    """Every row is in one of the parts, and in one only."""
    train, validation = parts(answer, list(range(40)), 2)
    both = set(train) & set(validation)
    expect_that(
        not both,
        "rows are in both parts: the model would be tried on what it was trained on",
        yours=str(both),
    )
    expect_equal(sorted(train + validation), list(range(40)), "the rows of both parts")


def test_drawn_by_the_seed(answer):
    """The rows are drawn at random: the same for the same seed, others for another."""
    one, again, other = (parts(answer, list(range(40)), seed) for seed in (3, 3, 4))
    told = "the same seed gives another split: random_split was not given a generator with this seed"
    expect_that(one == again, told, likely="random_split takes `generator=`, a torch.Generator with the seed")
    expect_that(sorted(one[1]) != list(range(32, 40)), "the last rows were put aside: draw them at random")
    expect_that(sorted(one[1]) != sorted(other[1]), "another seed puts the same rows aside")


def oracle(answer, gen):
    cases = {}
    for n in (10, 20, 35):
        numbers = torch.randint(10_000, (n,), generator=gen).tolist()
        train, validation = parts(answer, numbers, n)
        cases[f"{n} rows"] = [len(train), len(validation), sorted(train + validation)]
    return cases
