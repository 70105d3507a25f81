"""Answers to partial_state_dict that people write."""

from grader.authoring.specimen import Right, Works, Wrong

OWN = "own = model.state_dict()  # detached, and in the model's memory"
COPY = """    with torch.no_grad():
        for name in report.loaded:
            own[name].copy_(given[name])
"""
PREFIX = "prefix = max((p for p in rename if old.startswith(p)), key=len, default=None)"
NEW = "new = old if prefix is None else rename[prefix] + old[len(prefix) :]"
FIT = "if theirs == ours]"
MISFIT = "if pair[0] != pair[1]}"
UNEXPECTED = "unexpected=[old for name, old in old_names.items() if name not in own]"
MISSING = "missing=[name for name in own if name not in given]"
NOTHING = "    if not report.loaded:"
TWO = """        if new in old_names:
            raise ValueError(f"both {old_names[new]} and {old} become {new}")
"""
NO_TENSOR = "        if not isinstance(value, Tensor):\n"

SPECIMENS = [
    Wrong(
        "learns what the state learns",
        edits=[
            (
                COPY,
                COPY
                + "    for name, p in model.named_parameters():\n        if isinstance(given.get(name), nn.Parameter):\n            p.requires_grad_(given[name].requires_grad)\n",
            )
        ],
        check="test_what_tensors_keep",
    ),
    Wrong(
        "renames nothing",
        edits=[("state, rename or {})", "state, {})")],
        check="test_renamed",
        says="nothing fits",
        rung="job",
    ),
    Wrong(
        "replaces the prefix wherever it occurs",
        edits=[
            (NEW, "new = old.replace(prefix, rename[prefix]) if prefix else rename.get(prefix, '') + old")
        ],
        check="test_several_fit",
        says="though by rename",
    ),
    Wrong(
        "the first prefix that fits",
        edits=[(PREFIX, "prefix = next((p for p in rename if old.startswith(p)), None)")],
        check="test_several_fit",
        says="though by rename",
    ),
    Wrong(
        "one renaming after the other",
        edits=[
            (
                NEW,
                "new = old\n        for p in sorted(rename, key=len, reverse=True):\n            new = rename[p] + new[len(p) :] if new.startswith(p) else new",
            )
        ],
        check="test_several_fit",
        says="though by rename",
    ),
    Wrong(
        "reports the new names of what is unexpected",
        edits=[(UNEXPECTED, UNEXPECTED.replace("[old for", "[name for"))],
        check="test_order",
        says="unexpected",
    ),
    Wrong(
        "what has a wrong shape is missing too",
        edits=[
            (
                MISSING,
                "missing=[name for name in own if name not in given or given[name].shape != own[name].shape]",
            )
        ],
        check="test_report",
        says="stands in `wrong_shape` alone",
        rung="job",
    ),
    Wrong(
        "the order of the state",
        edits=[("for name in own if name in given}", "for name in given if name in own}")],
        check="test_order",
        says="loaded",
    ),
    Wrong(
        "the shapes the wrong way round",
        edits=[
            (
                "{name: (tuple(given[name].shape), tuple(own[name].shape)) for",
                "{name: (tuple(own[name].shape), tuple(given[name].shape)) for",
            )
        ],
        check="test_report",
        says="the shape in the model comes first",
        rung="job",
    ),
    Wrong(
        "loads what broadcasts",
        edits=[
            (FIT, "if theirs == ours or theirs in ((), (1,))]"),
            (MISFIT, "if pair[0] != pair[1] and pair[0] not in ((), (1,))}"),
        ],
        check="test_shapes_are_exact",
        rung="job",
    ),
    Wrong(
        "the same number of elements will do",
        edits=[
            (FIT, "if given[name].numel() == own[name].numel()]"),
            (MISFIT, "if given[name].numel() != own[name].numel()}"),
            ("copy_(given[name])", "copy_(given[name].reshape(own[name].shape))"),
        ],
        check="test_shapes_are_exact",
        rung="job",
    ),
    Wrong(
        "PyTorch's strict=False and its report",
        edits=[(COPY, "    model.load_state_dict(given, strict=False)\n")],
        check="test_report",
        rung="job",
    ),
    Wrong(
        "new tensors in place of the model's",
        edits=[
            (
                COPY,
                "    model.load_state_dict({name: given[name] for name in report.loaded}, strict=False, assign=True)\n",
            )
        ],
        check="test_optimizer_goes_on",
        says="another object",
        rung="job",
    ),
    Wrong(
        "new data for the model's tensors",
        edits=[
            (
                COPY,
                "    tensors = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers())}\n    for name in report.loaded:\n        tensors[name].data = given[name].detach().to(own[name]).clone()\n",
            )
        ],
        check="test_what_tensors_keep",
        says="memory",
    ),
    Wrong(
        "the state's own memory",
        edits=[
            (
                COPY,
                "    tensors = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers())}\n    for name in report.loaded:\n        tensors[name].data = given[name].detach().to(own[name])\n",
            )
        ],
        check="test_state_is_left_alone",
    ),
    Wrong(
        "parameters alone",
        edits=[(OWN, "own = {name: p.detach() for name, p in model.named_parameters()}")],
        check="test_everything_fits",
        says="loaded",
        rung="job",
    ),
    Wrong(
        "converts the model to the dtype of the state",
        edits=[
            (
                COPY,
                "    model.to(next(given[name].dtype for name in report.loaded if given[name].is_floating_point()))\n    own = model.state_dict()\n"
                + COPY,
            )
        ],
        check="test_own_dtype",
    ),
    Wrong(
        "takes from the state what it has loaded",
        edits=[
            (
                COPY,
                COPY
                + "    for name in report.loaded:\n        if isinstance(state, dict):\n            state.pop(old_names[name])\n",
            )
        ],
        check="test_state_is_left_alone",
        says="names in state",
    ),
    Wrong(
        "skips what is no tensor",
        edits=[(NO_TENSOR, NO_TENSOR + "            continue\n")],
        check="test_no_tensor",
        says="no error",
    ),
    Wrong(
        "loads as it goes, and then complains",
        edits=[
            (OWN, "own = model.state_dict()"),
            (
                "    old_names = _old_names(",
                "    for name, t in model.state_dict().items():\n        if isinstance(state.get(name), Tensor) and state[name].shape == t.shape:\n            t.copy_(state[name].detach())\n    old_names = _old_names(",
            ),
        ],
        check="test_no_tensor",
        says="has raised",
    ),
    Wrong(
        "the last of two names wins", edits=[(TWO, "")], check="test_two_names_become_one", says="no error"
    ),
    Wrong(
        "nothing fits, and nobody hears of it",
        edits=[(NOTHING, "    if False:")],
        check="test_nothing_fits",
        says="no error",
    ),
    Works(
        "as PyTorch's forum has it: update the model's own state dict",
        code="""
from typing import NamedTuple


class LoadReport(NamedTuple):
    loaded: list
    missing: list
    unexpected: list
    wrong_shape: dict


def load_partial(model, state, rename=None):
    renamed = {}
    for name, value in state.items():
        for old, new in (rename or {}).items():
            name = name.replace(old, new)
        renamed[name] = value
    model_dict = model.state_dict()
    fits = {k: v for k, v in renamed.items() if k in model_dict and v.shape == model_dict[k].shape}
    wrong = {
        k: (v.shape, model_dict[k].shape)
        for k, v in renamed.items()
        if k in model_dict and v.shape != model_dict[k].shape
    }
    missing = [k for k in model_dict if k not in renamed]
    unexpected = [k for k in renamed if k not in model_dict]
    model_dict.update(fits)
    model.load_state_dict(model_dict)
    return LoadReport(list(fits), missing, unexpected, wrong)
""",
    ),
    Works(
        "as nanoGPT renames, and load_state_dict with strict=False for the rest",
        code="""
from typing import NamedTuple


class LoadReport(NamedTuple):
    loaded: list
    missing: list
    unexpected: list
    wrong_shape: dict


def load_partial(model, state, rename=None):
    state = dict(state)
    for old, new in (rename or {}).items():
        for k in list(state):
            if k.startswith(old):
                state[new + k[len(old) :]] = state.pop(k)
    own = model.state_dict()
    wrong = {}
    for k in list(state):
        if k in own and own[k].shape != state[k].shape:
            wrong[k] = (tuple(state.pop(k).shape), tuple(own[k].shape))
    result = model.load_state_dict(state, strict=False)
    missing = [k for k in result.missing_keys if k not in wrong]
    loaded = [k for k in state if k in own]
    return LoadReport(loaded, missing, result.unexpected_keys, wrong)
""",
    ),
    Right(
        "through load_state_dict, with what fits",
        code="""
from collections import namedtuple

import torch

LoadReport = namedtuple("LoadReport", "loaded missing unexpected wrong_shape")


def load_partial(model, state, rename=None):
    table = sorted((rename or {}).items(), key=lambda item: -len(item[0]))
    seen = {}
    for key in state:
        if not torch.is_tensor(state[key]):
            raise TypeError(f"{key}: not a tensor")
        new = key
        for old_prefix, new_prefix in table:
            if key[: len(old_prefix)] == old_prefix:
                new = new_prefix + key.removeprefix(old_prefix)
                break
        if new in seen:
            raise ValueError(f"{new} twice")
        seen[new] = key
    loaded, missing, wrong, chosen = [], [], {}, {}
    target = model.state_dict()
    for name, tensor in target.items():
        if name not in seen:
            missing.append(name)
        elif state[seen[name]].shape != tensor.shape:
            wrong[name] = (state[seen[name]].shape, tensor.shape)
        else:
            loaded.append(name)
            chosen[name] = state[seen[name]]
    if not chosen:
        raise ValueError("nothing to load")
    model.load_state_dict(chosen, strict=False)
    return LoadReport(loaded, missing, [seen[n] for n in seen if n not in target], wrong)
""",
    ),
    Right(
        "through the data of each tensor",
        edits=[
            (
                COPY,
                "    for name in report.loaded:\n        own[name].data[...] = given[name].data.to(own[name].device, own[name].dtype)\n",
            )
        ],
    ),
]
