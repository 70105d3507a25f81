"""Answers to causal_mask that people write."""

from grader.authoring.specimen import Right, Works, Wrong

REFUSE = """    if queries > keys:
        raise ValueError(f"{queries} queries cannot be the last positions of {keys} keys")
"""
PAIRS = "every_pair = torch.ones(queries, keys, dtype=torch.bool, device=device)"
TRIANGLE = "every_pair.tril(diagonal=keys - queries)  # (queries, keys)"
FILL = "scores.masked_fill(~visible, -math.inf)  # (*batch, query, key)"

SPECIMENS = [
    Wrong(
        "counts the queries from the start of the keys",
        edits=[(TRIANGLE, "every_pair.tril()")],
        check="test_mask_values",
        says="start of the keys",
        rung="job",
    ),
    Wrong(
        "a query may not see itself",
        edits=[(TRIANGLE, "every_pair.tril(diagonal=keys - queries - 1)")],
        check="test_mask_values",
        says="its own position",
        rung="job",
    ),
    Wrong(
        "True where hidden",
        edits=[(TRIANGLE, "~every_pair.tril(diagonal=keys - queries)"), ("~visible", "visible")],
        check="test_mask_values",
        says="True where the key is hidden",
        rung="job",
    ),
    Wrong(
        "a mask of floats",
        edits=[
            (PAIRS, "every_pair = torch.ones(queries, keys, device=device)"),
            ("~visible", "visible == 0"),
        ],
        check="test_mask_values",
        says="float32",
        rung="job",
    ),
    Wrong(
        "row by row",
        edits=[
            (
                TRIANGLE,
                "torch.stack([torch.arange(keys, device=device) <= q + keys - queries for q in range(queries)])",
            )
        ],
        check="test_mask_no_loop",
        says="operations",
        rung="job",
    ),
    Wrong(
        "forgets the device",
        edits=[("dtype=torch.bool, device=device)", "dtype=torch.bool)")],
        check="test_device_asked_for",
        says="another device",
        rung="job",
    ),
    Wrong(
        "one leading dimension, no more and no less",
        edits=[
            (
                "    visible = causal_mask(*scores.shape[-2:]",
                "    batch, query, key = scores.shape\n    visible = causal_mask(query, key",
            )
        ],
        check="test_scores_values",
        says="too many values to unpack",
        rung="job",
    ),
    Wrong(
        "-1e9 for -inf",
        edits=[("-math.inf)  # (*batch", "-1e9)  # (*batch")],
        check="test_scores_values",
        says="-1e+09",
        rung="job",
    ),
    Wrong(
        "one batch after the other",
        edits=[
            (
                FILL,
                "(scores.masked_fill(~visible, -math.inf) if scores.ndim == 2 else "
                "torch.stack([mask_scores(one) for one in scores]))",
            )
        ],
        check="test_scores_no_loop",
        says="operations",
        rung="job",
    ),
    Wrong(
        "the data alone: no gradient comes back",
        edits=[(FILL, "scores.data.masked_fill(~visible, -math.inf)")],
        check="test_weights_gradients",
        says="gradient",
        rung="job",
    ),
    Wrong(
        "lets too many queries pass",
        edits=[(REFUSE, "")],
        check="test_scores_errors",
        says="no error",
    ),
    Wrong(
        "adds a float32 mask",
        edits=[
            (
                FILL,
                "scores + torch.zeros(visible.shape, device=scores.device).masked_fill(~visible, -math.inf)",
            )
        ],
        check="test_scores_dtype_is_kept",
        says="float32",
    ),
    Wrong(
        "views the scores as one batch",
        edits=[(FILL, "scores.view(-1, *visible.shape).masked_fill(~visible, -math.inf).view(scores.shape)")],
        check="test_scores_strides",
        says="view size is not compatible",
    ),
    Wrong(
        "where with a full tensor of -inf",
        edits=[(FILL, "torch.where(visible, scores, torch.full_like(scores, -math.inf))")],
        check="test_one_plane_for_the_batch",
        says="fill value",
    ),
    Wrong(
        "makes the mask on the CPU and moves it",
        edits=[(PAIRS, "every_pair = torch.ones(queries, keys, dtype=torch.bool).to(device)")],
        check="test_scores_stays_on_the_device",
        says="between host and device",
    ),
    Works(
        "a triangle and masked_fill in place, as many a tutorial has it",
        code="""
import torch

def causal_mask(queries, keys, device=None):
    return torch.tril(torch.ones(queries, keys, device=device), diagonal=keys - queries).bool()

def mask_scores(scores):
    mask = causal_mask(scores.size(-2), scores.size(-1), scores.device)
    return scores.masked_fill_(mask == 0, float("-inf"))
""",
    ),
    Works(
        "a mask that is added, as Hugging Face and PyTorch's documentation of attention have it",
        code="""
import torch

def causal_mask(queries, keys, device=None):
    return ~torch.triu(torch.ones(queries, keys, dtype=torch.bool, device=device), diagonal=keys - queries + 1)

def mask_scores(scores):
    L, S = scores.size(-2), scores.size(-1)
    attn_bias = torch.zeros(L, S, dtype=scores.dtype)
    attn_bias.masked_fill_(causal_mask(L, S).logical_not(), float("-inf"))
    return scores + attn_bias
""",
    ),
    Right(
        "positions compared, where with a number",
        code="""
import torch

def causal_mask(queries, keys, device=None):
    if keys < queries:
        raise ValueError("more queries than keys")
    key = torch.arange(keys, device=device)
    query = torch.arange(keys - queries, keys, device=device)
    return key[None, :] <= query[:, None]

def mask_scores(scores):
    t, s = scores.size(-2), scores.size(-1)
    return torch.where(causal_mask(t, s, scores.device), scores, float("-inf"))
""",
    ),
    Right(
        "writes -inf by a mask as the index",
        edits=[
            (
                f"return {FILL}",
                "result = scores.clone()\n    result[..., ~visible] = -math.inf\n    return result",
            )
        ],
    ),
]
