"""A vector for each token: `nn.Embedding`.

A text comes as a row of token ids, whole numbers. Write a module that looks up a vector for each token, and
returns for each text the mean of its vectors.

    texts = TextVectors(tokens=10, size=2)
    # say that token 5 has learned the vector [1, 2], and token 7 the vector
    # [3, 6]
    texts(torch.tensor([[5, 7], [5, 5]]))     # tensor([[2., 4.], [1., 2.]])

New here: `nn.Embedding(10, 2)` is a layer that holds 10 vectors of 2 numbers. Called with ids of shape
(texts, time), it gives their vectors: (texts, time, 2).
"""

from jaxtyping import Float, Int64
from torch import Tensor, nn


class TextVectors(nn.Module):
    def __init__(self, tokens: int, size: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, ids: Int64[Tensor, "texts time"]) -> Float[Tensor, "texts size"]:
        raise NotImplementedError
