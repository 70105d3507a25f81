"""Read a sequence: `nn.LSTM`.

A sensor sends `features` numbers at each time step. Write a module that reads such series with an LSTM, and
returns its last hidden state, `hidden` numbers for each series.

    reader = Reader(features=3, hidden=5)
    reader(torch.zeros(8, 20, 3)).shape      # torch.Size([8, 5])

New here: `lstm = nn.LSTM(3, 5, batch_first=True)` reads (batch, time, features): without `batch_first`, time
comes first. `outputs, (h, c) = lstm(x)`, where h is the last hidden state, of shape (1, batch, hidden):
`h[0]` has one row for each series; c is not needed.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Reader(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch time features"]) -> Float[Tensor, "batch hidden"]:
        raise NotImplementedError
