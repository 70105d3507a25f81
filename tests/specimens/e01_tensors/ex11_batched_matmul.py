"""Answers to batched_matmul that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SCORES = "query @ key.mT  # (*batch, time, dim) @ (*batch, dim, source) -> (*batch, time, source)"
OUTER = "left.unsqueeze(-1) * right.unsqueeze(-2)  # (*batch, rows, 1) * (*batch, 1, columns)"
BILINEAR = 'torch.einsum("...i, oij, ...j -> ...o", left, weight, right)'

SPECIMENS = [
    Wrong(
        "transposes dims 1 and 2, which are the last two of a 3-D key only",
        edits=[(SCORES, "query @ key.transpose(1, 2)")],
        check="test_scores_values",
        rung="job",
    ),
    Wrong(
        "key times query, unnoticed where all sizes are equal",
        edits=[(SCORES, "(key @ query.mT).reshape(*query.shape[:-1], key.shape[-2])")],
        check="test_scores_square",
        says="query and key change places",
        rung="job",
    ),
    Wrong(
        "outer product with its arguments swapped",
        edits=[(OUTER, "left.unsqueeze(-2) * right.unsqueeze(-1)")],
        check="test_outer_square",
        says="left and right change places",
        rung="job",
    ),
    Wrong(
        "torch.outer and an einsum, which take vectors only",
        edits=[
            (OUTER, "torch.outer(left, right)"),
            (BILINEAR, 'torch.einsum("i,oij,j->o", left, weight, right)'),
        ],
        check="test_outer_values",
        says="your code raised",
        rung="job",
    ),
    Wrong(
        "left and right change places in the bilinear form",
        edits=[
            (
                BILINEAR,
                'torch.einsum("...i, oij, ...j -> ...o", right, '
                "weight if weight.shape[1] == weight.shape[2] else weight.mT, left)",
            )
        ],
        check="test_bilinear_square",
        says="left and right change places",
        rung="job",
    ),
    Wrong(
        "detaches the weight",
        edits=[("left, weight, right)  # (*batch, out)", "left, weight.detach(), right)")],
        check="test_bilinear_gradients",
        says="weight",
        rung="job",
    ),
    Wrong(
        "a loop over the planes of the weight",
        edits=[(BILINEAR, "torch.stack([((left @ plane) * right).sum(-1) for plane in weight], dim=-1)")],
        check="test_bilinear_no_loop",
        says="operations",
        rung="job",
    ),
    Wrong(
        "a loop over the batch",
        edits=[
            (SCORES, "query @ key.T if query.ndim == 2 else torch.stack([*map(scores, query, key)])"),
            (
                OUTER,
                "torch.outer(left, right) if left.ndim == 1 else torch.stack([*map(outer, left, right)])",
            ),
            (
                BILINEAR,
                'torch.einsum("i,oij,j->o", left, weight, right) if left.ndim == 1 else '
                "torch.stack([bilinear(x, weight, y) for x, y in zip(left, right, strict=True)])",
            ),
        ],
        check="test_outer_no_loop",
        says="operations",
        rung="job",
    ),
    Wrong(
        "the built-in bilinear, whose leading dimensions must be equal",
        edits=[(BILINEAR, "torch.nn.functional.bilinear(left, right, weight)")],
        check="test_bilinear_broadcast",
        says="your code raised",
    ),
    Wrong(
        "flattens the leading dimensions for bmm, without broadcasting them first",
        edits=[
            (
                SCORES,
                "torch.bmm(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:]).mT)"
                ".reshape(*query.shape[:-1], -1)",
            )
        ],
        check="test_scores_broadcast",
        says="your code raised",
    ),
    Wrong(
        "squeezes every dimension of size 1",
        edits=[(BILINEAR, BILINEAR + ".squeeze()"), (OUTER, f"({OUTER.partition('  #')[0]}).squeeze()")],
        check="test_bilinear_sizes_of_one",
        says="wrong shape",
    ),
    Wrong(
        "multiplies with broadcasting and sums",
        edits=[(SCORES, "(query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)")],
        check="test_scores_need_no_third_dimension",
        says="time * source * dim",
    ),
    Wrong(
        "computes in float32 and casts back",
        edits=[
            (SCORES, "(query.float() @ key.float().mT).to(query.dtype)"),
            (
                BILINEAR,
                BILINEAR.replace("left, weight", "left.float(), weight.float()").replace(
                    "right)", "right.float()).to(left.dtype)"
                ),
            ),
        ],
        check="test_scores_dtype_is_kept",
        says="float64",
    ),
    Wrong(
        "transposes the key in place",
        edits=[("query @ key.mT", "query @ key.transpose_(-1, -2)")],
        check="test_scores_arguments_are_left_alone",
        says="changes its input key",
    ),
    Wrong(
        "views a batch as one batch of matrices, which only some layouts allow",
        edits=[
            (
                SCORES,
                "query @ key.view(-1, *key.shape[-2:]).mT.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])",
            ),
            (BILINEAR, BILINEAR.replace("left,", "left.view(-1, left.shape[-1]).view(left.shape),")),
        ],
        check="test_scores_strides",
        says="view size is not compatible",
    ),
    Works(
        "matmul with transpose, None in the index, and torch's bilinear",
        code="""
import torch
import torch.nn.functional as F

def scores(query, key):
    return torch.matmul(query, key.transpose(-2, -1))

def outer(left, right):
    return left[..., :, None] * right[..., None, :]

def bilinear(left, weight, right):
    return F.bilinear(left, right, weight)
""",
    ),
    Works(
        "sums of broadcast products, as NumPy's texts have them",
        code="""
import torch

def scores(query, key):
    return (query[..., :, None, :] * key[..., None, :, :]).sum(dim=-1)

def outer(left, right):
    return torch.matmul(left.unsqueeze(-1), right.unsqueeze(-2))

def bilinear(left, weight, right):
    return (outer(left, right).unsqueeze(-3) * weight).sum(dim=(-2, -1))
""",
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
]
