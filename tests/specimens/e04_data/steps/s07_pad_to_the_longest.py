"""Answers to pad_to_the_longest."""

from grader.authoring.specimen import Right, Wrong

CALL = "pad_sequence(sentences, batch_first=True)"

SPECIMENS = [
    Wrong(
        "columns",
        edits=[(", batch_first=True", "")],
        rung="job",
        check="test_worked_example",
        says="became a column",
    ),
    Wrong(
        "zeros in front",
        edits=[("batch_first=True", 'batch_first=True, padding_side="left"')],
        rung="job",
        check="test_values",
        says="in front",
    ),
    Wrong(
        "stacked",
        edits=[(CALL, "torch.stack(sentences)"), ("from jaxtyping", "import torch\nfrom jaxtyping")],
        rung="job",
        check="test_worked_example",
        says="pad them first",
    ),
    Wrong(
        "cut to the shortest",
        edits=[
            (CALL, "torch.stack([s[: min(map(len, sentences))] for s in sentences])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
        rung="job",
        check="test_values",
    ),
    Right(
        "zeros first, then the words",
        edits=[
            (
                "    return " + CALL,
                "    out = torch.zeros(len(sentences), max(map(len, sentences)), dtype=torch.int64)\n    for row, s in zip(out, sentences):\n        row[: len(s)] = s\n    return out",
            ),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right("the other way round, transposed", edits=[(CALL, "pad_sequence(sentences).T")]),
]
