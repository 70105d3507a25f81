"""Answers to clip_then_step."""

from grader.authoring.specimen import Right, Wrong

BACKWARD, STEP = "    loss.backward()\n", "    optimizer.step()\n"
CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)\n"

SPECIMENS = [
    Wrong(
        "clipped before backward",
        edits=[(BACKWARD + CLIP, CLIP + BACKWARD)],
        rung="job",
        check="test_worked_example",
        says="clip after backward",
    ),
    Wrong(
        "clipped after the step",
        edits=[(CLIP + STEP, STEP + CLIP)],
        rung="job",
        check="test_worked_example",
        says="before step",
    ),
    Wrong(
        "each number",
        edits=[(CLIP, "    nn.utils.clip_grad_value_(model.parameters(), 1.0)\n")],
        rung="job",
        check="test_worked_example",
        says="each number",
    ),
    Wrong(
        "each parameter",
        edits=[(CLIP, "    for p in model.parameters():\n        nn.utils.clip_grad_norm_(p, 1.0)\n")],
        rung="job",
        check="test_worked_example",
        says="each parameter",
    ),
    Wrong(
        "always of norm 1",
        edits=[
            (
                CLIP,
                "    norm = nn.utils.get_total_norm([p.grad for p in model.parameters()])\n"
                "    for p in model.parameters():\n        p.grad /= norm\n",
            )
        ],
        rung="job",
        check="test_values",
        says="only longer ones",
    ),
    Right(
        "cleared at the end",
        edits=[("    optimizer.zero_grad()\n", ""), (STEP, STEP + "    model.zero_grad()\n")],
    ),
    Right(
        "by hand",
        edits=[
            (
                CLIP,
                "    norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5\n"
                "    if norm > 1:\n        for p in model.parameters():\n            p.grad = p.grad / norm\n",
            )
        ],
    ),
]
