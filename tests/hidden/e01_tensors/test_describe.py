"""What grades describe: sizes, dtypes, views; expanded and empty tensors, other devices, no copies."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.devices import count_traffic, expect_no_traffic


def mistakes(x, wanted):
    """What people take for these parts of the record."""
    others = {
        "the storage is counted, of which a view is a part": {"bytes": x.untyped_storage().nbytes()},
        "an element has as many bytes as its dtype says, not always 4": {"bytes": 4 * x.numel()},
        "the bytes of the view itself are counted: its storage is that of all it was cut from": {
            "storage_bytes": x.nbytes
        },
        "that is whether it is a leaf, or a leaf's: a result may require a gradient, too": {
            "requires_grad": x.is_leaf and x.requires_grad
        },
        "strides that fall are not enough: no number in between may be left out": {
            "contiguous": list(x.stride()) == sorted(x.stride(), reverse=True)
        },
    }
    return {
        told: lambda other=other: wanted | other
        for told, other in others.items()
        if other.keys() <= wanted.keys()
    }


def expect_record(answer, x, call, **wanted):
    """The named parts of the record are as wanted."""
    record = answer.describe(x)
    expect_that(isinstance(record, dict), f"{call} is no dict", yours=record)
    expect_equal({key: record.get(key) for key in wanted}, wanted, call, suspects=mistakes(x, wanted))


def test_sizes(answer):
    """Shape, rank and number of elements are right for any rank."""
    for sizes, elements in [((5,), 5), ((2, 3), 6), ((2, 1, 4, 3), 24)]:
        wanted = {"shape": sizes, "rank": len(sizes), "elements": elements}
        expect_record(answer, torch.zeros(sizes), f"describe(torch.zeros{sizes})", **wanted)


def test_single_number(answer):
    """A tensor of one number without dims, such as a loss, has rank 0 and one element."""
    wanted = {"shape": (), "rank": 0, "elements": 1, "bytes": 4}
    expect_record(answer, torch.tensor(2.5), "describe(torch.tensor(2.5))", **wanted)


def test_dtypes(answer):
    """The dtype is torch's own object, and each element has as many bytes as the dtype says."""
    sizes = {torch.bool: 1, torch.bfloat16: 2, torch.int32: 4, torch.float64: 8, torch.complex64: 8}
    for dtype, size in sizes.items():
        x = torch.zeros(2, 3, dtype=dtype)
        expect_record(answer, x, f"describe(x) of (2, 3) in {dtype}", dtype=dtype, bytes=6 * size)


def test_views(answer):
    """A view has the bytes of its own elements, and the storage of all that it was cut from."""
    table = torch.zeros(6, 4, dtype=torch.float64)
    for x, name, size in [
        (table, "table", 192),
        (table[2:4], "table[2:4]", 64),
        (table[:, 1], "table[:, 1]", 48),
        (table[::2, ::2], "table[::2, ::2]", 48),
        (table[2:4].detach(), "table[2:4].detach()", 64),
    ]:
        expect_record(answer, x, f"describe({name}) of a table with 192 bytes", bytes=size, storage_bytes=192)


def test_contiguous(answer):
    """Slices of rows are contiguous; slices of columns and transposed tensors are not."""
    x = torch.zeros(2, 3, 4)
    for view, name, wanted in [
        (x, "x", True),
        (x[1], "x[1]", True),
        (x[:, 1:], "x[:, 1:]", False),
        (x.transpose(0, 2), "x.transpose(0, 2)", False),
        (torch.zeros(5)[::2], "torch.zeros(5)[::2]", False),
    ]:
        expect_record(answer, view, f"describe({name})", contiguous=wanted)


