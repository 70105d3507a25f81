"""Answers to safe_load that must fail, and some that must pass."""

from grader.authoring.specimen import Right, Wrong

LOAD = '    state = torch.load(path, map_location="cpu", weights_only=True)\n'
TRY = """    if not isinstance(state, dict):
        raise TypeError(f"{path} holds no state dict but a {type(state).__name__}")
    own = model.state_dict()
    faults = [f"{name} is missing" for name in own if name not in state]
    for name, value in state.items():
        if name not in own:
            faults.append(f"{name} is not in the model")
        elif not isinstance(value, torch.Tensor) or value.is_meta or value.layout != torch.strided:
            faults.append(f"{name} is no tensor that can be copied")
        elif value.shape != own[name].shape:
            faults.append(f"{name} is of shape {tuple(value.shape)}, not {tuple(own[name].shape)}")
    if faults:
        raise RuntimeError(f"{path} does not fit the model: " + "; ".join(faults))
"""
DEVICE = "    torch.empty(0, device=device)  # if there is no such device, it raises here, before anything has changed\n"
COPY = "    model.load_state_dict(state)\n"
LAST = "    return model.to(device).eval()\n"

SPECIMENS = [
    Wrong(
        "one error for whatever goes wrong in reading",
        edits=[
            (
                LOAD,
                "    import pickle\n"
                "    try:\n    "
                + LOAD
                + "    except OSError:\n        raise\n"
                + "    except Exception as error:\n        raise pickle.UnpicklingError(str(error)) from error\n",
            )
        ],
        check="test_no_state_dict",
        says="half a file",
    ),
    Wrong(
        "leaves a sparse tensor to load_state_dict, which has copied the others by then",
        edits=[(" or value.layout != torch.strided", "")],
        check="test_misfits",
        says="of a file with a sparse tensor",
    ),
    Wrong(
        "looks at no shape after a missing entry",
        edits=[
            (
                TRY,
                TRY.replace(
                    "    for name, value in state.items():",
                    "    for name, value in () if faults else state.items():",
                ),
            )
        ],
        check="test_misfits",
        says="1.bias",
    ),
    Wrong(
        "strips the prefix of a DataParallel model",
        edits=[
            (
                TRY,
                TRY.replace(
                    "    own =",
                    "    if all(str(name).startswith('module.') for name in state):\n        state = {name[7:]: value for name, value in state.items()}\n    own =",
                ),
            )
        ],
        check="test_misfits",
        says="Linear",
    ),
    Wrong(
        "takes one number for one number",
        edits=[
            (
                "value.shape != own[name].shape:",
                "(value.shape != own[name].shape and not value.numel() == own[name].numel() == 1 > value.dim()):",
            ),
            (COPY, "    for name, value in state.items():\n        own[name].copy_(value)\n"),
        ],
        check="test_misfits",
        says="PReLU",
    ),
    Wrong(
        "takes the number 0 for the name '0'",
        edits=[
            (
                TRY,
                TRY.replace(
                    "    own =", "    state = {str(name): value for name, value in state.items()}\n    own ="
                ),
            )
        ],
        check="test_misfits",
        says="ParameterList",
    ),
    Wrong(
        "reads float64 by way of float32",
        edits=[
            (
                "model.load_state_dict(state)",
                "model.load_state_dict({n: t.float() if t.dtype.is_floating_point else t for n, t in state.items()})",
            )
        ],
        check="test_into_the_model_s_own_tensors",
        says="float64 model",
    ),
    Wrong(
        "one name of a tied weight is enough",
        edits=[
            (
                "    faults = [",
                "    held = {own[name].data_ptr() for name in own if name in state}\n    faults = [",
            ),
            ("if name not in state]", "if name not in state and own[name].data_ptr() not in held]"),
            ("model.load_state_dict(state)", "model.load_state_dict(state, strict=False)"),
        ],
        check="test_into_the_model_s_own_tensors",
        says="tied weight",
    ),
    Wrong(
        "asks for the buffers that no state dict holds",
        edits=[("own = model.state_dict()", "own = {**model.state_dict(), **dict(model.named_buffers())}")],
        check="test_loads",
        says="angles",
    ),
    Wrong(
        "one number fits whatever holds one",
        edits=[
            (
                "value.shape != own[name].shape",
                "(value.shape != own[name].shape and not value.numel() == own[name].numel() == 1)",
            )
        ],
        check="test_misfits",
        says="no error",
    ),
    Wrong(
        "sorts the names that the model lacks, where a number cannot be compared",
        edits=[
            (
                "    for name, value in state.items():\n        if name not in own:\n",
                "    for name in sorted(state.keys() - own.keys()):\n"
                '        faults.append(f"{name} is unknown")\n'
                "    for name, value in state.items():\n        if False:\n",
            ),
            ("        elif not isinstance", "        elif name in own and not isinstance"),
            ("or value.is_meta or", "or name in own and value.is_meta or name in own and"),
        ],
        check="test_misfits",
        says="TypeError",
    ),
    Wrong(
        "loads whatever pickle holds",
        edits=[(", weights_only=True", ", weights_only=False")],
        check="test_no_code_runs",
        says="code from the file has run",
    ),
    Wrong(
        "tries again without weights_only",
        edits=[
            (
                LOAD,
                """    import pickle
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        state = torch.load(path, map_location="cpu", weights_only=False)
""",
            )
        ],
        check="test_no_code_runs",
        says="code from the file has run",
    ),
    Wrong(
        "looks for dangerous names first",
        edits=[
            (
                LOAD,
                """    import pickle, zipfile
    if Path(path).exists():
        data = Path(path).read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                data = b"".join(archive.read(n) for n in archive.namelist() if n.endswith(".pkl"))
        if any(word in data for word in (b"exec", b"eval", b"system", b"posix", b"subprocess", b"loads")):
            raise pickle.UnpicklingError("dangerous")
    state = torch.load(path, map_location="cpu", weights_only=False)
""",
            )
        ],
        check="test_no_code_runs",
        says="pathlib",
    ),
    Wrong(
        "allows all that the file asks for",
        edits=[
            (
                LOAD,
                """    import importlib, zipfile
    from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals
    known = []
    if zipfile.is_zipfile(path):
        for name in get_unsafe_globals_in_checkpoint(path):
            module, _, attribute = name.rpartition(".")
            if module not in ("os", "posix", "builtins"):
                try:
                    known.append(getattr(importlib.import_module(module), attribute))
                except Exception:
                    pass
    with safe_globals(known):
        state = torch.load(path, map_location="cpu", weights_only=True)
""",
            )
        ],
        check="test_harmless_objects",
        says="wrong error",
    ),
    Wrong(
        "leaves classes on the list of what is safe",
        edits=[(LOAD, "    torch.serialization.add_safe_globals([nn.Linear, nn.Sequential, set])\n" + LOAD)],
        check="test_what_is_admitted_stays",
        says="get_safe_globals",
    ),
    Wrong(
        "clears the list of what is safe",
        edits=[(LOAD, "    torch.serialization.clear_safe_globals()\n" + LOAD)],
        check="test_what_is_admitted_stays",
        says="get_safe_globals",
    ),
    Wrong(
        "sets the environment right, for good",
        edits=[
            (
                LOAD,
                '    import os\n    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"\n    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)\n'
                + LOAD,
            )
        ],
        check="test_forced_by_the_environment",
        says="os.environ",
    ),
    Wrong(
        "leaves it to the default",
        edits=[(", weights_only=True", "")],
        check="test_forced_by_the_environment",
        says="code from the file has run",
    ),
    Wrong(
        "turns all errors into a RuntimeError",
        edits=[
            (
                LOAD,
                """    if not Path(path).exists():
        raise FileNotFoundError(path)
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise RuntimeError("bad file") from error
""",
            )
        ],
        check="test_no_code_runs",
        says="wrong error",
    ),
    Wrong(
        "leaves the model alone where the file is refused",
        edits=[
            (
                LOAD,
                """    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:
        return model
""",
            )
        ],
        check="test_no_code_runs",
        says="no error",
    ),
    Wrong(
        "forgets map_location",
        edits=[('map_location="cpu", ', "")],
        check="test_from_another_machine",
        says="cuda:7",
    ),
    Wrong(
        "maps one device only",
        edits=[('(path, map_location="cpu"', '(path, map_location={"cuda:0": "cpu", "mps": "cpu"}')],
        check="test_from_another_machine",
        says="cuda:7",
    ),
    Wrong(
        "reads straight to the device",
        edits=[('(path, map_location="cpu"', "(path, map_location=device")],
        check="test_devices",
        says="back to the host",
    ),
    Wrong("ignores the device", edits=[(LAST, "    return model.eval()\n")], check="test_devices"),
    Wrong(
        "always to the CPU",
        edits=[(LAST, "    return model.cpu().eval()\n")],
        check="test_devices",
        says="other device",
    ),
    Wrong(
        "stays where the model is by default",
        edits=[
            ('device: torch.device | str = "cpu"', "device: torch.device | str = None"),
            (LAST, "    return (model if device is None else model.to(device)).eval()\n"),
        ],
        check="test_devices",
        says="the default",
    ),
    Wrong(
        "moves and switches before it loads",
        edits=[(LOAD, "    model.to(device).eval()\n" + LOAD), (LAST, "    return model\n")],
        check="test_refused_for_a_device",
        says="has moved",
    ),
    Wrong(
        "forgets evaluation mode",
        edits=[(LAST, "    return model.to(device)\n")],
        check="test_loads",
        says="training flag",
    ),
    Wrong(
        "evaluation mode before the file is read",
        edits=[(LOAD, "    model.eval()\n" + LOAD), (LAST, "    return model.to(device)\n")],
        check="test_misfits",
        says="training flag",
    ),
    Wrong(
        "the model alone in evaluation mode",
        edits=[(LAST, "    model.training = False\n    return model.to(device)\n")],
        check="test_loads",
        says="training flag",
    ),
    Wrong(
        "returns nothing",
        edits=[(LAST, "    model.to(device).eval()\n")],
        check="test_loads",
        says="returns something else",
    ),
    Wrong(
        "returns a copy",
        edits=[(LOAD, "    import copy\n    model = copy.deepcopy(model)\n" + LOAD)],
        check="test_loads",
        says="something else",
    ),
    Wrong(
        "a rehearsal on a copy, which makes allowances",
        edits=[(TRY, "    import copy\n    copy.deepcopy(model).load_state_dict(state)\n")],
        check="test_misfits",
        says="count of batches",
    ),
    Wrong(
        "looks into state_dict by itself",
        edits=[
            (TRY, '    state = state.get("state_dict", state) if isinstance(state, dict) else state\n' + TRY)
        ],
        check="test_misfits",
        says="one level deeper",
    ),
    Wrong(
        "only then finds that there is no such device",
        edits=[(DEVICE, "")],
        check="test_no_such_device",
        says="after safe_load",
    ),
    Wrong(
        "registers buffers anew",
        edits=[
            (
                COPY,
                """    for name, t in model.named_parameters():
        t.data.copy_(state[name])
    for name, t in list(model.named_buffers()):
        place, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(place), leaf, state[name].to(t.dtype))
""",
            )
        ],
        check="test_into_the_model_s_own_tensors",
        says="another tensor",
    ),
    Wrong(
        "load_state_dict alone",
        edits=[(TRY, "")],
        check="test_misfits",
        says="0.weight after",
    ),
    Wrong(
        "not strict",
        edits=[
            (TRY, ""),
            (COPY, "    model.load_state_dict(state, strict=False)\n"),
        ],
        check="test_misfits",
        says="no error",
    ),
    Wrong(
        "skips what does not fit",
        edits=[
            (
                LOAD,
                LOAD
                + "    own = model.state_dict()\n    state = {**own, **{k: v for k, v in state.items() if k in own and v.shape == own[k].shape}}\n",
            )
        ],
        check="test_misfits",
        says="no error",
    ),
    Wrong(
        "strips prefixes by itself",
        edits=[(LOAD, LOAD + '    state = {k.removeprefix("module."): v for k, v in state.items()}\n')],
        check="test_misfits",
        says="another prefix",
    ),
    Wrong(
        "compares names alone",
        edits=[
            (
                TRY,
                '    if set(state) != set(model.state_dict()):\n        raise RuntimeError(f"other names: {set(state) ^ set(model.state_dict())}")\n',
            )
        ],
        check="test_misfits",
        says="0.weight after",
    ),
    Wrong(
        "copies by hand: what broadcasts, fits",
        edits=[
            (
                TRY + DEVICE + COPY,
                """    own = model.state_dict()
    if set(state) != set(own):
        raise RuntimeError(f"other names: {set(state) ^ set(own)}")
    for name, t in state.items():
        if not isinstance(t, torch.Tensor):
            raise RuntimeError(name)
        try:
            t.expand(own[name].shape)
        except RuntimeError:
            raise RuntimeError(f"{name} has another shape") from None
    with torch.no_grad():
        for name, t in state.items():
            own[name].copy_(t)
""",
            )
        ],
        check="test_misfits",
        says="broadcast",
    ),
    Wrong(
        "says only that something is wrong",
        edits=[
            (
                TRY,
                '    if {k: getattr(v, "shape", 0) for k, v in state.items()} != {k: v.shape for k, v in model.state_dict().items()}:\n        raise RuntimeError("the file does not fit the model")\n',
            )
        ],
        check="test_misfits",
        says="does not say enough",
    ),
    Wrong(
        "names the first misfit",
        edits=[
            (
                TRY,
                """    own = model.state_dict()
    for name in {**own, **state}:
        if name not in own or name not in state or getattr(state[name], "shape", None) != own[name].shape:
            raise RuntimeError(f"{name} does not fit")
""",
            )
        ],
        check="test_misfits",
        says="does not say enough",
    ),
    Wrong(
        "KeyError for other names",
        edits=[
            (
                TRY,
                "    if set(state) != set(model.state_dict()):\n        raise KeyError(set(state) ^ set(model.state_dict()))\n"
                + TRY,
            )
        ],
        check="test_misfits",
        says="wrong error",
    ),
    Wrong(
        "only parameters",
        edits=[
            (
                COPY,
                "    with torch.no_grad():\n        for name, p in model.named_parameters():\n            p.copy_(state[name])\n",
            )
        ],
        check="test_loads",
        says="running_mean",
    ),
    Wrong(
        "puts the file's tensors in place of the model's",
        edits=[
            (COPY, "    model.load_state_dict(state, assign=True)\n"),
        ],
        check="test_into_the_model_s_own_tensors",
        says="another tensor",
    ),
    Wrong(
        "takes the dtype of the file",
        edits=[(COPY, "    model.to(next(iter(state.values())).dtype)\n" + COPY)],
        check="test_into_the_model_s_own_tensors",
        says="dtype",
    ),
    Wrong(
        "freezes the model",
        edits=[(LAST, "    return model.to(device).eval().requires_grad_(False)\n")],
        check="test_into_the_model_s_own_tensors",
        says="requires_grad",
    ),
    Wrong(
        "takes an empty dict for what is no dict",
        edits=[
            (LOAD, LOAD + "    if not isinstance(state, dict):\n        return model.to(device).eval()\n")
        ],
        check="test_no_state_dict",
        says="no error",
    ),
    Wrong(
        "starts from scratch where there is no file",
        edits=[(LOAD, "    if not Path(path).exists():\n        return model.to(device).eval()\n" + LOAD)],
        check="test_no_state_dict",
        says="no error",
    ),
    Right(
        "a snapshot and a way back",
        edits=[
            (
                LOAD + TRY + DEVICE + COPY + LAST,
                """    with open(path, "rb") as file:
        weights = torch.load(file, map_location=torch.device("cpu"), weights_only=True)
    torch.zeros(1).to(device)
    kept = {name: t.detach().clone() for name, t in model.state_dict().items()}
    try:
        if not isinstance(weights, dict):
            raise TypeError("no dict")
        differ = [k for k in kept.keys() & weights.keys() if getattr(weights[k], "shape", 0) != kept[k].shape]
        differ += kept.keys() ^ weights.keys()
        if differ:
            raise RuntimeError(f"names or shapes differ: {sorted(map(str, differ))}")
        model.load_state_dict(weights, strict=True)
    except BaseException:
        model.load_state_dict(kept)
        raise
    model.eval()
    model.to(device=device)
    return model
""",
            )
        ],
    ),
    Right(
        "compares by hand, copies by hand",
        edits=[
            (
                LOAD + TRY + DEVICE + COPY + LAST,
                """    found = torch.load(str(path), map_location=lambda storage, location: storage, weights_only=True)
    if not isinstance(found, dict):
        raise TypeError(f"{path} holds a {type(found).__name__}")
    own = model.state_dict()
    faults = [f"{name} is missing" for name in own if name not in found]
    faults += [f"{name} is unknown" for name in found if name not in own]
    for name in own.keys() & found.keys():
        if not isinstance(found[name], torch.Tensor) or found[name].device.type == "meta" or found[name].layout != torch.strided:
            faults.append(f"{name} is no tensor, an empty or a sparse one")
        elif found[name].shape != own[name].shape:
            faults.append(f"{name} has shape {tuple(found[name].shape)}, not {tuple(own[name].shape)}")
    if faults:
        raise RuntimeError("; ".join(faults))
    model.to(device)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(found[name])
    return model.train(False)
""",
            )
        ],
    ),
    Wrong(
        "joins names, of which one is a number",
        edits=[
            (
                '        if name not in own:\n            faults.append(f"{name} is not in the model")',
                '        if name not in own:\n            faults.append(name + " is not in the model")',
            )
        ],
        check="test_misfits",
        says="TypeError",
    ),
    Wrong(
        "copies up to a tensor that has no numbers",
        edits=[(" or value.is_meta", "")],
        check="test_misfits",
        says="0.weight",
    ),
    Right(
        "tries the device with a number that goes there and back",
        edits=[("    torch.empty(0, device=device)  #", "    torch.zeros(1).to(device).cpu()  #")],
    ),
    Wrong(
        "asks is_sparse, which is false for a tensor in CSR form",
        edits=[("value.layout != torch.strided", "value.is_sparse")],
        check="test_misfits",
        says="CSR",
    ),
    Wrong(
        "takes a file without entries for one that holds no dict",
        edits=[("    if not isinstance(state, dict):", "    if not isinstance(state, dict) or not state:")],
        check="test_misfits",
        says="nothing in it",
    ),
    Wrong(
        "refuses a file without entries for a model that has none",
        edits=[
            (
                "    if not isinstance(state, dict):",
                '    if state == {}:\n        raise RuntimeError(f"missing: {list(model.state_dict())}")\n    if not isinstance(state, dict):',
            )
        ],
        check="test_loads",
        says="missing",
    ),
    Wrong(
        "refuses integers of another dtype",
        edits=[
            (
                "        elif value.shape != own[name].shape:",
                '        elif value.dtype != own[name].dtype and not value.is_floating_point():\n            faults.append(f"{name} is of dtype {value.dtype}")\n        elif value.shape != own[name].shape:',
            )
        ],
        check="test_into_the_model_s_own_tensors",
        says="num_batches_tracked",
    ),
    Wrong(
        "tries the device with the first parameter, if there is one",
        edits=[(DEVICE, "    for p in list(model.parameters())[:1]:\n        p.detach().to(device)\n")],
        check="test_no_such_device",
        says="buffers alone",
    ),
]
