"""Answers to transformer_block that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FIRST = "x = x + self.dropout(self._attend(self.norm1(x)))"
SECOND = "return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))"
SPLIT = "qkv = self.qkv(x).unflatten(-1, (3, self.heads, dim // self.heads))"
HEADS = "q, k, v = qkv.movedim(-3, 0).transpose(-3, -2)"
SCORES = "scores = q @ k.mT / math.sqrt(q.shape[-1])"
LATER = "later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)"
WEIGHTS = "weights = scores.masked_fill(later, -math.inf).softmax(-1)"
OUT = "return self.out((weights @ v).transpose(-3, -2).flatten(-2))"
DROPOUT = "self.dropout = nn.Dropout(dropout)"
NORM2 = "self.norm2 = nn.LayerNorm(dim)"
DOWN = "self.down = nn.Linear(hidden, dim)"

SPECIMENS = [
    Wrong(
        "normalises after the sum",
        edits=[
            (FIRST, "x = self.norm1(x + self.dropout(self._attend(x)))"),
            (SECOND, "return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))"),
        ],
        rung="job",
        check="test_values",
        says="the norms come after the sums",
    ),
    Wrong(
        "both branches read the same stream",
        edits=[
            (FIRST, "added = self.dropout(self._attend(self.norm1(x)))"),
            (SECOND, SECOND.replace("return x + ", "return x + added + ")),
        ],
        rung="job",
        check="test_values",
        says="both branches read x",
    ),
    Wrong(
        "one norm for both",
        edits=[("self.up(self.norm2(x))", "self.up(self.norm1(x))")],
        rung="job",
        check="test_values",
        says="norm1 stands before both branches",
    ),
    Wrong(
        "relu",
        edits=[("F.gelu(", "F.relu(")],
        rung="job",
        check="test_values",
        says="relu stands where gelu should",
    ),
    Wrong(
        "gelu by tanh",
        edits=[("self.up(self.norm2(x))", "self.up(self.norm2(x)), approximate='tanh'")],
        rung="job",
        check="test_values",
        says="gelu is the approximation with tanh",
    ),
    Wrong(
        "sees the future",
        edits=[(WEIGHTS, "weights = scores.softmax(-1)")],
        rung="job",
        check="test_values",
        says="positions see later ones",
    ),
    Wrong(
        "scaled by all features",
        edits=[(SCORES, "scores = q @ k.mT / math.sqrt(dim)")],
        rung="job",
        check="test_values",
        says="divided by sqrt(dim)",
    ),
    Wrong(
        "ignores heads",
        edits=[("self.heads = heads", "self.heads = 1")],
        rung="job",
        check="test_values",
        says="heads has no effect",
    ),
    Wrong(
        "queries, keys and values head by head",
        edits=[
            (SPLIT, "qkv = self.qkv(x).unflatten(-1, (self.heads, 3, dim // self.heads)).transpose(-3, -2)")
        ],
        rung="job",
        check="test_values",
        says="qkv",
    ),
    Wrong(
        "keeps its mask in the state dict",
        edits=[
            (
                DOWN,
                DOWN
                + '\n        self.register_buffer("mask", torch.ones(512, 512, dtype=torch.bool).triu(1))',
            ),
            (LATER, "later = self.mask[:time, :time]"),
        ],
        rung="job",
        check="test_registered",
        says="mask",
    ),
    Wrong(
        "drops nothing",
        edits=[(DROPOUT, "self.dropout = nn.Dropout(0.0)")],
        rung="job",
        check="test_dropout_in_training",
        says="nothing of what the attention adds is dropped",
    ),
    Wrong(
        "drops elements of the stream",
        edits=[(FIRST, "x = self.dropout(x + self._attend(self.norm1(x)))")],
        rung="job",
        check="test_dropout_in_training",
        says="the stream is dropped as well",
    ),
    Wrong(
        "drops whole positions",
        edits=[
            (FIRST, "x = x + self._attend(self.norm1(x)) * self.dropout(torch.ones_like(x[..., :1]))"),
            (SECOND, SECOND.replace("self.dropout(", "self.dropout(torch.ones_like(x[..., :1])) * (")),
        ],
        rung="job",
        check="test_dropout_in_training",
        says="whole positions",
    ),
    Wrong(
        "drops in evaluation mode, too",
        edits=[(FIRST, "x = x + F.dropout(self._attend(self.norm1(x)), self.dropout.p)")],
        rung="job",
        check="test_no_dropout_in_evaluation",
        says="something is dropped",
    ),
    Wrong(
        "cuts the first sum",
        edits=[(FIRST, FIRST.replace("x = x +", "x = x.detach() +"))],
        rung="job",
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "drops attention weights as well",
        edits=[(WEIGHTS, WEIGHTS.replace("weights = ", "weights = self.dropout(") + ")")],
        rung="fine",
        check="test_nothing_else_is_dropped",
    ),
    Wrong(
        "batches only",
        edits=[(SPLIT, "batch, time, dim = x.shape\n        " + SPLIT)],
        rung="fine",
        check="test_other_shapes",
    ),
    Wrong(
        "a mask of -1e9: too much for float16",
        edits=[(WEIGHTS, "weights = scores.masked_fill(later, -1e9).softmax(-1)")],
        rung="fine",
        check="test_dtypes",
    ),
    Wrong(
        "another eps",
        edits=[(NORM2, "self.norm2 = nn.LayerNorm(dim, eps=1e-6)")],
        rung="fine",
        check="test_eps",
    ),
    Wrong(
        "a loop over the heads",
        edits=[
            (
                OUT,
                "parts = [weights[..., h, :, :] @ v[..., h, :, :] for h in range(self.heads)]\n        return self.out(torch.cat(parts, -1))",
            )
        ],
        rung="fine",
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "adds in place",
        edits=[(FIRST, FIRST.replace("x = x +", "x += "))],
        rung="fine",
        check="test_x_stays",
        says="changes its input",
    ),
    Wrong("a mask on the CPU", edits=[(", device=x.device", "")], rung="fine", check="test_on_a_device"),
    Wrong(
        "guesses the batch with -1",
        edits=[
            (OUT, "return self.out((weights @ v).transpose(-3, -2).reshape(-1, time, dim)).view(x.shape)")
        ],
        rung="fine",
        check="test_empty",
    ),
    Wrong(
        "does not look at heads",
        edits=[("if heads < 1 or dim % heads:", "if heads < 1:")],
        rung="fine",
        check="test_bad_input",
    ),
    Works(
        "nanoGPT's",
        code="""
