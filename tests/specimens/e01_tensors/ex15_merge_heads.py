"""Answers to merge_heads that people write."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "one head is squeezed away, and a batch or time of 1 with it",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    if heads == 1:
        return x.squeeze()
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_heads_lie_side_by_side",
        says="wrong shape",
    ),
    Wrong(
        "heads of one number are copied",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    if dim == 1:
        return x.squeeze(-1).transpose(1, 2).clone()
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_no_copy_where_none_is_needed",
        says="one number",
    ),
    Wrong(
        "a copy where gradients are wanted",
        code="""
def merge_heads(x):
    merged = x.transpose(1, 2).flatten(2)
    return merged.clone() if x.requires_grad else merged
""",
        check="test_no_copy_where_none_is_needed",
        says="copies",
    ),
    Wrong(
        "an empty result of its own, in float32",
        code="""
import torch

def merge_heads(x):
    batch, heads, time, dim = x.shape
    if x.numel() == 0:
        return torch.empty(batch, time, heads * dim)
    return x.transpose(1, 2).flatten(2)
""",
        check="test_heads_lie_side_by_side",
        says="float64",
    ),
    Wrong(
        "takes heads that lie side by side for packed, without a look at the stride of dim",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    if x.stride(1) == dim:
        return x.as_strided((batch, time, heads * dim), (x.stride(0), x.stride(2), 1))
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_strided_input",
        says="past its strides",
    ),
    Wrong(
        "as_strided from the beginning of the storage, where x may start later",
        code="""
import torch


def merge_heads(x):
    batch, heads, time, dim = x.shape
    if x.transpose(1, 2).is_contiguous():
        return torch.as_strided(x, (batch, time, heads * dim), (time * heads * dim, heads * dim, 1), 0)
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_strided_input",
    ),
    Wrong(
        "looks for the tensor that x was transposed from",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    base = x._base
    if base is not None and base.shape == (batch, time, heads, dim):
        return base.view(batch, time, heads * dim)
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
""",
        check="test_strided_input",
        says="past its strides",
    ),
    Wrong(
        "does what the error message suggests: reshape without moving time in front of heads",
        edits=[
            ("    side_by_side = x.transpose(1, 2)  # (batch, time, heads, dim)\n", "    side_by_side = x\n")
        ],
        check="test_heads_lie_side_by_side",
        says="reshape",
    ),
    Wrong(
        "keeps the broken transpose and swaps view for reshape",
        edits=[("x.transpose(1, 2)", "x.transpose(2, 3)")],
        check="test_heads_lie_side_by_side",
    ),
    Wrong(
        "dim before heads: the numbers of one head are spread out",
        edits=[("x.transpose(1, 2)", "x.permute(0, 2, 3, 1)")],
        check="test_heads_lie_side_by_side",
    ),
    Wrong(
        "always copies: contiguous().view()",
        edits=[("side_by_side.reshape(", "side_by_side.contiguous().clone().view(")],
        check="test_no_copy_where_none_is_needed",
        says="copies",
    ),
    Wrong(
        "detaches on the way",
        edits=[("x.transpose(1, 2)", "x.detach().transpose(1, 2)")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a width of -1, which no positions do not tell",
        edits=[
            (
                "reshape(batch, time, heads * dim)",
                "reshape(batch, time, -1) if batch else x.new_empty(batch, time, heads * dim)",
            )
        ],
        check="test_heads_lie_side_by_side",
    ),
    Wrong(
        "takes a view by strides, past the graph",
        edits=[
            (
                "    side_by_side = ",
                "    if x.transpose(1, 2).is_contiguous():\n"
                "        return x.data.transpose(1, 2).view(batch, time, heads * dim)\n"
                "    side_by_side = ",
            )
        ],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a new tensor, without a graph, for no numbers",
        edits=[
            (
                "    side_by_side = ",
                "    if x.numel() == 0:\n"
                "        return x.new_zeros(batch, time, heads * dim)\n"
                "    side_by_side = ",
            )
        ],
        check="test_heads_lie_side_by_side",
        says="no gradient flows",
    ),
    Wrong(
        "a loop over the heads",
        edits=[
            (
                "side_by_side.reshape(batch, time, heads * dim)",
                "__import__('torch').cat([x[:, h] for h in range(heads)], dim=-1)",
            )
        ],
        check="test_no_loop_over_heads",
        says="grows with heads",
    ),
    Wrong(
        "transposes the caller's tensor in place",
        edits=[("x.transpose(1, 2)", "x.transpose_(1, 2)")],
        check="test_input_is_left_alone",
        says="changes",
    ),
    Wrong(
        "strides that hold for a whole tensor, where only the heads lie side by side",
        edits=[
            (
                "    return side_by_side.reshape",
                "    if x.stride(3) == 1 and x.stride(1) == dim:\n"
                "        sizes, strides = (batch, time, heads * dim), (time * heads * dim, heads * dim, 1)\n"
                "        return x.as_strided(sizes, strides, x.storage_offset())\n"
                "    return side_by_side.reshape",
            )
        ],
        check="test_strided_input",
        says="past its strides",
    ),
    Right(
        "flatten after movedim",
        code="""
def merge_heads(x):
    return x.movedim(2, 1).flatten(2)
""",
    ),
    Right(
        "permute, then reshape with the width written out",
        code="""
import torch

def merge_heads(x):
    b, h, t, d = x.size()
    return torch.permute(x, (0, 2, 1, 3)).reshape(b, t, h * d)
""",
    ),
    Wrong(
        "takes the heads of a single position for neighbours in memory",
        code="""
def merge_heads(x):
    batch, heads, time, dim = x.shape
    if time == 1:  # as in generation
        return x.as_strided((batch, 1, heads * dim), (x.stride(0), heads * dim, x.stride(3)))
    return x.transpose(1, 2).flatten(2)
""",
        check="test_strided_input",
        says="the last position",
    ),
]
