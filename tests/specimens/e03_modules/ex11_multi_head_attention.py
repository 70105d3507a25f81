"""Answers to multi_head_attention that people write."""

from grader.authoring.specimen import Right, Works, Wrong

CHECK = "if padding is not None and padding.shape != x.shape[:-1]:"
SCALED = "scores = q @ k.mT / math.sqrt(q.shape[-1])"
WEIGHTS = "weights = scores.masked_fill(hidden, lowest).softmax(-1)"
GATHERED = "gathered = (weights @ v).transpose(-3, -2)"
RETURN = "return self.out(gathered.flatten(-2))"
SPLIT = "return x.transpose(-3, -2)  # (*batch, heads, time, dim / heads)"
LATER = "hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)"
PADDED = "hidden = hidden | padding[..., None, None, :]"
OUT = "self.out = nn.Linear(dim, dim, bias=bias)"

SPECIMENS = [
    Wrong(
        "scaled by all features",
        edits=[(SCALED, "scores = q @ k.mT / math.sqrt(x.shape[-1])")],
        check="test_values",
        says="scores are divided by sqrt",
        rung="job",
    ),
    Wrong(
        "not scaled",
        edits=[(SCALED, "scores = q @ k.mT")],
        check="test_values",
        says="scores are not divided by sqrt",
        rung="job",
    ),
    Wrong(
        "softmax over the queries",
        edits=[("softmax(-1)", "softmax(-2)")],
        check="test_values",
        says="softmax runs over the queries",
        rung="job",
    ),
    Wrong(
        "splits the heads without a transpose",
        edits=[(SPLIT, "return x.reshape(*x.shape[:-3], self.heads, x.shape[-3], x.shape[-1])")],
        check="test_values",
        says="heads are split by a reshape alone",
        rung="job",
    ),
    Wrong(
        "sees one token too far",
        edits=[("triu(1)", "triu(2)")],
        check="test_values",
        says="one token too far",
        rung="job",
    ),
    Wrong(
        "not causal unless asked",
        edits=[("causal: bool = True", "causal: bool = False")],
        check="test_defaults",
        says="this is what causal=False gives",
        rung="job",
    ),
    Wrong(
        "causal only where there is no padding",
        edits=[(PADDED, "hidden = padding[..., None, None, :] | torch.zeros_like(hidden)")],
        check="test_padding",
        says="this is what causal=False gives",
        rung="job",
    ),
    Wrong(
        "True for real tokens",
        edits=[(PADDED, "hidden = hidden | ~padding[..., None, None, :]")],
        check="test_padding",
        says="True marks the real tokens",
        rung="job",
    ),
    Wrong(
        "ignores padding",
        edits=[("hidden = self._hidden(x, padding)", "hidden = self._hidden(x, None)")],
        check="test_padding",
        says="no effect",
        rung="job",
    ),
    Wrong(
        "-inf, and NaN where nothing is seen",
        edits=[(WEIGHTS, 'weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)')],
        check="test_nothing_to_see",
        says="NaN",
    ),
    Wrong(
        "removes the NaN from the values, not from the gradients",
        edits=[
            (
                WEIGHTS,
                'added = torch.zeros_like(scores).masked_fill(hidden, float("-inf"))\n        weights = (scores + added).softmax(-1).nan_to_num()',
            )
        ],
        check="test_nothing_to_see",
        says="NaN",
    ),
    Wrong(
        "multiplies the scores by the mask",
        edits=[(WEIGHTS, "weights = (scores * ~hidden).softmax(-1)")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "takes 1e4 off the scores of what is hidden, as BERT's first code did",
        edits=[(WEIGHTS, "weights = (scores - 1e4 * hidden).softmax(-1)")],
        check="test_hidden_tokens",
    ),
    Wrong(
        "a mask for 1024 tokens",
        edits=[
            (
                LATER,
                "hidden = torch.ones(1024, 1024, dtype=torch.bool, device=x.device).triu(1)[:time, :time]",
            )
        ],
        check="test_other_shapes",
    ),
    Wrong(
        "keeps the mask of the longest sequence in the state dict",
        edits=[
            (
                OUT,
                OUT
                + '\n        self.register_buffer("mask", torch.ones(2048, 2048, dtype=torch.bool).triu(1))',
            ),
            (LATER, "hidden = self.mask[:time, :time]"),
        ],
        check="test_state_dict",
        says="mask",
    ),
    Wrong("makes the mask on the CPU", edits=[(", device=x.device", "")], check="test_on_a_device"),
    Wrong(
        "a float32 mask to add",
        edits=[
            (
                WEIGHTS,
                "added = torch.zeros(hidden.shape, device=x.device).masked_fill(hidden, -1e30)\n        weights = (scores + added).softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "batches only",
        edits=[(SCALED, "batch, heads, time, size = q.shape\n        " + SCALED)],
        check="test_other_shapes",
    ),
    Wrong(
        "-1 in a reshape: no tokens, no shape",
        edits=[(RETURN, "return self.out(gathered.reshape(-1, x.shape[-2], x.shape[-1])).view(x.shape)")],
        check="test_empty",
    ),
    Wrong(
        "constant weights",
        edits=[(WEIGHTS, WEIGHTS + ".detach()")],
        check="test_gradients",
        says="gradient",
        rung="job",
    ),
    Wrong(
        "always with biases",
        edits=[(OUT, "self.out = nn.Linear(dim, dim)")],
        check="test_registered",
        says="out.bias",
        rung="job",
    ),
    Wrong(
        "the layers in a list",
        edits=[
            (
                OUT,
                OUT
                + "\n        self.parts = [nn.Linear(dim, dim, bias=bias) for _ in range(3)]\n        del self.query, self.key, self.value",
            ),
            ("(self.query, self.key, self.value))", "self.parts)"),
        ],
        check="test_registered",
        says="parameters",
        rung="job",
    ),
    Wrong(
        "one matrix for query and key",
        edits=[("self.key = nn.Linear(dim, dim, bias=bias)", "self.key = self.query")],
        check="test_registered",
        rung="job",
    ),
    Wrong(
        "a copy of the weights, made once",
        edits=[
            (
                "        self.causal = causal\n",
                "        self.causal = causal\n        self._stacked = None\n",
            ),
            (
                "        q, k, v = (self._split(part(x)) for part in (self.query, self.key, self.value))",
                "        if self._stacked is None:\n            self._stacked = torch.cat([self.query.weight, self.key.weight, self.value.weight])\n        q, k, v = (self._split(y) for y in (x @ self._stacked.mT).chunk(3, -1))",
            ),
        ],
        check="test_in_use",
        rung="job",
    ),
    Wrong("does not look at the shape of padding", edits=[(CHECK, "if False:")], check="test_bad_padding"),
    Wrong(
        "does not look at heads",
        edits=[("if heads < 1 or dim % heads:", "if heads < 1:")],
        check="test_bad_heads",
    ),
    Wrong(
        "a loop over the heads",
        edits=[
            (
                GATHERED,
                "gathered = torch.stack([weights[..., h, :, :] @ v[..., h, :, :] for h in range(self.heads)], -2)",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Works(
        "nanoGPT's, with padding",
        code="""
import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, n_embd, heads, *, causal=True, bias=True):
        super().__init__()
        assert n_embd % heads == 0
        self.query = nn.Linear(n_embd, n_embd, bias=bias)
        self.key = nn.Linear(n_embd, n_embd, bias=bias)
        self.value = nn.Linear(n_embd, n_embd, bias=bias)
        self.out = nn.Linear(n_embd, n_embd, bias=bias)
        self.attn_dropout = nn.Dropout(0.0)
        self.resid_dropout = nn.Dropout(0.0)
        self.register_buffer("bias", torch.tril(torch.ones(1024, 1024)).view(1, 1, 1024, 1024))
        self.n_head, self.n_embd, self.causal = heads, n_embd, causal

    def forward(self, x, padding=None):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if self.causal:
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        if padding is not None:
            att = att.masked_fill(padding[:, None, None, :], float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.out(y))
""",
    ),
    Works(
        "PyTorch's attention function, with a mask of its convention",
        code="""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, *, causal=True, bias=True):
        super().__init__()
        self.heads, self.head_dim, self.causal = heads, dim // heads, causal
        self.query = nn.Linear(dim, dim, bias=bias)
        self.key = nn.Linear(dim, dim, bias=bias)
        self.value = nn.Linear(dim, dim, bias=bias)
        self.out = nn.Linear(dim, dim, bias=bias)

    def forward(self, x, padding=None):
        batch, time, dim = x.shape
        q, k, v = (
            layer(x).view(batch, time, self.heads, self.head_dim).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        if padding is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            mask = ~padding[:, None, None, :]
            if self.causal:
                mask = mask & torch.tril(torch.ones(time, time, dtype=torch.bool))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(batch, time, dim))
""",
    ),
    Works(
        "as a textbook has it: head by head, masked with -1e9, padded positions set to zero",
        code="""
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, *, causal=True, bias=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query = nn.Linear(dim, dim, bias=bias)
        self.key = nn.Linear(dim, dim, bias=bias)
        self.value = nn.Linear(dim, dim, bias=bias)
        self.out = nn.Linear(dim, dim, bias=bias)

    def forward(self, x, padding=None):
        heads = []
        size = x.shape[-1] // self.heads
        q, k, v = self.query(x), self.key(x), self.value(x)
        for h in range(self.heads):
            s = slice(h * size, (h + 1) * size)
            scores = q[..., s] @ k[..., s].transpose(1, 2) / size**0.5
            if self.causal:
                mask = torch.tril(torch.ones(x.shape[1], x.shape[1]))
                scores = scores.masked_fill(mask == 0, -1e9)
            if padding is not None:
                scores = scores.masked_fill(padding[:, None, :], -1e9)
            heads.append(torch.softmax(scores, dim=-1) @ v[..., s])
        out = self.out(torch.cat(heads, dim=-1))
        return out if padding is None else out * ~padding[..., None]
""",
    ),
    Right(
        "PyTorch's own attention, with a mask",
        code="""
import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, *, causal=True, bias=True):
        super().__init__()
        if heads <= 0 or dim // heads * heads != dim:
            raise ValueError("heads must divide dim")
        self.heads, self.causal = heads, causal
        for name in ("out", "value", "key", "query"):
            self.add_module(name, nn.Linear(dim, dim, bias))

    def forward(self, x, padding=None):
        *batch, time, dim = x.shape
        if padding is not None and list(padding.shape) != [*batch, time]:
            raise ValueError("padding")
        q = self.query(x).view(*batch, time, self.heads, -1 if x.numel() else dim // self.heads).transpose(-2, -3)
        k = self.key(x).view(q.transpose(-2, -3).shape).transpose(-2, -3)
        v = self.value(x).view(q.transpose(-2, -3).shape).transpose(-2, -3)
        if padding is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal) if x.numel() else v
        else:
            mask = ~padding[..., None, None, :].expand(*batch, 1, time, time)
            if self.causal:
                mask = mask.tril() if x.numel() else mask
            nothing = ~mask.any(-1, keepdim=True)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | nothing) if x.numel() else v
            y = y.masked_fill(nothing, 0.0)
        return self.out(y.transpose(-2, -3).reshape(x.shape))
""",
    ),
    Right(
        "PyTorch's own attention, as it comes",
        edits=[
            (WEIGHTS, "weights = None"),
            (
                GATHERED,
                "gathered = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=~hidden).transpose(-3, -2)",
            ),
        ],
    ),
    Right(
        "einsum, -inf where something is seen, float32 softmax for half precision",
        code="""
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, *, causal=True, bias=True):
        if heads < 1 or dim % heads != 0:
            raise ValueError("heads must divide dim")
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim, bias=bias) for _ in range(4))
        self.heads, self.width, self.causal = heads, dim // heads, causal

    def forward(self, x, padding=None):
        if padding is not None and padding.shape != x.shape[:-1]:
            raise ValueError("padding")
        shape = (*x.shape[:-1], self.heads, self.width)
        q, k, v = self.query(x).view(shape), self.key(x).view(shape), self.value(x).view(shape)
        scores = torch.einsum("...qhd,...khd->...hqk", q / math.sqrt(self.width), k)
        position = torch.arange(x.shape[-2], device=x.device)
        seen = torch.ones_like(scores, dtype=torch.bool)
        if self.causal:
            seen = seen & (position[:, None] >= position[None, :])
        if padding is not None:
            seen = seen & padding.logical_not().unsqueeze(-2).unsqueeze(-2)
        some = seen.any(-1, keepdim=True)
        wide = torch.promote_types(scores.dtype, torch.float32)
        weights = torch.where(seen | ~some, scores.to(wide), -math.inf).softmax(-1)
        weights = torch.where(seen, weights, 0.0).to(x.dtype)
        return self.out(torch.einsum("...hqk,...khd->...qhd", weights, v).reshape(x.shape))
""",
    ),
]
