"""Weights and what must be known about them in one file that holds no code: safetensors.

The format is a header in JSON and plain numbers, so it is safe to read. But it refuses tensors that share memory (a
tied embedding and output layer) or are not contiguous, and its metadata maps strings to strings. Write around that:

    weight = torch.arange(6.0).view(3, 2)
    tensors = {"embedding": weight, "output": weight, "bias": torch.zeros(3)}
    save_tensors("model.safetensors", tensors, {"step": 500, "classes": ["cat", "dog", "eel"]})
    # in the file: embedding and bias, and in its header's metadata, as JSON
    #     "shared":   '{"output": "embedding"}'
    #     "metadata": '{"step": 500, "classes": ["cat", "dog", "eel"]}'
    loaded, about = load_tensors("model.safetensors")
    loaded["embedding"][0, 0] = 7.0
    loaded["output"][0, 0], about["step"]                 # tensor(7.) and the number 500

- Names that see the same memory are written once, under the name that comes first in `tensors`; "shared" says for each
  other name which one that is. In a state dict, tied weights are two Python objects: compare addresses.
- Loaded, all names of a tensor share memory again; every name has its values, shape and dtype; metadata comes back equal.

Fine print:
- "The same" means address, shape, strides and dtype. All else is written in full, with its own elements only, and shares
  nothing when loaded: rows of one matrix, a view and its base, empty tensors.
- Loaded tensors are contiguous and require no gradient. Saving changes no input, and takes parameters.
- A TypeError or ValueError for metadata that would not come back equal: an object, NaN, but also (1, 2), which returns
  as [1, 2], and {1: "a"}; and for something in `tensors` that is no tensor.
- Whenever save_tensors raises, also on a full disk, a file that was at path is there as it was, and no other is new.
- A file from another program may lack "shared", "metadata" or both; other entries mean nothing to us.
- load_tensors raises FileNotFoundError where there is no file, safetensors.SafetensorError where it is damaged or
  something else. What its name ends in does not matter.
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
