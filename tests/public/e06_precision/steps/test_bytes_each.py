"""The suite of bytes_each."""

import pytest
import torch

from grader.checks import expect_equal, expect_that

BYTES = {torch.float32: 4, torch.float64: 8, torch.float16: 2, torch.bfloat16: 2}


def expect_bytes(answer, x, each, call):
    sizes = answer.bytes_each(x)
    expect_that(type(sizes) is tuple and len(sizes) == 2, f"{call} is no pair of numbers", yours=sizes)
    suspects = {
        "these are the numbers, not their bytes": x.numel,
        "these are the bytes of one number: how many are there?": lambda: each,
        "4 bytes each is right for float32 only": lambda: 4 * x.numel(),
        "only the rows are counted": lambda: each * len(x),
    }
    expect_equal(sizes[0], each * x.numel(), f"{call}[0]", suspects=suspects)
    other = {"half of what x takes is right for float32 only": lambda: each * x.numel() // 2}
    expect_equal(sizes[1], 2 * x.numel(), f"{call}[1]", suspects=other)


def test_worked_example(answer):
    """The worked examples of the statement come out."""
    expect_bytes(answer, torch.zeros(3, 5), 4, "bytes_each(torch.zeros(3, 5))")
    x = torch.zeros(5, dtype=torch.float64)
    expect_bytes(answer, x, 8, "bytes_each(torch.zeros(5, dtype=torch.float64))")


@pytest.mark.parametrize("dtype", BYTES, ids=str)
def test_dtypes(answer, gen, dtype):
    """The bytes are right for each dtype."""
    rows = int(torch.randint(2, 9, (), generator=gen))
    call = f"bytes_each(torch.zeros({rows}, 7, dtype={dtype}))"
    expect_bytes(answer, torch.zeros(rows, 7, dtype=dtype), BYTES[dtype], call)


def oracle(answer, gen):
    sizes = torch.randint(1, 99, (4, 2), generator=gen).tolist()
    drawn = {kind: torch.zeros(size, dtype=kind) for kind, size in zip(BYTES, sizes, strict=True)}
    return {str(kind): answer.bytes_each(x) for kind, x in drawn.items()}
