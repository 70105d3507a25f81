"""Answers to bundle_preprocessing that people write."""

from grader.authoring.specimen import Right, Works, Wrong

IF = "        if mean.shape != std.shape or not bool((std > 0).all()):\n"
MEAN = '        self.register_buffer("mean", mean.view(-1, 1, 1))  # (channels, 1, 1)\n'
STD = '        self.register_buffer("std", std.view(-1, 1, 1))\n'
LABELS = "        self._labels = _Labels(labels)\n"
PROPERTY = "        return self._labels.values\n"
CAST = "        x = pixels.to(self.mean.dtype)\n"
BYTES = "        if pixels.dtype == torch.uint8:\n"
DIVIDE = "            x = x / 255\n"
RUN = "        return self.network((x - self.mean) / self.std)  # (batch, classes)\n"
NAMES = "        return [self.labels[number] for number in logits.argmax(1).tolist()]\n"

SPECIMENS = [
    Wrong(
        "does not scale bytes",
        edits=[(DIVIDE, "            pass\n")],
        check="test_worked_example",
        rung="job",
        says="not divided by 255",
    ),
    Wrong(
        "divides by 256",
        edits=[(DIVIDE, DIVIDE.replace("255", "256"))],
        check="test_numbers",
        rung="job",
        says="divided by 256",
    ),
    Wrong(
        "scales floats, too",
        edits=[(BYTES, "        if True:\n")],
        check="test_numbers",
        rung="job",
        says="floating pixels are divided",
    ),
    Wrong(
        "scales what looks like bytes",
        edits=[(BYTES, "        if pixels.numel() and pixels.max() > 1.5:\n")],
        check="test_numbers",
        rung="job",
    ),
    Wrong(
        "one mean for all channels",
        edits=[(RUN, RUN.replace("self.mean)", "self.mean.mean())"))],
        check="test_numbers",
        rung="job",
    ),
    Wrong(
        "normalises the last dimension",
        edits=[(MEAN, MEAN.replace("(-1, 1, 1)", "(-1)")), (STD, STD.replace("(-1, 1, 1)", "(-1)"))],
        check="test_numbers",
        rung="job",
    ),
    Wrong(
        "plain attributes",
        edits=[
            (MEAN, "        self.mean = mean.view(-1, 1, 1)\n"),
            (STD, "        self.std = std.view(-1, 1, 1)\n"),
        ],
        check="test_saved_with_it",
        rung="job",
    ),
    Wrong(
        "trains mean and std",
        edits=[
            (MEAN, "        self.mean = nn.Parameter(mean.view(-1, 1, 1))\n"),
            (STD, "        self.std = nn.Parameter(std.view(-1, 1, 1))\n"),
        ],
        check="test_parameters",
        rung="job",
    ),
    Wrong(
        "labels stay at home",
        edits=[
            (LABELS, "        self._labels = tuple(labels)\n"),
            (PROPERTY, "        return self._labels\n"),
        ],
        check="test_saved_with_it",
        rung="job",
        says="labels",
    ),
    Wrong(
        "the least likely",
        edits=[(NAMES, NAMES.replace("argmax", "argmin"))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "always float32",
        edits=[
            (CAST, "        x = pixels.float()\n"),
            (RUN, RUN.replace("(x - self.mean) / self.std", "((x - self.mean) / self.std).float()")),
        ],
        check="test_dtypes",
    ),
    Wrong(
        "labels as a tensor as long as the longest",
        edits=[
            (
                LABELS,
                """        longest = max([len(label.encode()) for label in labels], default=0)
        codes = [list(label.encode().ljust(longest, b"\\0")) for label in labels]
        self.register_buffer("letters", torch.tensor(codes, dtype=torch.uint8).view(-1, longest))
""",
            ),
            (
                PROPERTY,
                """        return tuple(bytes(row).rstrip(b"\\0").decode() for row in self.letters.tolist())
""",
            ),
        ],
        check="test_in_something_larger",
    ),
    Wrong(
        "keeps the list",
        edits=[("        self.values = tuple(values)\n", "        self.values = values\n")],
        check="test_own_copies",
    ),
    Wrong(
        "class numbers one by one",
        edits=[(NAMES, "        return [self.labels[int(number)] for number in logits.argmax(1)]\n")],
        check="test_on_a_device",
    ),
    Wrong(
        "any std",
        edits=[(IF, "        if mean.shape != std.shape:\n")],
        check="test_refused",
    ),
    Wrong(
        "computes without a graph",
        edits=[
            (
                RUN,
                "        with torch.no_grad():\n            return self.network((x - self.mean) / self.std)\n",
            )
        ],
        check="test_gradients",
    ),
    Works(
        "buffers with a batch dimension, extra state of its own",
        code="""
import torch
from torch import nn


class Bundle(nn.Module):
    def __init__(self, network, mean, std, labels):
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1))
        self.labels = tuple(labels)

    def get_extra_state(self):
        return {"labels": self.labels}

    def set_extra_state(self, state):
        self.labels = tuple(state["labels"])

    def forward(self, pixels):
        x = pixels.float() / 255 if pixels.dtype == torch.uint8 else pixels
        return self.network((x - self.mean) / self.std)

    @torch.no_grad()
    def classify(self, pixels):
        self.eval()
        return [self.labels[i] for i in self(pixels).argmax(dim=1)]
""",
    ),
    Works(
        "labels as bytes in a buffer, which grows when it is loaded",
        code="""
import torch
from torch import nn


class Bundle(nn.Module):
    def __init__(self, network, mean, std, labels):
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.as_tensor(mean)[:, None, None])
        self.register_buffer("std", torch.as_tensor(std)[:, None, None])
        self.register_buffer("names", torch.tensor(list("\\n".join(labels).encode()), dtype=torch.uint8))

    @property
    def labels(self):
        return tuple(bytes(self.names.tolist()).decode().split("\\n"))

    def _load_from_state_dict(self, state_dict, prefix, *args):
        self.names = torch.empty_like(state_dict[prefix + "names"])
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, pixels):
        if not pixels.is_floating_point():
            pixels = pixels / 255.0
        return self.network(pixels.sub(self.mean).div(self.std))

    def classify(self, pixels):
        labels = self.labels
        return [labels[i] for i in self.forward(pixels).max(dim=-1).indices.tolist()]
""",
    ),
    Right(
        "buffers of one dimension, and torchvision's way",
        edits=[
            (MEAN, '        self.register_buffer("mean", mean)\n'),
            (STD, '        self.register_buffer("std", std)\n'),
            (
                CAST + BYTES + DIVIDE + RUN,
                """        high = 255 if pixels.dtype == torch.uint8 else 1
        x = pixels.to(self.mean.dtype).div(high).movedim(1, -1)
        x = x.sub(self.mean).div(self.std).movedim(-1, 1)
        return self.network(x)
""",
            ),
            (
                NAMES,
                "        return list(map(self.labels.__getitem__, logits.max(dim=1).indices.cpu().numpy().tolist()))\n",
            ),
        ],
    ),
    Right(
        "hooks of the state dict",
        edits=[
            (
                LABELS,
                "        self.names = tuple(labels)\n        self._register_state_dict_hook(_write_labels)\n        self._register_load_state_dict_pre_hook(_read_labels, with_module=True)\n",
            ),
            (PROPERTY, "        return list(self.names)\n"),
            (
                "\n\nclass _Labels(",
                """

import json


def _write_labels(module, state, prefix, *_):
    state[prefix + "labels"] = json.dumps(module.names)


def _read_labels(module, state, prefix, *_):
    if prefix + "labels" in state:
        module.names = tuple(json.loads(state.pop(prefix + "labels")))


class _Labels(""",
            ),
            (RUN, "        return self.network(torch.addcdiv(-self.mean / self.std, x, self.std))\n"),
        ],
    ),
]
