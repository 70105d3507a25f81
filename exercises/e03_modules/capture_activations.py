"""Capture what layers give, without a change to the model: forward hooks.

To draw features, to compare two models or to find a dead layer you want what comes out of a layer in the middle. A
forward hook sees it: after `handle = layer.register_forward_hook(hook)` PyTorch calls `hook(module, args, output)` each
time the layer has run, until `handle.remove()`. What the hook returns takes the place of the output, unless it is None.

    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())      # say that the weight is [[1, 0], [0, 2]], the bias 0
    with capture(model, ["0", "1"]) as seen:
        model(torch.tensor([[3.0, 4.0]]))
        model(torch.tensor([[0.0, 1.0]]))
    seen["0"]          # [tensor([[3., 8.]]), tensor([[0., 2.]])]

- `seen` has a list for each name: an output for each call of that layer, in order, without a graph.
- The model computes what it would without it, and its gradients flow.
- After the block, also one that raises, no hook of yours is left.

Fine print:
- An output is what it was when the layer had run: an `nn.ReLU(inplace=True)` behind it does not reach it.
- Outputs may be tuples, lists or dicts of tensors, nested, as those of an LSTM: each keeps its form.
- A layer that the model holds under two names may be asked for by either, or both; "" is the model.
- A name that the model has not raises KeyError (AttributeError will do), and leaves no hook.
- Captured tensors stay on their device. Hooks of others stay and run. Blocks may be nested.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def capture(model: nn.Module, names: Iterable[str]) -> Iterator[dict[str, list[Any]]]:
    """Collect, in a `with` block, the outputs of the modules of these names."""
    raise NotImplementedError
    yield
