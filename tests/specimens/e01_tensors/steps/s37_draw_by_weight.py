"""Answers to draw_by_weight."""

from grader.authoring.specimen import Right, Wrong

LINE = "torch.multinomial(weights, 1).squeeze(1)"

SPECIMENS = [
    Wrong(
        "a column of draws",
        edits=[(LINE, "torch.multinomial(weights, 1)")],
        rung="job",
        check="test_values",
        says="`squeeze(1)` takes it away",
    ),
    Wrong(
        "the largest weight",
        edits=[(LINE, "weights.argmax(dim=1)")],
        rung="job",
        check="test_how_often",
        says="wins every time",
    ),
    Wrong(
        "weights are left out",
        edits=[(LINE, "torch.randint(weights.shape[1], (len(weights),))")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "softmax of weights",
        edits=[("multinomial(weights", "multinomial(weights.softmax(1)")],
        rung="job",
        check="test_how_often",
    ),
    Right(
        "one row after the other", edits=[(LINE, "torch.cat([torch.multinomial(row, 1) for row in weights])")]
    ),
    Right("shares first", edits=[(LINE, "torch.multinomial(weights / weights.sum(1, True), 1)[:, 0]")]),
    Right(
        "a library of distributions",
        edits=[(LINE, "torch.distributions.Categorical(weights).sample()")],
    ),
]
