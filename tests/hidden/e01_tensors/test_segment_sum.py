"""What grades segment_sum: repeated ids, empty segments, gradients; shapes, bytes, half precision."""

from math import inf

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    half_precision,
    strides,
    untouched,
    values,
)

ERRORS = (IndexError, RuntimeError, ValueError)


def row_by_row(add, start):
    """Segments that begin with `start`, to which `add(segment, row)` adds each row."""

    def reduced(x, ids, segments):
        found = [torch.full_like(x[:1].sum(0), start) for _ in range(segments)]
        for row, i in zip(x, ids.tolist(), strict=True):
            found[i] = add(found[i], row)
        return torch.stack(found) if found else x.new_zeros(0, *x.shape[1:])

    return reduced


def counted(ids, segments):
    return torch.tensor([int((ids == i).sum()) for i in range(segments)], dtype=torch.int64)


def without_empty(reduced):
    """Only the segments that have rows."""
    return lambda *found: reduced(*found)[counted(*found[-2:]) > 0]


def up_to_largest(reduced):
    return lambda *found: reduced(*found)[: int(found[-2].max()) + 1]


def runs(reduced):
    """Neighbours with one id, each run a segment."""
    return lambda x, ids, segments: reduced(x, ids.unique_consecutive(return_inverse=True)[1], segments)


exact_sum, exact_max = row_by_row(torch.add, 0.0), row_by_row(torch.maximum, -inf)


def first_feature(reduced, start):
    def mistaken(x, ids, segments):
        right = reduced(x, ids, segments)
        return torch.cat([right[:, :1], torch.full_like(right[:, 1:], start)], 1) if x.dim() > 1 else right

    return mistaken


def drawn(gen, ids, segments, *features):
    ids = torch.tensor(ids, dtype=torch.int64)
    return given(torch.randn(len(ids), *features, generator=gen), ids, segments)


def rows(gen):
    """The last case has segments of which all numbers are below 0."""
    ids = torch.randint(1, 5, (7,), generator=gen).tolist()
    return {
        "each segment once": drawn(gen, [2, 0, 1], 3, 4),
        "ids that repeat": drawn(gen, [1, 0, 1, 1, 2, 0], 3, 2),
        "segments without rows": drawn(gen, [3, 1, 3, 5, 1], 8, 3),
        "drawn ids": drawn(gen, ids, 7, 5),
        "a single segment": drawn(gen, [0, 0, 0, 0], 1, 3),
        "numbers below 0": given(-1 - torch.rand(5, 2, generator=gen), torch.tensor([0, 3, 0, 1, 3]), 5),
    }


def ids_alone(gen):
    def some(n, segments):
        return torch.randint(0, segments, (n,), generator=gen)

    return {
        "ids that repeat": given(some(40, 3), 3),
        "segments without rows": given(2 * some(30, 4) + 1, 12),
        "few rows, many segments": given(some(5, 20), 25),
        "a single segment": given(some(int(some(1, 50)), 1), 1),
    }


def others(gen):
    return {
        "one dimension": drawn(gen, [1, 3, 1, 0], 5),
        "three dimensions": drawn(gen, [1, 3, 1, 0], 5, 2, 3),
        "four dimensions": drawn(gen, [2, 2, 0], 3, 2, 1, 4),
    }


def many(gen):
    ids = [1, 0, 1, 1] * 60
    return {"many rows": drawn(gen, ids, 3, 2), "many rows of one dimension": drawn(gen, ids, 3)}


def without_numbers(gen):
    return {
        "no rows": drawn(gen, [], 3, 2),
        "no rows and no segments": drawn(gen, [], 0, 2),
        "no features": drawn(gen, [0, 0], 2, 0),
        "no rows of one dimension": drawn(gen, [], 2),
    }


def of_ids(draw):
    """These calls for segment_count, which takes no x."""
    return lambda gen: {about: given(*one.args[1:]) for about, one in draw(gen).items()}


