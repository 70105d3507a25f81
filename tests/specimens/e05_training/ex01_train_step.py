"""Answers to train_step that people write."""

from grader.authoring.specimen import Right, Wrong

BODY = """    loss = loss_fn(model(inputs), targets)  # ()
    optimizer.zero_grad()  # to None, so that what gets no gradient stays where it is
    loss.backward()  # fills .grad of every parameter, and frees the activations
    optimizer.step()
    return loss.item()  # last: the host waits here for everything above
"""
ZERO = "    optimizer.zero_grad()  # to None, so that what gets no gradient stays where it is\n"
BACKWARD = "    loss.backward()  # fills .grad of every parameter, and frees the activations\n"
STEP = "    optimizer.step()\n"
RETURN = "    return loss.item()  # last: the host waits here for everything above\n"


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "targets in the dtype of predictions of their shape",
        edits=instead(
            BODY.replace(
                "    loss = loss_fn(model(inputs), targets)  # ()\n",
                "    predictions = model(inputs)\n    if isinstance(predictions, Tensor) and predictions.shape == targets.shape:\n        targets = targets.to(predictions.dtype)\n    loss = loss_fn(predictions, targets)\n",
            )
        ),
        check="test_shapes_and_dtypes_that_differ",
    ),
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_several_steps"),
    Wrong(
        "clears the gradients before the step: nothing is learned",
        edits=[(ZERO, ""), (BACKWARD, BACKWARD + ZERO)],
        check="test_several_steps",
    ),
    Wrong(
        "clears the gradients for the next step only",
        edits=[(ZERO, ""), (STEP, STEP + ZERO)],
        check="test_gradients_stay",
        says="cleared after the step",
    ),
    Wrong(
        "clears the gradients before and after",
        edits=[(STEP, STEP + "    optimizer.zero_grad()\n")],
        check="test_gradients_stay",
        says="None",
    ),
    Wrong(
        "clears the model's gradients, not the optimizer's",
        edits=[("optimizer.zero_grad()", "model.zero_grad()")],
        check="test_gradients_stay",
        says="temperature",
    ),
    Wrong(
        "zeros instead of None: momentum and decay move what is not used",
        edits=[("zero_grad()", "zero_grad(set_to_none=False)")],
        check="test_parameters_without_gradient",
        says="has a gradient",
    ),
    Wrong(
        "gives zeros to those without a gradient",
        edits=[
            (
                STEP,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is None:
                p.grad = torch.zeros_like(p)
    optimizer.step()
""",
            )
        ],
        check="test_parameters_without_gradient",
        says="has a gradient",
    ),
    Wrong(
        "clears only what is trainable",
        edits=[
            (
                ZERO,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.requires_grad:
                p.grad = None
""",
            )
        ],
        check="test_parameters_without_gradient",
        says="frozen",
    ),
    Wrong(
        "makes everything trainable first",
        edits=[("    loss = loss_fn", "    model.requires_grad_(True)\n    loss = loss_fn")],
        check="test_parameters_without_gradient",
        says="frozen",
    ),
    Wrong(
        "steps before the backward",
        edits=[(STEP, ""), (BACKWARD, STEP + BACKWARD)],
        check="test_several_steps",
    ),
    Wrong("forgets the step", edits=[(STEP, "")], check="test_called_once", says="optimizer.step"),
    Wrong("steps twice", edits=[(STEP, STEP + STEP)], check="test_called_once", says="optimizer.step"),
    Wrong(
        "moves the weights by hand, with the learning rate of the first group",
        edits=[
            (
                STEP,
                """    with torch.no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= optimizer.param_groups[0]["lr"] * p.grad
""",
            )
        ],
        check="test_several_steps",
    ),
    Wrong(
        "predictions and targets the wrong way round",
        edits=[("= loss_fn(model(inputs), targets)", "= loss_fn(targets, model(inputs))")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "turns the targets into floats",
        edits=[("= loss_fn(model(inputs), targets)", "= loss_fn(model(inputs), targets.float())")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "turns the inputs into floats",
        edits=[("= loss_fn(model(inputs)", "= loss_fn(model(inputs.float())")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "squeezes the predictions",
        edits=[
            ("= loss_fn(model(inputs), targets)", "= loss_fn(model(inputs).squeeze(), targets.squeeze())")
        ],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "drops the last dim of predictions where targets lack it",
        edits=[
            (
                "loss = loss_fn(model(inputs), targets)  # ()",
                "y = model(inputs)\n    if isinstance(y, torch.Tensor) and y.ndim == targets.ndim + 1 and y.shape[-1] == 1:\n"
                "        y = y.squeeze(-1)\n    loss = loss_fn(y, targets)",
            )
        ],
        check="test_shapes_and_dtypes_that_differ",
        says="predictions given to loss_fn",
    ),
    Wrong(
        "gives targets the shape of the predictions where they have as many elements",
        edits=[
            (
                "loss = loss_fn(model(inputs), targets)  # ()",
                "y = model(inputs)\n    if isinstance(y, torch.Tensor) and y.numel() == targets.numel():\n"
                "        targets = targets.view_as(y)\n    loss = loss_fn(y, targets)",
            )
        ],
        check="test_shapes_and_dtypes_that_differ",
        says="targets that loss_fn is given",
    ),
    Wrong(
        "floating targets in the dtype of the predictions",
        edits=[
            (
                "loss = loss_fn(model(inputs), targets)  # ()",
                "y = model(inputs)\n    if targets.is_floating_point():\n"
                "        targets = targets.to(next(model.parameters(), inputs).dtype)\n    loss = loss_fn(y, targets)",
            )
        ],
        check="test_shapes_and_dtypes_that_differ",
        says="targets that loss_fn is given",
    ),
    Wrong(
        "a float64 loss rounded to float32",
        edits=[("loss.item()", "loss.float().item()")],
        check="test_several_steps",
        says="wrong loss",
    ),
    Wrong(
        "flattens the inputs to a row for each example",
        edits=[("= loss_fn(model(inputs)", "= loss_fn(model(inputs.flatten(1))")],
        check="test_passed_on_as_they_are",
    ),
    Wrong("returns a tensor", edits=[("loss.item()", "loss")], check="test_several_steps", says="float"),
    Wrong(
        "returns a detached tensor",
        edits=[("loss.item()", "loss.detach()")],
        check="test_several_steps",
        says="float",
    ),
    Wrong(
        "returns a number of NumPy",
        edits=[("loss.item()", "loss.detach().numpy()[()]")],
        check="test_several_steps",
        says="float",
    ),
    Wrong(
        "the loss after the update",
        edits=[(RETURN, "    return loss_fn(model(inputs), targets).item()\n")],
        check="test_several_steps",
        says="before the update",
    ),
    Wrong(
        "a rounded loss",
        edits=[("loss.item()", "round(loss.item(), 2)")],
        check="test_several_steps",
        says="wrong loss",
    ),
    Wrong(
        "a loss rounded to twelve decimals, of which a small one has none",
        edits=[("loss.item()", "round(loss.item(), 12)")],
        check="test_several_steps",
        says="a step with a loss of",
    ),
    Wrong(
        "the sum over the batch",
        edits=[("loss.item()", "loss.item() * len(inputs)")],
        check="test_several_steps",
        says="wrong loss",
    ),
    Wrong(
        "keeps the graph",
        edits=[("loss.backward()", "loss.backward(retain_graph=True)")],
        check="test_graph_is_freed",
        says="activations",
    ),
    Wrong(
        "keeps a history of loss tensors",
        edits=[
            ("\n\ndef train_step(", "\n\nhistory = []\n\n\ndef train_step("),
            (STEP, STEP + "    history.append(loss)\n"),
        ],
        check="test_graph_is_freed",
        says="alive",
    ),
    Wrong(
        "puts the predictions on the model, for later",
        edits=instead("""
    model.predictions = model(inputs)
    loss = loss_fn(model.predictions, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_graph_is_freed",
        says="alive",
    ),
    Wrong(
        "gradients that carry a graph",
        edits=[("loss.backward()", "loss.backward(create_graph=True)")],
        check="test_graph_is_freed",
    ),
    Wrong(
        "switches to training mode",
        edits=[("    loss = loss_fn", "    model.train()\n    loss = loss_fn")],
        check="test_modes_are_the_callers",
        says="training flag",
    ),
    Wrong(
        "switches to training mode, and back",
        edits=instead("""
    modes = {m: m.training for m in model.modules()}
    model.train()
    loss = loss_fn(model(inputs), targets)
    for m, mode in modes.items():
        m.training = mode
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_modes_are_the_callers",
        says="statistics",
    ),
    Wrong(
        "ends in evaluation mode",
        edits=[(STEP, STEP + "    model.eval()\n")],
        check="test_modes_are_the_callers",
        says="training flag",
    ),
    Wrong(
        "calls forward: hooks do not run",
        edits=[("= loss_fn(model(inputs)", "= loss_fn(model.forward(inputs)")],
        check="test_called_once",
        says="hook",
    ),
    Wrong(
        "runs the model twice",
        edits=[
            (
                "    loss = loss_fn",
                "    if not model(inputs)[0].requires_grad:\n        return 0.0\n    loss = loss_fn",
            )
        ],
        check="test_called_once",
        says="first layer",
    ),
    Wrong(
        "computes the loss twice",
        edits=[
            (
                "loss = loss_fn(model(inputs), targets)  # ()",
                "y = model(inputs)\n    loss = loss_fn(y, targets) if loss_fn(y, targets).dim() == 0 else None",
            )
        ],
        check="test_called_once",
        says="loss_fn",
    ),
    Wrong(
        "clips the gradients",
        edits=[(STEP, "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n" + STEP)],
        check="test_nothing_else_happens",
        says="large gradients",
    ),
    Wrong(
        "skips the step where the loss is NaN or inf",
        edits=[(STEP, "    if torch.isfinite(loss):\n        optimizer.step()\n")],
        check="test_nothing_else_happens",
        says="optimizer steps",
    ),
    Wrong(
        "raises where the loss is inf",
        edits=[
            (
                RETURN,
                "    value = loss.item()\n    if value == float('inf'):\n        raise ValueError('diverged')\n    return value\n",
            )
        ],
        check="test_nothing_else_happens",
    ),
    Wrong(
        "replaces NaN in the gradients",
        edits=[
            (
                STEP,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.nan_to_num_()
"""
                + STEP,
            )
        ],
        check="test_nothing_else_happens",
        says="mended",
    ),
    Wrong(
        "takes a model in evaluation mode for one that does not learn",
        edits=instead("""
    with torch.set_grad_enabled(model.training):
        loss = loss_fn(model(inputs), targets)
    if loss.requires_grad:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
"""),
        check="test_modes_are_the_callers",
        says="no gradients",
    ),
    Wrong(
        "prints the loss",
        edits=[(RETURN, "    value = loss.item()\n    print('loss', value)\n    return value\n")],
        check="test_nothing_else_happens",
        says="prints",
    ),
    Wrong(
        "looks whether the loss is finite: waits twice",
        edits=[(BACKWARD, "    finite = bool(torch.isfinite(loss))\n" + BACKWARD)],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "computes the loss on the CPU",
        edits=[("= loss_fn(model(inputs), targets)", "= loss_fn(model(inputs).cpu(), targets.cpu())")],
        check="test_on_a_device",
    ),
    Wrong(
        "detaches the inputs",
        edits=[("loss_fn(model(inputs), targets)  # ()", "loss_fn(model(inputs.detach()), targets)")],
        check="test_inputs_and_targets_that_learn",
        says="inputs",
    ),
    Wrong(
        "detaches the targets",
        edits=[("loss_fn(model(inputs), targets)  # ()", "loss_fn(model(inputs), targets.detach())")],
        check="test_inputs_and_targets_that_learn",
        says="targets",
    ),
    Wrong(
        "makes strided inputs contiguous",
        edits=[("loss_fn(model(inputs), targets)  # ()", "loss_fn(model(inputs.contiguous()), targets)")],
        check="test_inputs_and_targets_that_learn",
        says="copies",
    ),
    Wrong(
        "moves the inputs to the model",
        edits=[
            (
                "    loss = loss_fn",
                "    inputs = inputs.to(next(model.parameters(), inputs).device)\n    loss = loss_fn",
            )
        ],
        check="test_devices_are_the_callers",
        says="inputs",
    ),
    Wrong(
        "moves the targets to the inputs",
        edits=[("    loss = loss_fn", "    targets = targets.to(inputs.device)\n    loss = loss_fn")],
        check="test_devices_are_the_callers",
        says="targets",
    ),
    Wrong(
        "moves everything to the CPU",
        edits=[
            (
                "    loss = loss_fn",
                "    model, inputs, targets = model.cpu(), inputs.cpu(), targets.cpu()\n    loss = loss_fn",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "trains in bfloat16",
        edits=[
            (
                "    loss = loss_fn(model(inputs), targets)  # ()\n",
                "    with torch.autocast(inputs.device.type, dtype=torch.bfloat16):\n        loss = loss_fn(model(inputs), targets)\n",
            )
        ],
        check="test_gradients_stay",
    ),
    Right(
        "clears first, reads the loss before the step, and converts with float",
        edits=instead("""
    optimizer.zero_grad(set_to_none=True)
    predictions = model(inputs)
    loss = loss_fn(predictions, targets)
    value = float(loss.detach().cpu())
    loss.backward()
    optimizer.step()
    return value
"""),
    ),
    Right(
        "takes the gradients with autograd.grad",
        edits=instead("""
    every = [p for group in optimizer.param_groups for p in group["params"]]
    trainable = [p for p in every if p.requires_grad]
    loss = loss_fn(model(inputs), targets)
    for p in every:
        p.grad = None
    for p, gradient in zip(trainable, torch.autograd.grad(loss, trainable, allow_unused=True)):
        p.grad = gradient
    optimizer.step()
    return loss.detach().tolist()
"""),
    ),
    Right(
        "a closure",
        edits=instead("""
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        return loss.detach()

    return optimizer.step(closure).item()
"""),
    ),
    Right(
        "both zero_grads, under enable_grad",
        edits=instead("""
    with torch.enable_grad():
        loss = loss_fn(model(inputs), targets)
    model.zero_grad()
    optimizer.zero_grad()
    torch.autograd.backward([loss])
    optimizer.step()
    number: float = loss.detach().double().cpu().numpy().item()
    return number
"""),
    ),
    Wrong(
        "keeps the loss, detached, for whoever logs it",
        edits=[(STEP, "    optimizer.step()\n    train_step.last_loss = loss.detach()\n")],
        check="test_graph_is_freed",
        says="memory of the loss",
    ),
    Wrong(
        "seeds dropout",
        edits=[(STEP, "    optimizer.step()\n    torch.manual_seed(0)\n")],
        check="test_nothing_else_happens",
        says="random stream",
    ),
    Wrong(
        "lifts predictions of half precision",
        edits=[
            (
                "loss = loss_fn(model(inputs), targets)",
                "predictions = model(inputs)\n"
                "    if torch.is_tensor(predictions) and predictions.dtype.itemsize < 4:\n"
                "        predictions = predictions.float()\n"
                "    loss = loss_fn(predictions, targets)",
            )
        ],
        check="test_shapes_and_dtypes_that_differ",
        says="bfloat16",
    ),
]
