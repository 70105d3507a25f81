import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn


class PaddedEmbedding(nn.Module):
    def __init__(self, tokens: int, dim: int, padding: int | None = 0) -> None:
        super().__init__()
        if padding is not None and not -tokens <= padding < tokens:
            raise ValueError(f"{padding=} is no row of {tokens}")
        rows = torch.randn(tokens, dim)
        self.padding = None
        if padding is not None:
            self.padding = padding % tokens
            rows[self.padding] = 0
        self.weight = nn.Parameter(rows)  # (tokens, dim)

    def forward(self, ids: Int64[Tensor, "*shape"]) -> Float[Tensor, "*shape dim"]:
        found = self.weight[ids]  # (*shape, dim)
        if self.padding is None:
            return found
        return found.masked_fill((ids == self.padding).unsqueeze(-1), 0.0)
