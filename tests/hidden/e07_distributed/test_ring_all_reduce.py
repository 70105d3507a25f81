"""What grades ring_all_reduce: sums, and who sends what to whom; sizes, dtypes, strides, bits, messages."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


def reduce(rank, world_size, answer, cases):
    """What each case holds afterwards."""
    tensors = [case[rank].clone() for case in cases]
    results = [answer.ring_all_reduce(x) for x in tensors]
    return tensors, results


def sum_of(tensors):
    total = torch.stack(list(tensors))
    wide = torch.float64 if total.is_floating_point() else torch.int64
    return total.to(wide).sum(0).to(total.dtype)


def drawn(gen, world_size, *shape):
    return [torch.randn(shape, generator=gen) + 5 * rank for rank in range(world_size)]


def expect_sums(answer, world_size, cases):
    """The sums on all ranks, up to rounding; what each rank has, and returns."""
    found = run_ranks(world_size, reduce, cases, answer=answer)
    for rank, (tensors, _) in enumerate(found):
        for x, case in zip(tensors, cases, strict=True):
            right = sum_of(case)
            suspects = {
                "that is the mean": lambda case=case: sum_of(case) / world_size,
                "x is as it was: the sum is to be written into it": lambda case=case: case[rank],  # noqa: B023
                "rank 0's own numbers are all there is": lambda case=case: case[0],
            }
            about = f"x, {right.dtype}{list(right.shape)}, on rank {rank} of {world_size}"
            call = f"ring_all_reduce(x) for {about}"
            expect_close(x, right, call, scale=40.0, suspects=suspects, dims="number" if x.dim() == 1 else "")
    return found


@pytest.mark.parametrize("world_size", [2, 3])
def test_sums(answer, gen, world_size):
    """x holds the sum on every rank, also where the parts are not of one size."""
    shapes = [(12,), (3, 4), (7,)]
    expect_sums(answer, world_size, [drawn(gen, world_size, *shape) for shape in shapes])


def record(rank, world_size, answer, tensors):
    found = []
    for x in tensors:
        with count_collectives() as seen:
            answer.ring_all_reduce(x)
        found.append([(call.kind, call.bytes, call.peer, call.dtype) for call in seen.calls])
    return found


def recorded(answer, world_size, tensors):
    """For each rank and tensor: where it is, x, all calls, and the sizes of what is sent."""
    for rank, found in enumerate(run_ranks(world_size, record, tensors, answer=answer)):
        for x, calls in zip(tensors, found, strict=True):
            sent = [size for kind, size, *_ in calls if kind == "send"]
            yield rank, f"rank {rank} of {world_size}, {x.numel()} numbers", x, calls, sent


def test_ring(answer):
    """Parts go to the next rank, in sends and receives, and nothing else is sent."""
    for rank, where, x, calls, sent in recorded(answer, 3, [torch.ones(24)]):
        others = sorted({kind for kind, *_ in calls} - {"send", "recv"})
        expect_that(not others, f"other communication than send and recv: {', '.join(others)}; {where}")
        for kind, peer in (("send", (rank + 1) % 3), ("recv", (rank - 1) % 3)):
            peers = {other for name, size, other, _ in calls if name == kind and size and other is not None}
            expect_that(
                peers <= {peer}, f"a {kind} with ranks {peers} by {where}", wanted=f"rank {peer} only"
            )
        told = f"a message of more than a part, by {where}"
        largest = max(sent, default=0)
        expect_that(largest <= x.nbytes // 3, told, yours=f"{largest} bytes", wanted=f"{x.nbytes // 3} bytes")


@pytest.mark.fine
@pytest.mark.parametrize("world_size", [1, 4])
def test_messages(answer, world_size):
    """There are at most 2(N - 1) messages, each of at most an N-th of the numbers, in their dtype."""
    tensors = [torch.ones(24), torch.ones(2, 5, dtype=torch.bfloat16), torch.ones(7, dtype=torch.uint8)]
    tensors += [torch.ones(3), torch.ones(0)]
    for _, where, x, calls, sent in recorded(answer, world_size, tensors):
        most, largest = 2 * (world_size - 1), -(-x.numel() // world_size) * x.element_size()
        facts = {"yours": f"{len(sent)} messages of {sent[:8]} bytes"}
        wanted = f"at most {most} messages of at most {largest} bytes"
        expect_that(len(sent) <= most, f"too many messages from {where}", **facts, wanted=wanted)
        small = all(size <= largest for size in sent)
        expect_that(small, f"too many bytes from {where}", **facts, wanted=wanted)
        dtypes = {dtype for kind, size, _, dtype in calls if kind == "send" and size}
        told = f"messages in another dtype than that of x from {where}"
        expect_that(dtypes <= {x.dtype}, told, yours=", ".join(map(str, dtypes)), wanted=str(x.dtype))


@pytest.mark.fine
@pytest.mark.parametrize("world_size", [1, 4])
def test_sizes(answer, gen, world_size):
    """Tensors of fewer numbers than ranks, of none, and of one; all ranks have the same bits."""
    shapes = [(), (2,), (5,), (0,), (2, 0), (9,)]
    found = expect_sums(answer, world_size, [drawn(gen, world_size, *shape) for shape in shapes])
    for rank, (tensors, results) in enumerate(found):
        for x, first, result in zip(tensors, found[0][0], results, strict=True):
            where = f"ring_all_reduce(x), x of {tuple(x.shape)}, on rank {rank}"
            expect_equal(x, first, f"x after {where}, against rank 0's")
            expect_equal(result, None, f"the result of {where}")


@pytest.mark.fine
def test_dtypes(answer, gen):
    """Sums have the tensor's dtype, and are made in it: floats, halves and integers."""
    dtypes = [torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.uint8]
    numbers = [torch.randint(0, 40, (2, 5), generator=gen) for _ in range(3)]
    cases = [[x.to(dtype) for x in numbers] for dtype in dtypes]
    cases.append([torch.randn(7, generator=gen, dtype=torch.float64) for _ in range(3)])
    cases.append([torch.tensor([2**60 + 1, 3]) * rank for rank in range(3)])
    expect_sums(answer, 3, cases)


