"""What grades ring_all_reduce: sums of any size and dtype, strides, equal bits, messages counted."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process

SHAPES = [(12,), (3, 5), (), (1,), (2,), (5,), (0,), (2, 0), (2, 3, 7), (6,)]


def reduce(rank, world_size, answer, cases):
    """Every case in turn: results, and what the tensors hold afterwards."""
    tensors = [case[rank] for case in cases]
    return [(answer.ring_all_reduce(x), x) for x in tensors]


def sum_of(tensors):
    total = torch.stack(list(tensors))
    wide = torch.float64 if total.is_floating_point() else torch.int64
    return total.to(wide).sum(0).to(total.dtype)


def expect_sums(answer, world_size, cases):
    """The sums on all ranks, up to rounding, and the same bits on each."""
    wanted = [sum_of(case) for case in cases]
    found = run_ranks(world_size, reduce, cases, answer=answer)
    for rank, results in enumerate(found):
        for (result, x), right, (_, first) in zip(results, wanted, found[0], strict=True):
            about = f"{right.dtype}{list(right.shape)} on rank {rank} of {world_size}"
            expect_equal(result, None, f"the result of ring_all_reduce(x), x {about}")
            expect_close(x, right, f"x after ring_all_reduce(x), x {about}", scale=40.0)
            expect_equal(x, first, f"x after ring_all_reduce(x), x {about}, against rank 0's")


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_sums(answer, gen, world_size):
    """The sum over any number of ranks, of tensors of any size: more numbers than ranks, fewer, none."""

    def drawn(shape):
        return [torch.randn(shape, generator=gen) + 5 * rank for rank in range(world_size)]

    expect_sums(answer, world_size, [drawn(shape) for shape in SHAPES])


def test_dtypes(answer, gen):
    """Sums have the tensor's dtype, and are made in it: floats, halves and integers."""
    floats = [torch.float64, torch.float16, torch.bfloat16]
    dtypes = [*floats, torch.int64, torch.int32, torch.uint8]
    numbers = [torch.randint(0, 40, (2, 5), generator=gen) for _ in range(3)]
    cases = [[x.to(dtype) for x in numbers] for dtype in dtypes]
    cases.append([torch.randn(7, generator=gen, dtype=torch.float64) for _ in range(3)])
    cases.append([torch.tensor([2**60 + 1, 3]) * rank for rank in range(3)])
    expect_sums(answer, 3, cases)


def reduce_views(rank, world_size, answer, numbers):
    """Sums in parts of a larger tensor, each of which starts anew; the last has other strides on rank 1."""
    whole = [numbers + rank for _ in range(5)]
    if rank == 1:
        whole[4] = whole[4].t().contiguous().t()
    views = [whole[0][:, 1], whole[1].t(), whole[2][1::2, ::3], whole[3][2], whole[4]]
    for view in views:
        answer.ring_all_reduce(view)
    return whole


def test_strides(answer, gen):
    """A view of any strides holds the sum afterwards, and what lies around it is as it was."""
    numbers = torch.randn(4, 7, generator=gen)
    for rank, found in enumerate(run_ranks(3, reduce_views, numbers, answer=answer)):
        wanted = [numbers + rank for _ in range(5)]
        total = 3 * numbers + 3
        wanted[0][:, 1] = total[:, 1]
        wanted[1] = wanted[4] = total
        wanted[2][1::2, ::3] = total[1::2, ::3]
        wanted[3][2] = total[2]
        abouts = [f"ring_all_reduce({view})" for view in ("m[:, 1]", "m.t()", "m[1::2, ::3]", "m[2]")]
        abouts.append("ring_all_reduce(m), with m transposed in memory on rank 1,")
        for whole, right, about in zip(found, wanted, abouts, strict=True):
            expect_close(whole, right, f"m after {about} on rank {rank}", scale=40.0)


def count(rank, world_size, answer, tensors):
    found = []
    for x in tensors:
        with count_collectives() as seen:
            answer.ring_all_reduce(x)
        found.append([(call.kind, call.bytes, call.peer, call.dtype) for call in seen.calls])
    return found


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_messages(answer, world_size):
    """2(N - 1) messages of an N-th of the numbers, to the next rank, and no other communication."""
    tensors = [
        torch.ones(24),
        torch.ones(2, 5, dtype=torch.bfloat16),
        torch.ones(3).half(),
        torch.ones(400_000),
    ]
    tensors += [torch.ones(7, dtype=torch.uint8), torch.ones(0)]
    for rank, found in enumerate(run_ranks(world_size, count, tensors, answer=answer)):
        for x, calls in zip(tensors, found, strict=True):
            _expect_ring(calls, x, rank, world_size)


def _expect_ring(calls, x, rank, world_size):
    where = f"rank {rank} of {world_size}, {x.numel()} numbers"
    others = sorted({kind for kind, *_ in calls} - {"send", "recv"})
    expect_that(not others, f"other communication than send and recv: {', '.join(others)}; {where}")
    sent = [size for kind, size, *_ in calls if kind == "send"]
    most, largest = 2 * (world_size - 1), -(-x.numel() // world_size) * x.element_size()
    facts = {"yours": f"{len(sent)} messages of {sent[:8]} bytes"}
    wanted = f"at most {most} messages of at most {largest} bytes"
    expect_that(len(sent) <= most, f"too many messages from {where}", **facts, wanted=wanted)
    expect_that(all(size <= largest for size in sent), f"too many bytes from {where}", **facts, wanted=wanted)
    dtypes = {dtype for kind, size, _, dtype in calls if kind == "send" and size}
    told = f"messages in another dtype than that of x from {where}"
    expect_that(dtypes <= {x.dtype}, told, yours=", ".join(map(str, dtypes)), wanted=str(x.dtype))
    for kind, peer in (("send", (rank + 1) % world_size), ("recv", (rank - 1) % world_size)):
        peers = sorted(
            {other for name, size, other, _ in calls if name == kind and size and other is not None}
        )
        expect_that(
            peers in ([], [peer]), f"a {kind} with ranks {peers} by {where}", wanted=f"rank {peer} only"
        )


def oracle(answer, gen):
    cases = [[torch.randn(shape, generator=gen) for _ in range(3)] for shape in ((4, 5), (2,), ())]
    cases.append([torch.randint(-99, 99, (10,), generator=gen) for _ in range(3)])
    return [x for rank in run_ranks(3, reduce, cases, answer=answer) for _, x in rank]
