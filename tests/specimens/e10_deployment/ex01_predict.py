"""Answers to predict that people write."""

from grader.authoring.specimen import Right, Works, Wrong

PLACED = "    device = next(model.parameters()).device\n"
MODES = "    modes = [(layer, layer.training) for layer in model.modules()]\n"
EVAL = "        model.eval()\n"
MODE = "        with torch.inference_mode():\n"
SPLIT = "            for batch in inputs.split(batch_size):  # of no rows: one empty batch\n"
RUN = "                outputs = model(batch.to(device, copy=True))  # (batch, *outputs), perhaps in place\n"
KEEP = '                parts.append(outputs.to("cpu", copy=True))  # a view would hold all of its base\n'
DEL = "                del outputs  # or it is there still while the model runs on the next batch\n"
RESTORE = """        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
"""
LAST = "    return torch.cat(parts)  # (rows, *outputs): outside of inference mode, so it is an ordinary tensor\n"
BODY = PLACED + MODES + "    parts = []\n    try:\n" + EVAL + MODE + SPLIT + RUN + KEEP + DEL
BODY += "    finally:\n" + RESTORE + LAST

SPECIMENS = [
    Wrong(
        "forgets eval",
        edits=[(EVAL, "")],
        check="test_dropout",
        says="training mode",
        rung="job",
    ),
    Wrong(
        "records graphs",
        edits=[(MODE, "        if True:\n")],
        check="test_worked_example",
        says="records a graph",
        rung="job",
    ),
    Wrong(
        "drops the short batch",
        edits=[
            (
                SPLIT,
                "            for batch in inputs[: len(inputs) // batch_size * batch_size or 1].split(batch_size):\n",
            )
        ],
        check="test_worked_example",
        says="shorter batch is left out",
        rung="job",
    ),
    Wrong(
        "returns the last batch only",
        edits=[("torch.cat(parts)", "parts[-1].clone()")],
        check="test_every_row",
        says="only the last batch",
        rung="job",
    ),
    Wrong(
        "all rows at once",
        edits=[(SPLIT, "            for batch in [inputs]:\n")],
        check="test_batches",
        says="rows in each",
        rung="job",
    ),
    Wrong(
        "batch_size batches rather than batches of batch_size",
        edits=[("inputs.split(batch_size)", "inputs.chunk(batch_size)")],
        check="test_batches",
        says="rows in each",
        rung="job",
    ),
    Wrong(
        "casts to float32",
        edits=[("batch.to(device, copy=True)", "batch.to(device, torch.float32, copy=True)")],
        check="test_dtypes",
        rung="job",
    ),
    Wrong(
        "results in the dtype of the inputs",
        edits=[('"cpu", copy=True)', '"cpu", inputs.dtype, copy=True)')],
        check="test_dtypes",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "results stay on the device",
        edits=[('outputs.to("cpu", copy=True)', "outputs.clone()")],
        check="test_on_a_device",
        says="stays on the device",
        rung="job",
    ),
    Wrong(
        "the inputs stay on the CPU",
        edits=[("batch.to(device, copy=True)", "batch.clone()")],
        check="test_on_a_device",
        rung="job",
    ),
    Wrong(
        "gives all layers the mode of the model",
        edits=[(RESTORE, "        model.train(modes[0][1])\n")],
        check="test_modes_come_back",
        says="training flag of",
    ),
    Wrong(
        "no_grad in place of inference mode",
        edits=[(MODE, "        with torch.no_grad():\n")],
        check="test_inference_mode",
    ),
    Wrong(
        "hands inputs that fit into one batch to the model as they are",
        edits=[("batch.to(device, copy=True)", "batch.to(device, copy=len(inputs) > batch_size)")],
        check="test_own_memory",
        says="8) of a model that works in place",
    ),
    Wrong(
        "holds what the rows are a view of",
        edits=[('outputs.to("cpu", copy=True)', "outputs.cpu()")],
        check="test_only_rows_are_held",
        says="earlier batches",
    ),
    Wrong(
        "all inputs go to the device at once",
        edits=[(PLACED, PLACED + "    inputs = inputs.to(device)\n")],
        check="test_traffic",
        says="copies to the device",
    ),
    Wrong(
        "returns nothing for no rows",
        edits=[(PLACED, "    if len(inputs) == 0:\n        return torch.empty(0)\n" + PLACED)],
        check="test_no_rows",
        says="shape",
    ),
    Works(
        "a loop over starts, as in a notebook",
        code="""
import torch


@torch.no_grad()
def predict(model, inputs, batch_size=64):
    model.eval()
    device = next(model.parameters()).device
    outputs = []
    for i in range(0, len(inputs), batch_size):
        batch = inputs[i : i + batch_size].to(device)
        outputs.append(model(batch).cpu())
    return torch.cat(outputs)
""",
    ),
    Works(
        "a data loader, and the model trains afterwards",
        code="""
import torch
from torch.utils.data import DataLoader, TensorDataset


def predict(model, inputs, batch_size=64):
    device = next(model.parameters()).device
    loader = DataLoader(TensorDataset(inputs), batch_size=batch_size, shuffle=False)
    model.eval()
    predictions = []
    with torch.inference_mode():
        for (x,) in loader:
            predictions.append(model(x.to(device)).detach().cpu())
    model.train()
    return torch.cat(predictions, dim=0)
""",
    ),
    Right(
        "into memory that is laid out at the first batch",
        edits=[
            (
                BODY,
                """    device = next(model.parameters()).device
    training = {layer for layer in model.modules() if layer.training}
    result = None
    try:
        for layer in training:
            layer.training = False
        start = 0
        while start < len(inputs) or result is None:
            with torch.inference_mode():
                rows = model(inputs[start : start + batch_size].to(device, copy=True))
            if result is None:
                result = torch.empty((len(inputs), *rows.shape[1:]), dtype=rows.dtype)
            result[start : start + batch_size] = rows
            start += batch_size
            del rows
        return result
    finally:
        for layer in model.modules():
            layer.training = layer in training
""",
            )
        ],
    ),
    Right(
        "a context manager, and copies outside of inference mode",
        code="""
from contextlib import contextmanager

import torch


@contextmanager
def evaluating(model):
    before = {name: layer.training for name, layer in model.named_modules()}
    model.train(False)
    try:
        with torch.inference_mode():
            yield
    finally:
        for name, mode in before.items():
            model.get_submodule(name).training = mode


def predict(model, inputs, batch_size=64):
    device = next(model.parameters()).device
    results = []
    with evaluating(model):
        for start in range(0, max(len(inputs), 1), batch_size):
            batch = inputs[start : start + batch_size]
            results.append(model(batch.clone() if device.type == "cpu" else batch.to(device)).to("cpu", copy=True))
    return torch.cat([r.clone() for r in results])
""",
    ),
]
