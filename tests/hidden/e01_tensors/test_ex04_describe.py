"""What grades describe: views, expanded and empty tensors, dtypes, other devices, no copies."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.devices import count_traffic, expect_no_traffic

KEYS = [
    "shape",
    "rank",
    "elements",
    "dtype",
    "device",
    "requires_grad",
    "contiguous",
    "bytes",
    "storage_bytes",
]


def expect_record(answer, x, call, **wanted):
    """The named parts of the record are as wanted, and all keys are there."""
    record = answer.describe(x)
    expect_that(isinstance(record, dict), f"{call} is no dict", yours=record)
    expect_equal(sorted(record), sorted(KEYS), f"the keys of {call}")
    for key, value in wanted.items():
        expect_equal(record[key], value, f'the "{key}" in {call}')


def test_plain_tensors(answer):
    """Shape, rank and number of elements are right for any rank, as Python's own numbers."""
    for sizes, elements in [((5,), 5), ((2, 3), 6), ((2, 1, 4, 3), 24), ((1, 2, 1, 1, 2, 3), 12), ((1,), 1)]:
        x = torch.zeros(sizes)
        record = {"shape": sizes, "rank": len(sizes), "elements": elements, "contiguous": True}
        size = {"bytes": 4 * elements, "storage_bytes": 4 * elements}
        expect_record(answer, x, f"describe(torch.zeros{sizes})", **record, **size)
    first = answer.describe(torch.zeros(5))
    answer.describe(torch.zeros(2, 3))
    expect_equal(first["shape"], (5,), "the shape in an earlier record, after the next call of describe")


def test_single_number(answer):
    """A 0-d tensor, also one picked out of a vector, has rank 0 and one element."""
    one = {"shape": (), "rank": 0, "elements": 1, "contiguous": True, "bytes": 8}
    expect_record(answer, torch.tensor(7), "describe(torch.tensor(7))", **one, storage_bytes=8)
    expect_record(answer, torch.arange(5)[2], "describe(torch.arange(5)[2])", **one, storage_bytes=40)


def test_empty(answer):
    """A tensor without elements has 0 bytes, whatever its storage holds."""
    none = {"elements": 0, "bytes": 0, "contiguous": True}
    expect_record(
        answer, torch.zeros(0), "describe(torch.zeros(0))", **none, shape=(0,), rank=1, storage_bytes=0
    )
    shape = {"shape": (3, 0, 2), "rank": 3}
    expect_record(
        answer, torch.zeros(3, 0, 2), "describe(torch.zeros(3, 0, 2))", **none, **shape, storage_bytes=0
    )
    sliced = torch.zeros(3, 4)[:0]
    expect_record(answer, sliced, "describe(torch.zeros(3, 4)[:0])", **none, shape=(0, 4), storage_bytes=48)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        (torch.bool, 1),
        (torch.uint8, 1),
        (torch.bfloat16, 2),
        (torch.float16, 2),
        (torch.int32, 4),
        (torch.float64, 8),
        (torch.complex64, 8),
        (torch.complex128, 16),
    ],
    ids=str,
)
def test_dtypes(answer, dtype, size):
    """The dtype is torch's own object, and each element has as many bytes as the dtype says."""
    x = torch.zeros(2, 3, dtype=dtype)
    expect_record(
        answer, x, f"describe of (2, 3) in {dtype}", dtype=dtype, bytes=6 * size, storage_bytes=6 * size
    )


def test_views_count_their_own_elements(answer):
    """A view has the bytes of its own elements, and the storage of all that it was cut from."""
    table = torch.zeros(6, 4, dtype=torch.float64)
    for x, name, size in [
        (table[2:4], "table[2:4]", 64),
        (table[:, 1], "table[:, 1]", 48),
        (table[::2, ::2], "table[::2, ::2]", 48),
        (table.view(torch.int32), "table.view(torch.int32)", 192),
        (table[2:4].data, "table[2:4].data", 64),
        (table[2:4].data[0], "table[2:4].data[0]", 32),
        (table[1].view(2, 2), "table[1].view(2, 2)", 32),
        (table[2:4].detach().requires_grad_(), "table[2:4].detach().requires_grad_()", 64),
    ]:
        expect_record(answer, x, f"describe({name}) of a table with 192 bytes", bytes=size, storage_bytes=192)
    odd = torch.zeros(10, dtype=torch.uint8)[:8].view(torch.int32)
    expect_record(answer, odd, "describe of two int32 in a storage of 10 bytes", bytes=8, storage_bytes=10)


