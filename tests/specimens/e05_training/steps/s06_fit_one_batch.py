"""Answers to fit_one_batch."""

from grader.authoring.specimen import Right, Wrong

ANEW = "        loss = F.mse_loss(model(x), y)\n"
CLEAR, COUNT = "        optimizer.zero_grad()\n", "        steps += 1\n"
FIRST = "    loss = F.mse_loss(model(x), y)  # ()\n"

SPECIMENS = [
    Wrong(
        "the loss before the step",
        edits=[
            (FIRST, "    loss = torch.tensor(1.0)\n"),
            (ANEW, ""),
            (CLEAR, ANEW + CLEAR),
        ],
        rung="job",
        check="test_worked_example",
        says="a step too many",
    ),
    Wrong(
        "the first loss for ever", edits=[(ANEW, "")], rung="job", check="test_worked_example", says="anew"
    ),
    Wrong("nothing cleared", edits=[(CLEAR, "")], rung="job", check="test_worked_example", says="pile up"),
    Wrong(
        "no step",
        edits=[("        optimizer.step()\n", "")],
        rung="job",
        check="test_worked_example",
        says="0 steps were taken",
    ),
    Wrong(
        "counted from 0",
        edits=[("return steps", "return steps - 1")],
        rung="job",
        check="test_worked_example",
        says="not counted",
    ),
    Wrong(
        "the loss",
        edits=[("return steps", "return loss.item()")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "a loop that is left",
        edits=[
            (FIRST, ""),
            (
                "while loss.item() >= 0.01:\n",
                "while True:\n" + ANEW + "        if loss < 0.01:\n            break\n",
            ),
            (COUNT + ANEW, COUNT),
        ],
    ),
    Right(
        "returned from a for loop",
        edits=[
            ("    steps = 0\n" + FIRST, ""),
            (COUNT + ANEW + "    return steps\n", ""),
            (
                "while loss.item() >= 0.01:\n",
                "for steps in range(10_000):\n"
                + ANEW
                + "        if loss.item() < 0.01:\n            return steps\n",
            ),
        ],
    ),
]
