"""Answers to kv_cache that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SIZES = """        if not keys.shape == values.shape == (batch, heads, new, head_dim):
            raise ValueError(f"keys {tuple(keys.shape)}, values {tuple(values.shape)}: other sizes than here")
"""
KEYS = "        self._memory[0, :, :, self.length : end] = keys.detach()\n"
VALUES = "        self._memory[1, :, :, self.length : end] = values.detach()\n"
COUNT = "        self.length = end\n"
VIEWS = "        return self._memory[0, :, :, :end], self._memory[1, :, :, :end]\n"
KEEP = """        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
"""
START = "        start = 0 if cache is None else cache.length\n"
TURN = "        q, k = rotate(q, positions), rotate(k, positions)\n"
APPEND = """        if cache is not None:
            k, v = cache.append(k, v)  # (batch, heads, start + time, d)
"""
LATER = "        later = torch.arange(k.shape[-2], device=x.device) > positions.unsqueeze(-1)\n"
SCORES = "        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(later, -math.inf)\n"
GATHER = "        gathered = scores.softmax(-1) @ v  # (batch, heads, time, d)\n"
MAKE = "        return KVCache(batch, self.heads, capacity, size, dtype=weight.dtype, device=weight.device)\n"
SPLIT = "        split = self.qkv(x).unflatten(-1, (3, self.heads, -1))  # (batch, time, 3, heads, d)\n"

CAT = """        if self.length:
            keys = torch.cat([self._keys, keys], 2)
            values = torch.cat([self._values, values], 2)
        self._keys, self._values = keys.detach(), values.detach()
        self.length = end
        return self._keys, self._values
"""

SPECIMENS = [
    Wrong(
        "returns what is new alone",
        edits=[(VIEWS, "        return keys, values\n")],
        check="test_append",
        says="new keys alone",
        rung="job",
    ),
    Wrong(
        "every chunk begins at position 0",
        edits=[
            (
                TURN,
                "        fresh = torch.arange(x.shape[1], device=x.device)\n        q, k = rotate(q, fresh), rotate(k, fresh)\n",
            )
        ],
        check="test_chunks",
        rung="job",
    ),
    Wrong(
        "turns values too",
        edits=[(TURN, TURN + "        v = rotate(v, positions)\n")],
        check="test_one_pass",
        rung="job",
    ),
    Wrong(
        "is_causal counts from the other corner",
        edits=[
            (
                LATER + SCORES + GATHER,
                "        gathered = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
            ),
        ],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "no mask in a chunk after the first",
        edits=[(LATER, LATER + "        if start:\n            later = torch.zeros_like(later)\n")],
        check="test_chunks",
        rung="job",
    ),
    Wrong(
        "no mask at all",
        edits=[(SCORES, SCORES.replace(".masked_fill(later, -math.inf)", ""))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "attends to the new tokens only",
        edits=[
            (APPEND, "        if cache is not None:\n            cache.append(k, v)\n"),
            (
                LATER,
                LATER.replace(
                    "k.shape[-2], device=x.device)", "start, start + k.shape[-2], device=x.device)"
                ),
            ),
        ],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "no scale",
        edits=[(SCORES, SCORES.replace(" / math.sqrt(q.shape[-1])", ""))],
        check="test_one_pass",
        rung="job",
    ),
    Wrong(
        "heads first, then queries, keys and values",
        edits=[
            (SPLIT, SPLIT.replace("(3, self.heads, -1)", "(self.heads, 3, -1)")),
            ("split.permute(2, 0, 3, 1, 4)", "split.permute(3, 0, 2, 1, 4)"),
        ],
        check="test_one_pass",
        rung="job",
    ),
    Wrong("with biases", edits=[("3 * dim, bias=False", "3 * dim")], check="test_worked_example", rung="job"),
    Wrong(
        "keeps x, and computes all of it again",
        edits=[
            (
                START,
                """        new = x.shape[1]
        if cache is not None:
            if x.shape[0] != cache._memory.shape[1] or cache.length + new > cache._memory.shape[3]:
                raise ValueError("no room")
            if cache.length:
                x = torch.cat([cache.seen[:, : cache.length], x], 1)
            cache.seen = x.detach()
        start = 0
