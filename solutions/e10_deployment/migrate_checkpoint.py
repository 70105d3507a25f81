from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor


def migrate(checkpoint: Mapping[str, Any], steps: Sequence[Sequence[tuple[str, str]]]) -> dict[str, Tensor]:
    versioned = "version" in checkpoint and "model" in checkpoint
    version = checkpoint["version"] if versioned else 0
    state = dict(checkpoint["model"] if versioned else checkpoint)
    if version > len(steps):
        raise ValueError(f"version {version} is newer than {len(steps)}")
    while wrapped := [p for p in ("module.", "_orig_mod.") if state and all(n.startswith(p) for n in state)]:
        state = {name.removeprefix(wrapped[0]): tensor for name, tensor in state.items()}
    for pairs in steps[version:]:
        state = _renamed(state, pairs)
    return state


def _renamed(state: dict[str, Tensor], pairs: Sequence[tuple[str, str]]) -> dict[str, Tensor]:
    result: dict[str, Tensor] = {}
    for name, tensor in state.items():
        old, new = next((pair for pair in pairs if name.startswith(pair[0])), ("", ""))
        renamed = new + name.removeprefix(old)
        if renamed in result:
            raise ValueError(f"two tensors become {renamed}")
        result[renamed] = tensor
    return result
