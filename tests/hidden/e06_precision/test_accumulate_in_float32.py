"""What grades feature_means: stalls, overflow, roundings on the way, every row; float64, memory, devices."""

import weakref

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_raises, expect_that, unchanged
from grader.checks.devices import count_traffic, expect_no_traffic, on_host

HALVES = [torch.float16, torch.bfloat16]
KINDS = [*HALVES, torch.float32]
CALL = "feature_means(batches)"


def means(batches, total_in=torch.float64, sum_in=torch.float64, mean_in=torch.float64, by_batch=False):
    """The means, or those with a mistake."""
    total, count = torch.zeros(batches[0].shape[1], dtype=total_in), 0
    for x in batches:
        found = x.double().mean(0) if by_batch else x.double().sum(0)
        total = (total + found.to(sum_in)).to(total_in)
        count += 1 if by_batch else len(x)
    return (total.double() / count).to(mean_in)


def expect_means(answer, batches, note, ulps=64, given=None):
    """Compare with a run in float64."""
    kind = batches[0].dtype
    wide = torch.promote_types(kind, torch.float32)
    mistakes = {
        "the sum of each batch is rounded to 16 bits before it is added": {"sum_in": kind},
        "the total is kept in 16 bits: it stalls, or runs over": {"total_in": kind, "sum_in": kind},
        "the mean is rounded to 16 bits": {"mean_in": kind},
        "a mean of the batches' means: weigh each by its rows": {"by_batch": True},
    }
    suspects = {told: lambda m=m: means(batches, **m).to(wide) for told, m in mistakes.items()}
    suspects["the numbers are rounded to float32"] = lambda: means([x.float() for x in batches]).to(wide)
    wanted = means(batches).to(wide)
    yours = answer.feature_means(batches if given is None else given)
    expect_close(yours, wanted, f"{CALL} {note}", dims="feature", ulps=ulps, suspects=suspects)


def drawn(gen, sizes, dtype, features=4):
    return [(1 + torch.rand(n, features, generator=gen, dtype=torch.float64)).to(dtype) for n in sizes]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_long_corpus(answer, dtype):
    """After 10,000 additions of one row the sums have not stalled."""
    rows = torch.tensor([[1.0, 0.7, -3.0]]).to(dtype).expand(10_000, -1)
    note = f"of 10,000 equal rows in {dtype}, one by one"
    expect_means(answer, rows.split(1), note, ulps=2_500, given=iter(rows.split(1)))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sum_of_a_batch(answer, gen, dtype):
    """Neither the sum of a batch nor the mean is rounded to 16 bits on the way."""
    expect_means(answer, drawn(gen, (300,), dtype, 64), f"of 300 rows in {dtype}")
    expect_means(answer, drawn(gen, (100, 200, 50), dtype, 64), f"of 100, 200 and 50 rows in {dtype}")


def test_overflow(answer):
    """Sums beyond 65504 are no trouble for float16, within a batch and over batches."""
    large = torch.tensor([[6e4, -6e4, 3e4]]).half()
    expect_means(answer, [large.expand(200, -1)], "of one batch of large numbers in float16")
    expect_means(answer, [large] * 200, "of many batches of large numbers in float16")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_every_row_counts_once(answer, gen, dtype):
    """Batches weigh by their rows."""
    for sizes in ((5, 2, 1), (1,), (1, 70)):
        expect_means(answer, drawn(gen, sizes, dtype), f"of batches of {sizes} rows in {dtype}")


@pytest.mark.fine
def test_float64(answer, gen):
    """Batches in float64 are added in float64 and give float64."""
    expect_means(answer, drawn(gen, (30, 4), torch.float64), "in float64")


@pytest.mark.fine
def test_batches_without_rows(answer, gen):
    """Batches without rows count for nothing, wherever they stand."""
    for sizes in ((0, 4, 0, 3), (2, 0)):
        expect_means(answer, drawn(gen, sizes, torch.bfloat16), f"of batches of {sizes} rows")


@pytest.mark.fine
def test_no_rows(answer):
    """Where there is no row at all, ValueError is raised, instead of NaN."""
    empty = torch.zeros(0, 3)
    for batches in ((), [empty], [empty, empty]):
        call = f"feature_means of {len(batches)} batches without rows"
        expect_raises(ValueError, lambda given=batches: answer.feature_means(iter(given)), call)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_batches_are_let_go(answer, dtype):
    """When a batch is asked for, at most the one before it is still held."""
    given, most = [], []

    def stream():
        for _ in range(6):
            most.append(sum(one() is not None for one in given[:-1]))
            x = torch.ones(3, 2, dtype=dtype)
            given.append(weakref.ref(x))
            yield x
            del x

    answer.feature_means(stream())
    held = f"{max(most)} besides the one before, when the next is asked for"
    expect_that(max(most) == 0, f"{CALL} holds earlier batches", yours=held)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_batches_are_left_alone(answer, gen, dtype):
    """No batch is changed, also where it is a single row."""
    batches = drawn(gen, (1, 2, 1), dtype)
    with unchanged(CALL, first=batches[0], second=batches[1], third=batches[2]):
        answer.feature_means(batches)


@pytest.mark.fine
def test_no_loop(answer, gen):
    """The work of a batch does not grow with its rows and features."""
    for over, shape in (("rows", lambda n: (n, 3)), ("features", lambda n: (3, n))):

        def make(n, shape=shape):
            batches = [torch.randn(shape(n), generator=gen).bfloat16() for _ in range(2)]
            return lambda: answer.feature_means(batches)

        expect_flat_cost(make, CALL, over=over)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device the sums are kept there, and nobody waits for a number."""
    batches = drawn(gen, (3, 4, 1), torch.bfloat16)
    there = [x.to(device) for x in batches]
    with count_traffic() as traffic:
        yours = answer.feature_means(there)
    expect_equal(yours.device.type, device.type, f"the device of {CALL}")
    expect_close(on_host(yours), means(batches).float(), f"{CALL} on another device")
    expect_no_traffic(traffic, CALL, waits=True)


@pytest.mark.fine
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_on_a_gpu(answer, dtype):
    """On a GPU the sums stall no more than on the CPU."""
    row = torch.tensor([[1.0, 0.7, -3.0]]).to(dtype)
    yours = answer.feature_means(row.cuda() for _ in range(3000))
    expect_equal(yours.device.type, "cuda", f"the device of {CALL}")
    expect_close(yours.cpu(), row[0].float(), f"{CALL} on a GPU", ulps=2_500)


def oracle(answer, gen):
    ones = 1 + torch.rand(1, 5, generator=gen)
    batches = {dtype: drawn(gen, (4, 90, 7), dtype) for dtype in KINDS}
    large = [(4e4 + 1e4 * torch.rand(30, 5, generator=gen)).half() for _ in range(3)]
    return {
        "three batches in float16": lambda: answer.feature_means(batches[torch.float16]),
        "three batches in bfloat16": lambda: answer.feature_means(iter(batches[torch.bfloat16])),
        "three batches in float32": lambda: answer.feature_means(batches[torch.float32]),
        "large numbers in float16": lambda: answer.feature_means(large),
        "a thousand equal rows": lambda: answer.feature_means([ones.bfloat16()] * 1000),
    }


def fine_oracle(answer, gen):
    batches = drawn(gen, (4, 0, 9), torch.float64, 9)
    return {"float64": lambda: answer.feature_means(batches)}
