"""Answers to freeze_the_body."""

from grader.authoring.specimen import Right, Wrong

ALL, HEAD = "    model.requires_grad_(False)\n", "    model.head.requires_grad_(True)"

SPECIMENS = [
    Wrong(
        "the body only",
        edits=[(ALL, ""), (HEAD, "    model.body.requires_grad_(False)")],
        rung="job",
        check="test_values",
        says="only model.body is frozen",
    ),
    Wrong(
        "all of it",
        edits=[(HEAD, "")],
        rung="job",
        check="test_worked_example",
        says="the head is frozen as well",
    ),
    Wrong(
        "the wrong order",
        edits=[(ALL, ""), (HEAD, HEAD + "\n    model.requires_grad_(False)")],
        rung="job",
        check="test_worked_example",
        says="the head is frozen as well",
    ),
    Wrong(
        "an attribute that nobody looks at",
        edits=[(ALL, "    model.requires_grad = False\n"), (HEAD, "    model.head.requires_grad = True")],
        rung="job",
        check="test_worked_example",
        says="model.body is still trained",
    ),
    Right(
        "parameter by parameter",
        edits=[
            (ALL, "    for p in model.parameters():\n        p.requires_grad = False\n"),
            (HEAD, "    for p in model.head.parameters():\n        p.requires_grad = True"),
        ],
    ),
    Right(
        "by name",
        edits=[
            (ALL, ""),
            (
                HEAD,
                "    for name, p in model.named_parameters():\n        p.requires_grad_(name.startswith('head.'))",
            ),
        ],
    ),
    Right(
        "all children but one",
        edits=[
            (ALL, ""),
            (
                HEAD,
                "    for part in model.children():\n        if part is not model.head:\n            part.requires_grad_(False)",
            ),
        ],
    ),
]