""",
            ),
            (
                APPEND,
                "        if cache is not None:\n            cache.append(k[:, :, x.shape[1] - new :], v[:, :, x.shape[1] - new :])\n",
            ),
            (
                "        return self.out(gathered.transpose(1, 2).flatten(2))\n",
                "        return self.out(gathered.transpose(1, 2).flatten(2))[:, x.shape[1] - new :]\n",
            ),
        ],
        check="test_new_tokens_only",
        rung="job",
    ),
    Wrong(
        "one memory for all caches of the layer",
        edits=[
            (
                MAKE,
                "        if not hasattr(self, 'cache') or capacity > self.cache._memory.shape[3] or batch != self.cache._memory.shape[1]:\n            self.cache = KVCache(batch, self.heads, capacity, size, dtype=weight.dtype, device=weight.device)\n        self.cache.length = 0\n        return self.cache\n",
            )
        ],
        check="test_several_caches",
        rung="job",
    ),
    Wrong(
        "torch.cat at each step",
        edits=[
            (KEYS + VALUES + COUNT + VIEWS, CAT),
            (
                KEEP,
                KEEP
                + "        self._keys, self._values = self._keys[:, :, :length], self._values[:, :, :length]\n",
            ),
        ],
        check="test_memory",
    ),
    Wrong(
        "stores the graph",
        edits=[(KEYS, KEYS.replace(".detach()", "")), (VALUES, VALUES.replace(".detach()", ""))],
        check="test_graphs",
    ),
    Wrong(
        "make_cache in float32",
        edits=[(MAKE, MAKE.replace("dtype=weight.dtype, ", ""))],
        check="test_dtypes",
    ),
    Wrong(
        "the mask on the CPU",
        edits=[
            (
                LATER,
                LATER.replace(
                    "k.shape[-2], device=x.device) > positions.unsqueeze(-1)",
                    "k.shape[-2]) > positions.cpu().unsqueeze(-1)",
                ).replace("\n", "\n        later = later.to(x.device)\n"),
            )
        ],
        check="test_on_a_device",
    ),
    Wrong("takes what broadcasts", edits=[(SIZES, "")], check="test_refused"),
    Works(
        "torch.cat, as Hugging Face's DynamicCache has it",
        code="""
import torch
import torch.nn.functional as F
from torch import nn


