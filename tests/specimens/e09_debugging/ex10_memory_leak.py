"""Answers to memory_leak that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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

WHOLE = """
import torch
from torch import nn


class Trainer:
    def __init__(self, model, loss_fn, optimizer, window=100):
        self.model, self.loss_fn, self.optimizer, self.window = model, loss_fn, optimizer, window
        self.losses = []
        self.samples = []
        self.smoothed = None
        self.activity = {}
%s
    def step(self, inputs, targets):
        self.activity = {}
%s
        outputs = self.model(inputs)
        loss = self.loss_fn(outputs, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
%s
        self.losses.append(loss.item())
        self.samples.append(outputs[0].detach())
        self.smoothed = loss.item() if self.smoothed is None else 0.9 * self.smoothed + 0.1 * loss.item()
        return loss.item()

    def report(self):
        return {
            "losses": self.losses[-self.window :],
            "smoothed": self.smoothed,
            "activity": self.activity,
            "samples": self.samples[-self.window :],
        }

    def _watch(self, name):
        def hook(layer, inputs, output):
            if isinstance(output, torch.Tensor):
                self.activity[name] = output.abs().mean().item()
        return hook
"""

SPECIMENS = [
    Wrong(
        "losses with their graphs",
        edits=[
            (KEEP, "        self.losses.append(loss)\n"),
            ('"losses": list(self.losses)', '"losses": [float(loss) for loss in self.losses]'),
        ],
        rung="job",
        check="test_no_graph_is_alive",
        says="in self.losses are tensors with",
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
        rung="job",
        check="test_no_graph_is_alive",
        says="in self.smoothed are tensors with",
    ),
    Wrong(
        "the activities with their graphs",
        edits=[
            (NOTE, "                self.activity[name] = output.abs().mean()\n"),
            ("dict(self.activity)", "{name: float(a) for name, a in self.activity.items()}"),
        ],
        rung="job",
        check="test_no_graph_is_alive",
        says="in self.activity are tensors with",
    ),
    Wrong(
        "samples with copied values and their graphs",
        edits=[
            (ROW, "        self.samples.append(outputs[0].clone())\n"),
            ("[row.clone() for", "[row.detach().clone() for"),
        ],
        rung="job",
        check="test_no_graph_is_alive",
        says="in self.samples are tensors with",
    ),
    Wrong(
        "never removes the hooks",
        edits=[(TRY, "        outputs = self.model(inputs)\n")],
        rung="job",
        check="test_steps_do_not_slow_down",
        says="register once",
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
        rung="job",
        check="test_report",
    ),
    Wrong(
        "shows all losses",
        edits=[(LOSSES, "        self.losses: list[float] = []\n")],
        rung="job",
        check="test_report",
        says="length of report",
    ),
    Wrong(
        "watches modules with children too",
        edits=[(LEAF, "")],
        rung="job",
        check="test_report",
        says="layers",
    ),
    Wrong(
        "the model without a graph: nothing can be derived",
        edits=[
            (
                TRY,
                TRY.replace(
                    "            outputs", "            with torch.no_grad():\n                outputs"
                ),
            )
        ],
        rung="job",
        check="test_training",
    ),
    Wrong(
        "samples as lists, which float32 tensors are made of",
        edits=[
            (".detach().clone())  # a row", ".tolist())  # a row"),
            ("[row.clone() for", "[torch.tensor(row) for"),
        ],
        rung="job",
        check="test_report",
        says="dtype",
    ),
    Wrong(
        "samples that are views of whole outputs",
        edits=[(ROW, "        self.samples.append(outputs[0].detach())\n")],
        check="test_memory_of_a_batch",
        says="in self.samples shares the memory",
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
        "all losses for ever, the latest of them shown",
        edits=[
            (LOSSES, "        self.losses: list[float] = []\n"),
            ('"losses": list(self.losses)', '"losses": self.losses[-self.window :]'),
        ],
        check="test_number_of_steps",
        says="deque",
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
        says="hooks of others are gone",
    ),
    Wrong(
        "reports its own samples",
        edits=[("[row.clone() for row in self.samples]", "list(self.samples)")],
        check="test_reports_are_the_callers",
    ),
    Wrong(
        "counts the loss before the step has gone well",
        edits=[(LOSS, LOSS + "        self.losses.append(loss.item())\n"), (KEEP, "")],
        check="test_a_step_that_raises",
        says="report()",
    ),
    Works(
        "item, detach, and handles that are removed",
        code=WHOLE
        % (
            "",
            """        handles = []
        for name, layer in self.model.named_modules():
            if not list(layer.children()):
                handles.append(layer.register_forward_hook(self._watch(name)))""",
            "        for handle in handles:\n            handle.remove()",
        ),
    ),
    Works(
        "hooks once, when the trainer is built",
        code=WHOLE
        % (
            """        for name, layer in self.model.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(self._watch(name))
""",
            "",
            "",
        ),
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
        "one global hook with a filter, gradients cleared at the end, a copy of the row",
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
]
