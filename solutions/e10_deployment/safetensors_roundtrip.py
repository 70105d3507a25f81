import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor


def save_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any] | None = None
) -> None:
    about = json.dumps(dict(metadata or {}))
    if json.loads(about) != dict(metadata or {}):
        raise TypeError(f"the metadata would come back as {about}")
    names: dict[tuple[Any, ...], str] = {}
    once: dict[str, Tensor] = {}
    shared: dict[str, str] = {}
    for name, tensor in tensors.items():
        seen = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        if tensor.numel() > 0 and seen in names:  # all empty tensors are at address 0
            shared[name] = names[seen]
            continue
        names[seen] = name
        once[name] = tensor.detach().clone(memory_format=torch.contiguous_format)  # without its base
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:  # gone in any case
        save_file(once, Path(folder, "new"), {"shared": json.dumps(shared), "metadata": about})
        Path(folder, "new").replace(path)  # all of it or nothing


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        header = file.metadata() or {}
    for name, first in json.loads(header.get("shared", "{}")).items():
        tensors[name] = tensors[first]
    return tensors, json.loads(header.get("metadata", "{}"))
