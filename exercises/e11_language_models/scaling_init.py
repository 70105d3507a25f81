"""Maximal update parametrisation, μP: the learning rate of a small model serves a large one.

As a rule a wider model wants a smaller learning rate, which you cannot tune on a small one. Under μP you can (Yang et
al. 2022, "Tensor Programs V", Table 3). `base` is the small model's width; there all is as usual. Write both halves for
a `Net` like the one below:

    parameter                         standard deviation     learning rate of Adam
    embedding.weight                  1                      lr
    weights of nn.Linear in hidden    1 / √fan_in            lr · base / width
    head.weight                       √base / width          lr · base / width
    biases of nn.Linear               zeros                  lr
    LayerNorm                         stays as it is         lr

    model = Net(vocab=100, width=1024)
    init_(model, base=64)                   # 1; 1/32 and 1/64; 8/1024; zeros
    optimizer = torch.optim.Adam(groups(model, lr=0.01, base=64))        # 0.01, and 0.000625

- `init_` draws from normal distributions around 0. fan_in is the number of the layer's inputs, width or 4 · width.
- `groups` returns groups for Adam; each parameter is in one.
- Then a few steps of Adam change the logits at width 1024 by about as much as at 64.

Fine print:
- Layers may have no bias, and hidden any depth.
- `init_` writes into the parameters that are there.
"""

from typing import Any

from torch import Tensor, nn


class Net(nn.Module):
    """Given: what the model is like. Tests bring one of their own, with the same names."""

    def __init__(self, vocab: int, width: int, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.hidden = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)
            )
            for _ in range(depth)
        )
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for block in self.hidden:
            x = x + block(x)
        return self.head(x)


def init_(model: nn.Module, base: int) -> None:
    """Draw the first weights of the model, in place."""
    raise NotImplementedError


def groups(model: nn.Module, lr: float, base: int) -> list[dict[str, Any]]:
    """The groups of parameters for Adam, each with its "lr"."""
    raise NotImplementedError
