"""The worked example of walk_the_graph."""

import torch

from grader.checks import expect_equal, expect_that


def example():
    w, b = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    h = w * 3.0 + b
    return h.tanh() * h - w.exp(), w, b


def test_operations_example(answer):
    """The worked example of operations."""
    named = lambda *names: [f"{name}Backward0" for name in names]  # noqa: E731
    wanted = named("Sub", "Mul", "Tanh", "Add", "Mul", "Exp")
    expect_equal(
        answer.operations(example()[0]),
        wanted,
        "operations(y)",
        suspects={
            "the last operand is followed first": lambda: named("Sub", "Exp", "Mul", "Add", "Mul", "Tanh"),
            "it is a walk breadth first": lambda: named("Sub", "Mul", "Exp", "Tanh", "Add", "Mul"),
            "only the first operand is followed": lambda: named("Sub", "Mul", "Tanh", "Add", "Mul"),
            "a name that comes twice is listed once: nodes are to be told apart, not names": lambda: (
                wanted[:4] + wanted[5:]
            ),
            "a node that is used twice is listed twice": lambda: wanted[:5] + wanted[3:],
            "the names are cut: a node's type is called SubBackward0, say": lambda: [
                name.removesuffix("Backward0") for name in wanted
            ],
            "AccumulateGrad is listed: it stands for a leaf": lambda: [
                *wanted[:5],
                *["AccumulateGrad"] * 2,
                wanted[5],
            ],
        },
    )


def test_leaves_example(answer):
    """The worked example of leaves: the tensors themselves."""
    y, *wanted = example()
    yours = list(answer.leaves(y))
    expect_equal(len(yours), 2, "the number of leaves(y)")
    for found, leaf, name in zip(yours, wanted, "wb", strict=True):
        expect_that(found is leaf, f"leaves(y) does not hold {name} itself", yours=yours, wanted=wanted)
