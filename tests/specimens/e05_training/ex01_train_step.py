"""Answers to train_step that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LOSS = "    loss = loss_fn(model(inputs), targets)  # ()\n"
CLEAR = "    optimizer.zero_grad()  # to None, so that what gets no gradient stays where it is\n"
BACKWARD = "    loss.backward()\n"
STEP = "    optimizer.step()\n"
LAST = "    return loss.item()\n"

SPECIMENS = [
    Wrong(
        "never clears the gradients",
        edits=[(CLEAR, "")],
        check="test_several_steps",
        says="nothing clears them",
        rung="job",
    ),
    Wrong(
        "clears the gradients before the step: nothing is learned",
        edits=[(CLEAR, ""), (STEP, CLEAR + STEP)],
        check="test_what_runs",
        says="None when the optimizer steps",
        rung="job",
    ),
    Wrong("forgets the step", edits=[(STEP, "")], check="test_what_runs", says="optimizer.step", rung="job"),
    Wrong(
        "steps twice",
        edits=[(STEP, STEP + STEP)],
        check="test_several_steps",
        says="two steps in a call",
        rung="job",
    ),
    Wrong(
        "the loss after the update",
        edits=[(LAST, "    return loss_fn(model(inputs), targets).item()\n")],
        check="test_several_steps",
        says="after the step",
        rung="job",
    ),
    Wrong(
        "the sum over the batch",
        edits=[(LAST, "    return loss.item() * len(inputs)\n")],
        check="test_several_steps",
        says="sum over the batch",
        rung="job",
    ),
    Wrong(
        "returns a tensor",
        edits=[(LAST, "    return loss.detach()\n")],
        check="test_several_steps",
        says="float",
        rung="job",
    ),
    Wrong(
        "predictions and targets the wrong way round",
        edits=[(LOSS, "    loss = loss_fn(targets, model(inputs))\n")],
        check="test_class_numbers",
        rung="job",
    ),
    Wrong(
        "turns the targets into floats",
        edits=[(LOSS, "    loss = loss_fn(model(inputs), targets.float())\n")],
        check="test_class_numbers",
        rung="job",
    ),
    Wrong(
        "runs the model twice",
        edits=[(LOSS, LOSS + "    predictions = model(inputs)\n")],
        check="test_what_runs",
        says="times that model runs",
        rung="job",
    ),
    Wrong(
        "clears after the step alone",
        edits=[(CLEAR, ""), (STEP, STEP + CLEAR)],
        check="test_old_gradients",
    ),
    Wrong(
        "clears before and after",
        edits=[(STEP, STEP + CLEAR)],
        check="test_gradients_stay",
        says="was cleared",
    ),
    Wrong(
        "clears the model's gradients, not the optimizer's",
        edits=[(CLEAR, "    model.zero_grad()\n")],
        check="test_parameters_outside_the_model",
    ),
    Wrong(
        "zeros instead of None: momentum and decay move what is not used",
        edits=[(CLEAR, "    optimizer.zero_grad(set_to_none=False)\n")],
        check="test_parameters_without_gradient",
        says="not used",
    ),
    Wrong(
        "switches to training mode",
        edits=[(LOSS, "    model.train()\n" + LOSS)],
        check="test_modes_are_the_callers",
    ),
    Wrong(
        "calls forward: hooks do not run",
        edits=[(LOSS, LOSS.replace("model(", "model.forward("))],
        check="test_hooks",
        says="model.forward",
    ),
    Wrong(
        "clips the gradients",
        edits=[(STEP, "    nn.utils.clip_grad_norm_(model.parameters(), 20.0)\n" + STEP)],
        check="test_large_losses",
    ),
    Wrong(
        "skips the step where the loss is NaN",
        edits=[(STEP, "    if not loss.isnan():\n    " + STEP)],
        check="test_nan",
        says="number of steps",
    ),
    Works(
        "as PyTorch's quickstart has it: zero_grad last, train() first",
        code="""
def train_step(model, loss_fn, optimizer, inputs, targets):
    model.train()
    pred = model(inputs)
    loss = loss_fn(pred, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
""",
    ),
    Works(
        "as nanoGPT has it: clipped, and the memory of the gradients given back at once",
        code="""
import torch

def train_step(model, loss_fn, optimizer, inputs, targets):
    logits = model(inputs)
    loss = loss_fn(logits, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e3)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    lossf = loss.item()
    return lossf
""",
    ),
    Right(
        "as PyTorch's MNIST example has it: zero_grad first",
        code="""
def train_step(model, loss_fn, optimizer, inputs, targets):
    optimizer.zero_grad()
    output = model(inputs)
    loss = loss_fn(output, targets)
    loss.backward()
    optimizer.step()
    return float(loss)
""",
    ),
    Right(
        "a closure",
        code="""
def train_step(model, loss_fn, optimizer, inputs, targets):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
""",
    ),
    Right(
        "takes the gradients with autograd.grad",
        code="""
import torch

def train_step(model, loss_fn, optimizer, inputs, targets):
    params = [p for group in optimizer.param_groups for p in group["params"]]
    loss = loss_fn(model(inputs), targets)
    learning = [p for p in params if p.requires_grad]
    found = torch.autograd.grad(loss, learning, allow_unused=True)
    for p in params:
        p.grad = None
    for p, g in zip(learning, found):
        p.grad = g
    optimizer.step()
    return loss.tolist()
""",
    ),
]