import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class TransformerBlock(nn.Module):
    def __init__(self, n_embd, heads, hidden=None, dropout=0.0):
        super().__init__()
        assert n_embd % heads == 0
        hidden = hidden or 4 * n_embd
        self.norm1 = nn.LayerNorm(n_embd)
        self.qkv = nn.Linear(n_embd, 3 * n_embd)
        self.out = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)
        self.norm2 = nn.LayerNorm(n_embd)
        self.up = nn.Linear(n_embd, hidden)
        self.gelu = nn.GELU()
        self.down = nn.Linear(hidden, n_embd)
        self.dropout = nn.Dropout(dropout)
        self.n_head = heads
        self.n_embd = n_embd

    def attn(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = torch.tril(torch.ones(T, T)).view(1, 1, T, T)
        att = att.masked_fill(mask == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.out(y))

    def mlp(self, x):
        return self.dropout(self.down(self.gelu(self.up(x))))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x
""",
    ),
    Works(
        "PyTorch's attention with its own dropout, head by head",
        code="""
import torch
from torch import nn
from torch.nn import functional as F


class TransformerBlock(nn.Module):
    def __init__(self, dim, heads, hidden=None, dropout=0.0):
        super().__init__()
        hidden = 4 * dim if hidden is None else hidden
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        p = self.dropout if self.training else 0.0
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        parts = zip(q.chunk(self.heads, -1), k.chunk(self.heads, -1), v.chunk(self.heads, -1))
        heads = [F.scaled_dot_product_attention(*part, dropout_p=p, is_causal=True) for part in parts]
        x = x + F.dropout(self.out(torch.cat(heads, dim=-1)), p)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), p)
""",
    ),
    Right(
        "PyTorch's attention, functional dropout",
        code="""
import torch
from torch import nn
from torch.nn import functional as F


class TransformerBlock(nn.Module):
    def __init__(self, dim, heads, hidden=None, dropout=0.0):
        if heads < 1 or dim % heads != 0:
            raise ValueError("heads must divide dim")
        super().__init__()
        hidden = hidden or 4 * dim
        self.down, self.up = nn.Linear(hidden, dim), nn.Linear(dim, hidden)
        self.out, self.qkv = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)
        self.norm2, self.norm1 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.heads, self.p, self.act = heads, dropout, nn.GELU()

    def attention(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (p.unflatten(-1, (self.heads, p.shape[-1] // self.heads)).transpose(-2, -3) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True) if x.numel() else v
        return self.out(y.transpose(-2, -3).reshape(x.shape))

    def drop(self, x):
        return F.dropout(x, p=self.p, training=self.training)

    def forward(self, x):
        middle = self.drop(self.attention(self.norm1(x))).add(x)
        network = nn.Sequential(self.norm2, self.up, self.act, self.down)
        return middle + self.drop(network(middle))
""",
    ),
    Right(
        "einsum, arange mask, two dropouts",
        edits=[
            (
                DROPOUT,
                "self.dropout = nn.Dropout(dropout)\n        self.dropout2 = nn.Dropout(dropout, inplace=True)",
            ),
            (
                SECOND,
                "h = F.linear(self.norm2(x), self.up.weight, self.up.bias)\n        h = h * torch.special.ndtr(h) if h.dtype in (torch.float32, torch.float64) else F.gelu(h)\n        return x + self.dropout2(self.down(h))",
            ),
            (SCORES, 'scores = torch.einsum("...qd,...kd->...qk", q * (dim // self.heads) ** -0.5, k)'),
            (
                LATER,
                "place = torch.arange(time, device=x.device)\n        later = place > place.unsqueeze(-1)",
            ),
        ],
    ),
]
