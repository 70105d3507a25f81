"""Answers to safe_load that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LOAD = '    state = torch.load(path, map_location="cpu", weights_only=True)\n'
TRY = """    if not isinstance(state, dict):
        raise TypeError(f"{path} holds no state dict but a {type(state).__name__}")
    own = model.state_dict()
    faults = [f"{name} is missing" for name in own if name not in state]
    for name, value in state.items():
        if name not in own:
            faults.append(f"{name} is not in the model")
        elif not isinstance(value, torch.Tensor):
            faults.append(f"{name} is no tensor")
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
        "loads whatever pickle holds",
        edits=[(", weights_only=True", ", weights_only=False")],
        check="test_hostile_file",
        says="code from the file has run",
        rung="job",
    ),
    Wrong(
        "takes the weights of a whole model",
        edits=[
            (
                LOAD,
                """    with torch.serialization.safe_globals([nn.Linear, set]):
        state = torch.load(path, map_location="cpu", weights_only=True)
    state = state.state_dict() if isinstance(state, nn.Module) else state
""",
            )
        ],
        check="test_no_code_runs",
        rung="job",
    ),
    Wrong(
        "turns all errors into a RuntimeError",
        edits=[
            (
                LOAD,
                """    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise RuntimeError("bad file") from error
""",
            )
        ],
        check="test_no_code_runs",
        says="wrong error",
        rung="job",
    ),
    Wrong(
        "forgets map_location",
        edits=[('map_location="cpu", ', "")],
        check="test_from_another_machine",
        says="cuda:7",
        rung="job",
    ),
    Wrong(
        "ignores the device",
        edits=[(LAST, "    return model.eval()\n")],
        check="test_on_a_device",
        says="not on the device",
        rung="job",
    ),
    Wrong(
        "forgets evaluation mode",
        edits=[(LAST, "    return model.to(device)\n")],
        check="test_loads",
        says="training mode",
        rung="job",
    ),
    Wrong(
        "returns nothing",
        edits=[(LAST, "    model.to(device).eval()\n")],
        check="test_loads",
        says="returns something else",
        rung="job",
    ),
    Wrong(
        "not strict",
        edits=[(TRY, ""), (COPY, "    model.load_state_dict(state, strict=False)\n")],
        check="test_misfits",
        says="no error",
        rung="job",
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
        rung="job",
    ),
    Wrong(
        "load_state_dict alone",
        edits=[(TRY, "")],
        check="test_refused_as_a_whole",
    ),
    Wrong(
        "compares names alone",
        edits=[
            (
                TRY,
                '    if set(state) != set(model.state_dict()):\n        raise RuntimeError(f"other names: {set(state) ^ set(model.state_dict())}")\n',
            )
        ],
        check="test_refused_as_a_whole",
    ),
    Wrong(
        "starts from scratch where there is no file",
        edits=[(LOAD, "    if not Path(path).exists():\n        return model.to(device).eval()\n" + LOAD)],
        check="test_no_state_dict",
        says="no error",
    ),
    Wrong(
        "only then finds that there is no such device",
        edits=[(DEVICE, "")],
        check="test_no_such_device",
        says="after safe_load",
    ),
    Wrong(
        "leaves it to the default",
        edits=[(", weights_only=True", "")],
        check="test_forced_by_the_environment",
    ),
    Wrong(
        "puts the file's tensors in place of the model's",
        edits=[(COPY, "    model.load_state_dict(state, assign=True)\n")],
        check="test_into_the_models_own_tensors",
        says="another tensor",
    ),
    Wrong(
        "freezes the model",
        edits=[(LAST, "    return model.to(device).eval().requires_grad_(False)\n")],
        check="test_into_the_models_own_tensors",
        says="requires_grad",
    ),
    Works(
        "the tutorial's four lines",
        code="""
import torch


def safe_load(model, path, device="cpu"):
    state_dict = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(state_dict)
    model.to(device)
    model.eval()
    return model
""",
    ),
    Works(
        "loads where the model is already on the device",
        code="""
import torch


def safe_load(model, path, device="cpu"):
    model = model.to(device)
    checkpoint = torch.load(path, map_location=torch.device("cpu"))
    missing, unexpected = model.load_state_dict(checkpoint, strict=False)
    if missing or unexpected:
        raise RuntimeError(f"missing {missing}, unexpected {unexpected}")
    return model.eval()
""",
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
        if not isinstance(found[name], torch.Tensor):
            faults.append(f"{name} is no tensor")
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
]
