"""Answers to how_many_numbers."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "counts tensors",
        edits=[
            ("sum(p.numel() for p in model.parameters())", "len(list(model.parameters()))"),
            (
                "sum(p.numel() for p in model.parameters() if p.requires_grad)",
                "len([p for p in model.parameters() if p.requires_grad])",
            ),
        ],
        rung="job",
        check="test_worked_example",
        says="the tensors are counted",
    ),
    Wrong(
        "everything is trained",
        edits=[(" if p.requires_grad", "")],
        rung="job",
        check="test_worked_example",
        says="counted as trained",
    ),
    Wrong(
        "the frozen ones",
        edits=[("if p.requires_grad", "if not p.requires_grad")],
        rung="job",
        check="test_worked_example",
        says="the frozen ones are counted",
    ),
    Wrong(
        "weight and bias of one layer",
        code="""
def how_many_numbers(model):
    parts = [model.weight, model.bias]
    return sum(p.numel() for p in parts), sum(p.numel() for p in parts if p.requires_grad)
""",
        rung="job",
        check="test_values",
    ),
    Right(
        "a loop",
        code="""
def how_many_numbers(model):
    total = 0
    trained = 0
    for p in model.parameters():
        total += p.numel()
        if p.requires_grad:
            trained += p.numel()
    return total, trained
""",
    ),
    Right(
        "by name, the product of the shape",
        code="""
import math

def how_many_numbers(model):
    sizes = {name: math.prod(p.shape) for name, p in model.named_parameters()}
    frozen = [name for name, p in model.named_parameters() if not p.requires_grad]
    return sum(sizes.values()), sum(sizes.values()) - sum(sizes[name] for name in frozen)
""",
    ),
]
