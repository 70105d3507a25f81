"""One weight for two layers: the embedding and the output layer are tied.

A language model has two vectors for each token: to read it, and to score it. Many share them (Press and Wolf 2017, "Using
the output embedding"). The model below was to do so:

    logits = head(relu(body(embed(ids))))

    model = TiedModel(vocab=3, dim=2)      # say that embed.weight is [[1, 0], [0, 2], [1, 1]], and body changes nothing
    model(torch.tensor([1]))               # [[0, 4, 2]]
    model.grow(4)                          # a new row, [2/3, 1], the mean of all
    model(torch.tensor([1]))               # [[0, 4, 2, 2]]

At first the numbers are right. But the model has as many parameters as one that is not tied, `model.double()` and a step
of training part the two weights, and after `grow` there are no logits for new tokens.

- `embed.weight` and `head.weight` are one nn.Parameter, which gets the gradients of both uses.
- `grow(vocab)` adds rows at the end, each the mean of the old ones, and keeps these. The layers stay tied.

Fine print:
- `embed.num_embeddings` and `head.out_features` follow.
- The weight keeps its dtype and device; it requires a gradient if it did.
- Growing to the same size changes nothing; to a smaller one raises ValueError.
- After `grow` the caller makes a new optimizer: the old one may hold an old parameter.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn


class TiedModel(nn.Module):
    """Scores for all tokens, by the vectors that it reads them with."""

    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.body = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight.data = self.embed.weight.data

    def forward(self, ids: Int64[Tensor, "*shape"]) -> Float[Tensor, "*shape vocab"]:
        return self.head(self.body(self.embed(ids)).relu())

    def grow(self, vocab: int) -> None:
        """Make room for more tokens."""
        old = self.embed.weight.data
        new = old.mean(0).expand(vocab - len(old), -1)
        self.embed.weight = nn.Parameter(torch.cat([old, new]))
