"""Answers to batched_matmul that people write."""

from grader.authoring.specimen import Right, Wrong

SCORES = "query @ key.mT  # (*batch, time, dim) @ (*batch, dim, source) -> (*batch, time, source)"
OUTER = "left.unsqueeze(-1) * right.unsqueeze(-2)  # (*batch, rows, 1) * (*batch, 1, columns)"
BILINEAR = 'torch.einsum("...i, oij, ...j -> ...o", left, weight, right)'

SPECIMENS = [
    Wrong(
        "finite numbers for infinite ones, to be safe",
        edits=[(OUTER, "torch.nan_to_num(left.unsqueeze(-1) * right.unsqueeze(-2))")],
        check="test_dtype_is_kept",
        says="inf",
    ),
    Wrong(
        "transposes dims 1 and 2, which are the last two of a 3-D key only",
        edits=[(SCORES, "query @ key.transpose(1, 2)")],
        check="test_products",
    ),
    Wrong(
        "key times query: the result is transposed",
        edits=[(SCORES, "key @ query.mT")],
        check="test_products",
        says="wrong shape",
    ),
    Wrong(
        "key times query, unnoticed where all sizes are equal",
        edits=[
            (
                SCORES,
                "(key @ query.mT).reshape(*torch.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], key.shape[-2])",
            )
        ],
        check="test_square_sizes",
        says="query and key change places",
    ),
    Wrong(
        "outer product with its arguments swapped",
        edits=[(OUTER, "left.unsqueeze(-2) * right.unsqueeze(-1)")],
        check="test_products",
    ),
    Wrong(
        "torch.outer, which takes vectors only",
        edits=[(OUTER, "torch.outer(left, right)")],
        check="test_products",
        says="your code raised",
    ),
    Wrong(
        "leading dimensions written out: exactly one of them",
        edits=[(SCORES, 'torch.einsum("btd,bsd->bts", query, key)')],
        check="test_products",
    ),
    Wrong(
        "the built-in bilinear, whose leading dimensions must be equal",
        edits=[(BILINEAR, "torch.nn.functional.bilinear(left, right, weight)")],
        check="test_leading_dims_broadcast",
    ),
    Wrong(
        "flattens the leading dimensions for bmm, without broadcasting them first",
        edits=[
            (
                SCORES,
                "torch.bmm(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:]).mT).reshape(*query.shape[:-1], -1)",
            )
        ],
        check="test_leading_dims_broadcast",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[(BILINEAR, BILINEAR + ".squeeze()")],
        check="test_sizes_of_one",
    ),
    Wrong(
        "keys without heads go with the batch: aligned from the left where the sizes allow it",
        edits=[
            (
                SCORES,
                "query @ (key.unsqueeze(1) if query.dim() == 4 and key.dim() == 3 and len(key) == len(query) else key).mT",
            )
        ],
        check="test_leading_dims_broadcast",
        says="aligned from the left",
    ),
    Wrong(
        "an empty result of its own, in float32",
        edits=[
            (
                "    return left.unsqueeze(-1)",
                "    if left.numel() == 0 and left.shape == right.shape[:-1] + left.shape[-1:]:\n"
                "        return torch.empty(*left.shape, right.shape[-1])\n    return left.unsqueeze(-1)",
            )
        ],
        check="test_products",
        says="float64",
    ),
    Wrong(
        "a broadcast product where there are no leading dimensions",
        edits=[(SCORES, "query @ key.mT if query.dim() > 2 else (query[:, None] * key).sum(-1)")],
        check="test_scores_need_no_third_dimension",
        says="time × source × dim",
    ),
    Wrong(
        "left and right change places in the bilinear form",
        edits=[
            (
                BILINEAR,
                'torch.einsum("...i, oij, ...j -> ...o", right, weight if weight.shape[1] == weight.shape[2] else weight.mT, left)',
            )
        ],
        check="test_square_sizes",
        says="left and right change places",
    ),
    Wrong(
        "views the transposed key as one batch of matrices, which only some layouts allow",
        edits=[
            (
                SCORES,
                "query @ key.view(-1, *key.shape[-2:]).mT.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2]) if key.numel() else query @ key.mT",
            )
        ],
        check="test_strided_arguments",
    ),
    Wrong(
        "computes in float32 and casts back",
        edits=[(SCORES, "(query.float() @ key.float().mT).to(query.dtype)")],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "computes in float32 and leaves it there",
        edits=[(OUTER, "(left.float().unsqueeze(-1) * right.float().unsqueeze(-2))")],
        check="test_dtype_is_kept",
        says="float32",
    ),
    Wrong(
        "detaches the weight",
        edits=[("left, weight, right)  # (*batch, out)", "left, weight.detach(), right)")],
        check="test_gradients",
        says="weight",
    ),
    Wrong(
        "transposes the key in place",
        edits=[("query @ key.mT", "query @ key.transpose_(-1, -2)")],
        check="test_arguments_are_left_alone",
        says="changes its input key",
    ),
    Wrong(
        "a loop over the planes of the weight",
        edits=[(BILINEAR, "torch.stack([((left @ plane) * right).sum(-1) for plane in weight], dim=-1)")],
        check="test_no_loop",
        says="loop",
    ),
    Wrong(
        "multiplies with broadcasting and sums",
        edits=[(SCORES, "(query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)")],
        check="test_scores_need_no_third_dimension",
        says="time × source × dim",
    ),
    Wrong(
        "drops the dimension of left with squeeze, and with it any other of size 1",
        edits=[
            (
                'torch.einsum("...i, oij, ...j -> ...o", left, weight, right)',
                "((left[..., None, None, :] @ weight).squeeze() * right[..., None, :]).sum(-1)\\\n"
                "        if left.ndim == 2 and left.shape[0] == weight.shape[0]\\\n"
                '        else torch.einsum("...i, oij, ...j -> ...o", left, weight, right)',
            )
        ],
        check="test_sizes_of_one",
    ),
    Right(
        "einsum for all three",
        code="""
import torch

def scores(query, key):
    return torch.einsum("...td,...sd->...ts", query, key)

def outer(left, right):
    return torch.einsum("...r,...c->...rc", left, right)

def bilinear(left, weight, right):
    return torch.einsum("...ij,oij->...o", outer(left, right), weight)
""",
    ),
    Right(
        "broadcast and flatten by hand, then bmm",
        code="""
import torch

def scores(query, key):
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    q = query.expand(*lead, *query.shape[-2:]).flatten(0, len(lead) - 1) if lead else query[None]
    k = key.expand(*lead, *key.shape[-2:]).flatten(0, len(lead) - 1) if lead else key[None]
    return torch.bmm(q, k.transpose(1, 2)).reshape(*lead, query.shape[-2], key.shape[-2])

def outer(left, right):
    return torch.matmul(left[..., :, None], right[..., None, :])

def bilinear(left, weight, right):
    halfway = torch.tensordot(left, weight, dims=([-1], [1]))
    return (halfway @ right[..., None]).squeeze(-1)
""",
    ),
    Wrong(
        "a constant where the batch is empty",
        edits=[
            (
                f"    return {OUTER}",
                f"    product = {OUTER}\n    return product if product.numel() else torch.zeros_like(product)",
            )
        ],
        check="test_gradients",
        says="empty batch",
    ),
    Wrong(
        "a weight that is learned with the others only",
        edits=[
            (
                BILINEAR,
                BILINEAR.replace("left, weight", "left, weight if left.requires_grad else weight.detach()"),
            )
        ],
        check="test_gradients",
        says="to weight",
    ),
    Wrong(
        "a single left for a whole batch of right, whose dims in front are taken to be one",
        edits=[
            (
                "    return " + BILINEAR,
                "    if left.dim() == 1 and right.dim() > 1:\n"
                "        left = left.expand(right.shape[0], -1)\n"
                "    return " + BILINEAR,
            )
        ],
        check="test_leading_dims_broadcast",
    ),
]
