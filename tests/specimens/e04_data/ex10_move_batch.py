"""Answers to move_batch that people write."""

from grader.authoring.specimen import Right, Works, Wrong

ITSELF = """    if hasattr(batch, "to"):  # a tensor, or what moves itself
        return batch.to(device, non_blocking=non_blocking)
"""
TENSOR = (
    "    if isinstance(batch, torch.Tensor):\n        return batch.to(device, non_blocking=non_blocking)\n"
)
DICT = "    if isinstance(batch, dict):\n"
COPY = "        moved = copy.copy(batch)  # keeps the class, the order and a factory\n"
SET = "            moved[key] = move_batch(value, device, non_blocking)\n"
SEQUENCE = "    if isinstance(batch, (list, tuple)):\n"
PARTS = "        parts = [move_batch(part, device, non_blocking) for part in batch]\n"
BUILD = '        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)\n'
LEAF = "    return batch\n"

SPECIMENS = [
    Wrong(
        "the first level alone",
        edits=[
            (
                PARTS,
                '        parts = [part.to(device, non_blocking=non_blocking) if hasattr(part, "to") and not isinstance(part, type) else part for part in batch]\n',
            )
        ],
        check="test_nested",
        rung="job",
    ),
    Wrong(
        "no tuples",
        edits=[(SEQUENCE, "    if isinstance(batch, list):\n")],
        check="test_nested",
        says="not on the device",
        rung="job",
    ),
    Wrong(
        "tuples become lists",
        edits=[(BUILD, "        return parts\n")],
        check="test_nested",
        says="tuples become lists",
        rung="job",
    ),
    Wrong(
        "named tuples become tuples",
        edits=[(BUILD, "        return parts if isinstance(batch, list) else tuple(parts)\n")],
        check="test_named_tuples",
        says="named tuple is a tuple, too",
        rung="job",
    ),
    Wrong(
        "a named tuple made of one list",
        edits=[(BUILD, "        return type(batch)(parts)\n")],
        check="test_named_tuples",
        rung="job",
    ),
    Wrong(
        "every dictionary is a plain one",
        edits=[(COPY, "        moved = {}\n")],
        check="test_dictionaries",
        says="OrderedDict",
    ),
    Wrong(
        "a defaultdict without its factory",
        edits=[(COPY, "        moved = type(batch)()\n")],
        check="test_dictionaries",
    ),
    Wrong(
        "torch's pytree, which takes apart what can move itself",
        edits=[
            (
                "from typing import Any\n",
                "from typing import Any\n\nfrom torch.utils._pytree import tree_map\n",
            ),
            (
                ITSELF,
                "    if True:\n        return tree_map(lambda x: x.to(device, non_blocking=non_blocking) if hasattr(x, 'to') and not isinstance(x, type) else x, batch)\n",
            ),
        ],
        check="test_packed_sequences",
    ),
    Wrong(
        "changes the dictionary", edits=[(COPY, "        moved = batch\n")], check="test_batch_is_left_alone"
    ),
    Wrong(
        "copies what is there",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor):\n        return batch.to(device, non_blocking=non_blocking, copy=True)\n"
                + ITSELF,
            )
        ],
        check="test_already_there",
    ),
    Wrong(
        "waits for each copy",
        edits=[
            (
                ITSELF,
                ITSELF.replace(
                    "        return batch.to(device, non_blocking=non_blocking)",
                    "        moved = batch.to(device, non_blocking=non_blocking)\n        if isinstance(moved, torch.Tensor) and moved.device.type not in ('cpu', 'meta'):\n            torch.accelerator.synchronize()\n        return moved",
                ),
            )
        ],
        check="test_copies",
    ),
    Wrong(
        "non_blocking lost further down",
        edits=[(PARTS, PARTS.replace(", non_blocking)", ")"))],
        check="test_non_blocking",
        says="not handed on",
        rung="job",
    ),
    Wrong(
        "non_blocking by default",
        edits=[("non_blocking: bool = False", "non_blocking: bool = True")],
        check="test_non_blocking",
        rung="job",
    ),
    Wrong(
        "everything becomes a tensor",
        edits=[
            (
                LEAF,
                "    return torch.tensor(batch).to(device) if isinstance(batch, (int, float)) and not isinstance(batch, bool) else batch\n",
            )
        ],
        check="test_other_leaves",
        rung="job",
    ),
    Wrong(
        "goes through whatever can be iterated",
        edits=[
            (
                LEAF,
                "    return [move_batch(part, device, non_blocking) for part in batch] if hasattr(batch, '__next__') else batch\n",
            )
        ],
        check="test_same_objects",
    ),
    Wrong("tensors alone", edits=[(ITSELF, TENSOR)], check="test_moves_itself"),
    Wrong(
        "takes a packed sequence apart",
        edits=[(ITSELF, TENSOR), (LEAF, ITSELF + LEAF)],
        check="test_packed_sequences",
    ),
    Wrong(
        "without gradients",
        edits=[("def move_batch", "@torch.no_grad()\ndef move_batch")],
        check="test_gradients",
    ),
    Works(
        "as accelerate has it",
        code="""
from collections.abc import Mapping

import torch


def honor_type(obj, generator):
    if isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields"):
        return type(obj)(*list(generator))
    return type(obj)(generator)


def move_batch(tensor, device, non_blocking=False):
    if isinstance(tensor, torch.Tensor) or hasattr(tensor, "to"):
        try:
            return tensor.to(device, non_blocking=non_blocking)
        except TypeError:
            return tensor.to(device)
    elif isinstance(tensor, (tuple, list)):
        return honor_type(tensor, (move_batch(t, device, non_blocking=non_blocking) for t in tensor))
    elif isinstance(tensor, Mapping):
        return type(tensor)({k: move_batch(t, device, non_blocking=non_blocking) for k, t in tensor.items()})
    return tensor
""",
    ),
    Works(
        "as Lightning has it, with sequences of any kind",
        code="""
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence

import torch


def apply_to_collection(data, function):
    elem_type = type(data)
    if hasattr(data, "to"):
        return function(data)
    if isinstance(data, Mapping):
        out = OrderedDict((k, apply_to_collection(v, function)) for k, v in data.items())
        if isinstance(data, defaultdict):
            return elem_type(data.default_factory, out)
        return elem_type(out)
    is_namedtuple = isinstance(data, tuple) and hasattr(data, "_asdict") and hasattr(data, "_fields")
    if is_namedtuple or (isinstance(data, Sequence) and not isinstance(data, (str, bytes))):
        out = [apply_to_collection(d, function) for d in data]
        return elem_type(*out) if is_namedtuple else elem_type(out)
    return data


def move_batch(batch, device, non_blocking=False):
    def batch_to(data):
        kwargs = {}
        if isinstance(data, torch.Tensor):
            kwargs["non_blocking"] = non_blocking
        moved = data.to(device, **kwargs)
        return data if moved is None else moved

    return apply_to_collection(batch, batch_to)
""",
    ),
    Works(
        "quick: plain dictionaries, and tensors alone are asked to move",
        code="""
import torch


def move_batch(batch, device, non_blocking=False):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=non_blocking)
    if isinstance(batch, dict):
        return {k: move_batch(v, device, non_blocking) for k, v in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(move_batch(v, device, non_blocking) for v in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(v, device, non_blocking) for v in batch)
    return batch
""",
    ),
    Right(
        "by structural kinds, and singledispatch-like",
        code="""from collections import OrderedDict, defaultdict

from torch import Tensor


def move_batch(batch, device, non_blocking=False):
    def go(x):
        kind = type(x)
        if isinstance(x, Tensor) or (callable(getattr(x, "to", None)) and not isinstance(x, type)):
            return x.to(device=device, non_blocking=non_blocking) if isinstance(x, Tensor) else x.to(device, non_blocking=non_blocking)
        if isinstance(x, defaultdict):
            return defaultdict(x.default_factory, zip(x, map(go, x.values())))
        if isinstance(x, OrderedDict):
            return OrderedDict(zip(x, map(go, x.values())))
        if isinstance(x, dict):
            return {k: go(v) for k, v in x.items()}
        if isinstance(x, tuple):
            return kind._make(map(go, x)) if hasattr(kind, "_make") else tuple(map(go, x))
        return list(map(go, x)) if isinstance(x, list) else x

    return go(batch)
""",
    ),
    Right(
        "with a look at the device first",
        edits=[
            (
                ITSELF,
                """    if isinstance(batch, torch.Tensor):
        target = torch.device(device)
        same = batch.device.type == target.type and target.index in (None, batch.device.index)
        return batch if same else batch.to(target, non_blocking=non_blocking)
"""
                + ITSELF,
            ),
            (
                BUILD,
                "        if isinstance(batch, tuple) and hasattr(batch, '_replace'):\n            return batch._replace(**dict(zip(batch._fields, parts)))\n        return type(batch)(parts)\n",
            ),
        ],
    ),
]
