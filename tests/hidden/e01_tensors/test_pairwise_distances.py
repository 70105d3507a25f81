"""What grades pairwise_distances: values, gradients, memory, equal rows; digits, half precision."""

import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
    without,
)


def apart(a, b, power=2.0, root=True):
    """By the differences of all pairs; what comes after b is as people get it wrong."""
    total = (a[:, None] - b).abs().pow(power).sum(-1)
    equal = total == 0
    return total.masked_fill(equal, 1).sqrt().masked_fill(equal, 0) if root else total


def by_parts(a, b, cross=2.0, sign=-1.0):
    """The formula of the statement, as people get it wrong."""
    squares = a.square().sum(1, keepdim=True) + b.square().sum(1) + sign * cross * a @ b.T
    return squares.clamp(min=0).sqrt()


def drawn(gen, n, m, d, far=0.0):
    return given(*(far + torch.randn(rows, d, generator=gen) for rows in (n, m)))


def plain(gen):
    """In so many features that no two rows come near each other."""
    return {
        "five queries": drawn(gen, 5, 3, 17),
        "as many rows in a as in b": drawn(gen, 4, 4, 20),
        "a single query": drawn(gen, 1, 6, 30),
        "as many rows as features": drawn(gen, 16, 16, 16),
    }


def twins(gen, n=24, d=9):
    """Rows of which each is in the other tensor as well, at another place."""
    a = torch.randn(n, d, generator=gen)
    return {"rows that are in both": given(a, a.roll(5, 0).clone())}


def zeros_and_twins(gen):
    whole = torch.randint(-4, 5, (5, 3), generator=gen).float()  # no rounding: the distance is 0 exactly
    return {
        "rows of zeros": given(torch.zeros(2, 3), torch.zeros(1, 3)),
        "whole numbers": given(whole, whole.clone()),
        **twins(gen),
    }


contract = Contract(
    "pairwise_distances(a, b)",
    reference=apart,
    inputs=plain,
    gradient="a b",
    scale=16.0,
    dims="rows_of_a rows_of_b",
    suspects={
        "the root is missing: these are squares": lambda a, b: apart(a, b, root=False),
        "the differences are not squared": lambda a, b: apart(a, b, power=1.0, root=False),
        "the 2 in front of the product is missing": lambda a, b: by_parts(a, b, cross=1.0),
        "the product is added, not taken off": lambda a, b: by_parts(a, b, sign=1.0),
        "a and b change places: entry [i, j] belongs to row i of a": lambda a, b: apart(b, a),
        "rows meet one by one, not each with each": lambda a, b: apart(a, b).diagonal(),
    },
    job=[
        values(
            inputs=twins,
            name="equal_rows",
            title="Rows that are in both are next to 0 apart, and never NaN.",
            scale=1000.0,
        ),
        without("cdist", "cdist_forward", "euclidean_dist", "pdist", "pairwise_distance", inputs=plain),
        flat_cost(
            {
                "rows of a": lambda n: given(torch.rand(n, 3), torch.rand(2, 3)),
                "rows of b": lambda n: given(torch.rand(2, 3), torch.rand(n, 3)),
                "features": lambda n: given(torch.rand(2, n), torch.rand(3, n)),
            }
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "1000 + noise": drawn(gen, 7, 5, 16, far=1000.0),
                "noise - 3000": drawn(gen, 3, 6, 16, far=-3000.0),
            },
            name="far_from_zero",
            title="The distances of 1000 + noise are as good as those of the noise.",
        ),
        gradients(
            "a b",
            inputs=zeros_and_twins,
            scale=1e4,
            name="gradients_of_equal_rows",
            title="A distance of 0 adds nothing to the gradients.",
        ),
        half_precision(
            inputs=lambda gen: {"large numbers": given(*(300 * t for t in drawn(gen, 6, 4, 40).args))}
        ),
        dtypes(torch.float64, torch.float16, torch.bfloat16),
        empties(
            inputs=lambda gen: [
                given(torch.ones(n, d), torch.ones(m, d))
                for n, m, d in [(0, 3, 2), (2, 0, 3), (0, 0, 2), (2, 3, 0)]
            ],
            title="Without rows the table is empty; without features all distances are 0.",
        ),
        strides(),
        untouched(),
        device(),
    ],
)


def test_memory(answer):
    """There are never n * m * d numbers at once."""
    n, m, d = 60, 50, 64
    a, b = torch.rand(n, d), torch.rand(m, d)
    peak, all_differences = peak_bytes(lambda: answer.pairwise_distances(a, b)), n * m * d * 4
    expect_that(
        peak < all_differences // 4,
        "pairwise_distances(a, b) makes a tensor of about n * m * d numbers",
        yours=f"{peak} bytes at once, for n={n}, m={m}, d={d}",
        wanted=f"some tensors of n * m numbers, {n * m * 4} bytes each",
        likely="a broadcast difference; a matrix product adds up as it goes",
    )
