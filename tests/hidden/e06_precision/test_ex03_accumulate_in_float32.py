"""What grades feature_means: stalls, overflow, roundings on the way, dtypes, memory, the device, errors."""

import math
import weakref

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_raises,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, on_host
from grader.checks.rounding import expect_rounded

HALVES = [torch.float16, torch.bfloat16]
KINDS = [*HALVES, torch.float32, torch.float64]
CALL = "feature_means(batches)"


def expect_means(answer, batches, note, given=None):
    """Compare with a run in float64, by what N additions in the wide dtype may lose."""
    rows = torch.cat([on_host(x).double() for x in batches])
    wide = torch.promote_types(batches[0].dtype, torch.float32)
    slack = len(rows) * torch.finfo(wide).eps * rows.abs().mean(0)
    yours = answer.feature_means(batches if given is None else given)
    expect_rounded(yours, rows.mean(0), wide, f"{CALL} {note}", slack=slack, dims="feature")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_long_corpus(answer, dtype):
    """After 10,000 additions of one row the sums have not stalled, whatever the size of the numbers."""
    row = torch.tensor([[1.0, 0.1, -30.0, 1e-3, 0.0]]).to(dtype)
    given = (row for _ in range(10_000))
    expect_means(answer, [row.expand(10_000, -1)], f"of 10,000 equal rows in {dtype}", given)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sum_of_a_batch(answer, gen, dtype):
    """The sum of one batch is not rounded to 16 bits before it is added, nor is the mean."""
    for sizes in ((300,), (257, 1), (100, 200, 50), (3, 3, 3)):
        batches = [(1 + torch.rand(n, 4, generator=gen)).to(dtype) for n in sizes]
        expect_means(answer, batches, f"of {sizes} rows in {dtype}")
    batches = [torch.randn(40, 6, generator=gen).to(dtype) for _ in range(4)]
    expect_means(answer, batches, f"of numbers of both signs in {dtype}")
    many = (1 + torch.rand(7, 1100, generator=gen)).to(dtype)
    expect_means(answer, [many, many[:2]], f"of 1100 features in {dtype}")
    with default_dtype(torch.float64):
        note = f"of 1100 features in {dtype}, while PyTorch's default dtype is float64"
        expect_means(answer, [many, many[:2]], note)
    single = torch.tensor([[1.0, -0.1, 7.0]]).to(dtype)
    expect_means(answer, [single], f"of one row in {dtype}")


def test_overflow(answer, gen):
    """Sums beyond 65504 are no trouble for float16, within a batch and over batches."""
    large = torch.tensor([[6e4, -6e4, 3e4]]).half()
    expect_means(answer, [large.expand(200, -1)], "of one batch of large numbers in float16")
    expect_means(answer, [large] * 200, "of many batches of large numbers in float16")
    big = (torch.randn(20, 3, generator=gen) * 1e34).bfloat16()
    expect_means(answer, [big, big], "of numbers near 1e34 in bfloat16")


