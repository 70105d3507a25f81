"""Answers to lower_the_rate."""

from grader.authoring.specimen import Right, Wrong

NOTE, TRAIN = "        rates.append(scheduler.get_last_lr()[0])\n", "        train()\n"
LOWER = "        scheduler.step()\n"

SPECIMENS = [
    Wrong(
        "lowered, then trained",
        edits=[(TRAIN + LOWER, LOWER + TRAIN)],
        rung="job",
        check="test_worked_example",
        says="behind train()",
    ),
    Wrong(
        "noted last",
        edits=[(NOTE, ""), (LOWER, LOWER + NOTE)],
        rung="job",
        check="test_worked_example",
        says="note it first",
    ),
    Wrong(
        "never lowered", edits=[(LOWER, "")], rung="job", check="test_worked_example", says="stays as it is"
    ),
    Wrong("no gamma", edits=[(", gamma=0.5", "")], rung="job", check="test_worked_example", says="a tenth"),
    Wrong(
        "not trained",
        edits=[(TRAIN, "        optimizer.step()\n")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "read from the optimizer",
        edits=[("scheduler.get_last_lr()[0]", 'optimizer.param_groups[0]["lr"]')],
    ),
    Right(
        "ExponentialLR",
        edits=[("StepLR(optimizer, step_size=1, gamma=0.5)", "ExponentialLR(optimizer, 0.5)")],
    ),
]
