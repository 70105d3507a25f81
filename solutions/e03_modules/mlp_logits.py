from collections.abc import Sequence
from itertools import pairwise

from jaxtyping import Float
from torch import Tensor, nn


class Classifier(nn.Module):
    def __init__(self, features: int = 50, hidden: Sequence[int] = (30, 20), classes: int = 3) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise([features, *hidden, classes]):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])  # nothing after the last linear layer

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch classes"]:
        return self.layers(x)  # (*batch, classes)
