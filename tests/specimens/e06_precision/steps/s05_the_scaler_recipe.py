"""Answers to the_scaler_recipe."""

from grader.authoring.specimen import Right, Wrong

BACKWARD, STEP, UPDATE = "scaler.scale(loss).backward()", "scaler.step(optimizer)", "scaler.update()"

SPECIMENS = [
    Wrong(
        "the optimizer's own step",
        edits=[(STEP, "optimizer.step()"), (UPDATE, "pass")],
        rung="job",
        check="test_step",
        says="still scaled",
    ),
    Wrong(
        "backward of the loss as it is",
        edits=[(BACKWARD, "scaler.scale(loss)\n    loss.backward()")],
        rung="job",
        check="test_step",
        says="was not scaled",
    ),
    Wrong("no update", edits=[(UPDATE, "pass")], rung="job", check="test_update", says="update() is missing"),
    Wrong(
        "both steps",
        edits=[(STEP, STEP + "\n    optimizer.step()")],
        rung="job",
        check="test_step",
        says="two steps",
    ),
    Wrong(
        "no scaler at all",
        edits=[(BACKWARD, "loss.backward()"), (STEP, "optimizer.step()"), (UPDATE, "pass")],
        rung="job",
        check="test_infinite_gradients",
    ),
    Right(
        "step by step",
        edits=[(BACKWARD, "optimizer.zero_grad()\n    scaled = scaler.scale(loss)\n    scaled.backward()")],
    ),
    Right("unscaled first, as for clipping", edits=[(STEP, "scaler.unscale_(optimizer)\n    " + STEP)]),
]
