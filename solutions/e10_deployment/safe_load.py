from pathlib import Path

import torch
from torch import nn


def safe_load(model: nn.Module, path: str | Path, device: torch.device | str = "cpu") -> nn.Module:
    state = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(state, dict):
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
    torch.empty(0, device=device)  # if there is no such device, it raises here, before anything has changed
    model.load_state_dict(state)
    return model.to(device).eval()
