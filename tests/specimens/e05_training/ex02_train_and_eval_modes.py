"""Answers to train_and_eval_modes that people write."""

from grader.authoring.specimen import Right, Wrong

FIRST = "    model.eval()\n    history ="
TRAIN = "        model.train()  # again in each epoch: the validation has left evaluation mode behind\n"
EVAL = "        model.eval()\n        history.append("
LOOP = "    for _ in range(epochs):\n"
NO_GRAD = "@torch.no_grad()\n"
RETURN = "    return history\n"
STEP = "            optimizer.step()\n"

SPECIMENS = [
    Wrong(
        "evaluation mode by the flags",
        edits=[
            (FIRST, "    for layer in model.modules():\n        layer.training = False\n    history ="),
            (
                EVAL,
                "        for layer in model.modules():\n            layer.training = False\n        history.append(",
            ),
        ],
        check="test_a_model_that_overrides_train",
        says="train(False)",
    ),
    Wrong(
        "weighs by the number of labels",
        edits=[
            (".item() * len(targets)", ".item() * targets.numel()"),
            ("count += len(targets)", "count += targets.numel()"),
        ],
        check="test_time_first",
        says="targets (batch, labels, 1 to 3)",
    ),
    Wrong(
        "stops where the validation loss rises",
        edits=[
            (RETURN, RETURN),
            (LOOP, LOOP + "        if len(history) > 3 and history[-1] > history[-2]:\n            break\n"),
        ],
        check="test_no_early_stop",
    ),
    Wrong(
        "freezes for validation, and thaws everything",
        edits=[
            (
                "    return total / count\n",
                "    model.requires_grad_(True)\n    return total / count\n",
            )
        ],
        check="test_no_early_stop",
        says="requires_grad",
    ),
    Wrong(
        "no step where the loss is NaN",
        edits=[
            (
                "            loss_fn(model(inputs), targets).backward()\n            optimizer.step()\n",
                "            loss = loss_fn(model(inputs), targets)\n            loss.backward()\n            if loss.isfinite():\n                optimizer.step()\n",
            )
        ],
        check="test_evaluation_mode_at_the_end",
        says="steps",
    ),
    Wrong(
        "never back to train",
        edits=[(TRAIN, ""), (LOOP, "    model.train()\n" + LOOP)],
        check="test_modes_at_each_batch",
        says="training flag for batch",
    ),
    Wrong(
        "forgets eval before the first epoch",
        edits=[(FIRST, "    history =")],
        check="test_modes_at_each_batch",
        says="validation",
    ),
    Wrong(
        "forgets eval after an epoch",
        edits=[(EVAL, "        history.append(")],
        check="test_modes_at_each_batch",
        says="validation",
    ),
    Wrong(
        "takes no_grad for evaluation mode: never evaluates",
        edits=[(FIRST, "    history ="), (EVAL, "        history.append(")],
        check="test_evaluation_mode_at_the_end",
    ),
    Wrong(
        "train only for the first batch of all",
        edits=[(TRAIN, "        if _ == 0:\n            model.train()\n")],
        check="test_modes_at_each_batch",
    ),
    Wrong(
        "evaluates without no_grad",
        edits=[(NO_GRAD, "")],
        check="test_modes_at_each_batch",
        says="graph is recorded",
    ),
    Wrong(
        "only the first level of layers",
        edits=[
            (
                TRAIN,
                "        model.training = True\n        for layer in model.children():\n            layer.training = True\n",
            )
        ],
        check="test_modes_at_each_batch",
    ),
    Wrong(
        "sets every layer's flag by hand",
        edits=[
            (
                TRAIN,
                "        for layer in model.modules():\n            layer.training = True\n",
            )
        ],
        check="test_a_model_that_overrides_train",
    ),
    Wrong(
        "restores the mode in which the model came",
        edits=[
            (FIRST, "    was = model.training\n" + FIRST),
            (RETURN, "    model.train(was)\n" + RETURN),
        ],
        check="test_no_epochs",
        says="after fit",
    ),
    Wrong(
        "trains on at the end",
        edits=[(RETURN, "    model.train()\n" + RETURN)],
        check="test_evaluation_mode_at_the_end",
        says="after fit",
    ),
    Wrong(
        "trains in the mode in which the model came",
        edits=[
            (FIRST, "    was = model.training\n" + FIRST),
            (TRAIN, "        model.train(was)\n"),
        ],
        check="test_weights_and_losses",
    ),
    Wrong(
        "switches only where the model says that it is in the other mode",
        edits=[(FIRST, "    if model.training:\n        model.eval()\n    history =")],
        check="test_weights_and_losses",
    ),
    Wrong(
        "leaves out training batches of one example",
        edits=[
            (
                "            optimizer.zero_grad()\n",
                "            if len(targets) < 2:\n                continue\n            optimizer.zero_grad()\n",
            )
        ],
        check="test_a_model_that_overrides_train",
    ),
    Wrong(
        "evaluates in inference, and trains there too",
        edits=[(TRAIN, "        model.eval()\n")],
        check="test_modes_at_each_batch",
    ),
    Wrong(
        "measures only when something was trained",
        edits=[(FIRST, "    model.eval()\n    if epochs == 0:\n        return []\n    history =")],
        check="test_no_epochs",
    ),
    Wrong(
        "does not measure before training",
        edits=[("[_mean_loss(model, loss_fn, val_batches)]", "[]")],
        check="test_weights_and_losses",
        says="number of losses",
    ),
    Wrong(
        "a mean of batch means",
        edits=[
            (".item() * len(targets)", ".item()"),
            ("        count += len(targets)\n", "        count += 1\n"),
        ],
        check="test_weights_and_losses",
        says="wrong validation loss",
    ),
    Wrong(
        "calls train for every batch, and then validates in it",
        edits=[
            (STEP, STEP + "            model.train()\n"),
            (EVAL, "        history.append("),
        ],
        check="test_modes_at_each_batch",
    ),
    Wrong(
        "lets the statistics of validation in",
        edits=[
            (
                "    total, count = 0.0, 0\n",
                "    for layer in model.modules():\n        layer.training = 'Norm' in type(layer).__name__\n    total, count = 0.0, 0\n",
            )
        ],
        check="test_validation_changes_nothing",
    ),
    Wrong(
        "piles up gradients",
        edits=[("            optimizer.zero_grad()\n", "")],
        check="test_old_gradients",
    ),
    Wrong(
        "clears the gradients after the step only",
        edits=[
            ("            optimizer.zero_grad()\n", ""),
            (STEP, STEP + "            optimizer.zero_grad()\n"),
        ],
        check="test_old_gradients",
    ),
    Wrong(
        "clears frozen modes: everything is trained on a copy",
        edits=[
            (
                "    model.eval()\n    history =",
                "    import copy\n\n    model = copy.deepcopy(model).eval()\n    history =",
            )
        ],
        check="test_evaluation_mode_at_the_end",
    ),
    Wrong(
        "runs the validation batches twice",
        edits=[
            (
                EVAL,
                "        model.eval()\n        _mean_loss(model, loss_fn, val_batches)\n        history.append(",
            )
        ],
        check="test_modes_at_each_batch",
    ),
    Right(
        "eval inside the validation, train in the loop, with inference_mode",
        edits=[
            (FIRST, "    history ="),
            (EVAL, "        history.append("),
            (NO_GRAD, "@torch.inference_mode()\n"),
            ("    total, count = 0.0, 0\n", "    model.train(False)\n    total, count = 0.0, 0\n"),
            (TRAIN, "        model.train(True)\n"),
        ],
    ),
    Right(
        "train for each batch, and eval and back around each validation",
        edits=[
            (
                EVAL,
                "        model.eval()\n        model.train(False)\n        history.append(",
            ),
            (TRAIN, ""),
            (
                "            optimizer.zero_grad()\n",
                "            model.train()\n            optimizer.zero_grad(set_to_none=True)\n",
            ),
        ],
    ),
    Right(
        "validates a copy",
        edits=[
            (
                "    model.eval()\n    history = [_mean_loss(model,",
                "    import copy\n\n    model.eval()\n    history = [_mean_loss(copy.deepcopy(model),",
            ),
            (EVAL, "        history.append("),
            ("    total, count = 0.0, 0\n", "    model.eval()\n    total, count = 0.0, 0\n"),
        ],
    ),
    Wrong(
        "clears the model's gradients alone",
        edits=[("optimizer.zero_grad()", "model.zero_grad()")],
        check="test_old_gradients",
    ),
    Wrong(
        "goes through a loader once",
        edits=[(FIRST, "    train_batches = list(train_batches)\n" + FIRST)],
        check="test_loaders",
    ),
    Wrong(
        "counts the inputs",
        edits=[
            (".item() * len(targets)", ".item() * len(inputs)"),
            ("count += len(targets)", "count += len(inputs)"),
        ],
        check="test_time_first",
    ),
    Wrong(
        "seeds each epoch, for runs that repeat",
        edits=[(LOOP, "    for epoch in range(epochs):\n        torch.manual_seed(epoch)\n")],
        check="test_validation_changes_nothing",
        says="global random stream",
    ),
    Wrong(
        "reports inf for NaN",
        edits=[(RETURN, '    return [loss if loss == loss else float("inf") for loss in history]\n')],
        check="test_evaluation_mode_at_the_end",
        says="where each is NaN",
    ),
    Wrong(
        "an error in validation leaves gradients off",
        edits=[
            (NO_GRAD, ""),
            ("    total, count = 0.0, 0\n", "    torch.set_grad_enabled(False)\n    total, count = 0.0, 0\n"),
            ("    return total / count\n", "    torch.set_grad_enabled(True)\n    return total / count\n"),
        ],
        check="test_validation_changes_nothing",
        says="is_grad_enabled",
    ),
    Wrong(
        "gradients are on after each validation",
        edits=[
            (NO_GRAD, ""),
            (
                "    for inputs, targets in batches:\n        total += loss_fn(model(inputs), targets).item() * len(targets)\n        count += len(targets)\n",
                """    torch.set_grad_enabled(False)
    try:
        for inputs, targets in batches:
            total += loss_fn(model(inputs), targets).item() * len(targets)
            count += len(targets)
    finally:
        torch.set_grad_enabled(True)
""",
            ),
        ],
        check="test_validation_changes_nothing",
        says="under no_grad",
    ),
    Wrong(
        "validates without gradients, but for the loss",
        edits=[
            (NO_GRAD, ""),
            (
                "        total += loss_fn(model(inputs), targets).item() * len(targets)\n",
                "        with torch.no_grad():\n            predictions = model(inputs)\n"
                "        total += loss_fn(predictions, targets).item() * len(targets)\n",
            ),
        ],
        check="test_old_gradients",
        says="loss_fn holds a parameter",
    ),
    Wrong(
        "evaluation mode for each layer by itself, after the model's own way",
        edits=[
            (FIRST, "    for layer in model.modules():\n        layer.eval()\n    history ="),
            (
                EVAL,
                "        for layer in model.modules():\n            layer.eval()\n        history.append(",
            ),
        ],
        check="test_a_model_that_overrides_train",
        says="never switches off",
    ),
    Wrong(
        "gives the targets to the loss first, in training",
        edits=[("loss_fn(model(inputs), targets).backward()", "loss_fn(targets, model(inputs)).backward()")],
        check="test_weights_and_losses",
    ),
    Wrong(
        "asks how many validation batches there are, which not every loader knows",
        edits=[(FIRST, "    assert len(val_batches) > 0\n" + FIRST)],
        check="test_loaders",
    ),
    Right(
        "adds the losses up in their own dtype, which may be float16",
        edits=[
            (".item() * len(targets)", " * len(targets)"),
            ("    return total / count\n", "    return float(total / count)\n"),
        ],
    ),
    Right(
        "a Python float at last, of a product in the dtype of the loss",
        edits=[
            (
                "loss_fn(model(inputs), targets).item() * len(targets)",
                "(loss_fn(model(inputs), targets) * len(targets)).item()",
            )
        ],
    ),
    Right(
        "adds up in float64 on the device",
        edits=[
            (".item() * len(targets)", ".double() * len(targets)"),
            ("    return total / count\n", "    return (total / count).item()\n"),
        ],
    ),
    Wrong(
        "leaves out validation batches whose loss is NaN",
        edits=[
            (
                "        total += loss_fn(model(inputs), targets).item() * len(targets)\n"
                "        count += len(targets)\n    return total / count\n",
                "        loss = loss_fn(model(inputs), targets).item()\n"
                "        if loss == loss:\n"
                "            total += loss * len(targets)\n"
                "            count += len(targets)\n"
                "    return total / count if count else float('nan')\n",
            )
        ],
        check="test_evaluation_mode_at_the_end",
        says="leaves out",
    ),
]
