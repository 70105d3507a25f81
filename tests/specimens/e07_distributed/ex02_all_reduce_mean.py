"""Answers to all_reduce_mean that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WIDE = "torch.promote_types(tensor.dtype, torch.float32) if is_floating else torch.int64"
COPY = "tensor.detach().to(wide, copy=True, memory_format=torch.contiguous_format)"
REDUCE = "    work = dist.all_reduce(total, group=group, async_op=True)\n"
RETURN = "    return handle if async_op else handle.wait()\n"
DTYPE = "    dtype = tensor.dtype if is_floating else torch.get_default_dtype()\n"
MEAN = "        return (self.total / self.ranks).to(self.dtype)\n"


SPECIMENS = [
    Wrong(
        "the sum",
        edits=[("(self.total / self.ranks)", "self.total")],
        rung="job",
        check="test_floats",
        says="that is the sum",
    ),
    Wrong(
        "sums in the input itself",
        edits=[(COPY, "tensor.detach().to(wide, memory_format=torch.contiguous_format)")],
        rung="job",
        check="test_floats",
        says="x after",
    ),
    Wrong(
        "a mean of integers that is an integer",
        edits=[(DTYPE, "    dtype = tensor.dtype\n")],
        rung="job",
        check="test_integers",
    ),
    Wrong(
        "rounds the mean of integers down",
        edits=[
            (
                "(self.total / self.ranks)",
                "(self.total // self.ranks if not self.total.is_floating_point() else self.total / self.ranks)",
            )
        ],
        rung="job",
        check="test_integers",
        says="rounded down",
    ),
    Wrong(
        "over all ranks, whatever the group",
        edits=[("get_world_size(group)", "get_world_size()")],
        rung="job",
        check="test_groups",
        says="number of all ranks",
    ),
    Wrong(
        "waits, and then pretends not to have",
        edits=[(REDUCE, REDUCE + "    work.wait()\n")],
        rung="job",
        check="test_asynchronous",
        says="waits",
    ),
    Wrong(
        "begins when it is waited for",
        edits=[
            (REDUCE, "    work = lambda: dist.all_reduce(total, group=group)\n"),
            ("            self.work.wait()\n", "            self.work()\n            self.work = None\n"),
        ],
        rung="job",
        check="test_asynchronous",
        says="waits",
    ),
    Wrong(
        "returns torch's own handle",
        edits=[(RETURN, "    return work if async_op else handle.wait()\n")],
        rung="job",
        check="test_asynchronous",
    ),
    Wrong(
        "keeps the graph",
        edits=[(COPY, COPY.replace(".detach()", ""))],
        rung="fine",
        check="test_dtypes",
        says="requires_grad",
    ),
    Wrong(
        "float32 for everything",
        edits=[(WIDE, "torch.float32 if is_floating else torch.int64")],
        rung="fine",
        check="test_dtypes",
        says="float64",
    ),
    Wrong(
        "sums halves as halves",
        edits=[(WIDE, "tensor.dtype if is_floating else torch.int64")],
        rung="fine",
        check="test_half_precision",
    ),
    Wrong(
        "divides first, so that nothing overflows",
        edits=[
            (COPY, "(tensor.detach() / dist.get_world_size(group)).contiguous()"),
            ("(self.total / self.ranks)", "self.total"),
        ],
        rung="fine",
        check="test_half_precision",
    ),
    Wrong(
        "integers in their own dtype",
        edits=[(WIDE, "torch.promote_types(tensor.dtype, torch.float32) if is_floating else tensor.dtype")],
        rung="fine",
        check="test_dtypes",
        says="uint8",
    ),
    Wrong(
        "integers as float32",
        edits=[(WIDE, "torch.promote_types(tensor.dtype, torch.float32)")],
        rung="fine",
        check="test_dtypes",
        says="2⁶⁰",
    ),
    Wrong(
        "clones with the strides of the input",
        edits=[(COPY, "tensor.detach().to(wide, copy=True)")],
        rung="fine",
        check="test_layouts",
        says="transposed",
    ),
    Wrong(
        "divides each time that it is asked",
        edits=[
            (MEAN, "        self.total = self.total / self.ranks\n        return self.total.to(self.dtype)\n")
        ],
        rung="fine",
        check="test_several_handles",
        says="once more",
    ),
    Wrong(
        "copies once the others have come",
        edits=[
            (
                RETURN,
                """    if async_op:
        handle.total = tensor
        handle.work = dist.all_reduce(tensor, group=group, async_op=True)
"""
                + RETURN,
            )
        ],
        rung="fine",
        check="test_several_handles",
    ),
    Wrong(
        "a barrier, to be sure that all are there",
        edits=[(REDUCE, "    if not async_op:\n        dist.barrier(group)\n" + REDUCE)],
        rung="fine",
        check="test_messages",
        says="barrier",
    ),
    Works(
        "a clone or floats, and the division in wait",
        code="""
import torch
import torch.distributed as dist


class Handle:
    def __init__(self, work, out, size):
        self.work, self.out, self.size = work, out, size

    def wait(self):
        self.work.wait()
        return self.out.div_(self.size)


def all_reduce_mean(tensor, group=None, async_op=False):
    out = tensor.clone() if tensor.is_floating_point() else tensor.float()
    work = dist.all_reduce(out, op=dist.ReduceOp.SUM, group=group, async_op=True)
    handle = Handle(work, out, dist.get_world_size(group))
    return handle if async_op else handle.wait()
""",
    ),
    Works(
        "divides first",
        code="""
import torch
import torch.distributed as dist


class Handle:
    def __init__(self, work, mean):
        self.work, self.mean = work, mean

    def wait(self):
        self.work.wait()
        return self.mean


def all_reduce_mean(tensor, group=None, async_op=False):
    mean = tensor / dist.get_world_size(group)
    work = dist.all_reduce(mean, group=group, async_op=async_op)
    return Handle(work, mean) if async_op else mean
""",
    ),
    Right(
        "a future that divides, floats in float64",
        code="""
import torch
import torch.distributed as dist


def all_reduce_mean(tensor, group=None, async_op=False):
    ranks = dist.get_world_size(group)
    kind = tensor.dtype if tensor.dtype.is_floating_point else torch.get_default_dtype()
    buffer = torch.empty(tensor.shape, dtype=torch.float64 if tensor.dtype.is_floating_point else torch.long)
    buffer.copy_(tensor.detach())
    future = dist.all_reduce(buffer, group=group, async_op=True).get_future()
    mean = future.then(lambda done: done.value()[0].div(ranks).to(kind))
    return mean if async_op else mean.wait()
""",
    ),
    Right(
        "in inference mode",
        edits=[("def all_reduce_mean(", "@torch.inference_mode()\ndef all_reduce_mean(")],
    ),
]
