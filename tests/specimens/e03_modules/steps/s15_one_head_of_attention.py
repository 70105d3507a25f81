"""Answers to one_head_of_attention."""

from grader.authoring.specimen import Right, Wrong

SCORES = "q @ k.T / q.shape[1] ** 0.5"

SPECIMENS = [
    Wrong("no √d", edits=[(SCORES, "q @ k.T")], rung="job", check="test_values", says="√d is missing"),
    Wrong(
        "divided by d",
        edits=[(SCORES, "q @ k.T / q.shape[1]")],
        rung="job",
        check="test_values",
        says="not by √d",
    ),
    Wrong(
        "the number of words for d",
        edits=[("q.shape[1]", "len(q)")],
        rung="job",
        check="test_values",
        says="number of words",
    ),
    Wrong(
        "softmax down the columns",
        edits=[("softmax(dim=1)", "softmax(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="down the columns",
    ),
    Wrong(
        "k not transposed",
        edits=[("k.T", "k")],
        rung="job",
        check="test_values",
        says="k is not transposed",
    ),
    Right(
        "by PyTorch's own function",
        edits=[
            (
                "    return scores.softmax(dim=1) @ v",
                "    import torch\n    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]",
            )
        ],
    ),
    Right(
        "word by word",
        edits=[
            (
                "    return scores.softmax(dim=1) @ v",
                "    import torch\n    return torch.stack([(row.softmax(0).unsqueeze(1) * v).sum(0) for row in scores])",
            )
        ],
    ),
]
