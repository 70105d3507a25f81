"""The layers as modules."""

import math

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return torch.einsum("oi,...i->...o", self.weight, x)


class Embedding(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, ids):
        return self.weight[ids]


class RMSNorm(nn.Module):
    def __init__(self, weight, eps):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        return (self.weight * wide / (wide.pow(2).mean(dim=-1, keepdim=True) + self.eps).sqrt()).to(x.dtype)


def softmax(x, dim):
    e = torch.exp(x - torch.max(x, dim=dim, keepdim=True).values)
    return e / torch.sum(e, dim=dim, keepdim=True)


class Attention(nn.Module):
    def forward(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-1e9))
        return torch.matmul(softmax(scores, dim=-1), v)


class SelfAttention(nn.Module):
    def __init__(self, heads, weights):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (Linear(weights[name]) for name in ("q", "k", "v", "out"))
        self.attention = Attention()

    def forward(self, x):
        batch, time, dim = x.shape
        q, k, v = (f(x).view(batch, time, self.heads, dim // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = self.attention(q, k, v, torch.tril(torch.ones(time, time)).bool())
        return self.out(y.transpose(1, 2).reshape(batch, time, dim))
