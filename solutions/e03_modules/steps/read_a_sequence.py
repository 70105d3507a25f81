from jaxtyping import Float
from torch import Tensor, nn


class Reader(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)

    def forward(self, x: Float[Tensor, "batch time features"]) -> Float[Tensor, "batch hidden"]:
        _, (h, _) = self.lstm(x)
        return h[0]  # (1, batch, hidden) -> (batch, hidden)