def beyond(gen):
    return {
        "an id that is too large": drawn(gen, [0, 4, 1], 4, 2),
        "an id below 0": drawn(gen, [0, 2, -1], 4, 2),
    }


def large(n):
    """A call with n rows and n segments."""
    return given(torch.ones(n, 2), torch.arange(n) // 2, n)


FINE = [
    values(inputs=others, name="other_shapes", title="x may have one dimension, or more than two."),
    empties(inputs=without_numbers, title="There may be no rows, and no segments."),
    errors(ERRORS, beyond, title="An id that is no segment raises an error."),
    strides(),
    untouched(),
    device(),
]

sums = Contract(
    "segment_sum(x, ids, segments)",
    reference=exact_sum,
    inputs=rows,
    gradient="x",
    dims="segment feature",
    scale=8.0,
    suspects={
        "of rows that share an id only the last arrives": row_by_row(lambda old, new: new, 0.0),
        "segments without rows are left out": without_empty(exact_sum),
        "there are no segments behind the largest id": up_to_largest(exact_sum),
        "each run of one id is a segment: ids come in any order": runs(exact_sum),
        "scatter takes an index for each number: only the first feature is added": first_feature(
            exact_sum, 0.0
        ),
        "the mean, not the sum": lambda x, ids, segments: (
            exact_sum(x, ids, segments) / counted(ids, segments).clamp(min=1)[:, None]
        ),
    },
    job=[flat_cost(large, over="rows and segments")],
    fine=[
        *FINE,
        half_precision(inputs=many, scale=0.05, of="x"),
        dtypes(torch.float64, torch.float16, torch.bfloat16, of="x"),
    ],
)

counts = Contract(
    "segment_count(ids, segments)",
    reference=counted,
    inputs=ids_alone,
    dims="segment",
    suspects={
        "segments without rows are left out": without_empty(counted),
        "there are no segments behind the largest id": up_to_largest(counted),
        "ids that repeat count once": lambda ids, segments: counted(ids, segments).clamp(max=1),
        "these are float32: counts are int64": lambda ids, segments: counted(ids, segments).float(),
    },
    job=[flat_cost(lambda n: given(*large(n).args[1:]), over="rows and segments")],
    fine=[
        empties(inputs=of_ids(without_numbers), title="There may be no rows, and no segments."),
        errors(ERRORS, of_ids(beyond), title="An id that is no segment raises an error."),
        untouched(),
        device(),
    ],
)

maxima = Contract(
    "segment_max(x, ids, segments)",
    reference=exact_max,
    inputs=rows,
    gradient="x",
    dims="segment feature",
    suspects={
        "the last row of each segment, not the largest": row_by_row(lambda old, new: new, -inf),
        "0 counts as a number of each segment: begin with -inf": row_by_row(torch.maximum, 0.0),
        "segments without rows are 0, not -inf": lambda *found: exact_max(*found).nan_to_num(neginf=0.0),
        "segments without rows are left out": without_empty(exact_max),
        "there are no segments behind the largest id": up_to_largest(exact_max),
        "scatter takes an index for each number: only the first feature is compared": first_feature(
            exact_max, -inf
        ),
    },
    job=[flat_cost(large, over="rows and segments")],
    fine=[*FINE, dtypes(torch.float64, torch.float16, torch.bfloat16, of="x")],
)


@pytest.mark.fine
@pytest.mark.parametrize("name", ["segment_sum", "segment_count", "segment_max"])
def test_memory(answer, name):
    """No tensor of rows * segments numbers is made."""
    n = 400
    x, ids = torch.ones(n, 2), torch.arange(n) // 2
    found = (ids, n) if name == "segment_count" else (x, ids, n)
    peak = peak_bytes(lambda: getattr(answer, name)(*found))
    expect_that(
        peak < n * n // 2,
        f"{name} makes a tensor of about rows * segments numbers",
        yours=f"{peak} bytes at once, for {n} rows and {n} segments",
        wanted="a few numbers for each row and each segment",
    )
