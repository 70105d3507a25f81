"""Answers to autocast_step that people write."""

from grader.authoring.specimen import Right, Works, Wrong

REGION = "    with torch.autocast(inputs.device.type, dtype=dtype):\n"
FORWARD = "        predictions = model(inputs)  # (batch, *outputs), mostly in dtype\n"
LOSS = "    loss = loss_fn(predictions.float(), targets)  # (), in float32 whatever loss_fn is made of\n"
CLEAR = "    optimizer.zero_grad()\n"
BACKWARD = "    loss.backward()\n"
STEP = "    optimizer.step()\n"
GUARD = "if dtype not in (torch.bfloat16, torch.float16):"

SPECIMENS = [
    Wrong(
        "a region for CUDA, wherever the data is",
        edits=[("inputs.device.type", '"cuda"')],
        check="test_several_steps",
        says="autocast is off",
        rung="job",
    ),
    Wrong(
        "always bfloat16",
        edits=[("dtype=dtype):", "dtype=torch.bfloat16):")],
        check="test_forward_in_dtype",
        says="wanted  torch.float16",
        rung="job",
    ),
    Wrong(
        "the loss after the region, of predictions in 16 bits",
        edits=[("predictions.float()", "predictions")],
        check="test_several_steps",
        says="its result is rounded",
        rung="job",
    ),
    Wrong(
        "converts the model",
        code="""
import torch

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    model.to(dtype)
    loss = loss_fn(model(inputs.to(dtype)).float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""",
        check="test_weights_stay_in_float32",
        says="bfloat16",
        rung="job",
    ),
    Wrong(
        "rounds the weights after the step",
        edits=[
            (STEP, STEP + "    for p in model.parameters():\n        p.data = p.data.to(dtype).float()\n")
        ],
        check="test_weights_stay_in_float32",
        says="rounding of bfloat16",
        rung="job",
    ),
    Wrong(
        "never clears the gradients",
        edits=[(CLEAR, "")],
        check="test_several_steps",
        says="nothing clears them",
        rung="job",
    ),
    Wrong(
        "returns a tensor",
        edits=[("return loss.item()", "return loss.detach()")],
        check="test_several_steps",
        says="float",
        rung="job",
    ),
    Wrong(
        "float32 predictions, but the loss inside the region: its own products are in 16 bits",
        edits=[(LOSS, "    " + LOSS)],
        check="test_own_loss",
        says="wrong precision in loss_fn",
    ),
    Wrong(
        "everything inside the region",
        edits=[(CLEAR + BACKWARD + STEP, CLEAR + REGION + "    " + BACKWARD + "    " + STEP)],
        check="test_region_ends_with_the_forward",
        says="on in the backward",
    ),
    Wrong(
        "a region for CUDA where there is one, else for the CPU",
        edits=[("inputs.device.type", '"cuda" if torch.cuda.is_available() else "cpu"')],
        check="test_on_a_device",
        says="float32",
    ),
    Wrong(
        "looks at the loss before the step: the host waits twice",
        edits=[(BACKWARD, "    assert not loss.isnan()\n" + BACKWARD)],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "clears after the step",
        edits=[(CLEAR, ""), (STEP, STEP + CLEAR)],
        check="test_as_in_train_step",
        says="was cleared",
    ),
    Wrong(
        "switches to training mode",
        edits=[(REGION, "    model.train()\n" + REGION)],
        check="test_hooks_and_modes",
    ),
    Wrong(
        "leaves other dtypes to autocast, which only warns",
        edits=[(GUARD, "if dtype is None:")],
        check="test_bad_dtype",
        says="no error",
    ),
    Works(
        "PyTorch's recipe: forward and loss in the region",
        code="""
import torch

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    optimizer.zero_grad()
    with torch.autocast(device_type=inputs.device.type, dtype=dtype):
        output = model(inputs)
        loss = loss_fn(output, targets)
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    ),
    Works(
        "as nanoGPT has it: one region for the script's device, gradients given back at once",
        code="""
import torch

device_type = "cuda" if torch.cuda.is_available() else "cpu"

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    ctx = torch.amp.autocast(device_type=device_type, dtype=dtype)
    with ctx:
        logits = model(inputs)
        loss = loss_fn(logits, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()
""",
    ),
    Works(
        "everything in the region, in a hurry",
        code="""
import torch

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    with torch.autocast("cpu", dtype=dtype):
        model.train()
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()
    return float(loss)
""",
    ),
    Right(
        "converts the predictions inside the region, and asks a parameter for the device",
        code="""
import torch

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    if dtype != torch.float16 and dtype != torch.bfloat16:
        raise ValueError(f"autocast computes in 16 bits, not in {dtype}")
    device = next(model.parameters()).device
    optimizer.zero_grad(set_to_none=True)
    with torch.amp.autocast(device_type=device.type, dtype=dtype, cache_enabled=False):
        logits = model(inputs).to(torch.float32)
    loss = loss_fn(logits, targets)
    loss.backward()
    optimizer.step()
    return float(loss.detach())
""",
    ),
    Right(
        "forward and loss in the region, with autocast off around the loss",
        code="""
import torch

def autocast_step(model, loss_fn, optimizer, inputs, targets, dtype=torch.bfloat16):
    if dtype not in {torch.float16, torch.bfloat16}:
        raise ValueError("dtype")
    kind = inputs.device.type

    def closure():
        optimizer.zero_grad()
        with torch.autocast(kind, dtype=dtype):
            predictions = model(inputs)
            with torch.autocast(kind, enabled=False):
                loss = loss_fn(predictions.float(), targets)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
""",
    ),
]
