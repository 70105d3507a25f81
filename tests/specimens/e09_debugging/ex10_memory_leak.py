"""Answers to memory_leak that people write."""

from grader.authoring.specimen import Right, Wrong

LOSSES = "        self.losses: deque[float] = deque(maxlen=window)\n"
SAMPLES = "        self.samples: deque[Tensor] = deque(maxlen=window)\n"
EMPTY = "        self.activity = {}\n        handles"
TRY = """        try:
            outputs = self.model(inputs)  # (batch, …)
        finally:
            for handle in handles:
                handle.remove()
"""
LOSS = "        loss = self.loss_fn(outputs, targets)  # ()\n"
ZERO = "        self.optimizer.zero_grad()\n"
BACKWARD = "        loss.backward()\n"
STEP = "        self.optimizer.step()\n"
VALUE = "        value = loss.item()\n"
KEEP = "        self.losses.append(value)\n"
ROW = "        self.samples.append(outputs[0].detach().clone())  # a row by itself: a view would hold the whole batch\n"
SMOOTH = "        self.smoothed = value if self.smoothed is None else 0.9 * self.smoothed + 0.1 * value\n"
RETURN = "        return value\n"
NOTE = "                self.activity[name] = output.detach().abs().mean().item()\n"
LEAF = "            if not list(layer.children())\n"
HANDLES = (
    EMPTY
    + """ = [
            layer.register_forward_hook(self._watch(name))
            for name, layer in self.model.named_modules()
            if not list(layer.children())
        ]
"""
)
REPORTED = '            "losses": list(self.losses),\n            "smoothed": self.smoothed,\n'

