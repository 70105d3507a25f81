"""What grades all_reduce_mean: floats, integers, groups, handles; dtypes, layouts, messages."""

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

HOW = ("all_reduce_mean(x)", "all_reduce_mean(x, async_op=True).wait()")


def means(rank, world_size, answer, cases):
    """The mean of each case, at once and by a handle, and what is left of the two inputs."""
    found = []
    for case in cases:
        x, y = (case[rank].detach().clone().requires_grad_(case[rank].requires_grad) for _ in HOW)
        pair = answer.all_reduce_mean(x), answer.all_reduce_mean(y, async_op=True).wait()
        left = [x.detach(), y.detach()]
        found.append(([mean.detach() for mean in pair], [mean.requires_grad for mean in pair], left))
    return found


def mean_of(tensors):
    total = torch.stack([x.detach() for x in tensors])
    dtype = total.dtype if total.is_floating_point() else torch.float32
    return total.double().mean(0).to(dtype)


def expect_means(answer, cases, *, wanted=None, ulps=None):
    """`cases[about][rank]` is what a rank of three has."""
    for rank, results in enumerate(run_ranks(3, means, list(cases.values()), answer=answer)):
        for (about, tensors), (pair, graphs, left) in zip(cases.items(), results, strict=True):
            right = (wanted or {}).get(about, mean_of(tensors))
            before = tensors[rank].detach()
            for how, x in zip(HOW, left, strict=True):
                told = {"it holds the mean or the sum: all_reduce is to get a copy": lambda x=x: x}
                expect_equal(x, before, f"x after {how}, {about}, on rank {rank}", suspects=told)
            suspects = {
                "that is the sum": lambda right=right: 3 * right,
                "the quotient is rounded down: // is not /": lambda right=right: right.floor(),
                "the sum is divided twice": lambda right=right: right / 3,
            }
            for how, mean in zip(HOW, pair, strict=True):
                call = f"{how} of {about} on rank {rank} of 3"
                expect_close(mean, right, call, scale=20.0, ulps=ulps, suspects=suspects)
            yield rank, about, graphs


def drawn(gen, *shape):
    return [torch.randn(shape, generator=gen) + 5 * rank for rank in range(3)]


def counts(gen, *shape):
    return [torch.randint(-50, 100, shape, generator=gen) for _ in range(3)]


def test_floats(answer, gen):
    """The mean of tensors of any shape, at once and by a handle; the input stays as it is."""
    list(expect_means(answer, {"numbers, (3, 5)": drawn(gen, 3, 5), "one number, ()": drawn(gen)}))


def test_integers(answer, gen):
    """The mean of integers is a float."""
    list(expect_means(answer, {"integers, (2, 4)": counts(gen, 2, 4)}))


def in_groups(rank, world_size, answer, x):
    """A mean over the ranks 0 and 2, one over rank 1 alone, then one over all."""
    group = [dist.new_group([0, 2]), dist.new_group([1])][rank % 2]
    first, second, third = (x[rank].clone() for _ in range(3))
    later = answer.all_reduce_mean(first, group=group, async_op=True).wait()
    return answer.all_reduce_mean(second, group), later, answer.all_reduce_mean(third, None)


def test_groups(answer, gen):
    """The mean is over the ranks of the group, and only these take part."""
    x = drawn(gen, 4)
    suspects = {
        "the sum over the group is divided by the number of all ranks": lambda: (x[0] + x[2]) / 3,
        "the sum of rank 1 alone is divided by the number of all ranks": lambda: x[1] / 3,
        "the mean is over all ranks": lambda: mean_of(x),
    }
    for rank, found in enumerate(run_ranks(3, in_groups, x, answer=answer)):
        part = x[1] if rank == 1 else (x[0] + x[2]) / 2
        where = f"on rank {rank}; the groups are [0, 2] and [1]"
        calls = "all_reduce_mean(x, group)", "all_reduce_mean(x, group=group, async_op=True).wait()"
        for mean, call in zip(found, calls, strict=False):
            expect_close(mean, part, f"{call} {where}", scale=20.0, suspects=suspects)
        expect_close(found[2], mean_of(x), f"all_reduce_mean(x, None) {where}", scale=20.0)


