"""Answers to two_batches_one_step."""

from grader.authoring.specimen import Right, Wrong

CLEAR, STEP = "    optimizer.zero_grad()\n", "    optimizer.step()\n"
LOOP = "    for x, y in (first, second):\n"
BACKWARD = "        (loss / 2).backward()\n"

SPECIMENS = [
    Wrong(
        "not divided",
        edits=[("(loss / 2)", "loss")],
        rung="job",
        check="test_worked_example",
        says="divide each loss by 2",
    ),
    Wrong(
        "cleared for each",
        edits=[(CLEAR, ""), (BACKWARD, "    " + CLEAR + BACKWARD)],
        rung="job",
        check="test_worked_example",
        says="clear once",
    ),
    Wrong(
        "two steps",
        edits=[(CLEAR, ""), (STEP, "    " + STEP), (BACKWARD, "    " + CLEAR + BACKWARD)],
        rung="job",
        check="test_worked_example",
        says="after both",
    ),
    Wrong(
        "one large batch",
        edits=[
            (LOOP, "    x, y = (torch.cat(both) for both in zip(first, second))\n"),
            ("        loss =", "    loss ="),
            (BACKWARD, "    loss.backward()\n"),
        ],
        rung="job",
        check="test_one_batch_at_a_time",
        says="the rows on which the model runs",
    ),
    Right(
        "one backward of the mean",
        edits=[
            (LOOP, "    losses = []\n" + LOOP),
            (BACKWARD, "        losses.append(loss)\n    (sum(losses) / 2).backward()\n"),
        ],
    ),
    Right(
        "the gradients halved",
        edits=[
            (BACKWARD, "        loss.backward()\n    for p in model.parameters():\n        p.grad /= 2\n"),
        ],
    ),
]
