"""Answers to autocast_step that people write."""

from grader.authoring.specimen import Right, Wrong

BODY = """    with torch.autocast(inputs.device.type, dtype=dtype):
        predictions = model(inputs)  # mostly dtype; what comes out last decides
    loss = loss_fn(predictions.float(), targets)  # (), outside the region: float32 on every device
    optimizer.zero_grad()
    loss.backward()  # each operation in the dtype of its forward; gradients of parameters in float32
    optimizer.step()
    return loss.item()
"""
REGION = "torch.autocast(inputs.device.type, dtype=dtype)"
FORWARD = "        predictions = model(inputs)  # mostly dtype; what comes out last decides\n"
LOSS = "    loss = loss_fn(predictions.float(), targets)  # (), outside the region: float32 on every device\n"
BACKWARD = (
    "    loss.backward()  # each operation in the dtype of its forward; gradients of parameters in float32\n"
)
STEP = "    optimizer.step()\n"


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "clears the gradients of the first group",
        edits=[
            (
                "    optimizer.zero_grad()\n",
                "    for p in optimizer.param_groups[0]['params']:\n        p.grad = None\n",
            )
        ],
        check="test_gradients_of_this_batch",
    ),
    Wrong(
        "no step where there are no inputs",
        edits=[
            (f"    with {REGION}:\n", f"    if not len(inputs):\n        return 0.0\n    with {REGION}:\n")
        ],
        check="test_no_step_is_skipped",
        says="of no inputs",
    ),
    Wrong(
        "once more in float32 where 16 bits fail",
        edits=[
            (
                f"    with {REGION}:\n{FORWARD}",
                f"    try:\n        with {REGION}:\n    {FORWARD}    except RuntimeError:\n        predictions = model(inputs)\n",
            )
        ],
        check="test_autocast_is_restored",
        says="which raises RuntimeError",
    ),
    Wrong(
        "calls forward, past the hooks",
        edits=[(FORWARD, FORWARD.replace("model(", "model.forward("))],
        check="test_inputs_and_targets_as_they_are",
        says="hooks",
    ),
    Wrong(
        "no autocast at all",
        edits=[(f"    with {REGION}:\n{FORWARD}", "    predictions = model(inputs)\n")],
        check="test_forward_in_dtype",
        says="yours   torch.float32",
    ),
    Wrong(
        "a region for CUDA, wherever the data is",
        edits=[("inputs.device.type", '"cuda"')],
        check="test_forward_in_dtype",
        says="yours   torch.float32",
    ),
    Wrong(
        "a region for CUDA where there is one, else for the CPU",
        edits=[("inputs.device.type", '"cuda" if torch.cuda.is_available() else "cpu"')],
        check="test_on_a_device",
        says="yours   torch.float32",
    ),
    Wrong(
        "switches autocast off on the CPU",
        edits=[("dtype=dtype)", 'dtype=dtype, enabled=inputs.device.type != "cpu")')],
        check="test_forward_in_dtype",
        says="yours   torch.float32",
    ),
    Wrong(
        "always bfloat16",
        edits=[(REGION, "torch.autocast(inputs.device.type, dtype=torch.bfloat16)")],
        check="test_forward_in_dtype",
        says="wanted  torch.float16",
    ),
    Wrong(
        "leaves the dtype to the device's default",
        edits=[(REGION, "torch.autocast(inputs.device.type)")],
        check="test_on_a_device",
        says="wrong precision",
    ),
    Wrong(
        "float16 by default",
        edits=[("dtype: torch.dtype = torch.bfloat16", "dtype: torch.dtype = torch.float16")],
        check="test_forward_in_dtype",
        says="wanted  torch.bfloat16",
    ),
    Wrong(
        "the loss inside the region, as in most tutorials",
        edits=[(LOSS, "        loss = loss_fn(predictions, targets)\n")],
        check="test_loss_in_float32",
        says="bfloat16",
    ),
    Wrong(
        "float32 predictions, but the loss inside the region: its products are in 16 bits",
        edits=[(LOSS, "    " + LOSS)],
        check="test_loss_in_float32",
        says="wrong precision in loss_fn",
    ),
    Wrong(
        "the loss outside, of predictions in 16 bits",
        edits=[("predictions.float()", "predictions")],
        check="test_loss_in_float32",
        says="predictions",
    ),
    Wrong(
        "a loss in float64",
        edits=[("predictions.float()", "predictions.double()")],
        check="test_loss_in_float32",
        says="float64",
    ),
    Wrong(
        "the loss rounded back to dtype",
        edits=[("return loss.item()", "return loss.to(dtype).item()")],
        check="test_gradients_of_this_batch",
        says="wrong loss",
    ),
    Wrong(
        "the backward pass inside the region",
        edits=instead("""
    optimizer.zero_grad()
    with torch.autocast(inputs.device.type, dtype=dtype):
        predictions = model(inputs)
        with torch.autocast(inputs.device.type, enabled=False):
            loss = loss_fn(predictions.float(), targets)
        loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_region_ends_with_the_forward",
        says="backward",
    ),
    Wrong(
        "optimizer.step inside a region",
        edits=[(STEP, f"    with {REGION}:\n        optimizer.step()\n")],
        check="test_region_ends_with_the_forward",
        says="optimizer.step",
    ),
    Wrong(
        "everything inside the region",
        edits=instead("""
    with torch.autocast(inputs.device.type, dtype=dtype):
        loss = loss_fn(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
"""),
        check="test_region_ends_with_the_forward",
        says="backward",
    ),
    Wrong(
        "converts the model",
        edits=instead("""
    model.to(dtype)
    predictions = model(inputs.to(dtype) if inputs.is_floating_point() else inputs)
    loss = loss_fn(predictions.float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_weights_stay_in_float32",
        says="bfloat16",
    ),
    Wrong(
        "converts the model there and back: small updates are lost",
        edits=[
            (f"    with {REGION}:\n", f"    model.to(dtype).float()\n    with {REGION}:\n"),
        ],
        check="test_weights_stay_in_float32",
        says="after autocast_step",
    ),
    Wrong(
        "rounds the weights after the step",
        edits=[
            (
                STEP,
                STEP
                + "    with torch.no_grad():\n        for p in model.parameters():\n            p.copy_(p.to(dtype))\n",
            )
        ],
        check="test_weights_stay_in_float32",
        says="small step",
    ),
    Wrong(
        "converts the inputs",
        edits=[("model(inputs)", "model(inputs.to(dtype) if inputs.is_floating_point() else inputs)")],
        check="test_inputs_and_targets_as_they_are",
        says="what the model is given",
    ),
    Wrong(
        "converts floating targets",
        edits=[
            (
                "predictions.float(), targets)",
                "predictions.float(), targets.to(dtype).float() if targets.is_floating_point() else targets)",
            )
        ],
        check="test_inputs_and_targets_as_they_are",
        says="targets",
    ),
    Wrong(
        "widens what is in dtype, and leaves all else as it is",
        edits=[
            (
                "predictions.float(), targets)",
                "predictions.float() if predictions.dtype == dtype else predictions, targets)",
            )
        ],
        check="test_predictions_become_float32",
        says="predictions given to loss_fn",
    ),
    Wrong(
        "widens what has 16 bits, and leaves float64",
        edits=[
            (
                "predictions.float(), targets)",
                "predictions.float() if predictions.itemsize == 2 else predictions, targets)",
            )
        ],
        check="test_predictions_become_float32",
        says="predictions given to loss_fn",
    ),
    Wrong(
        "floating targets in float32",
        edits=[
            (
                "predictions.float(), targets)",
                "predictions.float(), targets.float() if targets.is_floating_point() else targets)",
            )
        ],
        check="test_predictions_become_float32",
        says="targets",
    ),
    Wrong(
        "a float64 loss rounded to float32",
        edits=[("return loss.item()", "return loss.float().item()")],
        check="test_all_digits_of_the_loss",
        says="rounded",
    ),
    Wrong(
        "zeros instead of None: momentum and decay move what is not used",
        edits=[("zero_grad()", "zero_grad(set_to_none=False)")],
        check="test_parameters_without_gradient",
        says="has a gradient",
    ),
    Wrong(
        "clears only what is trainable",
        edits=[
            (
                "    optimizer.zero_grad()\n",
                "    for p in model.parameters():\n        if p.requires_grad:\n            p.grad = None\n",
            )
        ],
        check="test_parameters_without_gradient",
        says="frozen",
    ),
    Wrong(
        "turns targets into floats",
        edits=[("predictions.float(), targets)", "predictions.float(), targets.float())")],
        check="test_inputs_and_targets_as_they_are",
    ),
    Wrong(
        "never clears the gradients",
        edits=[("    optimizer.zero_grad()\n", "")],
        check="test_gradients_of_this_batch",
        says="in `.grad` afterwards",
    ),
    Wrong(
        "clears the gradients at the end",
        edits=[(STEP, STEP + "    optimizer.zero_grad()\n")],
        check="test_gradients_of_this_batch",
        says="no gradient",
    ),
    Wrong(
        "clips the gradients",
        edits=[(STEP, "    nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n" + STEP)],
        check="test_gradients_of_this_batch",
    ),
    Wrong(
        "scales the loss, and the gradients back",
        edits=[
            (
                BACKWARD,
                "    (loss * 1024).backward()\n    for p in model.parameters():\n        if p.grad is not None:\n            p.grad /= 1024\n",
            )
        ],
        check="test_no_scaler",
        says="inf",
    ),
    Wrong(
        "scales the loss and forgets the gradients",
        edits=[("loss.backward()", "(loss * 1024).backward()")],
        check="test_gradients_of_this_batch",
        says="1024",
    ),
    Wrong(
        "runs the model twice",
        edits=[(LOSS, LOSS + "    model(inputs)\n")],
        check="test_forward_in_dtype",
        says="number of times",
    ),
    Wrong(
        "steps twice",
        edits=[(STEP, STEP + STEP)],
        check="test_region_ends_with_the_forward",
        says="once",
    ),
    Wrong(
        "returns a tensor",
        edits=[("return loss.item()", "return loss.detach()")],
        check="test_loss_in_float32",
        says="float",
    ),
    Wrong(
        "computes the loss on the CPU",
        edits=[("predictions.float(), targets)", "predictions.float().cpu(), targets.cpu())")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "looks at the loss before the step: waits twice",
        edits=[(STEP, "    if not torch.isfinite(loss):\n        return loss.item()\n" + STEP)],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "skips the step where the loss is not finite, as a gradient scaler would",
        edits=[
            (
                STEP + "    return loss.item()\n",
                "    value = loss.item()\n    if value - value == 0.0:\n        optimizer.step()\n    return value\n",
            )
        ],
        check="test_no_step_is_skipped",
        says="number of optimizer steps",
    ),
    Wrong(
        "a region for floating inputs only: tokens are looked up in float32",
        edits=[("dtype=dtype)", "dtype=dtype, enabled=inputs.is_floating_point())")],
        check="test_inputs_of_any_dtype",
        says="float32",
    ),
    Wrong(
        "inputs in float32",
        edits=[("model(inputs)", "model(inputs.float() if inputs.is_floating_point() else inputs)")],
        check="test_inputs_of_any_dtype",
        says="what the model is given",
    ),
    Wrong(
        "drops the last dim of predictions where targets lack it",
        edits=[
            (
                "predictions.float(), targets)",
                "predictions.float().squeeze(-1) if predictions.ndim == targets.ndim + 1 and predictions.shape[-1] == 1 else predictions.float(), targets)",
            )
        ],
        check="test_inputs_of_any_dtype",
        says="shape of the predictions",
    ),
    Wrong(
        "cleans the predictions of NaN and inf",
        edits=[("predictions.float(), targets)", "predictions.float().nan_to_num(), targets)")],
        check="test_inputs_of_any_dtype",
        says="NaN",
    ),
    Wrong(
        "looks at dtype only where there is something to compute",
        edits=[("if dtype not in", "if len(inputs) and dtype not in")],
        check="test_bad_dtype",
        says="0 inputs",
    ),
    Wrong(
        "switches autocast on and off by hand",
        edits=instead("""
    kind = inputs.device.type
    before = torch.get_autocast_dtype(kind)
    torch.set_autocast_enabled(kind, True)
    torch.set_autocast_dtype(kind, dtype)
    predictions = model(inputs)
    torch.set_autocast_enabled(kind, False)
    torch.set_autocast_dtype(kind, before)
    torch.clear_autocast_cache()
    loss = loss_fn(predictions.float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_autocast_is_restored",
        says="after an error in the model",
    ),
    Wrong(
        "switches autocast on by hand, and off again even if it was on",
        edits=instead("""
    kind = inputs.device.type
    before = torch.get_autocast_dtype(kind)
    torch.set_autocast_enabled(kind, True)
    torch.set_autocast_dtype(kind, dtype)
    try:
        predictions = model(inputs)
    finally:
        torch.set_autocast_enabled(kind, False)
        torch.set_autocast_dtype(kind, before)
        torch.clear_autocast_cache()
    loss = loss_fn(predictions.float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_autocast_is_restored",
        says="inside a region",
    ),
    Wrong(
        "sets the dtype of autocast for good",
        edits=[
            (
                f"    with {REGION}:\n",
                "    torch.set_autocast_dtype(inputs.device.type, dtype)\n    with torch.autocast(inputs.device.type):\n",
            )
        ],
        check="test_autocast_is_restored",
    ),
    Wrong(
        "leaves bad dtypes to autocast, which only warns",
        edits=[("if dtype not in (torch.bfloat16, torch.float16):", "if dtype is None:")],
        check="test_bad_dtype",
        says="no error",
    ),
    Wrong(
        "refuses integers only",
        edits=[("if dtype not in (torch.bfloat16, torch.float16):", "if not dtype.is_floating_point:")],
        check="test_bad_dtype",
        says="no error",
    ),
    Wrong(
        "refuses float32 only",
        edits=[("if dtype not in (torch.bfloat16, torch.float16):", "if dtype == torch.float32:")],
        check="test_bad_dtype",
        says="no error",
    ),
    Wrong(
        "takes every dtype that is small",
        edits=[
            (
                "if dtype not in (torch.bfloat16, torch.float16):",
                "if dtype.itemsize > 2 or dtype == torch.int16:",
            )
        ],
        check="test_bad_dtype",
        says="no error",
    ),
    Wrong(
        "refuses with a TypeError",
        edits=[("raise ValueError(", "raise TypeError(")],
        check="test_bad_dtype",
        says="TypeError",
    ),
    Wrong(
        "looks at dtype after the forward pass",
        edits=[
            (
                "    if dtype not in (torch.bfloat16, torch.float16):\n",
                "    model(inputs)\n    if dtype not in (torch.bfloat16, torch.float16):\n",
            )
        ],
        check="test_bad_dtype",
        says="number of times",
    ),
    Right(
        "converts the predictions inside the region, and asks a parameter for the device",
        edits=instead("""
    device = next(model.parameters()).device
    optimizer.zero_grad(set_to_none=True)
    with torch.amp.autocast(device_type=device.type, dtype=dtype, cache_enabled=False):
        logits = model(inputs).to(torch.float32)
    loss = loss_fn(logits, targets)
    value = float(loss.detach())
    loss.backward()
    optimizer.step()
    return value
"""),
    ),
    Right(
        "autocast as a decorator, and autograd.grad",
        edits=instead("""
    forward = torch.autocast(inputs.device.type, dtype)(model)
    with torch.autocast(inputs.device.type, enabled=False):
        loss = loss_fn(forward(inputs).float(), targets)
    model.zero_grad()
    parameters = [p for p in model.parameters() if p.requires_grad]
    for p, gradient in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True)):
        p.grad = gradient
    optimizer.step()
    return loss.detach().cpu().item()
"""),
    ),
    Right(
        "a closure around all of it",
        edits=instead("""
    def closure():
        optimizer.zero_grad()
        with torch.autocast(inputs.device.type, dtype=dtype):
            predictions = model(inputs)
        loss = loss_fn(predictions.type(torch.float32), targets)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
"""),
    ),
    Wrong(
        "puts all layers into training mode",
        edits=[(f"    with {REGION}:", f"    model.train()\n    with {REGION}:")],
        check="test_inputs_and_targets_as_they_are",
        says="mode",
    ),
    Wrong(
        "rounds what the model returns to dtype",
        edits=[("loss_fn(predictions.float(), targets)", "loss_fn(predictions.to(dtype).float(), targets)")],
        check="test_predictions_become_float32",
        says="predictions given to loss_fn",
    ),
    Wrong(
        "switches autocast on by hand: the weights of the first step stay in its cache",
        edits=instead("""
    kind = inputs.device.type
    before = torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
    torch.set_autocast_enabled(kind, True)
    torch.set_autocast_dtype(kind, dtype)
    torch.autocast_increment_nesting()
    try:
        predictions = model(inputs)
    finally:
        torch.autocast_decrement_nesting()
        torch.set_autocast_enabled(kind, before[0])
        torch.set_autocast_dtype(kind, before[1])
    loss = loss_fn(predictions.float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""),
        check="test_weights_of_now",
        says="three calls",
    ),
    Wrong(
        "inputs are detached",
        edits=[(FORWARD, FORWARD.replace("model(inputs)", "model(inputs.detach())"))],
        check="test_inputs_and_targets_as_they_are",
        says="detached",
    ),
    Wrong(
        "leaves autocast's cache of weights switched off",
        edits=[
            (
                "    with " + REGION,
                "    torch.set_autocast_cache_enabled(False)\n    with " + REGION,
            )
        ],
        check="test_autocast_is_restored",
        says="cache",
    ),
    Wrong(
        "training mode where the model is in evaluation mode",
        edits=[(FORWARD, "        if not model.training:\n            model.train()\n" + FORWARD)],
        check="test_inputs_and_targets_as_they_are",
        says="evaluation mode",
    ),
]
