"""Answers to bundle_preprocessing that must fail, and some that must pass."""

from grader.authoring.specimen import Right, Wrong

COPY = "        mean, std = (torch.as_tensor(x, dtype=torch.float32).detach().clone() for x in (mean, std))\n"
IF = "        if mean.shape != std.shape or not bool((std > 0).all()):\n"
MEAN = '        self.register_buffer("mean", mean.view(-1, 1, 1))  # (channels, 1, 1)\n'
STD = '        self.register_buffer("std", std.view(-1, 1, 1))\n'
LABELS = "        self._labels = _Labels(labels)\n"
GET = "        return list(self.values)\n"
SET = "        self.values = tuple(state)\n"
PROPERTY = "        return self._labels.values\n"
WHOLE = '''    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits."""
        return self._labels.values

'''
DTYPE = "        if pixels.dtype != torch.uint8 and not pixels.is_floating_point():\n"
SHAPE = "        if pixels.dim() != 4 or pixels.shape[1] != len(self.mean):\n"
CAST = "        x = pixels.to(self.mean.dtype)\n"
BYTES = "        if pixels.dtype == torch.uint8:\n"
DIVIDE = "            x = x / 255\n"
RUN = "        return self.network((x - self.mean) / self.std)  # (batch, classes)\n"
COUNT = "        if logits.shape[1] != len(self.labels):\n"
NAMES = "        return [self.labels[number] for number in logits.argmax(1).tolist()]\n"

