"""The model: a decoder of pre-norm blocks."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """Causal self-attention of several heads."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        size, time, width = x.shape
        q, k, v = (
            part.view(size, time, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )  # (size, heads, time, head) each
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (size, heads, time, time)
        later = torch.ones(time, time, dtype=torch.bool).triu(1)  # (time, time)
        weights = scores.masked_fill(later, -math.inf).softmax(dim=-1)  # (size, heads, time, time)
        mixed = self.dropout(weights) @ v  # (size, heads, time, head)
        mixed = mixed.transpose(1, 2).reshape(size, time, width)  # (size, time, width)
        return self.proj(mixed)  # (size, time, width)


class Block(nn.Module):
    """Attention, then an MLP; each adds to what passes through."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))  # (size, time, width)
        new = self.down(F.gelu(self.up(self.norm2(x))))  # (size, time, width)
        return x + F.dropout(new, self.dropout, self.training)  # (size, time, width)


class GPT(nn.Module):
    """Logits of the next letter at each place of a text."""

    def __init__(self, letters: int, width: int, heads: int, layers: int, block: int, dropout: float = 0.0):
        super().__init__()
        self.block = block
        self.token = nn.Embedding(letters, width)
        self.position = nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        self.head.weight = nn.Parameter(self.token.weight.detach().clone())

    def forward(self, ids: Tensor) -> Tensor:
        time = ids.size(1)
        x = self.token(ids) + self.position.weight[-time:]  # (size, time, width)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # (size, time, letters)
