"""Load a stranger's weights: no code of theirs runs.

A checkpoint is a pickle, and a pickle is a program: whoever wrote it may have told the reader to call `os.system`.
Load what `torch.save(other.state_dict(), path)` wrote elsewhere, or pretends to be that, into the model, and return the
model ready to serve: on `device`, in evaluation mode.

    model = torch.nn.Linear(2, 1)
    torch.save({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([5.0])}, "weights.pt")
    safe_load(model, "weights.pt")(torch.tensor([[1.0, 2.0]]))        # tensor([[16.]])

- Nothing in the file is executed. If it holds more than tensors and plain data, pickle.UnpicklingError comes, as from
  `torch.load` with `weights_only=True`; also for a whole pickled model.
- It may have been saved on a device which this machine lacks ("cuda:7").
- A RuntimeError if an entry is missing, unknown to the model, or of another shape.

Fine print:
- When safe_load raises, also for a `device` that is not there, the model stays what it was: weights, modes, device.
  (`load_state_dict` copies what fits before it raises. Alone, it does the job.)
- The RuntimeError names every entry that is missing, unknown, of another shape or no tensor.
- A file that holds no dict: TypeError or RuntimeError. No file, or a damaged one: what `torch.load` raises.
- Code is refused even where TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 is set, as some tutorials advise.
- The numbers are copied into the tensors of the model: optimizers see them, and dtypes and requires_grad stay.
"""

from pathlib import Path

import torch
from torch import nn


def safe_load(model: nn.Module, path: str | Path, device: torch.device | str = "cpu") -> nn.Module:
    """Load the state dict in `path` into the model, and make it ready to serve on `device`."""
    raise NotImplementedError
