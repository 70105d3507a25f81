"""Answers to move_batch that people write."""

from grader.authoring.specimen import Right, Wrong

ITSELF = '    if callable(getattr(batch, "to", None)) and not isinstance(batch, type):\n        return batch.to(device, non_blocking=non_blocking)\n'
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
        "a defaultdict without a factory stays where it is",
        edits=[(DICT, "    if getattr(batch, 'default_factory', 0) is None:\n        return batch\n" + DICT)],
        check="test_dictionaries",
    ),
    Wrong(
        "takes tensors that begin at one place in memory for one",
        edits=[
            (
                ITSELF,
                ITSELF
                + "    if isinstance(batch, list):\n"
                + "        done = {}\n"
                + "        for part in batch:\n"
                + "            key = (part.data_ptr(), part.numel()) if isinstance(part, torch.Tensor) else id(part)\n"
                + "            done.setdefault(key, move_batch(part, device, non_blocking))\n"
                + "        keys = [(p.data_ptr(), p.numel()) if isinstance(p, torch.Tensor) else id(p) for p in batch]\n"
                + "        return [done[key] for key in keys]\n",
            )
        ],
        check="test_copies",
    ),
    Wrong(
        "takes named tuples apart, but for packed sequences",
        edits=[
            (
                ITSELF,
                ITSELF.replace(
                    "    if callable",
                    '    own = hasattr(batch, "_fields") and not hasattr(batch, "batch_sizes")\n    if not own and callable',
                ),
            )
        ],
        check="test_moves_itself",
        says="sent",
    ),
    Wrong(
        "empty containers are passed on",
        edits=[
            (DICT, "    if isinstance(batch, (dict, list)) and not batch:\n        return batch\n" + DICT)
        ],
        check="test_empty_containers",
    ),
    Wrong(
        "the first level alone",
        edits=[
            (
                PARTS,
                '        parts = [part.to(device, non_blocking=non_blocking) if hasattr(part, "to") and not isinstance(part, type) else part for part in batch]\n',
            )
        ],
        check="test_nested",
    ),
    Wrong(
        "no tuples",
        edits=[(SEQUENCE, "    if isinstance(batch, list):\n")],
        check="test_nested",
        says="not on the device",
    ),
    Wrong(
        "no dictionaries in lists",
        edits=[
            (
                PARTS,
                "        parts = [part if isinstance(part, dict) else move_batch(part, device, non_blocking) for part in batch]\n",
            )
        ],
        check="test_nested",
    ),
    Wrong("tuples become lists", edits=[(BUILD, "        return parts\n")], check="test_nested", says="type"),
    Wrong(
        "named tuples become tuples",
        edits=[(BUILD, "        return parts if isinstance(batch, list) else tuple(parts)\n")],
        check="test_named_tuples",
        says="Pair",
    ),
    Wrong(
        "a named tuple made of one list",
        edits=[(BUILD, "        return type(batch)(parts)\n")],
        check="test_named_tuples",
    ),
    Wrong(
        "a dictionary of a named tuple's fields",
        edits=[
            (
                SEQUENCE,
                '    if hasattr(batch, "_asdict"):\n        return move_batch(batch._asdict(), device, non_blocking)\n'
                + SEQUENCE,
            )
        ],
        check="test_named_tuples",
    ),
    Wrong(
        "a named tuple of a class of the same name",
        edits=[
            ("import copy\n", "import copy\nfrom collections import namedtuple\n"),
            (
                BUILD,
                '        return namedtuple(type(batch).__name__, batch._fields)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)\n',
            ),
        ],
        check="test_named_tuples",
    ),
    Wrong(
        "any tuple is taken apart like a named one",
        edits=[
            (
                BUILD,
                "        return type(batch)(parts) if isinstance(batch, list) or len(parts) != 1 and not hasattr(batch, '_fields') else type(batch)(*parts)\n",
            )
        ],
        check="test_nested",
    ),
    Wrong(
        "every dictionary is a plain one",
        edits=[(COPY, "        moved = {}\n")],
        check="test_dictionaries",
        says="OrderedDict",
    ),
    Wrong(
        "the class called with pairs",
        edits=[
            (
                COPY,
                "        return type(batch)((key, move_batch(value, device, non_blocking)) for key, value in batch.items())\n",
            )
        ],
        check="test_dictionaries",
    ),
    Wrong(
        "a defaultdict without its factory",
        edits=[(COPY, "        moved = type(batch)()\n")],
        check="test_dictionaries",
    ),
    Wrong(
        "sorted keys",
        edits=[(COPY, "        batch = dict(sorted(batch.items(), key=lambda item: str(item[0])))\n" + COPY)],
        check="test_dictionaries",
    ),
    Wrong(
        "keys as strings",
        edits=[
            (COPY, "        moved = type(batch)() if type(batch) is dict else copy.copy(batch)\n"),
            (SET, SET.replace("[key]", "[str(key)]")),
        ],
        check="test_dictionaries",
    ),
    Wrong(
        "keys are moved as well",
        edits=[
            (COPY, "        moved = {} if type(batch) is dict else copy.copy(batch)\n"),
            (SET, SET.replace("[key]", "[move_batch(key, device)]")),
        ],
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
        "None for an empty container",
        edits=[
            (
                DICT,
                "    if isinstance(batch, (dict, list, tuple)) and not batch:\n        return None\n" + DICT,
            )
        ],
        check="test_empty_containers",
    ),
    Wrong(
        "one empty tuple too little",
        edits=[
            (
                PARTS,
                "        parts = [p for p in (move_batch(part, device, non_blocking) for part in batch) if not (isinstance(p, tuple) and len(p) == 0 and len(batch) > 2)]\n",
            )
        ],
        check="test_empty_containers",
    ),
    Wrong(
        "changes the dictionary", edits=[(COPY, "        moved = batch\n")], check="test_batch_is_left_alone"
    ),
    Wrong(
        "changes the list",
        edits=[
            (
                BUILD,
                "        if isinstance(batch, list):\n            batch[:] = parts\n            return batch\n"
                + BUILD,
            )
        ],
        check="test_batch_is_left_alone",
    ),
    Wrong(
        "moves tensors in place",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor) and str(batch.device) != str(device) and not batch.requires_grad and batch.dim() == 2:\n        batch.zero_()\n"
                + ITSELF,
            )
        ],
        check="test_batch_is_left_alone",
    ),
    Wrong(
        "by way of the CPU",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor):\n        return batch.cpu().to(device, non_blocking=non_blocking)\n"
                + ITSELF,
            )
        ],
        check="test_already_there",
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
        "copies on the host first",
        edits=[
            (
                ITSELF,
                """    if isinstance(batch, torch.Tensor) and str(batch.device) != str(device):
        return batch.contiguous().clone().to(device, non_blocking=non_blocking)
"""
                + ITSELF,
            )
        ],
        check="test_copies",
        says="clone",
    ),
    Wrong(
        "looks at the numbers",
        edits=[
            (
                ITSELF,
                ITSELF.replace(
                    "        return batch",
                    "        if isinstance(batch, torch.Tensor) and batch.is_floating_point():\n            assert not batch.to(device).isnan().any()\n        return batch",
                ),
            )
        ],
        check="test_copies",
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
        "non_blocking ignored",
        edits=[(ITSELF, ITSELF.replace(", non_blocking=non_blocking", ""))],
        check="test_non_blocking",
    ),
    Wrong(
        "non_blocking lost further down",
        edits=[(PARTS, PARTS.replace(", non_blocking)", ")"))],
        check="test_non_blocking",
    ),
    Wrong(
        "non_blocking lost in dictionaries",
        edits=[(SET, SET.replace(", non_blocking)", ")"))],
        check="test_non_blocking",
    ),
    Wrong(
        "always non_blocking",
        edits=[(ITSELF, ITSELF.replace("=non_blocking", "=True"))],
        check="test_non_blocking",
    ),
    Wrong(
        "non_blocking by default",
        edits=[("non_blocking: bool = False", "non_blocking: bool = True")],
        check="test_non_blocking",
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
    ),
    Wrong(
        "NumPy arrays become tensors",
        edits=[
            (
                LEAF,
                "    return torch.as_tensor(batch, device=device) if type(batch).__name__ == 'ndarray' else batch\n",
            )
        ],
        check="test_other_leaves",
    ),
    Wrong(
        "goes through whatever can be iterated",
        edits=[
            (
                LEAF,
                "    return [move_batch(part, device, non_blocking) for part in batch] if hasattr(batch, '__next__') else batch\n",
            )
        ],
        check="test_other_leaves",
    ),
    Wrong(
        "takes strings apart",
        edits=[
            (
                LEAF,
                "    return type(batch)([move_batch(part, device) for part in batch]) if isinstance(batch, (set, frozenset, bytearray)) else batch\n",
            )
        ],
        check="test_other_leaves",
    ),
    Wrong(
        "copies of other leaves", edits=[(LEAF, "    return copy.copy(batch)\n")], check="test_other_leaves"
    ),
    Wrong(
        "raises for what it does not know",
        edits=[
            (
                LEAF,
                "    if batch is None or isinstance(batch, (str, int, float)):\n        return batch\n    raise TypeError(type(batch))\n",
            )
        ],
        check="test_other_leaves",
    ),
    Wrong(
        "asks classes to move",
        edits=[(ITSELF, ITSELF.replace(" and not isinstance(batch, type)", ""))],
        check="test_other_leaves",
    ),
    Wrong(
        "takes a field called to for a method",
        edits=[(ITSELF, ITSELF.replace('callable(getattr(batch, "to", None))', 'hasattr(batch, "to")'))],
        check="test_named_tuples",
    ),
    Wrong(
        "a named tuple is one by its bases",
        edits=[(BUILD, BUILD.replace('hasattr(batch, "_fields")', "type(batch).__bases__ == (tuple,)"))],
        check="test_named_tuples",
    ),
    Wrong(
        "rebuilds mappings and queues",
        edits=[
            (
                LEAF,
                "    from collections import UserDict, deque\n\n    return copy.copy(batch) if isinstance(batch, (UserDict, deque)) else batch\n",
            )
        ],
        check="test_other_leaves",
    ),
    Wrong(
        "swallows the errors of `to`",
        edits=[
            (
                ITSELF,
                "    if not isinstance(batch, type):\n        try:\n            return batch.to(device, non_blocking=non_blocking)\n        except (AttributeError, TypeError):\n            pass\n",
            )
        ],
        check="test_moves_itself",
        says="AttributeError",
    ),
    Wrong("tensors alone", edits=[(ITSELF, TENSOR)], check="test_moves_itself"),
    Wrong(
        "takes a packed sequence apart",
        edits=[(ITSELF, TENSOR), (LEAF, ITSELF + LEAF)],
        check="test_packed_sequences",
    ),
    Wrong(
        "`to` without non_blocking for what is no tensor",
        edits=[(ITSELF, TENSOR + ITSELF.replace(", non_blocking=non_blocking", ""))],
        check="test_moves_itself",
    ),
    Wrong(
        "the object, not what its `to` returned",
        edits=[
            (
                ITSELF,
                TENSOR
                + ITSELF.replace(
                    "return batch.to(device, non_blocking=non_blocking)",
                    "batch.to(device, non_blocking=non_blocking)\n        return batch",
                ),
            )
        ],
        check="test_moves_itself",
    ),
    Wrong(
        "cuts the graph",
        edits=[
            (
                ITSELF,
                ITSELF.replace(
                    "        return batch",
                    "        batch = batch.detach() if isinstance(batch, torch.Tensor) and str(device) != 'cpu' else batch\n        return batch",
                ),
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "without gradients",
        edits=[("def move_batch", "@torch.no_grad()\ndef move_batch")],
        check="test_gradients",
    ),
    Wrong(
        "everything requires gradients",
        edits=[
            (
                ITSELF,
                ITSELF.replace(
                    "        return batch.to(device, non_blocking=non_blocking)",
                    "        moved = batch.to(device, non_blocking=non_blocking)\n        return moved.requires_grad_() if isinstance(moved, torch.Tensor) and moved is not batch and moved.is_floating_point() and moved.is_leaf else moved",
                ),
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "float32 for the device",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor) and batch.dtype == torch.float64:\n        batch = batch.float()\n"
                + ITSELF,
            )
        ],
        check="test_dtypes_and_strides",
    ),
    Wrong(
        "contiguous on the device",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor) and str(batch.device) != str(device):\n        batch = batch.contiguous()\n"
                + ITSELF,
            )
        ],
        check="test_dtypes_and_strides",
        says="strides",
    ),
    Wrong(
        "leaves the names out",
        edits=[
            (
                PARTS,
                "        parts = [move_batch(part, device, non_blocking) for part in batch if not (isinstance(batch, list) and isinstance(part, str))]\n",
            )
        ],
        check="test_real_batches",
    ),
    Wrong(
        "a device object alone",
        edits=[
            (ITSELF, "    assert isinstance(device, torch.device) or device in ('cpu', 'meta')\n" + ITSELF)
        ],
        check="test_back_to_the_cpu",
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
    Wrong(
        "copies where it does not block",
        edits=[
            (
                ITSELF,
                '    if isinstance(batch, torch.Tensor):\n        return batch.to(device, non_blocking=non_blocking, copy=non_blocking)\n    if callable(getattr(batch, "to", None)) and not isinstance(batch, type):\n        return batch.to(device, non_blocking=non_blocking)\n',
            )
        ],
        check="test_already_there",
    ),
    Wrong(
        "asks again without non_blocking",
        edits=[
            (
                ITSELF,
                '    if callable(getattr(batch, "to", None)) and not isinstance(batch, type):\n        try:\n            return batch.to(device, non_blocking=non_blocking)\n        except TypeError:\n            return batch.to(device)\n',
            )
        ],
        check="test_moves_itself",
        says="no non_blocking",
    ),
    Wrong(
        "a factory of the same kind",
        edits=[
            (
                COPY,
                '        moved = copy.copy(batch)\n        if getattr(batch, "default_factory", None):\n            moved.default_factory = type(batch.default_factory())\n',
            )
        ],
        check="test_dictionaries",
        says="factory",
    ),
    Wrong(
        "makes lists of zip objects",
        edits=[(SEQUENCE, SEQUENCE.replace("(list, tuple)", "(list, tuple, zip)"))],
        check="test_other_leaves",
    ),
    Wrong(
        "names the device, which others may call otherwise",
        edits=[("batch.to(device, non", "batch.to(device=device, non")],
        check="test_moves_itself",
        says="device",
    ),
    Wrong(
        "a defaultdict without a factory gets one",
        edits=[
            (
                DICT,
                "    if isinstance(batch, defaultdict):\n        new = {k: move_batch(v, device, non_blocking) for k, v in batch.items()}\n        return defaultdict(batch.default_factory or list, new)\n"
                + DICT,
            ),
            ("import copy\n", "import copy\nfrom collections import defaultdict\n"),
        ],
        check="test_dictionaries",
        says="defaultdict(None)",
    ),
    Wrong(
        "a defaultdict is made anew by keyword",
        edits=[
            (
                DICT,
                "    if isinstance(batch, defaultdict):\n        new = {str(k): move_batch(v, device, non_blocking) for k, v in batch.items()}\n        return defaultdict(batch.default_factory, **new)\n"
                + DICT,
            ),
            ("import copy\n", "import copy\nfrom collections import defaultdict\n"),
        ],
        check="test_dictionaries",
        says="other keys",
    ),
    Wrong(
        "compares devices, of which one has no number",
        edits=[
            (
                ITSELF,
                "    if isinstance(batch, torch.Tensor):\n        there = batch.device == torch.device(device)\n        return batch if there else batch.to(device, non_blocking=non_blocking, copy=True)\n"
                + ITSELF,
            ),
        ],
        check="test_already_there",
        says="copies x",
    ),
    Wrong(
        "moves what `to` returned once more",
        edits=[
            (
                ITSELF,
                TENSOR
                + ITSELF.replace(
                    "return batch.to(device, non_blocking=non_blocking)",
                    "batch = batch.to(device, non_blocking=non_blocking)",
                ),
            )
        ],
        check="test_moves_itself",
        says="once more",
    ),
]
