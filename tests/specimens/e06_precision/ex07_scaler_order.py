"""Answers to scaler_order that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ZERO = "    optimizer.zero_grad()\n"
REGION = "torch.autocast(inputs.device.type, dtype=torch.float16)"
FORWARD = f"    with {REGION}:\n        predictions = model(inputs)\n"
LOSS = "    loss = loss_fn(predictions.float(), targets)\n"
BACKWARD = "    scaler.scale(loss).backward()  # float16 gradients on the way are scale times as large\n"
UNSCALE = "    scaler.unscale_(optimizer)  # and notes inf and NaN: clipping cannot hide them now\n"
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
        "the start: clips before unscaling",
        edits=[(UNSCALE, "")],
        check="test_clipped_steps",
        says="norm of scaled gradients",
        rung="job",
    ),
    Wrong(
        "unscales after clipping, and divides the norm",
        edits=[(UNSCALE, ""), (CLIP, CLIP + UNSCALE + "    norm = norm / scaler.get_scale()\n")],
        check="test_clipped_steps",
        says="too small by the scale",
        rung="job",
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
        check="test_clipped_steps",
        says="too small by the scale",
        rung="job",
    ),
    Wrong(
        "updates before the step",
        edits=[(STEP + UPDATE, UPDATE + STEP)],
        check="test_clipped_steps",
        says="too small by the scale",
        rung="job",
    ),
    Wrong(
        "steps past the scaler: an overflow gets into the weights",
        edits=[(STEP, "    optimizer.step()\n")],
        check="test_no_step_after_an_overflow",
        says="number of steps",
        rung="job",
    ),
    Wrong(
        "never updates the scaler",
        edits=[(UPDATE, "")],
        check="test_scaler_is_updated_once",
        says="unscale_() is being called after step()",
        rung="job",
    ),
    Wrong(
        "updates after steps only: the scale never backs off",
        edits=[(UPDATE, "    if torch.isfinite(norm):\n        scaler.update()\n")],
        check="test_no_step_after_an_overflow",
        says="after a skipped step, too",
        rung="job",
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
        says="nothing scales the loss",
        rung="job",
    ),
    Wrong(
        "an error where the norm is not finite",
        edits=[("(params, max_norm)", "(params, max_norm, error_if_nonfinite=True)")],
        check="test_no_step_after_an_overflow",
        rung="job",
    ),
    Wrong(
        "never clips",
        edits=[(CLIP, "    norm = nn.utils.clip_grad_norm_(params, float('inf'))\n")],
        check="test_clipped_steps",
        says="not clipped",
        rung="job",
    ),
    Wrong(
        "returns the norm after clipping",
        edits=[(RETURN, "    return loss.item(), min(norm.item(), max_norm)\n")],
        check="test_clipped_steps",
        says="after clipping",
        rung="job",
    ),
    Wrong(
        "returns the scaled loss",
        edits=[(BACKWARD, "    loss = scaler.scale(loss)\n    loss.backward()\n")],
        check="test_clipped_steps",
        says="scaled loss",
        rung="job",
    ),
    Wrong(
        "bfloat16, which needs no scaler",
        edits=[("dtype=torch.float16", "dtype=torch.bfloat16")],
        check="test_float16",
        says="bfloat16",
        rung="job",
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
        says="last group",
    ),
    Wrong(
        "clears after the step only: what lies there before the first call takes part",
        edits=[(ZERO, ""), (UPDATE, UPDATE + ZERO)],
        check="test_old_gradients",
        says="old numbers count",
    ),
    Wrong(
        "clears to zero: momentum and decay move what is not used",
        edits=[("zero_grad()", "zero_grad(set_to_none=False)")],
        check="test_missing_gradients",
    ),
    Wrong(
        "takes the scale from the state dict, which is empty where the scaler is off",
        edits=[
            (
                UNSCALE + PARAMS + CLIP,
                PARAMS
                + """    scale = scaler.state_dict()["scale"]
    norm = nn.utils.clip_grad_norm_(params, max_norm * scale) / scale
""",
            )
        ],
        check="test_scaler_that_is_off",
    ),
    Wrong(
        "a region for the CPU, wherever the data is",
        edits=[("inputs.device.type", '"cpu"')],
        check="test_on_a_device",
        says="on another device",
    ),
    Works(
        "PyTorch's AMP recipe: the loss in the region, the model's parameters clipped",
        code="""
import torch

def scaled_step(model, loss_fn, optimizer, scaler, inputs, targets, max_norm=1.0):
    optimizer.zero_grad()
    with torch.autocast(device_type=inputs.device.type, dtype=torch.float16):
        output = model(inputs)
        loss = loss_fn(output, targets)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item(), norm.item()
""",
    ),
    Works(
        "as nanoGPT has it: zero_grad last",
        code="""
import torch

def scaled_step(model, loss_fn, optimizer, scaler, inputs, targets, max_norm=1.0):
    with torch.amp.autocast(device_type=inputs.device.type, dtype=torch.float16):
        logits = model(inputs)
        loss = loss_fn(logits, targets)
    scaler.scale(loss).backward()
    if max_norm != 0.0:
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    return float(loss), float(norm)
""",
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
]
