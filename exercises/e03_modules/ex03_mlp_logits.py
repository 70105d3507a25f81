"""A classifier that returns raw logits.

Three layers turn 50 features of a sample into a score for each of three classes:

    model = Classifier()                    # 50 -> 30 -> 20 -> 3
    logits = model(torch.randn(8, 50))      # (8, 3): numbers of any size and sign
    loss = torch.nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.int64))

`cross_entropy` takes the softmax itself. A model that has already taken one still trains, but slowly and
badly, so nothing comes after the last layer: neither softmax nor another activation nor rounding, in training
mode and in evaluation mode alike, where the model computes the same.

Rules:
- `model.layers` is an `nn.Sequential` of `nn.Linear`, `nn.ReLU`, `nn.Linear`, `nn.ReLU`, …, `nn.Linear`: a
  ReLU between any two linear layers and nothing else. It holds all parameters, so the state dict has
  layers.0.weight, layers.0.bias, layers.2.weight, … and checkpoints of other people load.
- `hidden` may have any length: with () there is one linear layer. It is not changed. Every layer is an object
  of its own, a ReLU too, and none works in place: a ReLU that comes first, after a cut, leaves x alone.
  Linear layers, of equal sizes or not, have a bias and start as `nn.Linear` starts by itself.
- Forward runs what `model.layers` holds at that moment: people replace `model.layers[-1]`, cut layers off, or
  hang hooks on them.
- x has any leading dimensions (none, one, many, empty) and the dtype and device of the model; logits have
  these too. Nothing is copied between the CPU and a device, x is not changed, gradients flow through.
"""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn


class Classifier(nn.Module):
    """Linear layers with ReLU in between.

    Args:
        features: the number of features of a sample.
        hidden: the sizes of the hidden layers, from first to last.
        classes: the number of classes.
    """

    def __init__(self, features: int = 50, hidden: Sequence[int] = (30, 20), classes: int = 3) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch classes"]:
        """The raw score of each class."""
        raise NotImplementedError