def under_way(rank, world_size, answer, x):
    """First rank 1 comes when rank 0 is back from its call, then rank 0 waits when rank 1 has its mean."""
    token, again = torch.zeros(1), [y.clone() for y in x[rank]]
    if rank == 1:
        dist.recv(token, 0)
    first = [answer.all_reduce_mean(y, async_op=True) for y in x[rank]]
    if rank == 0:
        dist.send(token, 1)
    found = [handle.wait() for handle in first]
    second = [answer.all_reduce_mean(y, async_op=True) for y in again]
    if rank == 0:
        dist.recv(token, 1)
    found += [handle.wait() for handle in second]
    if rank == 1:
        dist.send(token, 0)
    return found


def test_asynchronous(answer, gen):
    """With async_op the call returns before others have come, and the numbers travel before `wait`."""
    x = list(zip(drawn(gen, 3), counts(gen, 3), strict=True))[:2]
    for rank, found in enumerate(run_ranks(2, under_way, x, answer=answer)):
        for mean, pair in zip(found, 2 * list(zip(*x, strict=True)), strict=True):
            expect_close(mean, mean_of(pair), f"handle.wait() on rank {rank} of 2", scale=20.0)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, dtype):
    """In half precision only the mean is rounded: no overflow, nothing lost on the way."""
    # each of the first columns cancels in another order of the ranks; bfloat16 holds no sum of the last
    rows = [[256.0, 1, 256, 136, 244], [1.0, 256, -256, 95, 192], [-256.0, -256, 1, 58, 186]]
    cases = {
        f"{dtype} numbers that cancel": [torch.tensor(row, dtype=dtype) for row in rows],
        f"large {dtype} numbers": [torch.tensor([60000.0, -60000.0], dtype=dtype)] * 3,
    }
    list(expect_means(answer, cases, ulps=0.1))


@pytest.mark.fine
def test_dtypes(answer, gen):
    """float64 stays, integers of any size and booleans are summed exactly, and none has a graph."""
    huge = 2**60
    cases = {
        "float64 numbers": [torch.randn(7, generator=gen, dtype=torch.float64) for _ in range(3)],
        "uint8 numbers": [torch.tensor([200, 100], dtype=torch.uint8)] * 3,
        "booleans": [torch.tensor([True, rank > 0, rank > 1, False]) for rank in range(3)],
        "int64 numbers of 2⁶⁰": [torch.tensor([n]) for n in (huge + 5, -huge, 1)],
        "int32 numbers of 2³⁰": [torch.tensor([n], dtype=torch.int32) for n in (2**30 + 5, -(2**30), 1)],
        "no integers": [torch.zeros(0, 3, dtype=torch.int32)] * 3,
        "a tensor that requires a gradient": [x.requires_grad_() for x in drawn(gen, 4)],
    }
    exact = {f"int{bits} numbers of {what}": torch.tensor([2.0]) for bits, what in [(64, "2⁶⁰"), (32, "2³⁰")]}
    for rank, about, graphs in expect_means(answer, cases, wanted=exact):
        expect_equal(graphs, [False, False], f"requires_grad of the means of {about} on rank {rank}")


def layouts(rank, world_size, answer, numbers):
    """The same numbers plus the rank, in a layout for each rank, then expanded."""
    x = numbers + rank

    def tensors():
        layout = [x.clone(), x.t().contiguous().t(), torch.stack([x, -x], -1)[..., 0]][rank]
        return layout, torch.tensor([[1.0], [5.0]]).add(rank).expand(2, 3)

    later = [answer.all_reduce_mean(t, async_op=True).wait() for t in tensors()]
    return [*(answer.all_reduce_mean(t) for t in tensors()), *later]


