"""Answers to norms_of_gradients."""

from grader.authoring.specimen import Right, Wrong

NORM = "p.grad.norm().item()"
ALL = f"{{name: {NORM} for name, p in model.named_parameters()}}"

SPECIMENS = [
    Wrong(
        "the norms of the parameters",
        edits=[(NORM, "p.norm().item()")],
        rung="job",
        check="test_values",
        says="norms of the parameters",
    ),
    Wrong(
        "no root",
        edits=[(NORM, "(p.grad ** 2).sum().item()")],
        rung="job",
        check="test_values",
        says="square root is missing",
    ),
    Wrong("tensors", edits=[(NORM, "p.grad.norm()")], rung="job", check="test_worked_example"),
    Wrong("a list", edits=[(ALL, f"[{NORM} for p in model.parameters()]")], rung="job", check="test_values"),
    Right(
        "a loop",
        edits=[
            (
                f"    return {ALL}",
                "    norms = {}\n    for name, p in model.named_parameters():\n"
                "        norms[name] = float((p.grad**2).sum() ** 0.5)\n    return norms",
            )
        ],
    ),
    Right(
        "torch.linalg",
        edits=[(NORM, "torch.linalg.vector_norm(p.grad).item()"), ("from torch", "import torch\nfrom torch")],
    ),
]
