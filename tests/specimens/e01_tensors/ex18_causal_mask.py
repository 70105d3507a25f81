"""Answers to causal_mask that people write."""

from grader.authoring.specimen import Right, Wrong

REFUSE = """    if queries > keys:
        raise ValueError(f"{queries} queries cannot be the last positions of {keys} keys")
"""
PAIRS = "every_pair = torch.ones(queries, keys, dtype=torch.bool, device=device)"
TRIANGLE = "every_pair.tril(diagonal=keys - queries)  # (queries, keys)"
FILL = "scores.masked_fill(~visible, -math.inf)  # (*batch, query, key)"

SPECIMENS = [
    Wrong(
        "positions in int16",
        edits=[
            (PAIRS, "at = torch.arange(keys, dtype=torch.int16, device=device)"),
            (TRIANGLE, "at <= at[keys - queries :, None]"),
        ],
        check="test_mask",
        says="only where key",
    ),
    Wrong(
        "keeps the mask of an inference mode, which no backward may use",
        edits=[
            (FILL, "scores.masked_fill(_hidden(*scores.shape[-2:], scores.device), -math.inf)"),
            (
                "def mask_scores",
                "@functools.lru_cache(maxsize=32)\ndef _hidden(queries, keys, device):\n"
                "    return ~causal_mask(queries, keys, device)\n\n\ndef mask_scores",
            ),
            ("import math\n", "import functools\nimport math\n"),
        ],
        check="test_gradient",
        says="Inference tensors",
    ),
    Wrong(
        "writes -inf by rows and columns, whose number the host waits for",
        edits=[
            (
                f"return {FILL}",
                "rows, columns = torch.nonzero(~visible, as_tuple=True)\n    result = scores.clone()\n"
                "    result[..., rows, columns] = -math.inf\n    return result",
            )
        ],
        check="test_made_on_the_device",
        says="waits: 1",
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
    Wrong(
        "counts the queries from the start of the keys",
        edits=[(TRIANGLE, "every_pair.tril()")],
        check="test_mask",
    ),
    Wrong(
        "a query may not see itself",
        edits=[(TRIANGLE, "every_pair.tril(diagonal=keys - queries - 1)")],
        check="test_mask",
        says="diagonal",
    ),
    Wrong(
        "True where hidden",
        edits=[(TRIANGLE, "~every_pair.tril(diagonal=keys - queries)"), ("~visible", "visible")],
        check="test_mask",
    ),
    Wrong(
        "a mask of floats",
        edits=[
            (PAIRS, "every_pair = torch.ones(queries, keys, device=device)"),
            ("~visible", "visible == 0"),
        ],
        check="test_mask",
        says="float32",
    ),
    Wrong(
        "one leading dimension, no more and no less",
        edits=[
            (
                "    visible = causal_mask(*scores.shape[-2:]",
                "    batch, query, key = scores.shape\n    visible = causal_mask(query, key",
            )
        ],
        check="test_scores",
    ),
    Wrong(
        "-1e9 for -inf",
        edits=[("-math.inf)  # (*batch", "-1e9)  # (*batch")],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "the lowest number of the dtype for -inf",
        edits=[("-math.inf)  # (*batch", "torch.finfo(scores.dtype).min)  # (*batch")],
        check="test_scores",
    ),
    Wrong(
        "adds a float32 mask",
        edits=[
            (
                FILL,
                "torch.where(visible, 0.0, torch.full(visible.shape, -math.inf, device=scores.device)) + scores",
            )
        ],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "adds -inf, which inf and NaN withstand",
        edits=[
            (FILL, "scores + torch.zeros_like(visible, dtype=scores.dtype).masked_fill(~visible, -math.inf)")
        ],
        check="test_garbage_in_the_future",
        says="nan",
    ),
    Wrong(
        "0 times inf",
        edits=[(FILL, "scores - (~visible).to(scores.dtype) * math.inf")],
        check="test_scores",
    ),
    Wrong(
        "views the scores as one batch",
        edits=[
            (
                FILL,
                "scores.view(-1, *visible.shape).masked_fill(~visible, -math.inf).view(scores.shape) if scores.numel() else scores.clone()",
            )
        ],
        check="test_strided_scores",
    ),
    Wrong(
        "fills in place",
        edits=[
            (
                FILL,
                "scores.masked_fill_(~visible, -math.inf) if not scores.requires_grad else scores.masked_fill(~visible, -math.inf)",
            )
        ],
        check="test_scores_are_left_alone",
        says="changes its input scores",
    ),
    Wrong(
        "a single query needs no mask: hands the scores back",
        edits=[
            (
                "    visible = causal_mask(",
                "    if scores.shape[-2] == 1:\n        return scores\n    visible = causal_mask(",
            )
        ],
        check="test_scores_are_left_alone",
        says="view of its input",
    ),
    Wrong(
        "a mask for every element of the batch",
        edits=[(FILL, "scores.masked_fill(~visible.repeat(*scores.shape[:-2], 1, 1), -math.inf)")],
        check="test_one_mask_for_the_whole_batch",
        says="broadcasts",
    ),
    Wrong(
        "makes the scores contiguous first",
        edits=[(FILL, "scores.contiguous().masked_fill(~visible, -math.inf)")],
        check="test_one_mask_for_the_whole_batch",
        says="transposed",
    ),
    Wrong(
        "masks in float32 and casts back",
        edits=[
            (
                FILL,
                "(scores if scores.dtype.itemsize > 2 else scores.float()).masked_fill(~visible, -math.inf).to(scores.dtype)",
            )
        ],
        check="test_one_mask_for_the_whole_batch",
        says="float16",
    ),
    Wrong(
        "an empty batch before its shape is looked at",
        edits=[
            (
                "    visible = causal_mask(*scores",
                "    if scores.numel() == 0:\n        return scores.clone()\n    visible = causal_mask(*scores",
            )
        ],
        check="test_too_many_queries",
        says="no error",
    ),
    Wrong(
        "where with a full tensor of -inf",
        edits=[(FILL, "torch.where(visible, scores, torch.full_like(scores, -math.inf))")],
        check="test_one_mask_for_the_whole_batch",
        says="fill value",
    ),
    Wrong(
        "row by row",
        edits=[
            (
                TRIANGLE,
                "torch.stack([torch.arange(keys, device=device) <= q + keys - queries for q in range(queries)]) if queries else every_pair",
            )
        ],
        check="test_no_loop",
        says="loop",
    ),
    Wrong(
        "detaches",
        edits=[(FILL, "scores.data.masked_fill(~visible, -math.inf)")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "makes the mask on the CPU and moves it",
        edits=[(PAIRS, "every_pair = torch.ones(queries, keys, dtype=torch.bool).to(device)")],
        check="test_made_on_the_device",
        says="between host and device",
    ),
    Wrong(
        "forgets the device",
        edits=[(", device=scores.device)", ")")],
        check="test_made_on_the_device",
    ),
    Wrong(
        "keeps masks by their sizes, whatever the device",
        edits=[
            (
                PAIRS,
                "if (queries, keys) not in KEPT:\n        KEPT[queries, keys] = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)",
            ),
            (TRIANGLE, "KEPT[queries, keys].clone()\n\n\nKEPT = {}"),
        ],
        check="test_made_on_the_device",
    ),
    Wrong(
        "hands out the mask that it keeps",
        edits=[
            (
                PAIRS,
                "if (queries, keys, device) not in KEPT:\n        KEPT[queries, keys, device] = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)",
            ),
            (TRIANGLE, "KEPT[queries, keys, device]\n\n\nKEPT = {}"),
        ],
        check="test_masks_are_independent",
    ),
    Wrong(
        "None means the CPU, whatever the default device is",
        edits=[(PAIRS, "every_pair = torch.ones(queries, keys, dtype=torch.bool, device=device or 'cpu')")],
        check="test_default_device",
    ),
    Wrong(
        "lets too many queries pass",
        edits=[(REFUSE, "")],
        check="test_too_many_queries",
        says="no error",
    ),
    Wrong(
        "asserts",
        edits=[(REFUSE, "    assert queries <= keys\n")],
        check="test_too_many_queries",
        says="AssertionError",
    ),
    Wrong(
        "positions in the dtype of the scores, in which bfloat16 counts to 256",
        edits=[
            (
                "    visible = causal_mask(*scores.shape[-2:], device=scores.device)  # (query, key)\n",
                "    queries, keys = scores.shape[-2:]\n"
                "    causal_mask(queries, keys, scores.device)\n"
                "    position = torch.arange(keys, dtype=scores.dtype, device=scores.device)\n"
                "    visible = position <= position[keys - queries :, None]\n",
            )
        ],
        check="test_dtype_is_kept",
        says="positions are counted in torch.bfloat16",
    ),
    Wrong(
        "positions in float16, which counts to 2048",
        edits=[
            (
                "    return every_pair.tril(diagonal=keys - queries)",
                "    at = torch.arange(keys, device=device).half()\n    return at <= at[keys - queries:, None]",
            )
        ],
        check="test_mask",
    ),
    Wrong(
        "a copy without gradients for a single query, which hides nothing",
        edits=[
            (
                "    return scores.masked_fill",
                "    if scores.shape[-2] == 1:\n        return scores.detach().clone()\n    return scores.masked_fill",
            )
        ],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "one True, seen as a whole row, for a single query",
        edits=[
            (
                "    every_pair = torch.ones",
                "    if queries == 1:\n"
                "        return torch.ones(1, 1, dtype=torch.bool, device=device).expand(1, keys)\n"
                "    every_pair = torch.ones",
            )
        ],
        check="test_masks_are_independent",
        says="after mask[0, 0] = False",
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
        "a triangle of floats, made bool; clone and fill",
        code="""
import torch

def causal_mask(queries, keys, device=None):
    offset = keys - queries
    if offset < 0:
        raise ValueError(f"{queries} queries but only {keys} keys")
    return torch.triu(torch.ones((queries, keys), device=device), diagonal=offset + 1) == 0

def mask_scores(scores):
    hidden = causal_mask(*scores.shape[-2:], device=scores.device).logical_not()
    out = scores.clone()
    out.masked_fill_(hidden, float("-inf"))
    return out
""",
    ),
    Wrong(
        "works in place where no gradient is recorded",
        edits=[
            (
                FILL,
                "scores.masked_fill(~visible, -math.inf) if torch.is_grad_enabled() else scores.masked_fill_(~visible, -math.inf)",
            )
        ],
        check="test_scores_are_left_alone",
        says="under no_grad",
    ),
]
