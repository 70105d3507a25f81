"""What grades all_reduce_mean: dtypes, layouts, groups, handles that do not wait, messages."""

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


def means(rank, world_size, answer, cases):
    """The mean of each case, at once and by a handle, and whether the inputs are as they were."""
    found = []
    for case in cases:
        x = case[rank]
        before = x.clone()
        pair = answer.all_reduce_mean(x), answer.all_reduce_mean(x, async_op=True).wait()
        kept = torch.equal(x.nan_to_num(), before.nan_to_num()) and x.dtype == before.dtype
        found.append((*(mean.detach() for mean in pair), [mean.requires_grad for mean in pair], kept))
    return found


def mean_of(tensors):
    total = torch.stack([x.detach() for x in tensors])
    dtype = total.dtype if total.is_floating_point() else torch.float32
    return total.double().mean(0).to(dtype)


def expect_means(answer, world_size, cases, *, wanted=None, scale=None, ulps=None):
    """`cases[about][rank]` is what a rank has."""
    found = run_ranks(world_size, means, list(cases.values()), answer=answer)
    for rank, results in enumerate(found):
        for (about, tensors), result in zip(cases.items(), results, strict=True):
            right = mean_of(tensors) if wanted is None else wanted[about]
            *pair, graphs, kept = result
            expect_that(kept, f"all_reduce_mean(x) changes its input, {about}, on rank {rank}")
            for how, mean in zip(
                ("all_reduce_mean(x)", "all_reduce_mean(x, async_op=True).wait()"), pair, strict=True
            ):
                call = f"{how} of {about} on rank {rank} of {world_size}"
                expect_close(mean, right, call, scale=scale, ulps=ulps)
            expect_equal(graphs, [False, False], f"requires_grad of the means of {about} on rank {rank}")


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_floats(answer, gen, world_size):
    """The mean of float32 and float64 tensors of any shape, on any number of ranks, in their dtype."""

    def drawn(*shape, dtype=torch.float32):
        return [torch.randn(shape, generator=gen, dtype=dtype) + 5 * rank for rank in range(world_size)]

    cases = {
        "float32 numbers, (3, 5)": drawn(3, 5),
        "float64 numbers, (7,)": drawn(7, dtype=torch.float64),
        "one number without dimensions": drawn(),
        "no numbers, (0, 4)": drawn(0, 4),
        "NaN, inf and a number": [torch.tensor([torch.nan, torch.inf, rank]) for rank in range(world_size)],
        "a tensor that requires a gradient": [x.requires_grad_() for x in drawn(4)],
    }
    expect_means(answer, world_size, cases, scale=20.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision(answer, dtype):
    """In half precision only the mean is rounded: no overflow, nothing lost on the way."""
    # each of the columns cancels in another order of the ranks
    rows = [[256.0, 1.0, 256.0], [1.0, 256.0, -256.0], [-256.0, -256.0, 1.0]]
    cases = {
        f"{dtype} numbers that cancel": [torch.tensor(row, dtype=dtype) for row in rows],
        f"large {dtype} numbers": [torch.tensor([60000.0, -60000.0], dtype=dtype)] * 3,
        f"small {dtype} numbers": [torch.tensor([2.0**-24], dtype=dtype)] * 3,
        f"inf and NaN in {dtype}": [
            torch.tensor([-torch.inf, torch.inf, torch.nan, rank], dtype=dtype) for rank in range(3)
        ],
    }
    expect_means(answer, 3, cases)
    # bfloat16 holds neither these sums nor a third of each number: who rounds twice is off by a whole step
    rows = [[136.0, 244.0, 154.0], [95.0, 192.0, 242.0], [58.0, 186.0, 134.0]]
    once = {f"{dtype} numbers, rounded once": [torch.tensor(row, dtype=dtype) for row in rows]}
    expect_means(answer, 3, once, ulps=0.1)


def test_integers(answer, gen):
    """Integers and booleans are summed exactly, whatever their size, and their mean is a float."""
    cases = {
        f"{dtype} numbers": [
            (torch.randint(lowest, 120, (2, 4), generator=gen) + 7 * rank).to(dtype) for rank in range(3)
        ]
        for dtype, lowest in {
            torch.int8: 60,
            torch.uint8: 100,
            torch.int16: -99,
            torch.int32: -99,
            torch.int64: -99,
        }.items()
    }
    cases["no integers, (0, 3)"] = [torch.zeros(0, 3, dtype=torch.int32)] * 3
    cases["booleans"] = [torch.tensor([True, rank > 0, rank > 1, False]) for rank in range(3)]
    wanted = {about: mean_of(tensors) for about, tensors in cases.items()}
    huge = 2**60
    cases["int64 numbers of 2⁶⁰"] = [
        torch.tensor([huge + 5, 1]),
        torch.tensor([-huge, 2]),
        torch.tensor([1, 4]),
    ]
    wanted["int64 numbers of 2⁶⁰"] = torch.tensor([2.0, 7 / 3])
    cases["int32 numbers of 2³¹"] = [torch.tensor([2**31 - 1], dtype=torch.int32)] * 3
    wanted["int32 numbers of 2³¹"] = torch.tensor([2.0**31])
    cases["int32 numbers of 2³⁰"] = [torch.tensor(n, dtype=torch.int32) for n in (2**30 + 5, -(2**30), 1)]
    wanted["int32 numbers of 2³⁰"] = torch.tensor(2.0)
    expect_means(answer, 3, cases, wanted=wanted)


def with_default(rank, world_size, answer, numbers):
    torch.set_default_dtype(torch.float64)
    alone = [dist.new_group([other]) for other in range(world_size)][rank]
    found = answer.all_reduce_mean(numbers + rank), answer.all_reduce_mean(numbers.float() + rank)
    return *found, answer.all_reduce_mean(numbers + rank, alone)


def test_default_dtype(answer):
    """The mean of integers has torch's default dtype; that of float32 tensors stays float32."""
    numbers = torch.tensor([1, 2**25 + 1])  # the second mean is no number of float32
    for rank, (mean, single, mine) in enumerate(run_ranks(2, with_default, numbers, answer=answer)):
        where = f"on rank {rank}, with a default dtype of float64"
        wanted = torch.tensor([1.5, 2**25 + 1.5], dtype=torch.float64)
        expect_close(mean, wanted, f"all_reduce_mean(x) of integers {where}")
        expect_close(single, wanted.float(), f"all_reduce_mean(x) of float32 numbers {where}")
        call = f"all_reduce_mean(x, group) of integers, in a group of one, {where}"
        expect_close(mine, (numbers + rank).double(), call)


def layouts(rank, world_size, answer, numbers):
    """The same numbers plus the rank, in a layout for each rank, then in one that overlaps."""
    x = numbers + rank
    layout = [x, x.t().contiguous().t(), torch.stack([x, -x], -1)[..., 0]][rank]
    every_second = (torch.arange(8.0) * (rank + 1))[::2]
    expanded = torch.tensor([[1.0], [5.0]]).add(rank).expand(2, 3)
    tensors = (layout, every_second, expanded)
    handles = [answer.all_reduce_mean(t, async_op=True) for t in tensors]
    return [answer.all_reduce_mean(t) for t in tensors], [handle.wait() for handle in handles]


def test_layouts(answer, gen):
    """Tensors with any strides: transposed on one rank only, every second number, expanded."""
    numbers = torch.randn(3, 5, generator=gen)
    wanted = {
        "x, which is transposed on rank 1 and strided on rank 2": numbers + 1,
        "every second number of a tensor": torch.tensor([0.0, 4.0, 8.0, 12.0]),
        "an expanded tensor": torch.tensor([[2.0] * 3, [6.0] * 3]),
    }
    for rank, pair in enumerate(run_ranks(3, layouts, numbers, answer=answer)):
        for call, found in zip(
            ("all_reduce_mean(x)", "all_reduce_mean(x, async_op=True)"), pair, strict=True
        ):
            for mean, (about, right) in zip(found, wanted.items(), strict=True):
                expect_close(mean, right, f"{call} of {about}, on rank {rank}", scale=8.0)


def in_groups(rank, world_size, answer):
    """A mean over the ranks 0 and 2, one over rank 1 alone, then one over all."""
    groups = [dist.new_group([0, 2]), dist.new_group([1])]
    x = torch.tensor([1.0, 10.0]) * (rank + 1)
    group = groups[rank % 2]
    y = x.clone()
    handle = answer.all_reduce_mean(y, group=group, async_op=True)
    y.zero_()  # of no account, also to a group of one
    found = [answer.all_reduce_mean(x, group), handle.wait()]
    found += [answer.all_reduce_mean(10 * x, None), answer.all_reduce_mean(x.int(), group)]
    results = [mean.clone() for mean in found]
    with torch.inference_mode():  # where tensors that were made in it may be changed as well
        for mean in found:
            mean.zero_()
    return *results, torch.count_nonzero(x).item()


def test_groups(answer):
    """The mean is over the ranks of the group, and only these take part."""
    for rank, found in enumerate(run_ranks(3, in_groups, answer=answer)):
        part = torch.tensor([2.0, 20.0])  # of 1 and 3, and of 2 alone
        calls = ("all_reduce_mean(x, group)", "all_reduce_mean(x, group=group, async_op=True).wait()")
        for mean, call in zip(found[:2], calls, strict=True):
            expect_close(mean, part, f"{call} on rank {rank}; the groups are [0, 2] and [1]")
        expect_close(found[2], 10 * part, f"all_reduce_mean(10 * x, None) on rank {rank} of 3")
        about = f"all_reduce_mean(x, group) of integers on rank {rank}; the groups are [0, 2] and [1]"
        expect_close(found[3], part, about)
        expect_equal(found[4], 2, f"numbers in x on rank {rank} that stay when its means are overwritten")


def kinds_of(rank):
    """Numbers of every kind that is summed in another dtype."""
    x = torch.tensor([3.0, 5.0 + rank])
    return {str(dtype): x.to(dtype) for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64)}


