"""Answers to batches_of_four."""

from grader.authoring.specimen import Right, Wrong

LENGTHS = "[len(x) for x, y in loader]"

SPECIMENS = [
    Wrong(
        "batches of one",
        edits=[(", batch_size=4", "")],
        rung="job",
        check="test_batch_size",
        says="not told batch_size=4",
    ),
    Wrong(
        "the last is dropped",
        edits=[("batch_size=4", "batch_size=4, drop_last=True")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "columns",
        edits=[("len(x)", "x.shape[1]")],
        rung="job",
        check="test_batch_size",
        says="columns were counted",
    ),
    Wrong("the number of batches", edits=[(LENGTHS, "len(loader)")], rung="job", check="test_worked_example"),
    Wrong("all fours", edits=[(LENGTHS, "[4] * len(loader)")], rung="job", check="test_values"),
    Right(
        "a loop",
        edits=[
            (
                "    return " + LENGTHS,
                "    sizes = []\n    for x, y in loader:\n        sizes.append(x.shape[0])\n    return sizes",
            )
        ],
    ),
    Right(
        "a list of pairs",
        edits=[("TensorDataset(features, labels)", "list(zip(features, labels))"), ("len(x)", "y.numel()")],
    ),
]
