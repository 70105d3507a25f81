"""Answers to kv_cache that people write."""

from grader.authoring.specimen import Right, Wrong

MEMORY = """        self._memory = torch.zeros(2, batch, heads, capacity, head_dim, dtype=dtype, device=device)
"""
SIZES = """        if not keys.shape == values.shape == (batch, heads, new, head_dim):
            raise ValueError(f"keys {tuple(keys.shape)}, values {tuple(values.shape)}: other sizes than here")
"""
ROOM = """        if end > capacity:
            raise ValueError(f"no room for {new} tokens: {self.length} of {capacity} are there")
"""
KEYS = "        self._memory[0, :, :, self.length : end] = keys.detach()\n"
VALUES = "        self._memory[1, :, :, self.length : end] = values.detach()\n"
COUNT = "        self.length = end\n"
VIEWS = "        return self._memory[0, :, :, :end], self._memory[1, :, :, :end]\n"
KEEP = """        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
"""
HEADS = "        if heads < 1 or dim % heads or dim // heads % 2:\n"
START = "        start = 0 if cache is None else cache.length\n"
POSITIONS = "        positions = torch.arange(start, start + x.shape[1], device=x.device)\n"
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
        "keeps masks for the next call, those made in inference mode as well",
        edits=[
            (
                LATER,
                "        masks = self.__dict__.setdefault('masks', {})\n"
                "        key = x.shape[1], k.shape[-2]\n"
                "        if key not in masks:\n    "
                + LATER
                + "            masks[key] = later\n        later = masks[key]\n",
            )
        ],
        check="test_gradients",
        says="Inference tensors",
    ),
    Wrong(
        "truncates into new memory",
        edits=[(KEEP, KEEP + "        self._memory = self._memory.clone()\n")],
        check="test_views",
        says="truncate allocates memory",
    ),
    Wrong(
        "x decides whether there are gradients",
        edits=[
            (
                "        return self.out(gathered.transpose(1, 2).flatten(2))\n",
                "        y = self.out(gathered.transpose(1, 2).flatten(2))\n        return y if x.requires_grad else y.detach()\n",
            )
        ],
        check="test_gradients",
        says="x does not",
    ),
    Wrong(
        "hides later tokens by a score of -10 000",
        edits=[("masked_fill(later, -math.inf)", "masked_fill(later, -1e4)")],
        check="test_one_pass",
        says="sees itself alone",
    ),
    Wrong(
        "a table of 2048 positions",
        edits=[
            (
                POSITIONS,
                "        positions = torch.arange(2048, device=x.device)[start : start + x.shape[1]]\n",
            )
        ],
        check="test_long",
    ),
    Wrong(
        "positions in the dtype of the tokens",
        edits=[
            (
                "torch.arange(start, start + x.shape[1], device=x.device)",
                "torch.arange(start, start + x.shape[1], device=x.device, dtype=x.dtype)",
            )
        ],
        check="test_dtypes",
        says="300 tokens",
    ),
    Wrong(
        "keeps what it is given, where that fills it",
        edits=[
            (
                VIEWS,
                "        if new == capacity:\n            self._full = keys.detach(), values.detach()\n        if end == capacity and hasattr(self, '_full'):\n            return self._full\n"
                + VIEWS,
            )
        ],
        check="test_append",
        says="changed",
    ),
    Wrong(
        "a chunk of no tokens goes straight through",
        edits=[(START, "        if x.shape[1] == 0:\n            return self.out(x)\n" + START)],
        check="test_wrong_sizes",
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
    ),
    Wrong(
        "turns queries at 0, keys at their positions",
        edits=[(TURN, "        q, k = rotate(q, positions - start), rotate(k, positions)\n")],
        check="test_chunks",
    ),
    Wrong(
        "does not turn queries", edits=[(TURN, "        k = rotate(k, positions)\n")], check="test_one_pass"
    ),
    Wrong(
        "turns values too",
        edits=[(TURN, TURN + "        v = rotate(v, positions)\n")],
        check="test_one_pass",
    ),
    Wrong(
        "turns all keys again at each step",
        edits=[
            (TURN, "        q = rotate(q, positions)\n"),
            (
                APPEND,
                APPEND
                + "        k = rotate(k, torch.arange(k.shape[-2], device=x.device))\n        k = k if cache is None or start == 0 else rotate(k, torch.ones(k.shape[-2], device=x.device))\n",
            ),
        ],
        check="test_chunks",
    ),
    Wrong(
        "counts positions from 1 after the first chunk",
        edits=[(POSITIONS, POSITIONS + "        positions = positions + (start > 0)\n")],
        check="test_chunks",
    ),
    Wrong(
        "is_causal counts from the other corner",
        edits=[
            (
                LATER + SCORES + GATHER,
                "        gathered = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
            ),
        ],
        check="test_chunks",
    ),
    Wrong(
        "is_causal for chunks, nothing for single tokens",
        edits=[
            (
                LATER + SCORES + GATHER,
                "        gathered = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1)\n",
            ),
        ],
        check="test_chunks",
    ),
    Wrong(
        "no mask with a cache",
        edits=[
            (LATER, LATER + "        if cache is not None:\n            later = torch.zeros_like(later)\n")
        ],
        check="test_chunks",
    ),
    Wrong(
        "no mask in a chunk after the first",
        edits=[(LATER, LATER + "        if start:\n            later = torch.zeros_like(later)\n")],
        check="test_chunks",
    ),
    Wrong(
        "no mask at all",
        edits=[(SCORES, SCORES.replace(".masked_fill(later, -math.inf)", ""))],
        check="test_one_pass",
    ),
    Wrong(
        "a token does not see itself once there are others",
        edits=[(LATER, LATER.replace(" > ", " >= ") + "        later[..., 0] = False\n")],
        check="test_one_pass",
    ),
    Wrong(
        "the mask counts from the chunk",
        edits=[
            (
                LATER,
                LATER.replace(
                    "positions.unsqueeze(-1)", "torch.arange(x.shape[1], device=x.device).unsqueeze(-1)"
                ),
            )
        ],
        check="test_chunks",
    ),
    Wrong(
        "attends to all of the memory",
        edits=[
            (VIEWS, "        return self._memory[0], self._memory[1]\n"),
        ],
        check="test_append",
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
        check="test_chunks",
    ),
    Wrong(
        "takes one token at a time, where there are more",
        edits=[
            (
                APPEND,
                "        if cache is not None:\n            k, v = cache.append(k[:, :, -1:], v[:, :, -1:])\n",
            )
        ],
        check="test_chunks",
    ),
    Wrong(
        "no scale",
        edits=[(SCORES, SCORES.replace(" / math.sqrt(q.shape[-1])", ""))],
        check="test_one_pass",
    ),
    Wrong(
        "the scale of all heads together",
        edits=[(SCORES, SCORES.replace("q.shape[-1]", "x.shape[-1]"))],
        check="test_one_pass",
    ),
    Wrong(
        "heads first, then queries, keys and values",
        edits=[
            (SPLIT, SPLIT.replace("(3, self.heads, -1)", "(self.heads, 3, -1)")),
            ("split.permute(2, 0, 3, 1, 4)", "split.permute(3, 0, 2, 1, 4)"),
        ],
        check="test_one_pass",
    ),
    Wrong("with biases", edits=[("3 * dim, bias=False", "3 * dim")], check="test_several_caches"),
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
        check="test_views",
        says="copies",
    ),
    Wrong(
        "returns copies",
        edits=[
            (
                VIEWS,
                "        return self._memory[0, :, :, :end].contiguous(), self._memory[1, :, :, :end].contiguous()\n",
            )
        ],
        check="test_views",
        says="copies",
    ),
    Wrong(
        "doubles its memory when it is full",
        edits=[
            (
                MEMORY,
                "        self._room = capacity\n        self._memory = torch.zeros(2, batch, heads, 4, head_dim, dtype=dtype, device=device)\n",
            ),
            (
                "        _, batch, heads, capacity, head_dim = self._memory.shape\n",
                "        _, batch, heads, _, head_dim = self._memory.shape\n        capacity = self._room\n",
            ),
            (
                ROOM,
                ROOM
                + "        while end > self._memory.shape[3]:\n            self._memory = torch.cat([self._memory, torch.zeros_like(self._memory)], 3)\n",
            ),
        ],
        check="test_allocated_once",
        says="another amount",
    ),
    Wrong(
        "allocates at the first append",
        edits=[
            (
                MEMORY,
                "        self._make = lambda: torch.zeros(2, batch, heads, capacity, head_dim, dtype=dtype, device=device)\n        self._memory = torch.zeros(2, batch, heads, capacity, head_dim, device='meta')\n",
            ),
            (KEYS, "        if self._memory.is_meta:\n            self._memory = self._make()\n" + KEYS),
        ],
        check="test_allocated_once",
    ),
    Wrong(
        "always float32",
        edits=[(MEMORY, MEMORY.replace("dtype=dtype, ", ""))],
        check="test_allocated_once",
    ),
    Wrong(
        "make_cache in float32",
        edits=[(MAKE, MAKE.replace("dtype=weight.dtype, ", ""))],
        check="test_dtypes",
    ),
    Wrong(
        "the cache stays on the CPU",
        edits=[(MAKE, MAKE.replace(", device=weight.device", ""))],
        check="test_on_a_device",
    ),
    Wrong(
        "the cache ignores device",
        edits=[(MEMORY, MEMORY.replace(", device=device", ""))],
        check="test_on_a_device",
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
    Wrong(
        "the length is a tensor on the device",
        edits=[
            (
                START,
                "        start = 0 if cache is None else int(torch.tensor(cache.length, device=x.device))\n",
            ),
        ],
        check="test_on_a_device",
        says="host",
    ),
    Wrong(
        "stores the graph",
        edits=[(KEYS, KEYS.replace(".detach()", "")), (VALUES, VALUES.replace(".detach()", ""))],
        check="test_no_graph",
        says="graph",
    ),
    Wrong(
        "stores the graph of values",
        edits=[(VALUES, VALUES.replace(".detach()", ""))],
        check="test_no_graph",
        says="graph",
    ),
    Wrong(
        "no gradients at all",
        edits=[("    def forward(\n", "    @torch.no_grad()\n    def forward(\n")],
        check="test_gradients",
    ),
    Wrong(
        "detaches keys and values without a cache too",
        edits=[(APPEND, "        k, v = k.detach(), v.detach()\n" + APPEND)],
        check="test_gradients",
    ),
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
        says="computed again",
    ),
    Wrong(
        "any number of tokens, cut off",
        edits=[
            (
                ROOM,
                "        end = min(end, capacity)\n        keys, values = keys[:, :, : end - self.length], values[:, :, : end - self.length]\n",
            )
        ],
        check="test_no_room",
    ),
    Wrong(
        "a ring: the oldest are overwritten",
        edits=[(ROOM, "        if end > capacity:\n            self.length, end = 0, new\n")],
        check="test_no_room",
        says="no error",
    ),
    Wrong(
        "RuntimeError from torch where there is no room",
        edits=[(ROOM, "")],
        check="test_no_room",
    ),
    Wrong(
        "an IndexError for a full cache",
        edits=[(ROOM, ROOM.replace("ValueError", "IndexError"))],
        check="test_no_room",
        says="IndexError",
    ),
    Wrong(
        "one place is never used",
        edits=[(ROOM, ROOM.replace("end > capacity", "end >= capacity"))],
        check="test_chunks",
    ),
    Wrong(
        "counts before it looks",
        edits=[
            (
                ROOM,
                "        self.length = end\n        if end > capacity:\n            raise ValueError('no room')\n",
            ),
            (KEYS, KEYS.replace("self.length : end", "end - new : end")),
            (VALUES, VALUES.replace("self.length : end", "end - new : end")),
        ],
        check="test_no_room",
    ),
    Wrong(
        "looks at values after keys are written",
        edits=[
            (
                SIZES,
                "        if keys.shape != (batch, heads, new, head_dim):\n            raise ValueError('keys')\n",
            ),
            (
                KEYS,
                KEYS
                + COUNT
                + "        if values.shape != keys.shape:\n            raise ValueError('values')\n",
            ),
            (VALUES, VALUES.replace("self.length : end", "end - new : end")),
        ],
        check="test_wrong_sizes",
    ),
    Wrong("takes what broadcasts", edits=[(SIZES, "")], check="test_wrong_sizes"),
    Wrong(
        "looks at keys only",
        edits=[(SIZES, SIZES.replace("keys.shape == values.shape == ", "keys.shape == "))],
        check="test_wrong_sizes",
    ),
    Wrong(
        "does not look at the number of new values",
        edits=[
            (
                SIZES,
                SIZES.replace(
                    "keys.shape == values.shape == ",
                    "values.shape[:2] == keys.shape[:2] == (batch, heads) or not keys.shape == ",
                ),
            )
        ],
        check="test_wrong_sizes",
    ),
    Wrong("truncates to any length", edits=[(KEEP, "")], check="test_no_room", says="no error"),
    Wrong(
        "truncates from the end for negative lengths",
        edits=[
            (
                KEEP,
                "        if length < 0:\n            length += self.length\n        if length > self.length:\n            raise ValueError(length)\n",
            )
        ],
        check="test_no_room",
        says="no error",
    ),
    Wrong(
        "truncates to more than there is",
        edits=[(KEEP, KEEP.replace("0 <= length <= self.length", "0 <= length <= self._memory.shape[3]"))],
        check="test_no_room",
        says="no error",
    ),
    Wrong(
        "truncates nothing", edits=[(KEEP + "        self.length = length\n", KEEP)], check="test_truncate"
    ),
    Wrong(
        "always truncates to nothing",
        edits=[(KEEP + "        self.length = length\n", KEEP + "        self.length = 0\n")],
        check="test_truncate",
    ),
    Wrong(
        "drops so many, instead of keeping them",
        edits=[(KEEP + "        self.length = length\n", KEEP + "        self.length -= length\n")],
        check="test_truncate",
    ),
    Wrong(
        "the layer counts the tokens",
        edits=[
            ("        self.heads = heads\n", "        self.heads = heads\n        self.seen = 0\n"),
            (
                START,
                "        start = 0 if cache is None else self.seen\n        self.seen = start + x.shape[1]\n",
            ),
        ],
        check="test_several_caches",
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
    ),
    Wrong(
        "a loop over tokens in append",
        edits=[
            (
                KEYS + VALUES,
                "        for i in range(new):\n            self._memory[0, :, :, self.length + i] = keys[:, :, i].detach()\n            self._memory[1, :, :, self.length + i] = values[:, :, i].detach()\n",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "stores what it is given, without a copy",
        edits=[
            (
                KEYS,
                "        if not self.length and new == capacity:\n            self._memory = torch.stack([keys, values]).detach()\n        if not self.length:\n            self._first = keys\n"
                + KEYS,
            ),
            (VIEWS, "        self._memory[0, :, :, : self._first.shape[2]] = self._first.detach()\n" + VIEWS),
        ],
        check="test_append",
    ),
    Wrong(
        "turns keys in place",
        edits=[(KEYS, KEYS + "        keys.detach().zero_()\n")],
        check="test_append",
        says="changes",
    ),
    Wrong(
        "needs contiguous x",
        edits=[(START, "        x.view(-1)\n" + START)],
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "scales x in place",
        edits=[(START, "        x.mul_(1.0000001)\n" + START)],
        check="test_inputs_are_left_alone",
        says="changes",
    ),
    Wrong("any heads", edits=[(HEADS, "        if False:\n")], check="test_bad_heads"),
    Wrong(
        "odd sizes",
        edits=[(HEADS, HEADS.replace(" or dim // heads % 2", ""))],
        check="test_bad_heads",
        says="no error",
    ),
    Wrong(
        "negative heads",
        edits=[(HEADS, HEADS.replace("heads < 1", "heads == 0"))],
        check="test_bad_heads",
        says="no error",
    ),
    Wrong(
        "a table of 128 positions",
        edits=[
            (POSITIONS, POSITIONS + "        positions = positions.clamp(max=127)\n"),
            (LATER, LATER.replace("positions", "torch.arange(start, start + x.shape[1], device=x.device)")),
        ],
        check="test_long",
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
        if heads <= 0 or dim % (2 * heads):
            raise ValueError("heads")
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
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True) if t else v
        else:
            with torch.no_grad():
                k, v = cache.append(k, v)
                mask = torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past)
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask) if t else q
        return self.out(y.transpose(1, 2).reshape(b, t, dim))