def without_waiting(rank, world_size, answer):
    """Rank 1 does not come before rank 0 is back from its calls, so a call that waits, waits for ever."""
    token = torch.zeros(1)
    if rank == 1:
        dist.recv(token, 0)
    handles = [answer.all_reduce_mean(x, async_op=True) for x in kinds_of(rank).values()]
    if rank == 0:
        dist.send(token, 1)
    return [handle.wait() for handle in handles]


def under_way(rank, world_size, answer):
    """Rank 0 waits for rank 1, which has its means by then: it needs the numbers that rank 0 has sent."""
    token = torch.zeros(1)
    handles = [answer.all_reduce_mean(x, async_op=True) for x in kinds_of(rank).values()]
    if rank == 0:
        dist.recv(token, 1)
    means = [handle.wait() for handle in handles]
    if rank == 1:
        dist.send(token, 0)
    return means


@pytest.mark.parametrize("worker", [without_waiting, under_way], ids=["returns at once", "has begun"])
def test_asynchronous(answer, worker):
    """With async_op the call returns before others have come, and the numbers travel before `wait`."""
    pairs = list(zip(kinds_of(0).values(), kinds_of(1).values(), strict=True))
    for rank, means in enumerate(run_ranks(2, worker, answer=answer)):
        for mean, pair in zip(means, pairs, strict=True):
            expect_close(mean, mean_of(pair), f"handle.wait() on rank {rank}, x in {pair[0].dtype}")


