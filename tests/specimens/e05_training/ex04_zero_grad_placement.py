"""Answers to zero_grad_placement that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LOSS = "        loss = loss_fn(model(inputs), targets)\n"
CLEAR = "        optimizer.zero_grad()  # before the backward, and to None: what gets no gradient stays where it is\n"
BACKWARD = "        loss.backward()\n"
CALL = "        if on_gradients is not None:\n            on_gradients()\n"
STEP = "        optimizer.step()\n"
LAST = "        losses.append(loss.item())\n"

SPECIMENS = [
    Wrong(
        "never clears",
        edits=[(CLEAR, "")],
        check="test_weights_and_losses",
        says="batches before count as well",
        rung="job",
    ),
    Wrong(
        "clears between backward and on_gradients",
        edits=[(CLEAR, ""), (CALL, CLEAR + CALL)],
        check="test_on_gradients_sees_this_batch",
        says="is None",
        rung="job",
    ),
    Wrong(
        "clears between on_gradients and the step",
        edits=[(CLEAR, ""), (STEP, CLEAR + STEP)],
        check="test_weights_and_losses",
        says="between the backward and the step",
        rung="job",
    ),
    Wrong(
        "ignores on_gradients",
        edits=[(CALL, "")],
        check="test_on_gradients_sees_this_batch",
        says="what is called, in order",
        rung="job",
    ),
    Wrong(
        "on_gradients after the step",
        edits=[(CALL, ""), (STEP, STEP + CALL)],
        check="test_on_gradients_sees_this_batch",
        says="what is called, in order",
        rung="job",
    ),
    Wrong(
        "on_gradients before the backward",
        edits=[(CALL, ""), (BACKWARD, CALL + BACKWARD)],
        check="test_on_gradients_changes_them",
        rung="job",
    ),
    Wrong(
        "gradients of all batches, one step at the end",
        edits=[
            (CLEAR, ""),
            (CALL, ""),
            (STEP, ""),
            (
                "    return losses",
                CALL[4:].replace("\n        ", "\n    ") + "    optimizer.step()\n    return losses",
            ),
        ],
        check="test_weights_and_losses",
        says="one step at the end",
        rung="job",
    ),
    Wrong(
        "the loss after the step",
        edits=[(LAST, LAST.replace("loss.item()", "loss_fn(model(inputs), targets).item()"))],
        check="test_weights_and_losses",
        says="after the steps",
        rung="job",
    ),
    Wrong(
        "returns tensors",
        edits=[(LAST, LAST.replace("loss.item()", "loss.detach()"))],
        check="test_weights_and_losses",
        says="float",
        rung="job",
    ),
    Wrong(
        "clears after the step only",
        edits=[(CLEAR, ""), (STEP, STEP + CLEAR)],
        check="test_old_gradients",
        says="old numbers count",
    ),
    Wrong(
        "clears the model",
        edits=[(CLEAR, "        model.zero_grad()\n")],
        check="test_parameters_of_others",
        says="last batch alone",
    ),
    Wrong(
        "clears with zeros",
        edits=[(CLEAR, "        optimizer.zero_grad(set_to_none=False)\n")],
        check="test_parameters_without_gradient",
        says="does not use",
    ),
    Wrong(
        "swallows the error and steps on",
        edits=[
            (
                CALL,
                "        try:\n            if on_gradients is not None:\n                on_gradients()\n"
                "        except Exception as error:\n            print(error)\n",
            )
        ],
        check="test_error_in_on_gradients",
        says="no error",
    ),
    Works(
        "as PyTorch's quickstart has it: cleared after the step",
        code="""
def train_epoch(model, loss_fn, optimizer, batches, on_gradients=None):
    losses = []
    for batch, (X, y) in enumerate(batches):
        pred = model(X)
        loss = loss_fn(pred, y)
        loss.backward()
        if on_gradients:
            on_gradients()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses
""",
    ),
    Works(
        "the model's gradients are cleared, first",
        edits=[(CLEAR, ""), (LOSS, "        model.zero_grad()\n" + LOSS)],
    ),
    Right(
        "as PyTorch's MNIST example has it: cleared first, with the loss read before the step",
        code="""
def train_epoch(model, loss_fn, optimizer, batches, on_gradients=None):
    losses = []
    for data, target in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(data), target)
        losses.append(float(loss))
        loss.backward()
        if on_gradients:
            on_gradients()
        optimizer.step()
    return losses
""",
    ),
    Right(
        "clears before the first batch and after each step",
        edits=[
            (CLEAR, ""),
            ("    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n"),
            (LAST, CLEAR + LAST),
        ],
    ),
    Right(
        "a closure",
        code="""
def train_epoch(model, loss_fn, optimizer, batches, on_gradients=None):
    def one(inputs, targets):
        def closure():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(inputs), targets)
            loss.backward()
            (on_gradients or (lambda: None))()
            return loss

        return optimizer.step(closure).item()

    return [one(*batch) for batch in batches]
""",
    ),
]
