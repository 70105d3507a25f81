"""The decoder: frozen below, trained above, what is trained computed again in backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


def recomputed(fn: Callable[..., Tensor], *args: Tensor) -> Tensor:
    """fn(*args), of which nothing but the arguments is held until backward, which runs fn again."""
    return checkpoint(fn, *args, use_reentrant=False, preserve_rng_state=True)


class Attention(nn.Module):
    """Causal self-attention of several heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        size, time, width = x.shape
        q, k, v = (
            part.view(size, time, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )  # (size, heads, time, head) each
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # (size, heads, time, head)
        return self.proj(mixed.transpose(1, 2).reshape(size, time, width))  # (size, time, width)


class Block(nn.Module):
    """Attention, then an MLP; each adds to what passes through."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norm1(x)))  # (size, time, width)
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))  # (size, time, width)


class Decoder(nn.Module):
    """What is known behind each word, (size, time, width); its first `frozen` blocks do not learn."""

    def __init__(
        self, words: int, width: int, heads: int, layers: int, frozen: int, time: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.frozen = frozen
        self.token, self.position = nn.Embedding(words, width), nn.Embedding(time, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.token, self.position):
            nn.init.normal_(table.weight, std=0.4)
        for part in (self.token, self.position, self.blocks[:frozen]):
            part.requires_grad_(False)

    def forward(self, ids: Tensor) -> Tensor:
        with torch.no_grad():
            x = self.token(ids) + self.position.weight[: ids.size(1)]  # (size, time, width)
            for lower in self.blocks[: self.frozen]:
                x = lower(x)
        for upper in self.blocks[self.frozen :]:
            x = recomputed(upper, x)
        return self.norm(x)  # (size, time, width)
