from jaxtyping import Float, Int64
from torch import Tensor, nn


class TextVectors(nn.Module):
    def __init__(self, tokens: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, size)

    def forward(self, ids: Int64[Tensor, "texts time"]) -> Float[Tensor, "texts size"]:
        return self.embedding(ids).mean(dim=1)  # (texts, time, size) -> (texts, size)
