"""Answers to did_it_move."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "no copy",
        edits=[(".detach().clone()", "")],
        rung="job",
        check="test_worked_example",
        says="nothing was copied",
    ),
    Wrong(
        "detached is no copy",
        edits=[(".clone()", "")],
        rung="job",
        check="test_values",
        says="nothing was copied",
    ),
    Wrong(
        "those that moved",
        edits=[("if torch.equal", "if not torch.equal")],
        rung="job",
        check="test_values",
        says="parameters that moved",
    ),
    Wrong("no step", edits=[("    step()\n", "")], rung="job", check="test_values", says="never called"),
    Right(
        "a copy of the whole model",
        edits=[
            ("from collections.abc", "import copy\nfrom collections.abc"),
            (
                "{name: p.detach().clone() for name, p in model.named_parameters()}",
                "copy.deepcopy(model).state_dict()",
            ),
        ],
    ),
    Right(
        "a loop",
        edits=[
            (
                "    return [name for name, p in model.named_parameters() if torch.equal(p, before[name])]",
                "    names = []\n    for name, p in model.named_parameters():\n"
                "        if (p == before[name]).all():\n            names.append(name)\n    return names",
            )
        ],
    ),
]
