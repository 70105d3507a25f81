"""Answers to inputs_and_what_follows."""

from grader.authoring.specimen import Right, Wrong

INPUTS, TARGETS = "return tokens[:-1],", ", tokens[1:]"

SPECIMENS = [
    Wrong(
        "the wrong way round",
        edits=[(INPUTS + TARGETS[1:], "return tokens[1:], tokens[:-1]")],
        rung="job",
        check="test_worked_example",
        says="wrong way round",
    ),
    Wrong(
        "not moved",
        edits=[(TARGETS, ", tokens[:-1]")],
        rung="job",
        check="test_worked_example",
        says="one place on",
    ),
    Wrong(
        "the last is an input",
        edits=[(INPUTS, "return tokens,")],
        rung="job",
        check="test_worked_example",
        says="last token is no input",
    ),
    Wrong(
        "only the last",
        edits=[(TARGETS, ", tokens[-1:]")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "for rows of four",
        edits=[(INPUTS, "return tokens[:3],"), (TARGETS, ", tokens[1:4]")],
        rung="job",
        check="test_values",
    ),
    Right("with the length", edits=[(INPUTS, "return tokens[0 : len(tokens) - 1],")]),
    Right(
        "lists",
        edits=[
            (
                INPUTS + TARGETS[1:],
                "t = tokens.tolist()\n    return torch.tensor(t[:-1]), torch.tensor(t[1:])",
            ),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
