"""Answers to no_recording."""

from grader.authoring.specimen import Right, Wrong

BODY = "    with torch.no_grad():\n        return x @ w"

SPECIMENS = [
    Wrong(
        "recorded",
        edits=[(BODY, "    return x @ w")],
        rung="job",
        check="test_nothing_is_recorded",
        says="was recorded",
    ),
    Wrong(
        "x without a record",
        edits=[(BODY, "    with torch.no_grad():\n        x = x * 1\n    return x @ w")],
        rung="job",
        check="test_nothing_is_recorded",
        says="was recorded",
    ),
    Wrong(
        "w is switched off",
        edits=[(BODY, "    w.requires_grad_(False)\n    return x @ w")],
        rung="job",
        check="test_w_still_learns",
        says="no longer requires",
    ),
    Wrong(
        "a sum of everything",
        edits=[("return x @ w", "return (x * w).sum()")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "products that are not added up",
        edits=[("return x @ w", "return x * w")],
        rung="job",
        check="test_worked_example",
    ),
    Right("detached afterwards", edits=[(BODY, "    return (x @ w).detach()")]),
    Right(
        "inference mode, and a sum",
        edits=[(BODY, "    with torch.inference_mode():\n        return (x * w).sum(dim=1)")],
    ),
]
