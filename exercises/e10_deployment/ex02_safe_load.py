"""Weights from a file that somebody else has made: no code of theirs runs, and nothing is loaded by halves.

    model = torch.nn.Linear(2, 1)
    torch.save({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([5.0])}, "weights.pt")
    safe_load(model, "weights.pt")(torch.tensor([[1.0, 2.0]]))        # tensor([[16.]]): ready to serve

A checkpoint is a pickle, and a pickle is a program: whoever wrote it may have told the reader to call
`os.system`. Below, "the file" is what `torch.save(other.state_dict(), path)` writes, in today's format or the
one without a zip archive that older versions wrote, or what pretends to be that.

Rules:
- The weights and buffers of the file are copied into the tensors that the model has. So an optimizer or a
  tied layer that holds them sees the new values, dtypes stay (a file in bfloat16 loads into a float32 model),
  and so does requires_grad. Then the model goes to `device`, and all of its layers into evaluation mode. The
  model itself is returned.
- The file may come from a machine with devices that this one lacks ("cuda:7"). It is read into host memory,
  whatever device is asked for: read straight to the device, the weights would be there twice.
- Nothing in the file is executed. If it holds more than tensors and plain data (numbers, strings, lists,
  tuples, dicts), pickle.UnpicklingError comes, as from `torch.load` with `weights_only=True`: also where the
  rest is harmless (a whole pickled model), and also where TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 is set, as some
  tutorials advise. What `torch.load` admits elsewhere (`torch.serialization.get_safe_globals()`) and the
  environment stay as they are.
- The names in the file are exactly those of the model, and the shapes fit. Otherwise a RuntimeError names
  every entry that is missing, that the model does not have (its name may be a number), that has another
  shape, is no tensor, a sparse one, or one on "meta", which has no numbers. If the file holds no dict at all,
  it is a TypeError or a RuntimeError.
- FileNotFoundError if there is no file. For a damaged file comes whatever `torch.load` raises.
- Whenever safe_load raises, also for a `device` that is not there, the model is what it was: every weight,
  every layer's mode, the device. (`load_state_dict` copies all that fits before it raises, and overlooks some
  of what does not: it makes allowances for files of very old versions.)
"""

from pathlib import Path

import torch
from torch import nn


def safe_load(model: nn.Module, path: str | Path, device: torch.device | str = "cpu") -> nn.Module:
    """Load the state dict in `path` into the model, and make it ready to serve on `device`.

    Args:
        model: takes the weights; on any device and in any mode.
        path: the file.
        device: where the model is to be.

    Returns:
        The model.

    Raises:
        FileNotFoundError: there is no such file.
        pickle.UnpicklingError: reading the file would run code.
        RuntimeError: names or shapes do not fit.
    """
    raise NotImplementedError