@pytest.mark.fine
def test_layouts(answer, gen):
    """Tensors with any strides: transposed on one rank only, every second number, expanded."""
    numbers = torch.randn(3, 5, generator=gen)
    wanted = {
        "x, which is transposed on rank 1 and strided on rank 2": numbers + 1,
        "an expanded tensor": torch.tensor([[2.0] * 3, [6.0] * 3]),
    }
    for rank, found in enumerate(run_ranks(3, layouts, numbers, answer=answer)):
        for mean, (about, right) in zip(found, 2 * list(wanted.items()), strict=True):
            expect_close(mean, right, f"all_reduce_mean(…) of {about}, on rank {rank}", scale=8.0)


def several(rank, world_size, answer):
    """Three means under way, inputs overwritten, waited for in reverse, and once more."""
    inputs = [
        torch.tensor([1.0, 2.0]) + rank,
        torch.arange(2) * rank,
        torch.tensor([7.0, 4.0]).double() * rank,
    ]
    handles = [answer.all_reduce_mean(x, None, True) for x in inputs]
    for x in inputs:
        x.zero_()
    last_first = [handle.wait().clone() for handle in handles[::-1]]
    return [*last_first[::-1], *(handle.wait() for handle in handles)]


@pytest.mark.fine
def test_several_handles(answer):
    """Several means under way do not mix; inputs may be overwritten; waiting again gives the same."""
    wanted = [torch.tensor([2.0, 3.0]), torch.tensor([0.0, 1.0]), torch.tensor([7.0, 4.0]).double()]
    abouts = [f"handle {number} of 3{again}" for again in ("", ", once more") for number in range(1, 4)]
    for rank, found in enumerate(run_ranks(3, several, answer=answer)):
        for mean, right, about in zip(found, 2 * wanted, abouts, strict=True):
            expect_close(mean, right, f"wait() of {about} on rank {rank}")


def count(rank, world_size, answer, tensors):
    found = []
    for x in tensors:
        with count_collectives() as seen:
            answer.all_reduce_mean(x)
            answer.all_reduce_mean(x, async_op=True).wait()
        found.append((seen.count, sum(call.bytes for call in seen.calls)))
    return found


@pytest.mark.fine
def test_messages(answer):
    """A call costs one collective of at most 8 bytes for each number."""
    tensors = torch.ones(4100), torch.ones(5, 6, dtype=torch.float64), torch.ones(33, dtype=torch.uint8)
    for rank, found in enumerate(run_ranks(2, count, tensors, answer=answer)):
        for x, (kinds, size) in zip(tensors, found, strict=True):
            facts = {"yours": f"{in_words(kinds)}, {size} bytes", "wanted": "one all_reduce in each"}
            where = f"two calls from rank {rank} for {x.numel()} numbers of {x.dtype}"
            expect_that(kinds == {"all_reduce": 2}, f"too many messages, or other ones, in {where}", **facts)
            expect_that(size <= 16 * x.numel(), f"too many bytes in {where}", **facts)


def oracle(answer, gen):
    def over_ranks(case, part):
        """On each rank a pair, what comes at once and by a handle; or what is left of x afterwards."""
        return lambda: [found[part] for (found,) in run_ranks(3, means, [case], answer=answer)]

    x, floats = drawn(gen, 4), drawn(gen, 2, 3)
    return {
        "floats on three ranks, at once and by a handle": over_ranks(floats, 0),
        "x afterwards": over_ranks(floats, 2),
        "integers on three ranks": over_ranks(counts(gen, 6), 0),
        "one number on three ranks": over_ranks(drawn(gen), 0),
        "in groups": lambda: list(run_ranks(3, in_groups, x, answer=answer)),
    }


def fine_oracle(answer, gen):
    cases = [[x.half() for x in drawn(gen, 5)], [torch.rand(9, generator=gen) > 0.5 for _ in range(3)]]
    halves, booleans = (
        [pair for pair, *_ in run_ranks(3, means, [case], answer=answer)[0]] for case in cases
    )
    return {"halves": halves, "booleans": booleans}