SPECIMENS = [
    Wrong(
        "no step where the loss is not finite",
        edits=[(STEP, "        if loss.isfinite():\n            self.optimizer.step()\n")],
        check="test_layers_of_all_kinds",
        says="takes no step",
    ),
    Wrong(
        "smoothed without losses that are not finite",
        edits=[(SMOOTH, "        if loss.isfinite():\n    " + SMOOTH)],
        check="test_layers_of_all_kinds",
        says="smoothed",
    ),
    Wrong(
        "inputs in the dtype of the weights",
        edits=[("self.model(inputs)", "self.model(inputs.to(next(self.model.parameters()).dtype))")],
        check="test_layers_of_all_kinds",
        says="float64",
    ),
    Wrong(
        "clears the gradients of the model and not those of the optimizer",
        edits=[("self.optimizer.zero_grad()", "self.model.zero_grad()")],
        check="test_gradients_from_before",
        says="a parameter of the loss",
    ),
    Wrong(
        "activity without NaN and inf",
        edits=[(NOTE, NOTE.replace(".detach()", ".detach().nan_to_num()"))],
        check="test_layers_of_all_kinds",
        says="returns inf and 1",
    ),
    Wrong(
        "keeps detached losses, each in the memory of its batch",
        edits=[
            (KEEP, "        self.losses.append(loss.detach())\n"),
            ('"losses": list(self.losses)', '"losses": [loss.item() for loss in self.losses]'),
        ],
        check="test_bytes_do_not_grow",
        says="batch",
    ),
    Wrong(
        "clears the gradients after the step only",
        edits=[(ZERO, ""), (STEP, STEP + ZERO)],
        check="test_gradients_from_before",
    ),
    Wrong(
        "a smoothed loss of 0 counts as none",
        edits=[(SMOOTH, SMOOTH.replace("if self.smoothed is None", "if not self.smoothed"))],
        check="test_smoothed_from_zero",
    ),
    Wrong(
        "losses with their graphs",
        edits=[
            (KEEP, "        self.losses.append(loss)\n"),
            ('"losses": list(self.losses)', '"losses": [float(loss) for loss in self.losses]'),
        ],
        check="test_nothing_of_a_batch_is_alive",
        says="loss",
    ),
    Wrong(
        "the smoothed loss with its graph",
        edits=[
            (SMOOTH, SMOOTH.replace("value", "loss")),
            (
                '"smoothed": self.smoothed',
                '"smoothed": None if self.smoothed is None else float(self.smoothed)',
            ),
        ],
        check="test_nothing_of_a_batch_is_alive",
        says="graph",
    ),
    Wrong(
        "the activities with their graphs",
        edits=[
            (NOTE, "                self.activity[name] = output.abs().mean()\n"),
            ("dict(self.activity)", "{name: float(a) for name, a in self.activity.items()}"),
        ],
        check="test_nothing_of_a_batch_is_alive",
        says="graph",
    ),
    Wrong(
        "the outputs of the layers, for the report to average",
        edits=[
            (NOTE, "                self.activity[name] = output.detach()\n"),
            ("dict(self.activity)", "{name: a.abs().mean().item() for name, a in self.activity.items()}"),
        ],
        check="test_bytes_do_not_grow",
        says="size of a batch",
    ),
    Wrong(
        "averages the activities after the run, when ReLU has written over them",
        edits=[
            (NOTE, "                self.activity[name] = output.detach()\n"),
            (
                LOSS,
                "        self.activity = {n: a.abs().mean().item() for n, a in self.activity.items()}\n"
                + LOSS,
            ),
        ],
        check="test_report",
    ),
    Wrong(
        "samples with their graphs",
        edits=[
            (ROW, "        self.samples.append(outputs[0])\n"),
            ("[row.clone() for", "[row.detach().clone() for"),
        ],
        check="test_nothing_of_a_batch_is_alive",
        says="graph",
    ),
    Wrong(
        "samples with copied values and their graphs",
        edits=[
            (ROW, "        self.samples.append(outputs[0].clone())\n"),
            ("[row.clone() for", "[row.detach().clone() for"),
        ],
        check="test_nothing_of_a_batch_is_alive",
        says="graph",
    ),
    Wrong(
        "samples that are views of whole outputs",
        edits=[(ROW, "        self.samples.append(outputs[0].detach())\n")],
        check="test_bytes_do_not_grow",
        says="size of a batch",
    ),
    Wrong(
        "keeps the last outputs, detached",
        edits=[(ROW, ROW + "        self.outputs = outputs.detach()\n")],
        check="test_bytes_do_not_grow",
    ),
    Wrong(
        "keeps the last batch",
        edits=[(ROW, ROW + "        self.batch = inputs, targets\n")],
        check="test_nothing_of_a_batch_is_alive",
        says="input",
    ),
    Wrong(
        "keeps the batch until the step is done",
        edits=[
            (LOSS, "        self.batch = inputs, outputs\n" + LOSS),
            (RETURN, "        self.batch = None\n" + RETURN),
        ],
        check="test_a_step_that_raises",
        says="alive",
    ),
    Wrong(
        "keeps the error",
        edits=[
            (
                TRY,
                TRY.replace(
                    "        finally:",
                    "        except Exception as error:\n            self.error = error\n            raise\n        finally:",
                ),
            ),
        ],
        check="test_a_step_that_raises",
    ),
    Wrong(
        "all losses for ever, the latest of them shown",
        edits=[
            (LOSSES, "        self.losses: list[float] = []\n"),
            ('"losses": list(self.losses)', '"losses": self.losses[-self.window :]'),
        ],
        check="test_bytes_do_not_grow",
        says="more and more",
    ),
    Wrong(
        "all samples for ever, the latest of them shown",
        edits=[
            (SAMPLES, "        self.samples: list[Tensor] = []\n"),
            ("in self.samples]", "in self.samples[-self.window :]]"),
        ],
        check="test_bytes_do_not_grow",
        says="with their number",
    ),
    Wrong(
        "logs all losses in a list of the file",
        edits=[
            ("class Trainer:", "_log = []\n\n\nclass Trainer:"),
            (VALUE, VALUE + "        _log.append(value)\n"),
        ],
        check="test_bytes_do_not_grow",
        says="more and more",
    ),
    Wrong(
        "keeps the last batch as a list of numbers",
        edits=[(ROW, ROW + "        self.last = outputs.tolist()\n")],
        check="test_bytes_do_not_grow",
        says="larger batches",
    ),
    Wrong(
        "keeps the last outputs as a NumPy array",
        edits=[(ROW, ROW + "        self.last = outputs.detach().numpy()\n")],
        check="test_bytes_do_not_grow",
        says="size of a batch",
    ),
    Wrong(
        "a hook on a weight at each step",
        edits=[
            (LOSS, "        next(self.model.parameters()).register_hook(lambda g: None)\n" + LOSS),
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "shows all losses",
        edits=[(LOSSES, "        self.losses: list[float] = []\n")],
        check="test_report",
    ),
    Wrong(
        "a window of a hundred whatever is asked for",
        edits=[(LOSSES, "        self.losses: deque[float] = deque(maxlen=100)\n")],
        check="test_report",
    ),
    Wrong(
        "never removes the hooks",
        edits=[(TRY, "        outputs = self.model(inputs)\n")],
        check="test_no_hook_is_left",
        says="hooks",
    ),
    Wrong(
        "removes the hooks only if all goes well",
        edits=[
            (
                TRY,
                "        outputs = self.model(inputs)\n        for handle in handles:\n            handle.remove()\n",
            )
        ],
        check="test_a_step_that_raises",
        says="hooks",
    ),
    Wrong(
        "hooks once, when the trainer is built",
        edits=[
            (HANDLES, "        self.activity = {}\n"),
            (TRY, "        outputs = self.model(inputs)\n"),
            (
                "        self.smoothed: float | None = None\n",
                "        self.smoothed: float | None = None\n        for name, layer in model.named_modules():\n            if not list(layer.children()):\n                layer.register_forward_hook(self._watch(name))\n",
            ),
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "clears all hooks, those of others too",
        edits=[
            (
                TRY,
                TRY.replace(
                    "            for handle in handles:\n                handle.remove()\n",
                    "            for layer in self.model.modules():\n                layer._forward_hooks.clear()\n",
                ),
            )
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "a list of the layers from the start",
        edits=[
            (LOSSES, LOSSES + "        self.layers = dict(model.named_modules())\n"),
            (
                EMPTY
                + " = [\n            layer.register_forward_hook(self._watch(name))\n            for name, layer in self.model.named_modules()\n",
                EMPTY
                + " = [\n            layer.register_forward_hook(self._watch(name))\n            for name, layer in self.layers.items()\n",
            ),
        ],
        check="test_layers_that_change",
    ),
    Wrong(
        "watches modules with children too",
        edits=[(LEAF, "")],
        check="test_report",
        says="layers",
    ),
    Wrong(
        "watches the children of the model only",
        edits=[("self.model.named_modules()", "self.model.named_children()")],
        check="test_report",
        says="layers",
    ),
    Wrong(
        "activities of earlier steps stay",
        edits=[(EMPTY, "        handles")],
        check="test_layers_that_change",
    ),
    Wrong(
        "the first call of a layer that runs twice",
        edits=[
            (
                "            if isinstance(output, Tensor):",
                "            if isinstance(output, Tensor) and name not in self.activity:",
            )
        ],
        check="test_layers_of_all_kinds",
    ),
    Wrong(
        "takes every output for a tensor",
        edits=[("            if isinstance(output, Tensor):", "            if output is not None:")],
        check="test_layers_of_all_kinds",
    ),
    Wrong(
        "a mean without absolute values",
        edits=[(NOTE, NOTE.replace(".abs()", ""))],
        check="test_report",
    ),
    Wrong(
        "lists that all trainers share",
        edits=[
            (LOSSES, ""),
            (SAMPLES, ""),
            (
                "    def __init__(\n",
                "    losses: deque[float] = deque(maxlen=2)\n    samples: deque[Tensor] = deque(maxlen=2)\n\n    def __init__(\n",
            ),
        ],
        check="test_reports_are_the_callers",
    ),
    Wrong(
        "reports its own lists",
        edits=[("dict(self.activity)", "self.activity")],
        check="test_reports_are_the_callers",
    ),
    Wrong(
        "reports its own samples",
        edits=[("[row.clone() for row in self.samples]", "list(self.samples)")],
        check="test_reports_are_the_callers",
    ),
    Wrong(
        "counts the loss before the step has gone well",
        edits=[
            (LOSS, LOSS + "        self.losses.append(loss.item())\n"),
            (KEEP, ""),
        ],
        check="test_a_step_that_raises",
        says="losses",
    ),
    Wrong(
        "smooths before the step has gone well",
        edits=[
            (LOSS, LOSS + VALUE + SMOOTH),
            (KEEP + ROW + SMOOTH, KEEP + ROW),
            (STEP + VALUE, STEP),
        ],
        check="test_smoothed_ignores_a_step_that_raised",
    ),
    Wrong(
        "smooths with the shares the other way round",
        edits=[(SMOOTH, SMOOTH.replace("0.9 * self", "0.1 * self").replace("0.1 * value", "0.9 * value"))],
        check="test_report",
        says="smoothed",
    ),
    Wrong(
        "starts smoothing at 0",
        edits=[
            (
                SMOOTH,
                SMOOTH.replace(
                    "value if self.smoothed is None else 0.9 * self.smoothed", "0.9 * (self.smoothed or 0.0)"
                ),
            )
        ],
        check="test_report",
        says="smoothed",
    ),
    Wrong(
        "a graph of the gradients",
        edits=[(BACKWARD, "        loss.backward(create_graph=True)\n")],
        check="test_nothing_of_a_batch_is_alive",
    ),
    Wrong(
        "samples in float32",
        edits=[(".detach().clone())  # a row", ".detach().float())  # a row")],
        check="test_dtypes_and_shapes",
        says="dtype",
    ),
    Wrong(
        "samples as lists",
        edits=[
            (".detach().clone())  # a row", ".tolist())  # a row"),
            ("[row.clone() for", "[torch.tensor(row) for"),
        ],
        check="test_report",
        says="dtype",
    ),
    Wrong(
        "runs the model without a graph for the activity, and once more",
        edits=[
            (
                TRY,
                TRY.replace(
                    "outputs = self.model(inputs)  # (batch, …)",
                    "with torch.no_grad():\n                self.model(inputs)",
                ),
            ),
            (LOSS, "        outputs = self.model(inputs)\n" + LOSS),
        ],
        check="test_called_once",
    ),
    Wrong(
        "in training mode always",
        edits=[(EMPTY, "        self.model.train()\n" + EMPTY)],
        check="test_called_once",
    ),
    Wrong(
        "no gradient is cleared",
        edits=[(ZERO, "")],
        check="test_report",
    ),
    Wrong(
        "does not train any more",
        edits=[(BACKWARD, ""), (STEP, "")],
        check="test_called_once",
    ),
    Wrong(
        "swallows the error",
        edits=[
            (
                TRY,
                TRY.replace(
                    "        finally:",
                    "        except RuntimeError:\n            return float('nan')\n        finally:",
                ),
            )
        ],
        check="test_a_step_that_raises",
        says="error",
    ),
    Right(
        "detached scalars, lists that are cut, ExitStack",
        edits=[
            ("from collections import deque\n", "from contextlib import ExitStack\n"),
            (LOSSES, "        self.losses: list[Tensor] = []\n"),
            (SAMPLES, "        self.samples: list[Tensor] = []\n"),
            (
                HANDLES,
                """        self.activity = {}
        with ExitStack() as stack:
            for name, layer in self.model.named_modules():
                if next(layer.children(), None) is None:
                    handle = layer.register_forward_hook(self._watch(name))
                    stack.callback(handle.remove)
            outputs = self.model(inputs)
""",
            ),
            (TRY, ""),
            (KEEP, "        self.losses = [*self.losses, loss.detach().clone()][-self.window :]\n"),
            (ROW, "        self.samples = [*self.samples, outputs.data[0].clone()][-self.window :]\n"),
            (
                SMOOTH,
                "        old = self.smoothed\n        self.smoothed = value if old is None else old + (value - old) / 10\n",
            ),
            ('"losses": list(self.losses)', '"losses": [loss.item() for loss in self.losses]'),
            (NOTE, "                self.activity[name] = float(output.data.abs().mean())\n"),
        ],
    ),
    Right(
        "one global hook with a filter, gradients cleared at the end, a NumPy-free copy of the row",
        edits=[
            (
                HANDLES,
                """        self.activity = {}
        names = {layer: name for name, layer in self.model.named_modules() if not list(layer.children())}

        def hook(layer, args, output):
            if layer in names and isinstance(output, Tensor):
                with torch.no_grad():
                    self.activity[names[layer]] = output.abs().mean().item()

        handles = [nn.modules.module.register_module_forward_hook(hook)]
""",
            ),
            (STEP, STEP + "        self.optimizer.zero_grad()\n"),
            (
                ROW,
                "        with torch.no_grad():\n            self.samples.append(torch.empty_like(outputs[0]).copy_(outputs[0]))\n",
            ),
        ],
    ),
    Right(
        "slots, a record for each step",
        code="""
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn

@dataclass
class Record:
    loss: float
    row: torch.Tensor

class Trainer:
    __slots__ = ("model", "loss_fn", "optimizer", "records", "smooth", "active")

    def __init__(self, model, loss_fn, optimizer, window=100):
        self.model, self.loss_fn, self.optimizer = model, loss_fn, optimizer
        self.records, self.smooth, self.active = deque([], window), [], {}

    def _forward(self, inputs):
        active, handles = {}, []

        def watch(name, layer):
            def hook(module, args, out):
                if torch.is_tensor(out):
                    active[name] = torch.linalg.vector_norm(out.detach(), 1).item() / max(1, out.numel())
            handles.append(layer.register_forward_hook(hook))

        for name, layer in self.model.named_modules():
            if not layer._modules:
                watch(name, layer)
        try:
            return self.model(inputs)
        finally:
            while handles:
                handles.pop().remove()
            self.active = active

    def step(self, inputs, targets):
        out = self._forward(inputs)
        loss = self.loss_fn(out, targets)
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        self.optimizer.step()
        record = Record(float(loss.detach()), out.detach()[0].clone())
        self.records.append(record)
        self.smooth[:] = [record.loss if not self.smooth else 0.9 * self.smooth[0] + record.loss / 10]
        return record.loss

    def report(self):
        return dict(
            losses=[r.loss for r in self.records],
            smoothed=next(iter(self.smooth), None),
            activity={**self.active},
            samples=[r.row.clone() for r in self.records],
        )
""",
    ),
    Wrong(
        "takes the hooks away after an error, and not after an interrupt",
        edits=[
            (
                TRY,
                TRY.replace("finally:", "except Exception:")
                + "            raise\n        for handle in handles:\n            handle.remove()\n",
            )
        ],
        check="test_a_step_that_raises",
        says="are left on the model after the interrupt raised",
    ),
    Wrong(
        "clears the gradients at the beginning and behind each step, and not before the next one",
        edits=[
            (LOSSES, "        optimizer.zero_grad()\n" + LOSSES),
            (ZERO, ""),
            (STEP, STEP + ZERO),
        ],
        check="test_gradients_from_before",
        says="had a gradient before",
    ),
    Wrong(
        "cuts lists back only where they are twice as long as shown",
        edits=[
            (LOSSES, "        self.losses: list[float] = []\n"),
            (SAMPLES, "        self.samples: list[Tensor] = []\n"),
            (
                SMOOTH,
                SMOOTH + "        if len(self.losses) >= 2 * self.window:\n"
                "            del self.losses[: -self.window], self.samples[: -self.window]\n",
            ),
            (REPORTED, REPORTED.replace("list(self.losses)", "self.losses[-self.window :]")),
            ("in self.samples]", "in self.samples[-self.window :]]"),
        ],
        check="test_bytes_do_not_grow",
        says="window=20",
    ),
    Wrong(
        "room for all samples, made for rows like the first",
        edits=[
            (
                ROW,
                "        row = outputs[0].detach()\n        if not self.samples:\n"
                "            self.room = row.new_empty(self.window, *row.shape)\n"
                "        self.room = self.room.roll(-1, 0)\n        self.room[-1] = row\n"
                "        self.samples.append(None)\n",
            ),
            (
                "[row.clone() for row in self.samples]",
                "[row.clone() for row in self.room[-len(self.samples) :]] if self.samples else []",
            ),
        ],
        check="test_dtypes_and_shapes",
    ),
    Wrong(
        "shows a few steps more where no window is given",
        edits=[("        window: int = 100,\n", "        window: int = 128,\n")],
        check="test_default_window",
    ),
]
