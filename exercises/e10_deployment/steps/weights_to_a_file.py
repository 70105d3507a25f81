"""From training to serving: `save_weights(model, path)` and `load_weights(model, path)`.

`save_weights` writes the weights of a model to a file. `load_weights` reads them into another model of the
same layers, on a machine without a GPU; the file may come from one that has one.

    save_weights(trained, "weights.pt")
    load_weights(new, "weights.pt")     # now new(x) is trained(x)

New here: a saved file can hold Python code, which loading it runs. `torch.load(path, map_location="cpu",
weights_only=True)` runs none, and puts all tensors onto the CPU. Save the `state_dict()`, not the model.
"""

from pathlib import Path

import torch
from torch import nn


def save_weights(model: nn.Module, path: Path) -> None:
    raise NotImplementedError


def load_weights(model: nn.Module, path: Path) -> None:
    raise NotImplementedError