SPECIMENS = [
    Wrong(
        "refuses a small std, too",
        edits=[(IF, IF.replace("(std > 0)", "(std > 1e-12)"))],
        check="test_bad_numbers",
    ),
    Wrong(
        "labels joined by a separator of their own",
        edits=[
            (GET, GET.replace("list(self.values)", "'\\x1e'.join(self.values)")),
            (SET, SET.replace("state", "state.split('\\x1e')")),
        ],
        check="test_taken_along",
        says="300",
    ),
    Wrong(
        "the largest probability, where small differences are lost",
        edits=[(NAMES, NAMES.replace("logits.argmax", "logits.softmax(1).argmax"))],
        check="test_labels",
    ),
    Wrong(
        "labels as one string, with NUL between them",
        edits=[
            (GET, '        return "\\0".join(self.values)\n'),
            (SET, '        self.values = tuple(state.split("\\0"))\n'),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "no graph in evaluation mode",
        edits=[(RUN, "        with torch.set_grad_enabled(self.training):\n    " + RUN)],
        check="test_gradients",
        says="bundle.training False",
    ),
    Wrong(
        "complex pixels pass, without their imaginary part",
        edits=[
            (
                "not pixels.is_floating_point()",
                "not (pixels.is_floating_point() or pixels.is_complex())",
            )
        ],
        check="test_bad_pixels",
        says="complex64",
    ),
    Wrong(
        "looks at the channels, and not at the number of dimensions",
        edits=[("pixels.dim() != 4 or ", "")],
        check="test_bad_pixels",
        says="three pixels high",
    ),
    Wrong(
        "divides by 256", edits=[(DIVIDE, DIVIDE.replace("255", "256"))], check="test_numbers", says="bytes"
    ),
    Wrong("does not scale bytes", edits=[(DIVIDE, "            pass\n")], check="test_numbers", says="bytes"),
    Wrong(
        "scales floats, too",
        edits=[(BYTES, "        if True:\n")],
        check="test_numbers",
        says="floats",
    ),
    Wrong(
        "scales what looks like bytes",
        edits=[(BYTES, "        if pixels.numel() and pixels.max() > 1.5:\n")],
        check="test_numbers",
    ),
    Wrong(
        "clamps floats to 0 to 1",
        edits=[(RUN, "        x = x.clamp(0, 1)\n" + RUN)],
        check="test_numbers",
        says="floats",
    ),
    Wrong(
        "normalises before it scales",
        edits=[
            (DIVIDE, "            return self.network((x - self.mean) / self.std / 255)\n"),
        ],
        check="test_numbers",
    ),
    Wrong(
        "multiplies by std",
        edits=[(RUN, RUN.replace("/ self.std", "* self.std"))],
        check="test_numbers",
    ),
    Wrong(
        "divides before it subtracts",
        edits=[(RUN, RUN.replace("(x - self.mean) / self.std", "x / self.std - self.mean"))],
        check="test_numbers",
    ),
    Wrong(
        "one mean for all channels",
        edits=[(RUN, RUN.replace("self.mean)", "self.mean.mean())"))],
        check="test_numbers",
    ),
    Wrong(
        "normalises the last dimension",
        edits=[(MEAN, MEAN.replace("(-1, 1, 1)", "(-1)")), (STD, STD.replace("(-1, 1, 1)", "(-1)"))],
        check="test_numbers",
    ),
    Wrong(
        "adds an eps to std",
        edits=[(RUN, RUN.replace("self.std)", "(self.std + 1e-3))"))],
        check="test_numbers",
    ),
    Wrong(
        "normalises in place",
        edits=[(RUN, "        return self.network(x.sub_(self.mean).div_(self.std))\n")],
        check="test_numbers",
        says="changes its input",
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
        "floats keep their dtype",
        edits=[(CAST, "        x = pixels if pixels.is_floating_point() else pixels.to(self.mean.dtype)\n")],
        check="test_dtypes",
    ),
    Wrong(
        "scales in float32, then casts",
        edits=[(CAST, "        x = pixels\n"), (RUN, "        x = x.to(self.mean.dtype)\n" + RUN)],
        check="test_dtypes",
    ),
    Wrong(
        "plain attributes",
        edits=[
            (MEAN, "        self.mean = mean.view(-1, 1, 1)\n"),
            (STD, "        self.std = std.view(-1, 1, 1)\n"),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "buffers that are not saved",
        edits=[
            (MEAN, MEAN.replace("1, 1))  #", "1, 1), persistent=False)  #")),
            (STD, STD.replace("1, 1))", "1, 1), persistent=False)")),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "trains mean and std",
        edits=[
            (MEAN, "        self.mean = nn.Parameter(mean.view(-1, 1, 1))\n"),
            (STD, "        self.std = nn.Parameter(std.view(-1, 1, 1))\n"),
        ],
        check="test_gradients",
        says="parameters",
    ),
    Wrong(
        "parameters that require no gradient",
        edits=[
            (MEAN, "        self.mean = nn.Parameter(mean.view(-1, 1, 1), requires_grad=False)\n"),
            (STD, "        self.std = nn.Parameter(std.view(-1, 1, 1), requires_grad=False)\n"),
        ],
        check="test_gradients",
        says="parameters",
    ),
    Wrong(
        "preprocesses without a graph",
        edits=[
            (
                RUN,
                "        with torch.no_grad():\n            x = (x - self.mean) / self.std\n        return self.network(x)\n",
            )
        ],
        check="test_gradients",
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
    Wrong(
        "labels stay at home",
        edits=[
            (LABELS, "        self._labels = tuple(labels)\n"),
            (PROPERTY, "        return self._labels\n"),
        ],
        check="test_taken_along",
        says="labels",
    ),
    Wrong(
        "labels are saved and not loaded",
        edits=[(SET, "        pass\n")],
        check="test_taken_along",
        says="labels",
    ),
    Wrong(
        "labels as a tensor of letters, of fixed length",
        edits=[
            (
                LABELS,
                """        codes = [list(label.encode()[:8].ljust(8)) for label in labels]
        self.register_buffer("letters", torch.tensor(codes, dtype=torch.uint8).view(-1, 8))
""",
            ),
            (
                PROPERTY,
                """        return tuple(bytes(row).decode("ascii", "replace").strip() for row in self.letters.tolist())
""",
            ),
        ],
        check="test_taken_along",
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
        check="test_taken_along",
    ),
    Wrong(
        "an enum, which no safe loader reads",
        edits=[
            (
                GET,
                "        import pathlib\n\n        return [pathlib.PurePosixPath(label) for label in self.values]\n",
            ),
            (SET, "        self.values = tuple(map(str, state))\n"),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "one list of labels for all bundles",
        edits=[
            ("        self.values = tuple(values)\n", "        type(self).values = tuple(values)\n"),
            (SET, "        type(self).values = tuple(state)\n"),
        ],
        check="test_own_copies",
    ),
    Wrong(
        "a closure, which pickle does not know",
        edits=[
            (MEAN, "        self.normalise = lambda x: (x - self.mean) / self.std\n" + MEAN),
            (RUN, "        return self.network(self.normalise(x))\n"),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "a state dict of its own making",
        edits=[
            (
                WHOLE,
                WHOLE
                + """    def state_dict(self):
        parts = {name: getattr(self, name) for name in ("mean", "std")}
        return {**parts, "network": self.network.state_dict(), "labels": list(self.labels)}

    def load_state_dict(self, state, strict=True):
        self.network.load_state_dict(state["network"])
        self.mean.copy_(state["mean"])
        self.std.copy_(state["std"])
        self._labels.values = tuple(state["labels"])

""",
            )
        ],
        check="test_taken_along",
    ),
    Wrong(
        "loads what it needs as it is",
        edits=[
            (
                WHOLE,
                WHOLE
                + """    def load_state_dict(self, state, strict=True, assign=False):
        return super().load_state_dict(state, strict=strict, assign=True)

""",
            )
        ],
        check="test_loaded_after_a_move",
        says="dtype",
    ),
    Wrong(
        "keeps the tensors that it was given",
        edits=[(COPY, COPY.replace(".detach().clone()", ""))],
        check="test_own_copies",
        says="changed",
    ),
    Wrong(
        "keeps the list",
        edits=[("        self.values = tuple(values)\n", "        self.values = values\n")],
        check="test_own_copies",
        says="changed",
    ),
    Wrong(
        "takes tensors only",
        edits=[(COPY, "        mean, std = mean.float().clone(), std.float().clone()\n")],
        check="test_own_copies",
    ),
    Wrong(
        "the last of equal ones",
        edits=[
            (NAMES, NAMES.replace("logits.argmax(1)", "(logits.shape[1] - 1 - logits.flip(1).argmax(1))"))
        ],
        check="test_labels",
    ),
    Wrong("the least likely", edits=[(NAMES, NAMES.replace("argmax", "argmin"))], check="test_labels"),
    Wrong(
        "squeezes",
        edits=[(NAMES, NAMES.replace("logits.argmax(1)", "logits.squeeze().argmax(-1)"))],
        check="test_labels",
    ),
    Wrong(
        "one label for a batch of one",
        edits=[
            (
                NAMES,
                NAMES.replace("return [", "found = [")
                + "        return found[0] if len(found) == 1 else found\n",
            )
        ],
        check="test_labels",
    ),
    Wrong(
        "an error for no images",
        edits=[(SHAPE, SHAPE.replace("if pix", "if len(pixels) == 0 or pix"))],
        check="test_empty_batch",
    ),
    Wrong(
        "None for no images",
        edits=[
            (
                "        logits = self(pixels)\n",
                "        if not len(pixels):\n            return None\n        logits = self(pixels)\n",
            )
        ],
        check="test_empty_batch",
    ),
    Wrong(
        "classify leaves evaluation mode on",
        edits=[("        logits = self(pixels)\n", "        self.eval()\n        logits = self(pixels)\n")],
        check="test_modes_are_the_caller_s",
    ),
    Wrong(
        "always evaluates",
        edits=[(RUN, "        self.network.eval()\n" + RUN)],
        check="test_modes_are_the_caller_s",
    ),
    Wrong(
        "numbers as lists: copied to the device each time",
        edits=[
            (
                RUN,
                "        mean = torch.tensor(self.mean.tolist(), device=x.device, dtype=x.dtype)\n        return self.network((x - mean) / self.std)\n",
            )
        ],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "class numbers one by one",
        edits=[(NAMES, "        return [self.labels[int(number)] for number in logits.argmax(1)]\n")],
        check="test_on_a_device",
        says="one by one",
    ),
    Wrong(
        "any std",
        edits=[(IF, "        if mean.shape != std.shape:\n")],
        check="test_bad_numbers",
        says="no error",
    ),
    Wrong(
        "NaN is no std below 0",
        edits=[(IF, IF.replace("not bool((std > 0).all())", "bool((std <= 0).any())"))],
        check="test_bad_numbers",
        says="nan",
    ),
    Wrong(
        "probabilities that are all 1",
        edits=[(NAMES, NAMES.replace("argmax", "sigmoid().argmax"))],
        check="test_labels",
    ),
    Wrong(
        "no labels for no images, whatever they look like",
        edits=[
            (
                "        logits = self(pixels)\n",
                "        if len(pixels) == 0:\n            return []\n        logits = self(pixels)\n",
            )
        ],
        check="test_bad_pixels",
        says="no grey images",
    ),
    Wrong(
        "one byte for each letter",
        edits=[
            (GET, '        return [name.encode("latin-1", "replace") for name in self.values]\n'),
            (SET, '        self.values = tuple(name.decode("latin-1") for name in state)\n'),
        ],
        check="test_taken_along",
    ),
    Wrong(
        "zero is no std, but minus one is",
        edits=[(IF, IF.replace("(std > 0)", "(std != 0)"))],
        check="test_bad_numbers",
        says="no error",
    ),
    Wrong(
        "lengths that broadcast",
        edits=[
            (
                IF,
                "        if not bool((std > 0).all()) or (len(mean) != len(std) and 1 not in (len(mean), len(std))):\n",
            )
        ],
        check="test_bad_numbers",
        says="no error",
    ),
    Wrong(
        "channels that broadcast",
        edits=[(SHAPE, "        if pixels.dim() != 4:\n")],
        check="test_bad_pixels",
        says="no error",
    ),
    Wrong(
        "grey is fine",
        edits=[
            (
                SHAPE,
                SHAPE.replace(
                    "pixels.shape[1] != len(self.mean)", "pixels.shape[1] not in (1, len(self.mean))"
                ),
            )
        ],
        check="test_bad_pixels",
        says="grey",
    ),
    Wrong(
        "adds the batch by itself",
        edits=[(DTYPE, "        if pixels.dim() == 3:\n            pixels = pixels[None]\n" + DTYPE)],
        check="test_bad_pixels",
        says="without a batch",
    ),
    Wrong(
        "counts channels from behind",
        edits=[
            (
                SHAPE,
                SHAPE.replace("pixels.dim() != 4 or pixels.shape[1]", "pixels.dim() < 3 or pixels.shape[-3]"),
            )
        ],
        check="test_bad_pixels",
    ),
    Wrong(
        "any ints are bytes",
        edits=[(DTYPE, "        if False:\n"), (BYTES, "        if not pixels.is_floating_point():\n")],
        check="test_bad_pixels",
        says="no error",
    ),
    Wrong(
        "asserts",
        edits=[
            (
                SHAPE,
                "        assert pixels.dim() == 4 and pixels.shape[1] == len(self.mean)\n        if False:\n",
            )
        ],
        check="test_bad_pixels",
        says="wrong error",
    ),
    Wrong(
        "more labels than logits is fine",
        edits=[(COUNT, COUNT.replace("!=", ">"))],
        check="test_bad_labels",
        says="no error",
    ),
    Wrong(
        "more logits than labels is an IndexError, perhaps",
        edits=[(COUNT, "        if False:\n")],
        check="test_bad_labels",
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
    Wrong(
        "labels as lines of one text",
        edits=[
            ("        return list(self.values)", '        return "\\n".join(self.values)'),
            ("        self.values = tuple(state)", '        self.values = tuple(state.split("\\n"))'),
        ],
        check="test_taken_along",
        says="list(labels)",
    ),
    Wrong(
        "the dtype of the network's first weight, where it has one",
        edits=[
            (
                "        x = pixels.to(self.mean.dtype)",
                "        x = pixels.to(next((p.dtype for p in self.network.parameters()), torch.float32))",
            )
        ],
        check="test_dtypes",
        says="without weights",
    ),
    Wrong(
        "labels by their number, in the order of texts",
        edits=[
            (GET, "        return {str(number): label for number, label in enumerate(self.values)}\n"),
            (SET, "        self.values = tuple(state[number] for number in sorted(state))\n"),
        ],
        check="test_taken_along",
        says="12",
    ),
    Wrong(
        "nothing is looked at where there are no images",
        edits=[
            (
                "        logits = self(pixels)\n",
                "        if len(pixels) == 0 and pixels.shape[1:2] == self.mean.shape[:1]:\n"
                "            return []\n        logits = self(pixels)\n",
            )
        ],
        check="test_empty_batch",
        says="60 logits",
    ),
    Wrong(
        "a mean in ints keeps its dtype",
        edits=[
            (
                COPY,
                "        whole = all(isinstance(number, int) for number in mean)\n"
                + COPY
                + "        mean = mean.long() if whole else mean\n",
            )
        ],
        check="test_own_copies",
        says="ints",
    ),
    Wrong(
        "the mean keeps its graph",
        edits=[(COPY, COPY.replace(".detach()", ""))],
        check="test_own_copies",
        says="trained",
    ),
    Right(
        "mean and std as Python numbers, which are exact in float64",
        code="""
import torch
from torch import nn


class Bundle(nn.Module):
    def __init__(self, network, mean, std, labels):
        super().__init__()
        mean, std = [float(m) for m in mean], [float(s) for s in std]
        if len(mean) != len(std) or not all(s > 0 for s in std):
            raise ValueError("mean and std do not fit")
        self.network = network
        self.register_buffer("kind", torch.zeros(0))
        self.kept = {"mean": mean, "std": std, "labels": list(labels)}

    @property
    def labels(self):
        return tuple(self.kept["labels"])

    def get_extra_state(self):
        return dict(self.kept)

    def set_extra_state(self, state):
        self.kept = dict(state)

    def forward(self, pixels):
        if not (pixels.is_floating_point() or pixels.dtype == torch.uint8):
            raise TypeError("uint8 or floating pixels")
        mean, std = self.kept["mean"], self.kept["std"]
        if pixels.ndim != 4 or pixels.shape[1] != len(mean):
            raise ValueError("(batch, channels, height, width)")
        x = pixels.to(self.kind.dtype) / (255 if pixels.dtype == torch.uint8 else 1)
        planes = [(plane - m) / s for plane, m, s in zip(x.unbind(1), mean, std)]
        return self.network(torch.stack(planes, 1))

    def classify(self, pixels):
        logits = self(pixels)
        if logits.shape[1] != len(self.labels):
            raise ValueError("logits and labels")
        return [self.labels[k] for k in logits.argmax(1).tolist()]
""",
    ),
    Wrong(
        "fetches the logits, and looks for the largest on the CPU",
        edits=[(NAMES, NAMES.replace("logits.argmax", "logits.detach().cpu().argmax"))],
        check="test_on_a_device",
        says="the logits stay",
    ),
    Wrong(
        "looks for the largest in lists of Python",
        edits=[
            (
                NAMES,
                "        rows = logits.tolist()\n"
                "        return [self.labels[max(range(len(row)), key=row.__getitem__)] for row in rows]\n",
            )
        ],
        check="test_on_a_device",
        says="the logits stay",
    ),
    Wrong(
        "the mean as a list beside the labels: loading makes a tensor of it on the CPU",
        edits=[
            (MEAN, MEAN.replace("(-1, 1, 1))", "(-1, 1, 1), persistent=False)")),
            (
                WHOLE,
                """    def get_extra_state(self):
        return self.mean.tolist()

    def set_extra_state(self, state):
        self.mean = torch.tensor(state)

"""
                + WHOLE,
            ),
        ],
        check="test_loaded_after_a_move",
        says="same device",
    ),
    Wrong(
        "the dtype of the network's first parameter, whatever that is",
        edits=[
            (
                CAST,
                "        first = next(self.network.parameters(), self.mean)\n"
                "        x = pixels.to(first.dtype)\n",
            )
        ],
        check="test_dtypes",
        says="int8 weights",
    ),
    Wrong(
        "a list of floating dtypes, without bfloat16",
        edits=[
            (
                DTYPE,
                "        if pixels.dtype not in (torch.uint8, torch.float16, torch.float32, torch.float64):\n",
            )
        ],
        check="test_dtypes",
        says="bfloat16",
    ),
    Wrong(
        "labels in rows of characters, filled up with NUL",
        edits=[
            (GET, '        return [name.ljust(250, "\\0") for name in self.values]\n'),
            (SET, '        self.values = tuple(name.rstrip("\\0") for name in state)\n'),
        ],
        check="test_taken_along",
        says="うなぎ",
    ),
    Wrong(
        "keeps equal labels once",
        edits=[(LABELS, LABELS.replace("labels)", "tuple(dict.fromkeys(labels)))"))],
        check="test_labels",
        says="the same",
    ),
    Wrong(
        "brings all pixels to float32 first",
        edits=[(CAST, CAST.replace(".to", ".float().to"))],
        check="test_dtypes",
        says="float64",
    ),
]
