"""Weights and their metadata in one file that holds no code: safetensors.

The format is a header in JSON and plain numbers. But it refuses tensors that share memory (tied weights) or are not
contiguous, and its metadata maps strings to strings. Write around that:

    weight = torch.arange(6.0).view(3, 2)
    tensors = {"embedding": weight, "output": weight, "bias": torch.zeros(3)}
    save_tensors("model.safetensors", tensors, {"step": 500, "classes": ["cat", "dog", "eel"]})
    # in the file: embedding and bias, and in its header's metadata, as JSON
    #     "shared":   '{"output": "embedding"}'
    #     "metadata": '{"step": 500, "classes": ["cat", "dog", "eel"]}'
    loaded, about = load_tensors("model.safetensors")
    loaded["embedding"][0, 0] = 7.0
    loaded["output"][0, 0], about["step"]                 # tensor(7.) and the number 500

- Names for the same memory are written once, under the first of them in `tensors`; "shared" maps the others to it. In a
  state dict, tied weights are two Python objects: compare addresses.
- Loaded, they share memory again; every name has its values, shape and dtype; metadata comes back equal.

Fine print:
- "The same" means address, shape, strides and dtype. All else is written in full, with its own elements only, and
  shares nothing when loaded: rows of one matrix, a view and its base, empty tensors.
- Saving takes parameters. Loaded tensors are contiguous and require no gradient.
- TypeError or ValueError for metadata that would not come back equal: an object, or {1: "a"} (the 1 returns as "1").
- When save_tensors raises, also on a full disk, a file that was at path stays, and no other is new.
- A file from another program may lack "shared", "metadata" or both, and hold other entries.
- load_tensors raises FileNotFoundError without a file, safetensors.SafetensorError for a damaged one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor


def save_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any] | None = None
) -> None:
    """Write tensors and metadata to a safetensors file, whatever memory the tensors share."""
    raise NotImplementedError


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a safetensors file, ours or another program's: the tensors by name, and the metadata."""
    raise NotImplementedError