def test_expanded(answer):
    """An expanded tensor counts what it repeats in elements and bytes, and not in its storage."""
    x = torch.zeros(3, 1).expand(2, 3, 5)
    wanted = {
        "shape": (2, 3, 5),
        "rank": 3,
        "elements": 30,
        "contiguous": False,
        "bytes": 120,
        "storage_bytes": 12,
    }
    expect_record(answer, x, "describe(torch.zeros(3, 1).expand(2, 3, 5))", **wanted)
    many = 3**35  # more than a float64 counts
    x = torch.zeros(1, dtype=torch.uint8).expand(3, many // 3)
    wanted = {"elements": many, "bytes": many, "storage_bytes": 1}
    expect_record(answer, x, f"describe(torch.zeros(1, dtype=torch.uint8).expand(3, {many // 3}))", **wanted)


def test_contiguity(answer):
    """Contiguous means row-major without gaps; dims of one or no elements do not matter."""
    x = torch.zeros(2, 3, 4)
    for view, name, wanted in [
        (x, "x", True),
        (x[1], "x[1]", True),
        (x[:1, 1:], "x[:1, 1:]", True),
        (x[:, 1:], "x[:, 1:]", False),
        (x.transpose(0, 2), "x.transpose(0, 2)", False),
        (x[:, :1, :1], "x[:, :1, :1]", False),
        (torch.zeros(1, 5).t(), "torch.zeros(1, 5).t()", True),
        (torch.zeros(3, 0).t(), "torch.zeros(3, 0).t()", True),
        (torch.zeros(0, 3).t(), "torch.zeros(0, 3).t()", True),
        (torch.zeros(5)[::2], "torch.zeros(5)[::2]", False),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), "a channels_last tensor", False),
        (torch.zeros(2, 4, 5, 6, 3).permute(0, 4, 1, 2, 3), "a channels_last_3d tensor", False),
    ]:
        expect_record(answer, view, f"describe({name})", contiguous=wanted)


def test_requires_grad(answer):
    """requires_grad is that of the tensor itself: of leaves, parameters and results."""
    leaf = torch.zeros(2, requires_grad=True)
    for x, name, wanted in [
        (leaf, "a leaf that requires gradients", True),
        (leaf * 2, "a result computed from it", True),
        (leaf.detach(), "leaf.detach()", False),
        (torch.nn.Parameter(torch.zeros(2)), "a parameter", True),
        (torch.nn.Parameter(torch.zeros(2), requires_grad=False), "a frozen parameter", False),
        (torch.zeros(2, dtype=torch.int64), "an int64 tensor", False),
    ]:
        expect_record(answer, x, f"describe of {name}", requires_grad=wanted)
    with torch.no_grad():
        expect_record(answer, leaf, "describe of a leaf under no_grad", requires_grad=True)
    x = torch.zeros(2)
    for wanted in (False, True):
        x.requires_grad_(wanted)
        expect_record(answer, x, f"describe(x) after x.requires_grad_({wanted})", requires_grad=wanted)


def test_without_values(answer):
    """A tensor on "meta", which has no values, is described like any other."""
    meta = torch.device("meta")
    table = torch.zeros(6, 4, dtype=torch.float16, device=meta)
    wanted = {"shape": (4, 2), "rank": 2, "elements": 8, "dtype": torch.float16, "device": meta}
    layout = {"requires_grad": False, "contiguous": False, "bytes": 16, "storage_bytes": 48}
    expect_record(answer, table[:2].t(), 'describe(table[:2].t()) on "meta"', **wanted, **layout)
    single = torch.zeros((), device=meta)
    expect_record(
        answer, single, 'describe of a 0-d tensor on "meta"', shape=(), elements=1, bytes=4, device=meta
    )


def test_nothing_is_fetched(answer, device):
    """A tensor on another device is described without a copy to the CPU and without waiting for it."""
    x = torch.zeros(6, 4).to(device)[1:3].t()
    wanted = {"shape": (4, 2), "device": device, "contiguous": False, "bytes": 32, "storage_bytes": 96}
    with count_traffic() as traffic:
        expect_record(answer, x, "describe(x) of x on another device", **wanted)
    expect_no_traffic(traffic, "describe(x)", waits=True)


def test_nothing_is_copied(answer):
    """Describing an expanded or strided tensor makes no memory of its size."""
    for x, name in [
        (torch.zeros(1).expand(200, 100), "an expanded"),
        (torch.zeros(200, 100).t(), "a transposed"),
        (torch.zeros(200, dtype=torch.complex64).conj(), "a conjugated"),
    ]:
        made = peak_bytes(lambda x=x: answer.describe(x))
        few = "less than 1000 bytes"
        expect_that(made < 1000, f"describe of {name} tensor copies it", yours=f"{made} bytes", wanted=few)


def oracle(answer, gen):
    sizes = iter(torch.randint(3, 40, (16,), generator=gen).tolist())
    table = torch.zeros(next(sizes), next(sizes), dtype=torch.float64)
    batch = torch.zeros(next(sizes), next(sizes), 5, dtype=torch.int16)
    row = torch.zeros(next(sizes), requires_grad=True)
    column = torch.zeros(next(sizes), 1, dtype=torch.bool)
    wide = torch.zeros(next(sizes), next(sizes), dtype=torch.bfloat16)
    return {
        "a table of float64 numbers": answer.describe(table),
        "a batch of int16 numbers": answer.describe(batch),
        "a row that requires a gradient": answer.describe(row),
        "a column, expanded": answer.describe(column.expand(-1, next(sizes))),
        "rows of a bfloat16 table": answer.describe(wide[1:]),
        "columns of a table, transposed": answer.describe(table[:, 1:].t()),
        "one number of a table": answer.describe(table[0, 0]),
        "no rows of a table": answer.describe(table[:0]),
        "on meta": answer.describe(torch.zeros(next(sizes), next(sizes), device="meta")),
    }
