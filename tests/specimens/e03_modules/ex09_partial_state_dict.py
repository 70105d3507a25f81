"""Answers to partial_state_dict that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "keeps the names that the model has, whatever prefix fits",
        edits=[
            (
                "    old_names = _old_names(state, rename or {})\n",
                "    old_names = _old_names(state, rename or {}, model.state_dict())\n",
            ),
            (
                "rename: Mapping[str, str]) -> dict[str, str]:",
                "rename: Mapping[str, str], own) -> dict[str, str]:",
            ),
            (NEW, NEW.replace("prefix is None", "prefix is None or old in own")),
        ],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "takes a shorter prefix where the longest leads nowhere",
        edits=[
            (
                "    old_names = _old_names(state, rename or {})\n",
                "    old_names = _old_names(state, rename or {}, model.state_dict())\n",
            ),
            (
                "rename: Mapping[str, str]) -> dict[str, str]:",
                "rename: Mapping[str, str], own) -> dict[str, str]:",
            ),
            (
                PREFIX,
                "fits = sorted((p for p in rename if old.startswith(p)), key=len, reverse=True)\n        fits = [p for p in fits if rename[p] + old[len(p) :] in own] or fits\n        prefix = fits[0] if fits else None",
            ),
        ],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "loads floats from floats only",
        edits=[
            (FIT, "if theirs == ours and given[name].is_floating_point() == own[name].is_floating_point()]"),
            (
                NOTHING,
                "    if not any(own[name].shape == given[name].shape for name in own if name in given):",
            ),
        ],
        check="test_own_dtype",
        says="int64",
    ),
    Wrong(
        "needs a state that has copy()",
        edits=[(OWN, "state = state.copy()\n    " + OWN)],
        check="test_state_is_left_alone",
        says="copy",
    ),
    Wrong(
        "strips the dot that is left over",
        edits=[(NEW, NEW.replace("old[len(prefix) :]", "old[len(prefix) :].lstrip('.')"))],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "learns what the state learns",
        edits=[
            (
                COPY,
                COPY
                + "    for name, p in model.named_parameters():\n        if isinstance(given.get(name), nn.Parameter):\n            p.requires_grad_(given[name].requires_grad)\n",
            )
        ],
        check="test_in_place",
        says="requires_grad",
    ),
    Wrong(
        "does not say which name two become",
        edits=[
            (
                'raise ValueError(f"both {old_names[new]} and {old} become {new}")',
                'raise ValueError(f"both {old_names[new]} and {old}")',
            )
        ],
        check="test_two_names_become_one",
    ),
    Wrong(
        "copies by way of float32",
        edits=[("copy_(given[name])", "copy_(given[name].float())")],
        check="test_exact_numbers",
    ),
    Wrong("renames nothing", edits=[("state, rename or {})", "state, {})")], check="test_renamed"),
    Wrong(
        "replaces the prefix wherever it occurs",
        edits=[
            (NEW, "new = old.replace(prefix, rename[prefix]) if prefix else rename.get(prefix, '') + old")
        ],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "the first prefix that fits",
        edits=[(PREFIX, "prefix = next((p for p in rename if old.startswith(p)), None)")],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong("the shortest prefix", edits=[("max((p for", "min((p for")], check="test_renamed"),
    Wrong(
        "one renaming after the other",
        edits=[
            (
                NEW,
                "new = old\n        for p in sorted(rename, key=len, reverse=True):\n            new = rename[p] + new[len(p) :] if new.startswith(p) else new",
            )
        ],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "strips the prefix again and again",
        edits=[
            (
                NEW,
                NEW
                + "\n        while prefix and new.startswith(prefix) and not rename[prefix]:\n            new = new[len(prefix) :]",
            )
        ],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "the empty prefix counts for nothing",
        edits=[("new = old if prefix is None else", "new = old if not prefix else")],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "whole parts of the name only",
        edits=[("if old.startswith(p))", 'if not p or p.endswith(".") and old.startswith(p) or old == p)')],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "takes upper for lower case",
        edits=[("if old.startswith(p))", "if old.lower().startswith(p.lower()))")],
        check="test_renamed",
        says="though by rename",
    ),
    Wrong(
        "reports the new names of what is unexpected",
        edits=[(UNEXPECTED, UNEXPECTED.replace("[old for", "[name for"))],
        check="test_report",
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
        says="missing",
    ),
    Wrong(
        "what has a wrong shape is unexpected too",
        edits=[
            (
                UNEXPECTED,
                UNEXPECTED.replace(
                    "if name not in own", "if name not in own or given[name].shape != own[name].shape"
                ),
            )
        ],
        check="test_report",
        says="unexpected",
    ),
    Wrong(
        "sorted names",
        edits=[(MISSING, MISSING.replace("in own if", "in sorted(own) if"))],
        check="test_report",
        says="missing",
    ),
    Wrong(
        "the order of the state",
        edits=[("for name in own if name in given}", "for name in given if name in own}")],
        check="test_everything_fits",
        says="loaded",
    ),
    Wrong(
        "a set of names",
        edits=[(UNEXPECTED, "unexpected={old for name, old in old_names.items() if name not in own}")],
        check="test_report",
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
        says="wrong_shape",
    ),
    Wrong(
        "loads what broadcasts",
        edits=[
            (FIT, "if theirs == ours or theirs in ((), (1,))]"),
            (MISFIT, "if pair[0] != pair[1] and pair[0] not in ((), (1,))}"),
        ],
        check="test_shapes_are_exact",
    ),
    Wrong(
        "the same number of elements will do",
        edits=[
            (FIT, "if given[name].numel() == own[name].numel()]"),
            (MISFIT, "if given[name].numel() != own[name].numel()}"),
            ("copy_(given[name])", "copy_(given[name].reshape(own[name].shape))"),
        ],
        check="test_shapes_are_exact",
    ),
    Wrong(
        "squeezes before it compares",
        edits=[
            (FIT, "if given[name].squeeze().shape == own[name].squeeze().shape]"),
            (MISFIT, "if given[name].squeeze().shape != own[name].squeeze().shape}"),
            ("copy_(given[name])", "copy_(given[name].reshape(own[name].shape))"),
        ],
        check="test_shapes_are_exact",
    ),
    Wrong(
        "cuts what is too large",
        edits=[
            (
                COPY,
                COPY
                + "        for name in report.wrong_shape:\n            if own[name].dim() == 1 and given[name].dim() == 1 and len(given[name]) > len(own[name]):\n                own[name].copy_(given[name][: len(own[name])])\n",
            )
        ],
        check="test_report",
    ),
    Wrong(
        "PyTorch's strict=False and its report",
        edits=[(COPY, "    model.load_state_dict(given, strict=False)\n")],
        check="test_report",
    ),
    Wrong(
        "new tensors in place of the model's",
        edits=[
            (
                COPY,
                "    model.load_state_dict({name: given[name] for name in report.loaded}, strict=False, assign=True)\n",
            )
        ],
        check="test_in_place",
        says="another object",
    ),
    Wrong(
        "new data for the model's tensors",
        edits=[
            (
                COPY,
                "    tensors = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers())}\n    for name in report.loaded:\n        tensors[name].data = given[name].detach().to(own[name]).clone()\n",
            )
        ],
        check="test_in_place",
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
    ),
    Wrong(
        "buffers too, also those that are not saved",
        edits=[(OWN, "own = {**model.state_dict(), **dict(model.named_buffers())}")],
        check="test_report",
    ),
    Wrong(
        "forgets the gradients",
        edits=[(COPY, COPY + "    model.zero_grad()\n")],
        check="test_in_place",
        says="gradient",
    ),
    Wrong(
        "freezes what was loaded",
        edits=[
            (
                COPY,
                COPY
                + "    for name, p in model.named_parameters():\n        p.requires_grad_(name not in report.loaded)\n",
            )
        ],
        check="test_in_place",
        says="requires_grad",
    ),
    Wrong(
        "goes by the parameters, each once: a tied one has one name",
        edits=[
            (
                OWN,
                "own = {**dict(model.named_parameters()), **{k: v for k, v in model.state_dict().items() if k in dict(model.named_buffers())}}",
            )
        ],
        check="test_tied_parameters",
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
        says="dtype",
    ),
    Wrong(
        "a wrong dtype is a wrong shape",
        edits=[(FIT, "if theirs == ours and given[name].dtype == own[name].dtype]")],
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
        says="entries",
    ),
    Wrong(
        "only takes dicts",
        edits=[
            (
                "    old_names = _old_names(",
                "    state = state.copy() if isinstance(state, dict) else dict.copy(state)\n    old_names = _old_names(",
            )
        ],
        check="test_state_is_left_alone",
    ),
    Wrong(
        "ends in evaluation mode",
        edits=[(COPY, COPY + "    model.eval()\n")],
        check="test_mode_and_shared_copies",
        says="training",
    ),
    Wrong(
        "moves the model to where the state is",
        edits=[(COPY, "    model.to(given[report.loaded[0]].device)\n    own = model.state_dict()\n" + COPY)],
        check="test_on_a_device",
        says="device",
    ),
    Wrong(
        "skips what is no tensor",
        edits=[(NO_TENSOR, NO_TENSOR + "            continue\n")],
        check="test_bad_values",
        says="no error",
    ),
    Wrong(
        "complains about what the model knows only",
        edits=[
            (
                "    old_names = _old_names(state,",
                "    state = {name: value for name, value in state.items() if isinstance(value, Tensor) or name in model.state_dict()}\n    old_names = _old_names(state,",
            )
        ],
        check="test_bad_values",
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
        check="test_bad_values",
        says="after a TypeError",
    ),
    Wrong(
        "the last of two names wins", edits=[(TWO, "")], check="test_two_names_become_one", says="no error"
    ),
    Wrong(
        "two names in one are fine if the model has no such name",
        edits=[
            (
                "        if new in old_names:\n",
                '        if new in old_names and new.endswith(("weight", "bias")):\n',
            )
        ],
        check="test_two_names_become_one",
        says="no error",
    ),
    Wrong(
        "nothing fits, and nobody hears of it",
        edits=[(NOTHING, "    if False:")],
        check="test_nothing_fits",
        says="no error",
    ),
    Wrong(
        "wrong shapes count as found",
        edits=[(NOTHING, "    if not shapes:")],
        check="test_nothing_fits",
        says="no error",
    ),
    Wrong(
        "leaves out what is frozen",
        edits=[
            (
                "            own[name].copy_(given[name])",
                "            if dict(model.named_parameters()).get(name, torch.ones(1, requires_grad=True)).requires_grad:\n"
                "                own[name].copy_(given[name])",
            )
        ],
        check="test_in_place",
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
    Wrong(
        "lets two names become one where both are the same tensor",
        edits=[
            (
                "        if new in old_names:",
                "        if new in old_names and state[old_names[new]] is not value:",
            )
        ],
        check="test_two_names_become_one",
    ),
    Wrong(
        "parameters by their data, and buffers with the graph of what comes in",
        edits=[
            (OWN, "own = model.state_dict(keep_vars=True)"),
            (
                COPY,
                """    for name in report.loaded:
        mine = own[name]
        (mine.data if isinstance(mine, nn.Parameter) else mine).copy_(given[name])