def test_requires_grad(answer):
    """requires_grad is that of the tensor itself: of leaves, parameters and results."""
    leaf = torch.zeros(2, requires_grad=True)
    for x, name, wanted in [
        (leaf, "a leaf that requires gradients", True),
        (leaf * 2, "a result computed from it", True),
        (leaf.detach(), "leaf.detach()", False),
        (torch.nn.Parameter(torch.zeros(2), requires_grad=False), "a frozen parameter", False),
    ]:
        expect_record(answer, x, f"describe(x) of {name}", requires_grad=wanted)


@pytest.mark.fine
def test_expanded(answer):
    """An expanded tensor counts what it repeats in elements and bytes, and not in its storage."""
    wanted = {"elements": 3000, "contiguous": False, "bytes": 12000, "storage_bytes": 12}
    x = torch.zeros(3, 1).expand(3, 1000)
    expect_record(answer, x, "describe(torch.zeros(3, 1).expand(3, 1000))", **wanted)


@pytest.mark.fine
def test_empty(answer):
    """A tensor without elements has 0 bytes, whatever its storage holds."""
    none = {"shape": (0, 4), "rank": 2, "elements": 0, "bytes": 0}
    expect_record(answer, torch.zeros(0, 4), "describe(torch.zeros(0, 4))", **none, storage_bytes=0)
    expect_record(answer, torch.zeros(3, 4)[:0], "describe(torch.zeros(3, 4)[:0])", **none, storage_bytes=48)


@pytest.mark.fine
def test_contiguous_in_torchs_sense(answer):
    """Strides of dims of size 1 do not matter; channels_last is not contiguous."""
    for view, name, wanted in [
        (torch.zeros(1, 5).t(), "torch.zeros(1, 5).t()", True),
        (torch.zeros(2, 3, 4)[:1, 1:], "torch.zeros(2, 3, 4)[:1, 1:]", True),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), "a channels_last tensor", False),
    ]:
        expect_record(answer, view, f"describe({name})", contiguous=wanted)


@pytest.mark.fine
def test_nothing_is_fetched(answer, device):
    """A tensor on another device is described without a copy to the CPU and without waiting for it."""
    x = torch.zeros(6, 4).to(device)[1:3].t()
    with count_traffic() as traffic:
        expect_record(answer, x, "describe(x) of x on another device", device=device, storage_bytes=96)
    expect_no_traffic(traffic, "describe(x)", waits=True)


@pytest.mark.fine
def test_nothing_is_copied(answer):
    """Describing a transposed tensor makes no memory of its size."""
    x = torch.zeros(200, 100).t()
    made = peak_bytes(lambda: answer.describe(x))
    told = "describe(x) of a transposed tensor copies it"
    expect_that(made < 1000, told, yours=f"{made} bytes", wanted="less than 1000 bytes")


def oracle(answer, gen):
    """What is told of eight tensors of some kinds, one entry after the other."""

    def tensors(gen):
        a, b, c = torch.randint(3, 40, (3,), generator=gen).tolist()
        kinds = (
            lambda: torch.zeros(a, b, dtype=torch.float64),
            lambda: torch.zeros(a, b, 5, dtype=torch.int16),
            lambda: torch.zeros(a, requires_grad=True),
            lambda: 2 * torch.zeros(a, requires_grad=True),
            lambda: torch.zeros(a, b, c, dtype=torch.bfloat16)[1:],
            lambda: torch.zeros(a, b)[:, 1:].t(),
            lambda: torch.zeros(a, b)[0, 0],
        )
        for kind in torch.randint(len(kinds), (8,), generator=gen).tolist():
            a, b, c = torch.randint(3, 40, (3,), generator=gen).tolist()
            yield kinds[kind]()

    def entry(*names):
        return lambda gen: [[answer.describe(x)[name] for name in names] for x in tensors(gen)]

    return {
        "shape and rank": entry("shape", "rank"),
        "elements": entry("elements"),
        "dtype and device": entry("dtype", "device"),
        "requires_grad": entry("requires_grad"),
        "contiguous": entry("contiguous"),
        "bytes": entry("bytes"),
        "storage_bytes": entry("storage_bytes"),
    }
