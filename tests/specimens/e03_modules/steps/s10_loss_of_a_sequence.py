"""Answers to loss_of_a_sequence."""

from grader.authoring.specimen import Right, Wrong

LOSS = "F.cross_entropy(logits.flatten(0, 1), ids.flatten())"

SPECIMENS = [
    Wrong(
        "handed on as they are",
        edits=[(LOSS, "F.cross_entropy(logits, ids)")],
        rung="job",
        check="test_values",
        says="takes time for the classes",
    ),
    Wrong(
        "reshaped until it fits",
        edits=[(LOSS, "F.cross_entropy(logits.reshape(len(ids), -1, ids.shape[1]), ids)")],
        rung="job",
        check="test_values",
        says="reshape mixes",
    ),
    Wrong(
        "ids not flattened",
        edits=[("ids.flatten()", "ids")],
        rung="job",
        check="test_worked_example",
        says="only logits are flattened",
    ),
    Wrong(
        "everything flattened",
        edits=[("logits.flatten(0, 1)", "logits.flatten()")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "softmax first",
        edits=[("logits.flatten", "logits.softmax(-1).flatten")],
        rung="job",
        check="test_worked_example",
        says="softmax is taken twice",
    ),
    Right("the classes in dimension 1", edits=[(LOSS, "F.cross_entropy(logits.transpose(1, 2), ids)")]),
    Right(
        "by view",
        edits=[(LOSS, "F.cross_entropy(logits.view(-1, logits.shape[-1]), ids.view(-1))")],
    ),
    Right(
        "text by text",
        edits=[(LOSS, "sum(F.cross_entropy(x, y) for x, y in zip(logits, ids)) / len(ids)")],
    ),
]