""",
            ),
        ],
        check="test_in_place",
        says="running_mean",
    ),
    Wrong(
        "switches gradients off, and on again for a caller who had none",
        edits=[
            (
                COPY,
                """    torch.set_grad_enabled(False)
    for name in report.loaded:
        own[name].copy_(given[name])
    torch.set_grad_enabled(True)
""",
            )
        ],
        check="test_mode_and_shared_copies",
        says="whether gradients are recorded",
    ),
    Wrong(
        "single numbers by way of a float",
        edits=[
            (
                COPY,
                """    with torch.no_grad():
        for name in report.loaded:
            mine, theirs = own[name], given[name]
            mine.copy_(theirs) if theirs.dim() else mine.fill_(float(theirs))
""",
            )
        ],
        check="test_exact_numbers",
        says="without dimensions",
    ),
    Wrong(
        "leaves gradients off where something raises",
        edits=[
            (
                "    old_names = _old_names(state, rename or {})\n",
                "    before = torch.is_grad_enabled()\n    torch.set_grad_enabled(False)\n"
                "    old_names = _old_names(state, rename or {})\n",
            ),
            (COPY, COPY + "    torch.set_grad_enabled(before)\n"),
        ],
        check="test_bad_values",
        says="after a TypeError",
    ),
    Wrong(
        "gives a parameter new memory where the state has another dtype",
        edits=[
            (
                COPY,
                """    held = dict(model.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name in report.loaded:
            if name in held and held[name].dtype != given[name].dtype:
                held[name].data = given[name].detach().to(held[name])
            else:
                own[name].copy_(given[name])
""",
            )
        ],
        check="test_own_dtype",
        says="where it was in memory",
    ),
    Wrong(
        "tells of a clash by the old name where the model lacks the new one",
        edits=[
            (
                TWO,
                """        if new in old_names:
            raise ValueError(f"{old} would be there twice" if "weight" not in new else f"two names become {new}")
""",
            )
        ],
        check="test_two_names_become_one",
        says="new.x",
    ),
]
