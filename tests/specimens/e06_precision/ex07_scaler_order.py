"""Answers to scaler_order that people write."""

from grader.authoring.specimen import Right, Wrong

ZERO = "    optimizer.zero_grad()\n"
REGION = "torch.autocast(inputs.device.type, dtype=torch.float16)"
FORWARD = f"    with {REGION}:\n        predictions = model(inputs)\n"
LOSS = "    loss = loss_fn(predictions.float(), targets)\n"
BACKWARD = "    scaler.scale(loss).backward()  # float16 gradients on the way are scale times as large\n"
UNSCALE = "    scaler.unscale_(optimizer)  # divides by the scale, and notes inf and NaN: clipping cannot hide them now\n"
PARAMS = '    params = [p for group in optimizer.param_groups for p in group["params"]]\n'
CLIP = "    norm = nn.utils.clip_grad_norm_(params, max_norm)\n"
STEP = "    scaler.step(optimizer)  # knows that it need not unscale again\n"
UPDATE = "    scaler.update()\n"
RETURN = "    return loss.item(), norm.item()\n"
TAIL = BACKWARD + UNSCALE + PARAMS + CLIP + STEP + UPDATE + RETURN
BODY = ZERO + FORWARD + LOSS + TAIL


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "makes 0 of predictions that are NaN",
        edits=[("predictions.float()", "predictions.float().nan_to_num()")],
        check="test_predictions_that_overflow",
        says="is NaN",
    ),
    Wrong(
        "cuts predictions off at the largest number of float16",
        edits=[("predictions.float()", "predictions.float().clamp(-65504.0, 65504.0)")],
        check="test_predictions_that_overflow",
        says="90000",
    ),
    Wrong(
        "reads the loss off the scaled one",
        edits=[
            (
                BACKWARD,
                "    scale, scaled = scaler.get_scale(), scaler.scale(loss)\n    scaled.backward()\n",
            ),
            (RETURN, "    return scaled.item() / scale, norm.item()\n"),
        ],
        check="test_overflow_skips_the_step",
        says="the scaled loss",
    ),
    Wrong(
        "switches to training mode",
        edits=[(ZERO, "    model.train()\n" + ZERO)],
        check="test_forward_and_loss_stay",
        says="training flags",
    ),
    Wrong(
        "the start: clips before unscaling",
        edits=[(UNSCALE, "")],
        check="test_every_scale",
        says="not scaled",
    ),
    Wrong(
        "unscales after clipping",
        edits=[(UNSCALE, ""), (CLIP, CLIP + UNSCALE)],
        check="test_steps_and_norms",
        says="wrong norm",
    ),
    Wrong(
        "divides the norm by the scale, but clips with the scaled one",
        edits=[(UNSCALE, ""), (CLIP, CLIP + "    norm = norm / scaler.get_scale()\n")],
        check="test_steps_and_norms",
        says="first.weight",
    ),
    Wrong(
        "unscales at the first step only",
        edits=[(UNSCALE, "    if not optimizer.state:\n        scaler.unscale_(optimizer)\n")],
        check="test_steps_and_norms",
        says="wrong norm",
    ),
    Wrong(
        "divides the gradients by hand, and the scaler divides again",
        edits=[
            (
                UNSCALE + PARAMS,
                PARAMS
                + "    for p in params:\n        if p.grad is not None:\n            p.grad /= scaler.get_scale()\n",
            )
        ],
        check="test_steps_and_norms",
        says="first.weight",
    ),
    Wrong(
        "updates before the step: it unscales a second time",
        edits=[(STEP + UPDATE, UPDATE + STEP)],
        check="test_steps_and_norms",
        says="first.weight",
    ),
    Wrong(
        "steps past the scaler: an overflow gets into the weights",
        edits=[(STEP, "    optimizer.step()\n")],
        check="test_overflow_skips_the_step",
        says="number of steps",
    ),
    Wrong(
        "steps past the scaler, unless the norm is not finite",
        edits=[(STEP, "    if torch.isfinite(loss):\n        optimizer.step()\n")],
        check="test_scale_finds_its_size",
    ),
    Wrong(
        "never updates",
        edits=[(UPDATE, "")],
        check="test_scaler_is_updated_once",
    ),
    Wrong(
        "updates after steps only: the scale never backs off",
        edits=[
            (
                UPDATE,
                "    if torch.isfinite(norm):\n        scaler.update()\n    else:\n        scaler.update(scaler.get_scale())\n",
            )
        ],
        check="test_scale_finds_its_size",
        says="scale after",
    ),
    Wrong(
        "updates after an overflow only: the scale never grows",
        edits=[
            (
                UPDATE,
                "    if torch.isfinite(norm):\n        scaler.update(scaler.get_scale())\n    else:\n        scaler.update()\n",
            )
        ],
        check="test_scaler_is_updated_once",
        says="growth tracker",
    ),
    Wrong(
        "halves the scale by hand, and by update",
        edits=[
            (
                UPDATE,
                UPDATE
                + "    if scaler.is_enabled() and not torch.isfinite(norm):\n        scaler.update(scaler.get_scale() / 2)\n",
            )
        ],
        check="test_overflow_skips_the_step",
        says="scale where",
    ),
    Wrong(
        "no scaling at all",
        edits=instead(
            ZERO
            + FORWARD
            + LOSS
            + "    loss.backward()\n"
            + PARAMS
            + CLIP
            + "    if torch.isfinite(norm):\n        optimizer.step()\n"
            + RETURN
        ),
        check="test_small_gradients_arrive",
        says="norm of gradients",
    ),
    Wrong(
        "an error where the norm is not finite",
        edits=[("(params, max_norm)", "(params, max_norm, error_if_nonfinite=True)")],
        check="test_overflow_skips_the_step",
    ),
    Wrong(
        "replaces what is not finite before the scaler sees it",
        edits=[
            (
                UNSCALE,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                torch.nan_to_num_(p.grad, 0.0, 0.0, 0.0)
"""
                + UNSCALE,
            )
        ],
        check="test_overflow_skips_the_step",
        says="number of steps",
    ),
    Wrong(
        "clips each gradient by itself",
        edits=[
            (
                CLIP,
                "    norm = nn.utils.get_total_norm([p.grad for p in params if p.grad is not None])\n    for p in params:\n        nn.utils.clip_grad_norm_(p, max_norm)\n",
            )
        ],
        check="test_steps_and_norms",
        says="after step",
    ),
    Wrong(
        "clips values in place of the norm",
        edits=[
            (
                CLIP,
                "    norm = nn.utils.get_total_norm([p.grad for p in params if p.grad is not None])\n    nn.utils.clip_grad_value_(params, max_norm)\n",
            )
        ],
        check="test_steps_and_norms",
        says="after step",
    ),
    Wrong(
        "never clips",
        edits=[(CLIP, "    norm = nn.utils.clip_grad_norm_(params, float('inf'))\n")],
        check="test_steps_and_norms",
        says="after step",
    ),
    Wrong(
        "ignores max_norm",
        edits=[("(params, max_norm)", "(params, 1.0)")],
        check="test_steps_and_norms",
    ),
    Wrong(
        "another default",
        edits=[("max_norm: float = 1.0", "max_norm: float = 5.0")],
        check="test_default_bound",
    ),
    Wrong(
        "returns the norm after clipping",
        edits=[(RETURN, "    return loss.item(), min(norm.item(), max_norm)\n")],
        check="test_steps_and_norms",
        says="wrong norm",
    ),
    Wrong(
        "the norm of the last group",
        edits=[
            (
                PARAMS + CLIP,
                """    for group in optimizer.param_groups:
        norm = nn.utils.clip_grad_norm_(group["params"], max_norm)
""",
            )
        ],
        check="test_what_the_optimizer_holds",
        says="wrong norm",
    ),
    Wrong(
        "clips the model's parameters: those of nobody are still scaled",
        edits=[(PARAMS, "    params = list(model.parameters())\n")],
        check="test_what_the_optimizer_holds",
        says="wrong norm",
    ),
    Wrong(
        "the first group only",
        edits=[(PARAMS, '    params = optimizer.param_groups[0]["params"]\n')],
        check="test_what_the_optimizer_holds",
        says="wrong norm",
    ),
    Wrong(
        "never clears the gradients",
        edits=[(ZERO, "")],
        check="test_steps_and_norms",
    ),
    Wrong(
        "clears the model's gradients only",
        edits=[(ZERO, "    model.zero_grad()\n")],
        check="test_what_the_optimizer_holds",
        says="wrong norm",
    ),
    Wrong(
        "clears after the step only: what lies there before the first call takes part",
        edits=[(ZERO, ""), (UPDATE, UPDATE + ZERO)],
        check="test_what_the_optimizer_holds",
        says="wrong norm",
    ),
    Wrong(
        "clears to zero: momentum and decay move what is not used",
        edits=[("zero_grad()", "zero_grad(set_to_none=False)")],
        check="test_missing_gradients",
    ),
    Wrong(
        "returns the scaled loss",
        edits=[
            (BACKWARD, "    loss = scaler.scale(loss)\n    loss.backward()\n"),
        ],
        check="test_steps_and_norms",
        says="wrong loss",
    ),
    Wrong(
        "divides the scaled loss by the scale of the next step",
        edits=[
            (BACKWARD, "    loss = scaler.scale(loss)\n    loss.backward()\n"),
            ("loss.item()", "loss.item() / scaler.get_scale()"),
        ],
        check="test_steps_and_norms",
        says="wrong loss",
    ),
    Wrong(
        "returns tensors",
        edits=[(RETURN, "    return loss.detach(), norm\n")],
        check="test_steps_and_norms",
        says="types",
    ),
    Wrong(
        "the loss inside the region, on float16 predictions",
        edits=[(LOSS, "        loss = loss_fn(predictions, targets)\n")],
        check="test_forward_and_loss_stay",
        says="loss_fn",
    ),
    Wrong(
        "bfloat16, which needs no scaler",
        edits=[("dtype=torch.float16", "dtype=torch.bfloat16")],
        check="test_forward_and_loss_stay",
        says="bfloat16",
    ),
    Wrong(
        "no autocast",
        edits=[(FORWARD, "    predictions = model(inputs)\n")],
        check="test_forward_and_loss_stay",
        says="forward pass",
    ),
    Wrong(
        "a region for the CPU, wherever the data is",
        edits=[("inputs.device.type", '"cpu"')],
        check="test_on_a_device",
        says="on another device",
    ),
    Wrong(
        "runs the model again for the loss that it returns",
        edits=[(RETURN, "    return loss_fn(model(inputs).float(), targets).item(), norm.item()\n")],
        check="test_steps_and_norms",
        says="wrong loss",
    ),
    Wrong(
        "a norm in float16",
        edits=[
            (
                CLIP,
                "    norm = torch.stack([p.grad.half().norm() for p in params if p.grad is not None]).norm()\n    nn.utils.clip_grad_norm_(params, max_norm)\n",
            )
        ],
        check="test_steps_and_norms",
        says="wrong norm",
    ),
    Wrong(
        "tries again with a smaller scale until it fits",
        edits=instead("""    while True:
        optimizer.zero_grad()
        with torch.autocast(inputs.device.type, dtype=torch.float16):
            predictions = model(inputs)
        loss = loss_fn(predictions.float(), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        params = [p for group in optimizer.param_groups for p in group["params"]]
        norm = nn.utils.clip_grad_norm_(params, max_norm)
        scaler.step(optimizer)
        scaler.update()
        if torch.isfinite(norm) or scaler.get_scale() <= 1.0 or not torch.isfinite(loss):
            return loss.item(), norm.item()
"""),
        check="test_overflow_skips_the_step",
    ),
    Right(
        "a scaled bound in place of unscaled gradients",
        edits=[
            (
                UNSCALE + PARAMS + CLIP,
                PARAMS
                + """    scale = scaler.get_scale()
    norm = nn.utils.clip_grad_norm_(params, max_norm * scale) / scale
""",
            ),
        ],
    ),
    Right(
        "clears at the end as well, norm and clipping by hand, update in a finally",
        edits=instead("""    params = [p for group in optimizer.param_groups for p in group["params"]]
    for p in params:
        p.grad = None
    with torch.amp.autocast(device_type=inputs.device.type, dtype=torch.float16):
        predictions = model(inputs)
    loss = loss_fn(predictions.to(torch.float32), targets)
    value = float(loss.detach())
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    gradients = [p.grad for p in params if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    if norm > max_norm:
        for g in gradients:
            g.mul_(max_norm / norm)
    try:
        scaler.step(optimizer)
    finally:
        scaler.update()
    optimizer.zero_grad()
    return value, norm.item()
"""),
    ),
    Right(
        "gradients by autograd.grad",
        edits=[
            (
                ZERO,
                "",
            ),
            (
                BACKWARD + UNSCALE + PARAMS,
                PARAMS
                + """    params = [p for p in params if p.requires_grad]
    found = torch.autograd.grad(scaler.scale(loss), params, allow_unused=True)
    for p, g in zip(params, found):
        p.grad = g
    scaler.unscale_(optimizer)
""",
            ),
        ],
    ),
    Wrong(
        "takes a norm above 10,000 for an overflow",
        edits=[(STEP, "    if not 1e4 < norm < float('inf'):\n    " + STEP)],
        check="test_small_gradients_arrive",
        says="gradients of 3e6",
    ),
    Wrong(
        "divides by a norm of 0",
        edits=[
            (
                CLIP,
                "    norm = nn.utils.get_total_norm([p.grad for p in params if p.grad is not None])\n"
                "    c = max_norm / norm.item()\n"
                "    if c < 1:\n        [p.grad.mul_(c) for p in params if p.grad is not None]\n",
            )
        ],
        check="test_default_bound",
        says="ZeroDivisionError",
    ),
    Wrong(
        "keeps the list of parameters with the optimizer: groups that are added later take no part",
        edits=[
            (
                PARAMS,
                '    new = [p for group in optimizer.param_groups for p in group["params"]]\n'
                '    params = optimizer.__dict__.setdefault("all_params", new)\n',
            )
        ],
        check="test_what_the_optimizer_holds",
        says="two of them new",
    ),
    Wrong(
        "sets the scale by hand where the norm is not finite",
        edits=[
            (
                STEP + UPDATE,
                "    if norm.isfinite():\n        scaler.step(optimizer)\n        scaler.update()\n"
                "    else:\n        scaler.update(scaler.get_scale() * scaler.get_backoff_factor())\n",
            )
        ],
        check="test_overflow_skips_the_step",
        says="count of steps",
    ),
    Wrong(
        "takes no step where the loss is not finite, whatever the gradients are",
        edits=[(STEP, "    if loss.isfinite():\n        scaler.step(optimizer)\n")],
        check="test_gradients_decide",
        says="a loss of inf and finite gradients",
    ),
    Wrong(
        "takes no step where the loss is NaN, whatever the gradients are",
        edits=[(STEP, "    if not loss.isnan():\n        scaler.step(optimizer)\n")],
        check="test_gradients_decide",
        says="a loss of nan and finite gradients",
    ),
    Wrong(
        "makes targets of one dimension floating",
        edits=[(LOSS, LOSS.replace("targets)", "targets if targets.dim() > 1 else targets.float())"))],
        check="test_token_numbers",
    ),
    Wrong(
        "makes the inputs float16 itself",
        edits=[("predictions = model(inputs)", "predictions = model(inputs.half())")],
        check="test_token_numbers",
    ),
]
