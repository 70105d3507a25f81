"""Answers to one_epoch."""

from grader.authoring.specimen import Right, Wrong

CLEAR = "        optimizer.zero_grad()\n"
KEEP, RETURN = "losses.append(loss.item())\n", "    return sum(losses) / len(losses)\n"

SPECIMENS = [
    Wrong(
        "cleared once, before the loop",
        edits=[(CLEAR, ""), ("    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n")],
        rung="job",
        check="test_worked_example",
        says="in every turn of the loop",
    ),
    Wrong(
        "returned from the loop",
        edits=[(RETURN, "    " + RETURN)],
        rung="job",
        check="test_worked_example",
        says="inside the loop",
    ),
    Wrong(
        "the last loss",
        edits=[(RETURN, "    return loss.item()\n")],
        rung="job",
        check="test_worked_example",
        says="the mean of all",
    ),
    Wrong(
        "the sum",
        edits=[(RETURN, "    return sum(losses)\n")],
        rung="job",
        check="test_worked_example",
        says="divide by the number of batches",
    ),
    Wrong(
        "a tensor",
        edits=[(KEEP, "losses.append(loss)\n")],
        rung="job",
        check="test_worked_example",
        says="a Python float",
    ),
    Right(
        "a running total",
        edits=[
            ("losses = []", "total = 0.0"),
            (KEEP, "total += loss.item()\n"),
            (RETURN, "    return total / len(loader)\n"),
        ],
    ),
    Right("cleared after the step", edits=[(CLEAR, ""), (KEEP, KEEP + CLEAR)]),
    Right(
        "weighed by rows",
        edits=[
            (KEEP, "losses += [loss.item()] * len(x)\n"),
        ],
    ),
]