def test_small_numbers(answer, gen):
    """Means of subnormals of float16, and of very small numbers in bfloat16, are as precise as others."""
    tiny = (torch.randint(1, 9, (50, 3), generator=gen) * 2.0**-24).half()
    expect_means(answer, [tiny, tiny[:7]], "of subnormals in float16")
    small = (torch.randn(50, 3, generator=gen) * 1e-30).bfloat16()
    expect_means(answer, [small, small[:7]], "of numbers near 1e-30 in bfloat16")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_every_row_counts_once(answer, gen, dtype):
    """Batches of all sizes, also without rows, weigh by their rows, in any layout, in each dtype."""
    for sizes in ((5, 2, 1), (0, 4, 0, 3), (1,), (2, 0)):
        for features in (3, 1, 0):
            batches = [torch.randn(n, features, generator=gen).to(dtype) * 1.1 + 1 for n in sizes]
            expect_means(answer, batches, f"of {sizes} rows in {dtype}", tuple(batches))
    stacked = torch.randn(4, 3, 2, generator=gen).to(dtype)
    expect_means(answer, list(stacked), f"of 4 batches in one tensor, an iterable too, in {dtype}", stacked)
    long = torch.randn(2100, 2, generator=gen, dtype=torch.float64).to(dtype)
    expect_means(answer, [long, long[:3]], f"of 2100 and 3 rows in {dtype}")
    x = torch.randn(6, 8, generator=gen).to(dtype)
    expect_means(answer, [x.t(), x[:, 2:].t()], f"of transposed batches in {dtype}")
    expect_means(answer, [x[::2, 1::3], x[1:2, 1::3].expand(4, 3)], f"of strided batches in {dtype}")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_inf_and_nan(answer, dtype):
    """A feature with inf or NaN has a mean that is not finite, and the others have theirs."""
    x = torch.tensor([[1.0, math.inf, -math.inf, math.nan, math.inf], [3.0, 1.0, 1.0, 1.0, -math.inf]])
    for batches in ([x.to(dtype)], [x[:1].to(dtype), x[1:].to(dtype)]):
        yours = answer.feature_means(batches)
        call = f"{CALL} of inf and NaN in {dtype}"
        expect_equal(yours.isfinite(), torch.tensor([True] + 4 * [False]), f"what is finite in {call}")
        expect_equal(float(yours[0]), 2.0, f"the mean of the first feature in {call}")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_batches_are_let_go(answer, dtype):
    """A generator is run through once, and its batches do not pile up in memory."""
    rows, features = 64, 10
    size = rows * features * dtype.itemsize

    def peak(count):
        def run():
            answer.feature_means(torch.full((rows, features), 2.0, dtype=dtype) for _ in range(count))

        return peak_bytes(run)

    peak(2)
    growth = peak(35) - peak(5)
    expect_that(
        growth <= 30 * size / 4,
        f"{CALL} keeps batches in memory",
        yours=f"{growth} bytes more for 30 batches more of {size} bytes",
    )
    given, most = [], []

    def stream():
        for _ in range(6):
            most.append(sum(one() is not None for one in given[:-1]))
            x = torch.ones(3, 2, dtype=dtype)
            given.append(weakref.ref(x))
            yield x
            del x

    answer.feature_means(stream())
    expect_that(
        max(most) == 0,
        f"{CALL} holds earlier batches",
        yours=f"{max(most)} besides the one before, when the next is asked for",
    )


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_batches_are_left_alone(answer, gen, dtype):
    """No batch is changed, and a second call, with other features, starts afresh."""
    batches = [torch.randn(n, 3, generator=gen).to(dtype) for n in (1, 2, 1)]
    with unchanged(CALL, first=batches[0], second=batches[1], third=batches[2]):
        first = answer.feature_means(batches)
    alone = answer.feature_means(batches[:1])
    expect_copy(alone, batches[0], f"{CALL} of one row in {dtype}, against that row")
    held = first.clone()
    expect_means(answer, [x[:, :2] + 1 for x in batches], f"in {dtype}, in a second call")
    expect_equal(first, held, f"the first result in {dtype} after a second call")
    expect_equal(answer.feature_means(batches), held, f"{CALL} in {dtype}, called again")


def test_no_loop(answer, gen):
    """The work of a batch does not grow with its rows and features."""
    for over, shape in (("rows", lambda n: (n, 3)), ("features", lambda n: (3, n))):

        def make(n, shape=shape):
            batches = [torch.randn(shape(n), generator=gen).bfloat16() for _ in range(2)]
            return lambda: answer.feature_means(batches)

        expect_flat_cost(make, CALL, over=over)


def test_on_a_device(answer, gen, device):
    """On another device the sums are kept there, and nobody waits for a number."""
    for dtype in (torch.bfloat16, torch.float32):
        batches = [torch.randn(n, 3, generator=gen).to(dtype) for n in (0, 4, 1)]
        there = [x.to(device) for x in batches]
        with count_traffic() as traffic:
            yours = answer.feature_means(there)
        wanted = torch.cat([x.double() for x in batches]).mean(0).float()
        expect_equal(yours.device.type, device.type, f"the device of {CALL}")
        expect_close(on_host(yours), wanted, f"{CALL} on another device", scale=1.0)
        expect_no_traffic(traffic, CALL, waits=True)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_on_a_gpu(answer, dtype):
    """On a GPU the sums stall no more than on the CPU."""
    row = torch.tensor([[1.0, 0.1, -30.0]]).to(dtype)
    yours = answer.feature_means(row.cuda() for _ in range(3000))
    expect_equal(yours.device.type, "cuda", f"the device of {CALL}")
    slack = 3000 * torch.finfo(torch.float32).eps * row[0].double().abs()
    expect_rounded(yours.cpu(), row[0].double(), torch.float32, f"{CALL} on a GPU", slack=slack)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_bad_input(answer, dtype):
    """No batches, and batches without any row, raise ValueError, instead of NaN."""
    empty = torch.zeros(0, 3, dtype=dtype)
    for batches in ((), [empty], [empty, empty]):
        for given, what in ((batches, ""), (iter(batches), ", as a generator")):
            call = f"feature_means of {len(batches)} batches without rows{what}"
            expect_raises(ValueError, lambda given=given: answer.feature_means(given), call)


def oracle(answer, gen):
    results = []
    for dtype in KINDS:
        batches = [torch.randn(n, 3, generator=gen).add(2).to(dtype) for n in (4, 0, 90, 7)]
        results.append(answer.feature_means(iter(batches)))
        results.append(answer.feature_means([batches[0]]))
    return results
