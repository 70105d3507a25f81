"""Answers to all_reduce_mean that people write."""

from grader.authoring.specimen import Right, Wrong

WIDE = "torch.promote_types(tensor.dtype, torch.float32) if is_floating else torch.int64"
COPY = "tensor.detach().to(wide, copy=True, memory_format=torch.contiguous_format)"
REDUCE = "    work = dist.all_reduce(total, group=group, async_op=True)\n"
RETURN = "    return handle if async_op else handle.wait()\n"
DTYPE = "    dtype = tensor.dtype if is_floating else torch.get_default_dtype()\n"
MEAN = "        return (self.total / self.ranks).to(self.dtype)\n"


SPECIMENS = [
    Wrong(
        "async_op by name only",
        edits=[("= None, async_op", "= None, *, async_op")],
        check="test_several_handles",
    ),
    Wrong(
        "divides in place where nothing is to be rounded",
        edits=[
            (
                MEAN,
                "        if self.dtype == torch.float64:\n            return self.total.div_(self.ranks)\n"
                + MEAN,
            )
        ],
        check="test_several_handles",
        says="handle 5",
    ),
    Wrong(
        "a group of one has float32 means of integers",
        edits=[
            (
                DTYPE,
                DTYPE
                + "    if dist.get_world_size(group) == 1 and not async_op:\n"
                + "        return tensor.detach().clone() if is_floating else tensor.float()\n",
            )
        ],
        check="test_default_dtype",
        says="in a group of one",
    ),
    Wrong(
        "keeps half precision within its range",
        edits=[
            (
                MEAN,
                "        mean = self.total / self.ranks\n"
                "        if self.dtype in (torch.float16, torch.bfloat16):\n"
                "            mean = mean.clamp(torch.finfo(self.dtype).min, torch.finfo(self.dtype).max)\n"
                "        return mean.to(self.dtype)\n",
            )
        ],
        check="test_half_precision",
        says="inf and NaN",
    ),
    Wrong("the sum", edits=[("(self.total / self.ranks)", "self.total")], check="test_floats", says="of 2"),
    Wrong(
        "sums in the input itself",
        edits=[(COPY, "tensor.detach().to(wide, memory_format=torch.contiguous_format)")],
        check="test_floats",
        says="changes its input",
    ),
    Wrong(
        "keeps the graph",
        edits=[(COPY, COPY.replace(".detach()", ""))],
        check="test_floats",
        says="requires_grad",
    ),
    Wrong(
        "float32 for everything",
        edits=[(WIDE, "torch.float32 if is_floating else torch.int64")],
        check="test_floats",
        says="float64",
    ),
    Wrong(
        "sums halves as halves",
        edits=[(WIDE, "tensor.dtype if is_floating else torch.int64")],
        check="test_half_precision",
    ),
    Wrong(
        "divides first, so that nothing overflows",
        edits=[
            (COPY, "(tensor.detach() / dist.get_world_size(group)).contiguous()"),
            ("(self.total / self.ranks)", "self.total"),
        ],
        check="test_half_precision",
    ),
    Wrong(
        "lets torch take the mean",
        edits=[
            (
                REDUCE,
                """    if is_floating:
        total = tensor.detach().clone(memory_format=torch.contiguous_format)
        work = dist.all_reduce(total, dist.ReduceOp.AVG, group, True)
        total *= 1
        work.wait()
        handle = _UnderWay(None, total, 1, tensor.dtype)
        return handle if async_op else handle.wait()
"""
                + REDUCE,
            )
        ],
        check="test_asynchronous",
    ),
    Wrong(
        "integers in their own dtype",
        edits=[(WIDE, "torch.promote_types(tensor.dtype, torch.float32) if is_floating else tensor.dtype")],
        check="test_integers",
    ),
    Wrong(
        "integers as float32",
        edits=[(WIDE, "torch.promote_types(tensor.dtype, torch.float32)")],
        check="test_integers",
        says="2⁶⁰",
    ),
    Wrong(
        "a mean of integers that is an integer",
        edits=[(DTYPE, "    dtype = tensor.dtype\n")],
        check="test_integers",
    ),
    Wrong(
        "always float32 for integers",
        edits=[("else torch.get_default_dtype()", "else torch.float32")],
        check="test_default_dtype",
        says="of integers",
    ),
    Wrong(
        "a mean of integers in float32, whatever it is returned in",
        edits=[
            (
                "(self.total / self.ranks)",
                "(self.total.to(torch.promote_types(self.total.dtype, torch.float32)) / self.ranks)",
            )
        ],
        check="test_default_dtype",
        says="of integers",
    ),
    Wrong(
        "clones with the strides of the input",
        edits=[(COPY, "tensor.detach().to(wide, copy=True)")],
        check="test_layouts",
        says="transposed",
    ),
    Wrong(
        "over all ranks, whatever the group",
        edits=[("get_world_size(group)", "get_world_size()")],
        check="test_groups",
        says="groups are",
    ),
    Wrong(
        "always in the default group",
        edits=[("all_reduce(total, group=group, async", "all_reduce(total, async")],
        check="test_groups",
    ),
    Wrong(
        "waits, and then pretends not to have",
        edits=[(REDUCE, REDUCE + "    work.wait()\n")],
        check="test_asynchronous",
        says="waits",
    ),
    Wrong(
        "begins when it is waited for",
        edits=[
            (REDUCE, "    work = lambda: dist.all_reduce(total, group=group)\n"),
            ("            self.work.wait()\n", "            self.work()\n            self.work = None\n"),
        ],
        check="test_asynchronous",
        says="waits",
    ),
    Wrong(
        "returns torch's own handle",
        edits=[(RETURN, "    return work if async_op else handle.wait()\n")],
        check="test_several_handles",
    ),
    Wrong(
        "divides each time that it is asked",
        edits=[
            (MEAN, "        self.total = self.total / self.ranks\n        return self.total.to(self.dtype)\n")
        ],
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
        check="test_several_handles",
    ),
    Wrong(
        "gathers everything and adds up by itself",
        edits=[
            (
                REDUCE,
                """    parts = [torch.empty_like(total) for _ in range(dist.get_world_size(group))]
    gathering = dist.all_gather(parts, total, group=group, async_op=True)
    gathering.wait()
    total = torch.stack(parts).sum(0)
    work = None
""",
            )
        ],
        check="test_messages",
        says="all_gather",
    ),
    Wrong(
        "a barrier, to be sure that all are there",
        edits=[(REDUCE, "    if not async_op:\n        dist.barrier(group)\n" + REDUCE)],
        check="test_messages",
        says="barrier",
    ),
    Wrong(
        "alone there is nothing to compute",
        edits=[
            (
                REDUCE,
                """    if dist.get_world_size(group) == 1 and not async_op:
        return tensor.detach().clone()
"""
                + REDUCE,
            )
        ],
        check="test_groups",
        says="of integers on rank 1",
    ),
    Wrong(
        "alone the input is the mean",
        edits=[
            (
                REDUCE,
                """    if is_floating and dist.get_world_size(group) == 1 and not async_op:
        return tensor.detach()
"""
                + REDUCE,
            )
        ],
        check="test_groups",
        says="numbers in x on rank 1",
    ),
    Wrong(
        "one buffer for all tensors of a shape",
        edits=[
            (
                COPY,
                "BUFFERS.setdefault(tensor.shape, torch.empty(tensor.shape, dtype=wide)).copy_(tensor.detach())",
            ),
            ("@dataclass\n", "BUFFERS = {}\n\n\n@dataclass\n"),
        ],
        check="test_several_handles",
        says="handle 1 of 5",
    ),
    Wrong(
        "integers as float32, except for those of int64",
        edits=[
            (
                WIDE,
                "torch.int64 if tensor.dtype == torch.int64 else torch.promote_types(tensor.dtype, torch.float32)",
            )
        ],
        check="test_integers",
        says="2³⁰",
    ),
    Wrong(
        "leaves NaN out",
        edits=[(REDUCE, "    total = total.nan_to_num()\n" + REDUCE)],
        check="test_floats",
        says="of NaN, inf and a number",
    ),
    Wrong(
        "waits for the sum of integers at once",
        edits=[(REDUCE, REDUCE + "    if not is_floating:\n        work.wait()\n")],
        check="test_asynchronous",
        says="waits",
    ),
    Wrong(
        "no numbers come back as they are",
        edits=[
            (
                "    is_floating = tensor",
                "    if tensor.numel() == 0 and not async_op:\n        return tensor.detach()\n    is_floating = tensor",
            )
        ],
        check="test_integers",
        says="no integers",
    ),
    Wrong(
        "a group of one: no message, and the input itself until wait",
        edits=[
            (REDUCE, "    work = None\n    if dist.get_world_size(group) > 1:\n    " + REDUCE),
            (COPY, COPY + " if dist.get_world_size(group) > 1 else tensor.detach()"),
        ],
        check="test_groups",
    ),
    Wrong(
        "gradients stay switched off",
        edits=[("    is_floating = tensor", "    torch.set_grad_enabled(False)\n    is_floating = tensor")],
        check="test_floats",
        says="switched off",
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
        "blocking and not blocking apart, the mean kept",
        code="""
import torch
from torch import distributed


class Mean:
    def __init__(self, work, finish):
        self.work, self.finish, self.found = work, finish, None

    def wait(self):
        if self.found is None:
            self.work.wait()
            self.found = self.finish()
        return self.found


@torch.no_grad()
def all_reduce_mean(tensor, group=None, async_op=False):
    flat = tensor.reshape(-1)
    if tensor.dtype in (torch.float16, torch.bfloat16):
        flat = flat.float()
    elif not tensor.is_floating_point():
        flat = flat.long()
    flat = flat.clone()

    def finish():
        mean = flat / distributed.get_world_size(group)
        if tensor.is_floating_point():
            mean = mean.to(tensor.dtype)
        return mean.view(tensor.shape)

    work = distributed.all_reduce(flat, group=group, async_op=async_op)
    return Mean(work, finish) if async_op else finish()
""",
    ),
    Right(
        "in inference mode",
        edits=[("def all_reduce_mean(", "@torch.inference_mode()\ndef all_reduce_mean(")],
    ),
    Wrong(
        "keeps its buffers, and returns them",
        code="""
import torch
import torch.distributed as dist
class _Handle:
    def __init__(self, work, finish):
        self.work, self.finish, self.done = work, finish, None
    def wait(self):
        if self.done is None:
            self.work.wait()
            self.done = self.finish()
        return self.done
_b = {}
def all_reduce_mean(tensor, group=None, async_op=False):
    dtype = tensor.dtype
    if not dtype.is_floating_point:
        wide = torch.int64
    else:
        wide = torch.float32 if dtype.itemsize < 4 else dtype
    buffer = (_b.setdefault((tensor.shape, wide), torch.empty(tensor.shape, dtype=wide)) if not async_op else torch.empty(tensor.shape, dtype=wide)).copy_(tensor.detach())
    n = dist.get_world_size(group)
    work = dist.all_reduce(buffer, group=group, async_op=True)
    handle = _Handle(work, lambda: buffer / n if not dtype.is_floating_point else buffer.div_(n).to(dtype))
    return handle if async_op else handle.wait()
""",
        check="test_groups",
    ),
    Wrong(
        "counts booleans in bytes, up to 255",
        edits=[(WIDE, f"{WIDE} if tensor.dtype != torch.bool else torch.uint8")],
        check="test_messages",
        says="more ranks",
    ),
    Wrong(
        "rounds the sum, then the mean",
        edits=[
            (
                MEAN,
                "        total = self.total.to(self.dtype) if self.dtype == torch.bfloat16 else self.total\n        return (total / self.ranks).to(self.dtype)\n",
            )
        ],
        check="test_half_precision",
        says="rounded once",
    ),
    Wrong(
        "bfloat16 is divided before it is widened",
        edits=[
            (
                COPY,
                f"(tensor / dist.get_world_size(group) if tensor.dtype == torch.bfloat16 else tensor){COPY[6:]}",
            ),
            (
                "(self.total / self.ranks)",
                "(self.total if self.dtype == torch.bfloat16 else self.total / self.ranks)",
            ),
        ],
        check="test_half_precision",
        says="rounded once",
    ),
    Wrong(
        "one layout on all ranks for the sums that are waited for at once, and not for the others",
        edits=[
            (
                COPY,
                "tensor.detach().to(wide, copy=True, memory_format=torch.preserve_format if async_op else torch.contiguous_format)",
            )
        ],
        check="test_layouts",
        says="async_op=True",
    ),
]
