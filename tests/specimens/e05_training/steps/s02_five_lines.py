"""Answers to five_lines."""

from grader.authoring.specimen import Right, Wrong

CLEAR, DERIVE, MOVE = "    optimizer.zero_grad()\n", "    loss.backward()\n", "    optimizer.step()\n"
NUMBER = "return loss.item()"

SPECIMENS = [
    Wrong(
        "nothing cleared", edits=[(CLEAR, "")], rung="job", check="test_values", says="gradients of the first"
    ),
    Wrong(
        "cleared after backward",
        edits=[(CLEAR + DERIVE, DERIVE + CLEAR)],
        rung="job",
        check="test_worked_example",
        says="cleared before backward",
    ),
    Wrong("no step", edits=[(MOVE, "")], rung="job", check="test_worked_example", says="the weight stays"),
    Wrong("no backward", edits=[(DERIVE, "")], rung="job", check="test_worked_example"),
    Wrong(
        "a tensor",
        edits=[(NUMBER, "return loss")],
        rung="job",
        check="test_worked_example",
        says="a Python float",
    ),
    Wrong(
        "the loss afterwards",
        edits=[(NUMBER, "return F.mse_loss(model(x), y).item()")],
        rung="job",
        check="test_worked_example",
        says="after the step",
    ),
    Right("cleared first", edits=[(CLEAR, ""), ("    prediction =", CLEAR + "    prediction =")]),
    Right("cleared at the end", edits=[(CLEAR, ""), (MOVE, MOVE + CLEAR)]),
    Right("the loss by hand", edits=[("F.mse_loss(prediction, y)", "((prediction - y) ** 2).mean()")]),
    Right("a float", edits=[(NUMBER, "return float(loss.detach())")]),
]
