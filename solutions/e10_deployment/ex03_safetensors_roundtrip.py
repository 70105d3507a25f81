"""Weights and what must be known about them in one file that holds no code: safetensors.

The format is a header in JSON and plain numbers. So it is safe to read and needs no Python, but it knows
names, shapes and dtypes only: it refuses tensors that share memory (a tied embedding and output layer) or are
not contiguous, and its metadata maps strings to strings. Write around that:

    weight = torch.arange(6.0).view(3, 2)
    tensors = {"embedding": weight, "output": weight, "bias": torch.zeros(3)}
    save_tensors("model.safetensors", tensors, {"step": 500, "classes": ["cat", "dog", "eel"]})
    # in the file: embedding and bias, and in its header's metadata
    #     "shared":   '{"output": "embedding"}'
    #     "metadata": '{"step": 500, "classes": ["cat", "dog", "eel"]}'
    loaded, about = load_tensors("model.safetensors")
    about["step"]                                         # 500, the number
    loaded["embedding"][0, 0] = 7.0
    loaded["output"][0, 0]                                # tensor(7.): one tensor again

Rules:
- Names stand for the same tensor if they see the same memory in the same way: address, shape, strides and
  dtype. It is written once, under the name that comes first in `tensors`; "shared" says for each other name
  which one that is. When it is loaded, all its names share memory again. (In a state dict, tied weights are
  two Python objects.)
- All other tensors are written in full, each with its own elements only, and share nothing when loaded: rows
  of one matrix, a transposed view and its base, a slice of something huge, empty tensors.
- Every name comes back with the values, shape and dtype it had, also a bool, a bfloat16 or a tensor without
  dimensions. Loaded tensors are contiguous, on the CPU, require no gradient, and can be changed without
  changing the file or what is loaded from it later. Saving changes no input; parameters may be saved.
- metadata is what JSON can hold, under any names, and comes back equal. A TypeError or ValueError comes for
  all that would not: an object, NaN, infinity, but also (1, 2), which would return as [1, 2], and {1: "a"},
  as {"1": "a"}. The same for something in `tensors` that is no tensor. Whenever save_tensors raises (the disk
  may be full, or somebody presses Ctrl-C), a file that was at path is still there as it was, and none is
  there otherwise, nor beside it.
- A file from another program may lack "shared" or "metadata", or have no metadata in its header at all: then
  no names are shared, or metadata is {}. Other entries mean nothing to us.
- load_tensors raises FileNotFoundError where there is no file, and safetensors.SafetensorError (as the
  library does) where it is something else or damaged. What its name ends in does not matter. A pickle is
  never opened.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor


def save_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any] | None = None
) -> None:
    """Write tensors and metadata to a safetensors file, whatever memory the tensors share.

    Args:
        path: the file to make or to replace.
        tensors: on the CPU, by name; of any shape, dtype and strides.
        metadata: what JSON can hold, by name; None is the same as {}.

    Raises:
        TypeError, ValueError: the metadata would not come back equal, or something is no tensor.
    """
    about = _as_json(dict(metadata or {}))
    if json.loads(about) != dict(metadata or {}):
        raise TypeError(f"the metadata would come back as {about}")
    names: dict[tuple[Any, ...], str] = {}
    once: dict[str, Tensor] = {}
    shared: dict[str, str] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}, not a tensor")
        negated = tensor.is_conj(), tensor.is_neg()  # as it is read: in memory stand other numbers
        seen = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, negated)
        if tensor.numel() > 0 and seen in names:  # all empty tensors are at address 0
            shared[name] = names[seen]
            continue
        names[seen] = name
        plain = tensor.detach().resolve_conj().resolve_neg()
        once[name] = plain.clone(memory_format=torch.contiguous_format)  # without its base
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:  # gone in any case
        save_file(once, Path(folder, "new"), {"shared": json.dumps(shared), "metadata": about})
        Path(folder, "new").replace(path)  # all of it or nothing


def _as_json(metadata: dict[str, Any]) -> str:
    try:
        return json.dumps(metadata, allow_nan=False)
    except RecursionError:
        raise ValueError("the metadata is nested too deeply") from None


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a safetensors file, ours or another program's.

    Args:
        path: the file.

    Returns:
        The tensors by name, those that were shared sharing memory again; and the metadata.

    Raises:
        FileNotFoundError: there is no such file.
        safetensors.SafetensorError: the file is damaged, or of another format.
    """
    if Path(path).is_dir():
        raise SafetensorError(f"{path} is a folder")
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        header = file.metadata() or {}
    for name, first in json.loads(header.get("shared", "{}")).items():
        tensors[name] = tensors[first]
    return tensors, json.loads(header.get("metadata", "{}"))