""",
    ),
    Right(
        "einsum, all in one memory, written with index_copy_",
        edits=[
            (
                KEYS + VALUES,
                "        where = torch.arange(self.length, end, device=keys.device)\n        self._memory.index_copy_(3, where, torch.stack([keys, values]).detach())\n",
            ),
            (VIEWS, "        return self._memory.narrow(3, 0, end).unbind(0)\n"),
            (
                SCORES,
                "        scores = torch.einsum('bhqd,bhkd->bhqk', q * q.shape[-1] ** -0.5, k) + torch.zeros(later.shape, dtype=q.dtype, device=q.device).masked_fill(later, -math.inf)\n",
            ),
            (GATHER, "        gathered = torch.einsum('bhqk,bhkd->bhqd', scores.softmax(dim=-1), v)\n"),
        ],
    ),
    Wrong(
        "stores by way of float32",
        edits=[
            ("= keys.detach()", "= keys.detach().float()"),
            ("= values.detach()", "= values.detach().float()"),
        ],
        check="test_dtypes",
        says="float64",
    ),
    Right(
        "attends to all the room there is, behind a mask",
        code="""
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
        self.keys = torch.zeros(batch, heads, capacity, head_dim, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.length = 0
    def append(self, keys, values):
        b, h, c, d = self.keys.shape
        for t in (keys, values):
            if t.dim() != 4 or (t.shape[0], t.shape[1], t.shape[3]) != (b, h, d):
                raise ValueError("sizes do not fit")
        if keys.shape != values.shape or self.length + keys.shape[2] > c:
            raise ValueError("no room")
        end = self.length + keys.shape[2]
        with torch.no_grad():
            self.keys[:, :, self.length:end] = keys
            self.values[:, :, self.length:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
    def truncate(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("no such length")
        self.length = length
class CachedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if heads < 1 or dim % heads or dim // heads % 2:
            raise ValueError("heads do not divide dim")
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
    def make_cache(self, batch, capacity):
        w = self.qkv.weight
        return KVCache(batch, self.heads, capacity, w.shape[1] // self.heads, dtype=w.dtype, device=w.device)
    def forward(self, x, cache=None):
        batch, time, dim = x.shape
        d = dim // self.heads
        start = 0 if cache is None else cache.length
        q, k, v = (t.unflatten(-1, (self.heads, d)).transpose(1, 2) for t in self.qkv(x).split(dim, -1))
        positions = torch.arange(start, start + time, device=x.device)
        q, k = rotate(q, positions), rotate(k, positions)
        if cache is not None:
            cache.append(k, v)
            k, v = cache.keys, cache.values
        keys = torch.arange(k.shape[2], device=x.device)
        hidden = keys > positions[:, None]
        w = (q @ k.transpose(-1, -2) / d ** 0.5).masked_fill(hidden, float("-inf")).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(batch, time, dim))
""",
    ),
    Wrong(
        "copies where no token comes",
        edits=[
            (
                COUNT,
                COUNT
                + "        if new == 0:\n            return tuple(self._memory[:, :, :, :end].clone())\n",
            )
        ],
        check="test_views",
        says="of no tokens",
    ),
    Wrong(
        "no graph behind x in evaluation mode, as nobody trains there",
        edits=[(START, START + "        x = x if self.training or cache is not None else x.detach()\n")],
        check="test_gradients",
        says="evaluation mode",
    ),
]
