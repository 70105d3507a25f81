"""A classifier that returns raw logits.

Linear layers with a ReLU between any two of them turn the features of a sample into a score for each class:

    model = Classifier()                    # 50 -> 30 -> 20 -> 3
    logits = model(torch.randn(8, 50))      # (8, 3): numbers of any size and sign
    loss = torch.nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.int64))

`cross_entropy` takes the softmax itself. A model that has already taken one still trains, but slowly and
badly.

- Nothing comes after the last layer: neither softmax nor another activation, in training and in evaluation.
- `hidden` gives the sizes of the hidden layers, and may have any length: with () there is one linear layer.
- The layers are `nn.Linear`, registered from first to last, and start as `nn.Linear` starts.

Fine print:
- `model.layers` is an `nn.Sequential` of Linear, ReLU, Linear, …, Linear, so that checkpoints of other
  people load: layers.0.weight, layers.0.bias, layers.2.weight, …
- Forward runs what `model.layers` holds at that moment: people replace `model.layers[-1]`.
- x may have any leading dimensions: none, one, many.
- A model that was moved or cast works there, in its new dtype.
"""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn


class Classifier(nn.Module):
    """Linear layers from `features` through the `hidden` sizes to `classes`, with ReLU in between."""

    def __init__(self, features: int = 50, hidden: Sequence[int] = (30, 20), classes: int = 3) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch classes"]:
        """The raw score of each class."""
        raise NotImplementedError
