from jaxtyping import Float
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows classes"]:
        return self.second(self.first(x).relu())