def rotate(x, positions):
    half = x.shape[-1] // 2
    speeds = 100.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class KVCache:
    def __init__(self, batch, heads, capacity, head_dim, *, dtype=torch.float32, device="cpu"):
        self.keys = self.values = None

    @property
    def length(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def append(self, keys, values):
        if self.keys is None:
            self.keys, self.values = keys, values
        else:
            self.keys = torch.cat([self.keys, keys], dim=-2)
            self.values = torch.cat([self.values, values], dim=-2)
        return self.keys, self.values

    def truncate(self, length):
        self.keys = self.keys[..., :length, :]
        self.values = self.values[..., :length, :]


class CachedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def make_cache(self, batch, capacity):
        return KVCache(batch, self.heads, capacity, self.qkv.in_features // self.heads)

    def forward(self, x, cache=None):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        past = cache.length if cache is not None else 0
        positions = torch.arange(past, past + T)
        q, k = rotate(q, positions), rotate(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        mask = torch.ones(T, past + T, dtype=torch.bool).tril(diagonal=past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))
""",
    ),
    Works(
        "fixed memory, as in LLaMA",
        code="""
import math

import torch
from torch import nn


def rotate(x, positions):
    half = x.shape[-1] // 2
    speeds = 100.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class KVCache:
    def __init__(self, batch, heads, capacity, head_dim, *, dtype=torch.float32, device="cpu"):
        self.k = torch.zeros(batch, heads, capacity, head_dim)
        self.v = torch.zeros(batch, heads, capacity, head_dim)
        self.length = 0

    @torch.no_grad()
    def append(self, keys, values):
        start, end = self.length, self.length + keys.size(2)
        self.k[:, :, start:end] = keys
        self.v[:, :, start:end] = values
        self.length = end
        return self.k[:, :, :end], self.v[:, :, :end]

    def truncate(self, length):
        self.length = length


class CachedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def make_cache(self, batch, capacity):
        return KVCache(batch, self.heads, capacity, self.head_dim)

    def forward(self, x, cache=None):
        bsz, seqlen, dim = x.shape
        start = cache.length if cache else 0
        q, k, v = self.qkv(x).view(bsz, seqlen, 3, self.heads, self.head_dim).permute(2, 0, 3, 1, 4)
        positions = torch.arange(start, start + seqlen)
        q, k = rotate(q, positions), rotate(k, positions)
        if cache:
            k, v = cache.append(k, v)
        mask = torch.full((seqlen, seqlen), float("-inf")).triu(1)
        mask = torch.hstack([torch.zeros(seqlen, start), mask])
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim) + mask
        output = torch.softmax(scores, dim=-1) @ v
        return self.out(output.transpose(1, 2).reshape(bsz, seqlen, dim))
""",
    ),
    Right(
        "SDPA with a mask, two buffers with time before heads, index_copy_",
        code="""
import torch
import torch.nn.functional as F
from torch import nn


def turn(x, positions):
    half = x.shape[-1] // 2
    speeds = 100.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions[:, None] * speeds[None]
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, a * s + b * c), dim=-1)


class KVCache:
    def __init__(self, batch, heads, capacity, head_dim, *, dtype=torch.float32, device="cpu"):
        self.shape = batch, heads, head_dim
        self.capacity = capacity
        self.k = torch.empty(batch, capacity, heads, head_dim, dtype=dtype, device=device)
        self.v = torch.empty_like(self.k)
        self._length = 0

    @property
    def length(self):
        return self._length

    @torch.no_grad()
    def append(self, keys, values):
        if keys.shape != values.shape or (keys.shape[0], keys.shape[1], keys.shape[3]) != self.shape:
            raise ValueError("shapes")
        n = keys.shape[2]
        if n > self.capacity - self._length:
            raise ValueError("full")
        for memory, new in ((self.k, keys), (self.v, values)):
            memory.narrow(1, self._length, n).copy_(new.transpose(1, 2))
        self._length += n
        return self.k[:, : self._length].transpose(1, 2), self.v[:, : self._length].transpose(1, 2)

    def truncate(self, length):
        if length < 0 or length > self._length:
            raise ValueError("length")
        self._length = length


class CachedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n, self.d = heads, dim // heads
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def make_cache(self, batch, capacity):
        p = next(self.parameters())
        return KVCache(batch, self.n, capacity, self.d, dtype=p.dtype, device=p.device)

    def forward(self, x, cache=None):
        b, t, dim = x.shape
        q, k, v = (part.reshape(b, t, self.n, self.d).transpose(1, 2) for part in self.qkv(x).split(dim, -1))
        past = cache.length if cache else 0
        where = torch.arange(past, past + t, device=x.device)
        q, k = turn(q, where), turn(k, where)
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            with torch.no_grad():
                k, v = cache.append(k, v)
                mask = torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past)
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(b, t, dim))
""",
    ),
    Right(
        "einsum, and a mask by tril",
        edits=[
            (
                LATER,
                "        later = torch.ones(x.shape[1], k.shape[-2], dtype=torch.bool, device=x.device).tril(start)\n",
            ),
            (
                SCORES,
                "        scores = torch.einsum('bhqd,bhkd->bhqk', q, k) * q.shape[-1] ** -0.5\n"
                "        scores = torch.where(later, scores, -torch.inf)\n",
            ),
        ],
    ),
]
