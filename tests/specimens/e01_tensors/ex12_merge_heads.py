"""Answers to merge_heads that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SPECIMENS = [
    Wrong(
        "does what the error message suggests: reshape without moving time in front of heads",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    return x.reshape(batch, time, heads * dim)
""",
        check="test_values",
        says="reshape",
        rung="job",
    ),
    Wrong(
        "one head is squeezed away, and a batch of 1 with it",
        edits=[
            ("    side_by_side = ", "    if heads == 1:\n        return x.squeeze()\n    side_by_side = ")
        ],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "detaches on the way",
        edits=[("x.transpose(1, 2)", "x.detach().transpose(1, 2)")],
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "a loop over the heads",
        code="""
import torch

def merge_heads(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)
""",
        check="test_no_loop",
        says="grows with heads",
        rung="job",
    ),
    Wrong(
        "always copies",
        edits=[
            (
                "side_by_side.reshape(",
                "side_by_side.clone(memory_format=__import__('torch').contiguous_format).view(",
            )
        ],
        check="test_view",
        says="copies",
    ),
    Wrong(
        "fills a buffer of the default dtype",
        code="""
import torch

def merge_heads(x):
    batch, heads, time, dim = x.shape
    merged = torch.empty(batch, time, heads, dim, device=x.device)
    merged.copy_(x.transpose(1, 2))
    return merged.view(batch, time, heads * dim)
""",
        check="test_dtype_is_kept",
        says="wrong dtype",
    ),
    Wrong(
        "fills a buffer on the CPU",
        code="""
import torch

def merge_heads(x):
    batch, heads, time, dim = x.shape
    merged = torch.empty(batch, time, heads, dim, dtype=x.dtype)
    merged.copy_(x.transpose(1, 2))
    return merged.view(batch, time, heads * dim)
""",
        check="test_stays_on_the_device",
        says="device",
    ),
    Wrong(
        "takes the strides of a whole tensor for granted",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    if x.stride(1) == dim or not x.is_contiguous():
        return x.as_strided((batch, time, heads * dim), (time * heads * dim, heads * dim, 1))
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_strides",
    ),
    Wrong(
        "transposes the caller's tensor in place",
        edits=[("x.transpose(1, 2)", "x.transpose_(1, 2)")],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Works(
        "as nanoGPT writes it: contiguous, then view",
        code="""
def merge_heads(x):
    B, nh, T, hs = x.size()
    return x.transpose(1, 2).contiguous().view(B, T, nh * hs)
""",
    ),
    Works(
        "as the annotated transformer writes it, with a size of -1",
        code="""
def merge_heads(x):
    nbatches, h, _, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(nbatches, -1, h * d_k)
""",
    ),
    Works(
        "permute, and a width of -1",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, time, -1)
""",
    ),
    Right(
        "flatten after movedim",
        code="""
def merge_heads(x):
    return x.movedim(2, 1).flatten(2)
""",
    ),
    Right(
        "einsum moves the heads",
        code="""
import torch

def merge_heads(x):
    b, h, t, d = x.size()
    return torch.einsum("bhtd->bthd", x).reshape(b, t, h * d)
""",
    ),
]