def several(rank, world_size, answer):
    """Five means under way, inputs overwritten, waited for in reverse, and once more."""
    inputs = [
        torch.tensor([1.0, 2.0]) + rank,
        torch.arange(6).view(2, 3) * (rank + 1),
        torch.tensor(rank > 0),
        torch.tensor([7.0, 4.0]) * rank,
        torch.tensor([1.0, 3.0], dtype=torch.float64) * rank,
    ]
    handles = [answer.all_reduce_mean(x, None, True) for x in inputs]
    for x in inputs:
        x.zero_()
    last_first = [handle.wait() for handle in handles[::-1]]
    return [*last_first[::-1], *(handle.wait() for handle in handles)]


def test_several_handles(answer):
    """Several means under way do not mix; inputs may be overwritten; waiting again gives the same."""
    wanted = [
        torch.tensor([2.0, 3.0]),
        torch.arange(6.0).view(2, 3) * 2,
        torch.tensor(2 / 3),
        torch.tensor([7.0, 4.0]),
        torch.tensor([1.0, 3.0], dtype=torch.float64),
    ]
    abouts = [f"handle {number} of 5{again}" for again in ("", ", once more") for number in range(1, 6)]
    for rank, found in enumerate(run_ranks(3, several, answer=answer)):
        for mean, right, about in zip(found, 2 * wanted, abouts, strict=True):
            expect_close(mean, right, f"wait() of {about} on rank {rank}")


def count(rank, world_size, answer, tensors):
    found = []
    for x in tensors:
        for async_op in (False, True):
            with count_collectives() as seen:
                mean = answer.all_reduce_mean(x, async_op=async_op)
                if async_op:
                    mean.wait()
            found.append((len(seen.calls), sum(call.bytes for call in seen.calls), seen.count, x.numel()))
    return found


def test_messages(answer):
    """A call costs one collective of at most 8 bytes for each number, and no sum is kept in fewer than 4."""
    tensors = [torch.ones(4100), torch.ones(5, 6, dtype=torch.float64), torch.ones(33, dtype=torch.uint8)]
    tensors.append(torch.ones(9, dtype=torch.bool))
    for rank, found in enumerate(run_ranks(3, count, tensors, answer=answer)):
        for calls, size, kinds, numbers in found:
            facts = {"yours": f"{calls} collectives, {size} bytes: {kinds}"}
            where = f"from rank {rank} for {numbers} numbers"
            wanted = f"one all_reduce of at most {8 * numbers} bytes"
            one = calls == 1 and kinds.get("all_reduce") == 1
            expect_that(one, f"too many messages, or other ones, {where}", **facts, wanted=wanted)
            expect_that(size <= 8 * numbers, f"too many bytes {where}", **facts, wanted=wanted)
            narrow = f"sums in 8 or 16 bits, which overflow with more ranks, {where}"
            expect_that(size >= 4 * numbers, narrow, **facts, wanted="sums in int64")


def oracle(answer, gen):
    cases = [
        [torch.randn(2, 3, generator=gen) for _ in range(3)],
        [torch.randint(-50, 100, (4,), generator=gen, dtype=torch.int8) for _ in range(3)],
        [(30000 * torch.rand(4, generator=gen)).add(30000).half() for _ in range(3)],
        [torch.rand(5, generator=gen) > 0.5 for _ in range(3)],
    ]
    return [list(pair[:2]) for rank in run_ranks(3, means, cases, answer=answer) for pair in rank]
