"""Answers to fused_attention."""

from grader.authoring.specimen import Right, Wrong

CALL = "F.scaled_dot_product_attention(q, k, v, is_causal=True)"

SPECIMENS = [
    Wrong(
        "not causal",
        edits=[(", is_causal=True", "")],
        rung="job",
        check="test_worked_example",
        says="is_causal=True is missing",
    ),
    Wrong(
        "no scale",
        edits=[("is_causal=True", "is_causal=True, scale=1.0")],
        rung="job",
        check="test_values",
        says="root of dim",
    ),
    Wrong(
        "exchanged", edits=[("(q, k, v, ", "(q, v, k, ")], rung="job", check="test_values", says="exchanged"
    ),
    Wrong(
        "a mask that hides what it should show",
        edits=[
            ("is_causal=True", "attn_mask=torch.ones(q.shape[-2], q.shape[-2]).triu().bool()"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "a mask",
        edits=[
            ("is_causal=True", "attn_mask=torch.ones(q.shape[-2], q.shape[-2]).tril().bool()"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right(
        "by hand",
        edits=[
            (
                f"    return {CALL}",
                "    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5\n"
                "    later = torch.triu(torch.ones_like(scores), 1) > 0\n"
                '    return F.softmax(scores.masked_fill(later, float("-inf")), -1) @ v',
            ),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