def reduce_views(rank, world_size, answer, numbers):
    """Sums in parts of a larger tensor, each of which starts anew; the last has other strides on rank 1."""
    whole = [numbers + rank for _ in range(4)]
    if rank == 1:
        whole[3] = whole[3].t().contiguous().t()
    for view in (whole[0][:, 1], whole[1].t(), whole[2][1::2, ::3], whole[3]):
        answer.ring_all_reduce(view)
    return whole


@pytest.mark.fine
def test_strides(answer, gen):
    """A view of any strides holds the sum afterwards, and what lies around it is as it was."""
    numbers = torch.randn(4, 7, generator=gen)
    for rank, found in enumerate(run_ranks(3, reduce_views, numbers, answer=answer)):
        wanted = [numbers + rank for _ in range(4)]
        total = 3 * numbers + 3
        wanted[0][:, 1] = total[:, 1]
        wanted[1] = wanted[3] = total
        wanted[2][1::2, ::3] = total[1::2, ::3]
        views = "m[:, 1]", "m.t()", "m[1::2, ::3]", "m, transposed in memory on rank 1"
        for whole, right, view in zip(found, wanted, views, strict=True):
            expect_close(whole, right, f"m after ring_all_reduce({view}) on rank {rank}", scale=40.0)


def oracle(answer, gen):
    cases = {
        "two ranks, eight numbers": drawn(gen, 2, 8),
        "three ranks, a table": drawn(gen, 3, 3, 4),
        "three ranks, seven numbers": drawn(gen, 3, 7),
    }
    return {
        about: lambda case=case: [
            tensors[0] for tensors, _ in run_ranks(len(case), reduce, [case], answer=answer)
        ]
        for about, case in cases.items()
    }


def fine_oracle(answer, gen):
    case = [torch.randint(-99, 99, (10,), generator=gen) for _ in range(3)]
    return {"integers": [tensors[0] for tensors, _ in run_ranks(3, reduce, [case], answer=answer)]}
