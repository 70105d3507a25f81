"""Answers to evaluate that people write."""

from grader.authoring.specimen import Right, Works, Wrong

EVAL = "        model.eval()\n"
NO_GRAD = "        with torch.no_grad():\n"
LOSS = "                loss = loss_fn(model(inputs), targets)  # ()\n"
IF = "                if len(targets) > 0:  # else the loss is NaN, and times 0 it still is\n"
ADD = "                    total += loss.item() * len(targets)\n"
COUNT = "                    count += len(targets)\n"
RESTORE = "        for layer, training in modes:  # one by one: model.train(training) would give all the same\n            layer.training = training\n"
RAISE = '    if count == 0:\n        raise ValueError("There is nothing to evaluate: the batches hold no examples.")\n'
LAST = "    return total / count\n"

SPECIMENS = [
    Wrong(
        "a mean of batch means, as in PyTorch's quickstart",
        edits=[(ADD, ADD.replace(" * len(targets)", "")), (COUNT, COUNT.replace("len(targets)", "1"))],
        check="test_every_example_counts_the_same",
        says="mean of the batches' means",
        rung="job",
    ),
    Wrong(
        "drops the last batch where it is short",
        edits=[
            ("total, count = 0.0, 0", "total, count, size = 0.0, 0, 0"),
            (
                IF,
                "                size = max(size, len(targets))\n                if len(targets) == size:\n",
            ),
        ],
        check="test_class_numbers",
        says="last batch is left out",
        rung="job",
    ),
    Wrong(
        "returns a tensor",
        edits=[(LAST, "    return torch.tensor(total / count)\n")],
        check="test_every_example_counts_the_same",
        says="float",
        rung="job",
    ),
    Wrong(
        "forgets eval",
        edits=[(EVAL, "")],
        check="test_evaluation_mode",
        says="runs in training mode",
        rung="job",
    ),
    Wrong(
        "records graphs",
        edits=[(NO_GRAD, "        if True:\n")],
        check="test_evaluation_mode",
        says="records a graph",
        rung="job",
    ),
    Wrong(
        "no_grad for the model, not for the loss",
        edits=[
            (NO_GRAD, "        if True:\n"),
            (
                LOSS,
                "                with torch.no_grad():\n                    predictions = model(inputs)\n"
                "                loss = loss_fn(predictions, targets)\n",
            ),
        ],
        check="test_evaluation_mode",
        says="loss_fn records a graph",
        rung="job",
    ),
    Wrong(
        "clears the gradients",
        edits=[(EVAL, EVAL + "        model.zero_grad()\n")],
        check="test_nothing_changes",
        says="is gone",
        rung="job",
    ),
    Wrong(
        "always back to training mode",
        edits=[(RESTORE, "        model.train()\n")],
        check="test_modes_come_back",
        says="training flag of",
    ),
    Wrong(
        "restores the mode of the model for all layers",
        edits=[(RESTORE, "        model.train(modes[0][1])\n")],
        check="test_modes_come_back",
        says="training flag of layer 0.1",
    ),
    Wrong(
        "restores only where nothing went wrong",
        edits=[
            ("    try:\n        model.eval()\n", "    if True:\n        model.eval()\n"),
            ("    finally:\n", "    if True:\n"),
        ],
        check="test_errors",
        says="after an error",
    ),
    Wrong(
        "a loss of 0 without examples",
        edits=[(RAISE, ""), (LAST, "    return total / max(count, 1)\n")],
        check="test_no_examples",
        says="no error",
    ),
    Wrong(
        "an empty batch makes the loss NaN",
        edits=[(IF, "                if True:\n")],
        check="test_empty_batches",
    ),
    Wrong(
        "skips losses that are NaN",
        edits=[(IF, "                if len(targets) > 0 and not loss.isnan():\n")],
        check="test_nan",
        says="hides a NaN",
    ),
    Wrong(
        "sums in float32",
        edits=[
            ("total, count = 0.0, 0", "total, count = torch.tensor(0.0), 0"),
            (LAST, "    return (total / count).item()\n"),
        ],
        check="test_double_precision",
    ),
    Wrong(
        "makes a list of the batches",
        edits=[("in batches:", "in list(batches):")],
        check="test_large_data",
        says="still held",
    ),
    Wrong(
        "counts the inputs",
        edits=[
            (ADD, ADD.replace("len(targets)", "len(inputs)")),
            (COUNT, COUNT.replace("targets", "inputs")),
        ],
        check="test_other_inputs",
    ),
    Wrong(
        "calls forward: hooks do not run",
        edits=[(LOSS, LOSS.replace("model(", "model.forward("))],
        check="test_hooks",
        says="model.forward",
    ),
    Works(
        "as PyTorch's MNIST example has it: a sum over all rows, and evaluation mode for good",
        code="""
import torch

def evaluate(model, loss_fn, batches):
    model.eval()
    test_loss = 0
    rows = 0
    with torch.no_grad():
        for data, target in batches:
            output = model(data)
            test_loss += loss_fn(output, target).item() * len(data)  # sum up batch loss
            rows += len(data)
    test_loss /= rows
    return test_loss
""",
    ),
    Works(
        "as Hugging Face's examples without a trainer have it: a loss for each row, then the mean",
        code="""
import torch

@torch.no_grad()
def evaluate(model, loss_fn, batches):
    model.eval()
    losses = []
    for batch, labels in batches:
        loss = loss_fn(model(batch), labels)
        losses.append(loss.repeat(labels.shape[0]))
    losses = torch.cat(losses)
    model.train()
    return torch.mean(losses).item()
""",
    ),
    Right(
        "inference_mode, and a total on the device",
        code="""
import torch

def evaluate(model, loss_fn, batches):
    was_training = {layer: layer.training for layer in model.modules()}
    total, count = None, 0
    model.train(False)
    try:
        with torch.inference_mode():
            for inputs, targets in batches:
                n = targets.shape[0]
                if n == 0:
                    continue
                share = loss_fn(model(inputs), targets).double() * n
                total = share if total is None else total + share
                count += n
    finally:
        for layer, training in was_training.items():
            layer.training = training
    if total is None:
        raise ValueError("no examples")
    return float(total / count)
""",
    ),
    Right(
        "a context manager and fsum",
        code="""
import contextlib
import math
import torch

@contextlib.contextmanager
def evaluating(model):
    training = {name for name, layer in model.named_modules() if layer.training}
    model.eval()
    try:
        yield
    finally:
        for name, layer in model.named_modules():
            layer.training = name in training

@torch.no_grad()
def evaluate(model, loss_fn, batches):
    shares, sizes = [], []
    with evaluating(model):
        for inputs, targets in batches:
            loss = float(loss_fn(model(inputs), targets))
            sizes.append(targets.size(0))
            if sizes[-1]:
                shares.append(sizes[-1] * loss)
    if not shares:
        raise ValueError("no examples")
    return math.fsum(shares) / sum(sizes)
""",
    ),
]
