"""Answers to average_the_gradients."""

from grader.authoring.specimen import Right, Wrong

DIVIDE = "        p.grad /= dist.get_world_size()\n"
REDUCE = "dist.all_reduce(p.grad)"

SPECIMENS = [
    Wrong("the sum", edits=[(DIVIDE, "")], rung="job", check="test_worked_example", says="divide it"),
    Wrong(
        "averages the parameters",
        edits=[(REDUCE, "dist.all_reduce(p.data)"), (DIVIDE, "        p.data /= dist.get_world_size()\n")],
        rung="job",
        check="test_values",
        says="the rank's own gradient",
    ),
    Wrong(
        "a new tensor, which nobody looks at",
        edits=[(DIVIDE, "        grad = p.grad / dist.get_world_size()\n")],
        rung="job",
        check="test_values",
        says="divide it",
    ),
    Wrong(
        "divides alone",
        edits=[(f"        {REDUCE}\n", "")],
        rung="job",
        check="test_values",
        says="own gradient, divided",
    ),
    Wrong("two ranks always", edits=[("/= dist.get_world_size()", "/= 2")], rung="job", check="test_values"),
    Right(
        "divides first",
        edits=[
            (f"        {REDUCE}\n{DIVIDE}", f"        p.grad.div_(dist.get_world_size())\n        {REDUCE}\n")
        ],
    ),
    Right(
        "new tensors as gradients",
        edits=[
            (
                f"        {REDUCE}\n{DIVIDE}",
                "        total = p.grad.clone()\n        dist.all_reduce(total)\n        p.grad = total / dist.get_world_size()\n",
            )
        ],
    ),
]
