"""Answers to zero_grad_placement that people write."""

from grader.authoring.specimen import Right, Wrong

LOSS = "        loss = loss_fn(model(inputs), targets)\n"
ZERO = "        optimizer.zero_grad()  # before the backward, and to None: what gets no gradient stays where it is\n"
BACKWARD = "        loss.backward()\n"
CALL = "        if on_gradients is not None:\n            on_gradients()\n"
STEP = "        optimizer.step()\n"
KEEP = "        losses.append(loss.item())\n"
BODY = LOSS + ZERO + BACKWARD + CALL + STEP + KEEP


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "another name for on_gradients",
        edits=[
            ("    on_gradients: Callable", "    hook: Callable"),
            (
                "        if on_gradients is not None:\n            on_gradients()\n",
                "        if hook is not None:\n            hook()\n",
            ),
        ],
        check="test_on_gradients_sees_this_batch",
        says="signature",
    ),
    Wrong("never clears", edits=[(ZERO, "")], check="test_weights_and_losses"),
    Wrong(
        "clears between backward and on_gradients",
        edits=[(ZERO, ""), (BACKWARD, BACKWARD + "        optimizer.zero_grad()\n")],
        check="test_on_gradients_sees_this_batch",
        says="None",
    ),
    Wrong(
        "clears between on_gradients and the step",
        edits=[(ZERO, ""), (STEP, "        optimizer.zero_grad()\n" + STEP)],
        check="test_weights_and_losses",
    ),
    Wrong(
        "writes zeros between backward and step",
        edits=[(ZERO, ""), (STEP, "        optimizer.zero_grad(set_to_none=False)\n" + STEP)],
        check="test_weights_and_losses",
    ),
    Wrong(
        "clears after the step only",
        edits=[(ZERO, ""), (STEP, STEP + "        optimizer.zero_grad()\n")],
        check="test_on_gradients_sees_this_batch",
    ),
    Wrong(
        "clears once, before the first batch",
        edits=[(ZERO, ""), ("    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n")],
        check="test_weights_and_losses",
    ),
    Wrong(
        "no step where the loss is NaN",
        edits=[(STEP, "        if loss.isfinite():\n            optimizer.step()\n")],
        check="test_called_once",
        says="steps",
    ),
    Wrong(
        "no step where on_gradients says False",
        edits=[
            (
                CALL + STEP,
                "        if on_gradients is None or on_gradients() is not False:\n            optimizer.step()\n",
            )
        ],
        check="test_called_once",
        says="steps",
    ),
    Wrong(
        "clears with zeros",
        edits=[(ZERO, "        optimizer.zero_grad(set_to_none=False)\n")],
        check="test_parameters_without_gradient",
        says="None",
    ),
    Wrong(
        "clears the model",
        edits=[(ZERO, "        model.zero_grad()\n")],
        check="test_parameters_of_others",
        says="another optimizer",
    ),
    Wrong(
        "clears the model, not what lies outside",
        edits=[(ZERO, "        model.zero_grad()\n")],
        check="test_parameters_outside_the_model",
        says="temperature",
    ),
    Wrong(
        "clears both",
        edits=[(ZERO, ZERO + "        model.zero_grad()\n")],
        check="test_parameters_of_others",
        says="another optimizer",
    ),
    Wrong(
        "clears the first group only",
        edits=[
            (ZERO, "        for p in optimizer.param_groups[0]['params']:\n            p.grad = None\n"),
        ],
        check="test_parameters_outside_the_model",
    ),
    Wrong(
        "clears what is trainable",
        edits=[
            (
                ZERO,
                """        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.requires_grad:
                    p.grad = None
""",
            )
        ],
        check="test_parameters_without_gradient",
    ),
    Wrong(
        "ignores on_gradients",
        edits=[(CALL, "")],
        check="test_on_gradients_sees_this_batch",
        says="in order",
    ),
    Wrong(
        "on_gradients after the step",
        edits=[(CALL, ""), (STEP, STEP + CALL)],
        check="test_on_gradients_sees_this_batch",
        says="in order",
    ),
    Wrong(
        "on_gradients before the backward",
        edits=[(CALL, ""), (BACKWARD, CALL + BACKWARD)],
        check="test_on_gradients_sees_this_batch",
    ),
    Wrong(
        "on_gradients at the first batch only",
        edits=[(CALL, "        if on_gradients is not None and not losses:\n            on_gradients()\n")],
        check="test_on_gradients_sees_this_batch",
        says="in order",
    ),
    Wrong(
        "on_gradients is shown a copy",
        edits=[
            (
                CALL,
                """        kept = [(p, p.grad) for p in model.parameters()]
        for p, gradient in kept:
            p.grad = None if gradient is None else gradient.clone()
        if on_gradients is not None:
            on_gradients()
        for p, gradient in kept:
            p.grad = gradient
""",
            )
        ],
        check="test_on_gradients_changes_them",
    ),
    Wrong(
        "gradients that on_gradients took away are computed again",
        edits=[
            (BACKWARD, "        loss.backward(retain_graph=True)\n"),
            (
                STEP,
                """        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None and p.requires_grad:
                    (p.grad,) = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)
"""
                + STEP,
            ),
        ],
        check="test_on_gradients_changes_them",
    ),
    Wrong(
        "swallows the error and steps on",
        edits=[
            (
                CALL,
                """        if on_gradients is not None:
            try:
                on_gradients()
            except ArithmeticError:
                pass
""",
            )
        ],
        check="test_error_in_on_gradients",
        says="no error",
    ),
    Wrong(
        "steps in spite of the error",
        edits=[
            (
                CALL + STEP,
                "        try:\n            if on_gradients is not None:\n                on_gradients()\n        finally:\n            optimizer.step()\n",
            )
        ],
        check="test_error_in_on_gradients",
    ),
    Wrong(
        "gradients of all batches, one step at the end",
        edits=instead("""        loss = loss_fn(model(inputs), targets)
        loss.backward()
        losses.append(loss.item())
    if on_gradients is not None:
        on_gradients()
    optimizer.step()
    optimizer.zero_grad()
"""),
        check="test_called_once",
    ),
    Wrong(
        "the loss after the step",
        edits=[(KEEP, "        losses.append(loss_fn(model(inputs), targets).item())\n")],
        check="test_weights_and_losses",
        says="wrong loss",
    ),
    Wrong(
        "returns tensors",
        edits=[("loss.item()", "loss.detach()")],
        check="test_weights_and_losses",
        says="types",
    ),
    Wrong(
        "switches to training mode",
        edits=[("    losses = []\n", "    losses = []\n    model.train()\n")],
        check="test_called_once",
        says="training flag",
    ),
    Wrong(
        "steps before the backward",
        edits=[(STEP, ""), (BACKWARD, STEP + BACKWARD)],
        check="test_weights_and_losses",
    ),
    Wrong(
        "clips for the caller",
        edits=[(STEP, "        nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n" + STEP)],
        check="test_weights_and_losses",
    ),
    Wrong(
        "needs a list",
        edits=[("    losses = []\n", "    losses = []\n    if len(batches) == 0:\n        return losses\n")],
        check="test_weights_and_losses",
    ),
    Right(
        "clears first, and with the loss read before the step",
        edits=instead("""        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(inputs), targets)
        losses.append(float(loss.detach()))
        loss.backward()
        if on_gradients:
            on_gradients()
        optimizer.step()
"""),
    ),
    Right(
        "clears before the first batch and after each step",
        edits=[
            ("    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n"),
            (ZERO, ""),
            (STEP, STEP + "        optimizer.zero_grad()\n"),
        ],
    ),
    Right(
        "clears by hand, group by group",
        edits=[
            (
                ZERO,
                """        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = None
""",
            )
        ],
    ),
    Right(
        "a closure",
        edits=instead("""
        def closure():
            optimizer.zero_grad()
            loss = loss_fn(model(inputs), targets)
            loss.backward()
            losses.append(loss.item())
            (on_gradients or (lambda: None))()
            return loss

        optimizer.step(closure)
"""),
    ),
    Wrong(
        "an error in on_gradients skips the step",
        edits=[
            (
                CALL,
                "        try:\n            if on_gradients is not None:\n                on_gradients()\n        except RuntimeError:\n            continue\n",
            )
        ],
        check="test_error_in_on_gradients",
    ),
    Wrong(
        "no step where no gradient is left",
        edits=[
            (
                STEP,
                '        if any(p.grad is not None for group in optimizer.param_groups for p in group["params"]):\n            optimizer.step()\n',
            )
        ],
        check="test_called_once",
    ),
    Wrong(
        "puts the gradients of others back",
        edits=[
            (
                ZERO,
                '        mine = {p for group in optimizer.param_groups for p in group["params"]}\n        others = [(p, p.grad) for p in model.parameters() if p not in mine]\n        optimizer.zero_grad()\n',
            ),
            (
                STEP,
                "        optimizer.step()\n        for p, gradient in others:\n            p.grad = gradient\n",
            ),
        ],
        check="test_parameters_of_others",
    ),
    Wrong(
        "clips large gradients",
        edits=[
            (
                STEP,
                '        torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 100.0)\n        optimizer.step()\n',
            )
        ],
        check="test_weights_and_losses",
    ),
    Wrong(
        "lists the parameters once, before the first batch",
        edits=[
            (
                "    losses = []\n",
                '    losses = []\n    params = [p for group in optimizer.param_groups for p in group["params"]]\n',
            ),
            (ZERO, "        for p in params:\n            p.grad = None\n"),
        ],
        check="test_group_that_is_added",
        says="adds a group",
    ),
    Wrong(
        "one batch, one number",
        edits=[("    return losses\n", "    return losses if len(losses) != 1 else losses[0]\n")],
        check="test_called_once",
    ),
    Wrong(
        "Ctrl-C in on_gradients ends the epoch quietly",
        edits=[
            (
                CALL,
                "        try:\n            if on_gradients is not None:\n                on_gradients()\n        except KeyboardInterrupt:\n            break\n",
            )
        ],
        check="test_error_in_on_gradients",
    ),
    Wrong(
        "calls on_gradients under no_grad, where it cannot run a backward of its own",
        edits=[
            (
                CALL,
                "        if on_gradients is not None:\n            with torch.no_grad():\n                on_gradients()\n",
            )
        ],
        check="test_on_gradients_changes_them",
    ),
]
