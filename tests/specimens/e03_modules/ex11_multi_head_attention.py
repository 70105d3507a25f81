"""Answers to multi_head_attention that people write."""

from grader.authoring.specimen import Right, Wrong

CHECK = "if padding is not None and padding.shape != x.shape[:-1]:"
SCALED = "scores = q @ k.mT / math.sqrt(q.shape[-1])"
WEIGHTS = "weights = scores.masked_fill(hidden, lowest).softmax(-1).masked_fill(hidden, 0.0)"
GATHERED = "gathered = (weights @ v).transpose(-3, -2)"
RETURN = "return self.out(gathered.flatten(-2))"
SPLIT = "return x.unflatten(-1, (self.heads, x.shape[-1] // self.heads)).transpose(-3, -2)"
LATER = "hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)"
CAUSAL = "        if not self.causal:\n            hidden = torch.zeros_like(hidden)\n"
PADDED = "hidden = hidden | padding[..., None, None, :]"
OUT = "self.out = nn.Linear(dim, dim, bias=bias)"

SPECIMENS = [
    Wrong(
        "seeds the global stream: all start alike",
        edits=[
            ("        super().__init__()\n", "        super().__init__()\n        torch.manual_seed(0)\n")
        ],
        check="test_registered",
        says="in two layers",
    ),
    Wrong(
        "keeps the weights with their graph to look at: after a call it cannot be copied",
        edits=[(RETURN, "self.seen = weights\n        " + RETURN)],
        check="test_in_use",
        says="cannot be copied",
    ),
    Right(
        "keeps the weights to look at, without their graph",
        edits=[(RETURN, "self.seen = weights.detach()\n        " + RETURN)],
    ),
    Wrong(
        "does not look at the padding of no tokens",
        edits=[(CHECK, "if padding is not None and x.numel() and padding.shape != x.shape[:-1]:")],
        check="test_bad_input",
    ),
    Wrong(
        "scaled by all features",
        edits=[(SCALED, "scores = q @ k.mT / math.sqrt(x.shape[-1])")],
        check="test_values",
        says="scores are divided by sqrt",
    ),
    Wrong(
        "not scaled",
        edits=[(SCALED, "scores = q @ k.mT")],
        check="test_values",
        says="scores are not divided by sqrt",
    ),
    Wrong(
        "softmax over the queries",
        edits=[("softmax(-1)", "softmax(-2)")],
        check="test_values",
        says="softmax runs over the queries",
    ),
    Wrong(
        "splits the heads without a transpose",
        edits=[
            (SPLIT, "return x.reshape(*x.shape[:-2], self.heads, x.shape[-2], x.shape[-1] // self.heads)")
        ],
        check="test_values",
        says="heads are split by a reshape alone",
    ),
    Wrong(
        "interleaves the features of the heads",
        edits=[
            (SPLIT, "return x.unflatten(-1, (x.shape[-1] // self.heads, self.heads)).movedim(-1, -3)"),
            (GATHERED, "gathered = (weights @ v).movedim(-3, -1)"),
        ],
        check="test_values",
    ),
    Wrong(
        "merges the heads without a transpose",
        edits=[
            (GATHERED, "gathered = (weights @ v).reshape(*x.shape, 1)"),
            ("self.out(gathered.flatten(-2))", "self.out(gathered.squeeze(-1))"),
        ],
        check="test_values",
        says="heads are merged by a reshape alone",
    ),
    Wrong(
        "forgets `out`",
        edits=[(RETURN, "return gathered.flatten(-2) + 0 * self.out(x)")],
        check="test_values",
    ),
    Wrong(
        "keys and values the wrong way round",
        edits=[("(self.query, self.key, self.value))", "(self.query, self.value, self.key))")],
        check="test_values",
    ),
    Wrong("sees one token too far", edits=[("triu(1)", "triu(2)")], check="test_values"),
    Wrong("does not see itself", edits=[("triu(1)", "triu(0)")], check="test_values"),
    Wrong("sees what is to come, not what was", edits=[("triu(1)", "tril(-1)")], check="test_values"),
    Wrong(
        "never causal",
        edits=[("self.causal = causal", "self.causal = False")],
        check="test_values",
        says="this is what causal=False gives",
    ),
    Wrong(
        "always causal",
        edits=[("self.causal = causal", "self.causal = True")],
        check="test_values",
        says="this is what causal=True gives",
    ),
    Wrong(
        "not causal unless asked",
        edits=[("causal: bool = True", "causal: bool = False")],
        check="test_defaults",
        says="this is what causal=False gives",
    ),
    Wrong(
        "causal only where there is no padding",
        edits=[(PADDED, "hidden = padding[..., None, None, :] | torch.zeros_like(hidden)")],
        check="test_values",
        says="this is what causal=False gives",
    ),
    Wrong(
        "True for real tokens",
        edits=[(PADDED, "hidden = hidden | ~padding[..., None, None, :]")],
        check="test_values",
    ),
    Wrong(
        "padding hides the queries",
        edits=[(PADDED, "hidden = hidden | padding[..., None, :, None]")],
        check="test_values",
    ),
    Wrong(
        "padded positions get zeros",
        edits=[
            (
                RETURN,
                "result = self.out(gathered.flatten(-2))\n        return result if padding is None else result.masked_fill(padding.unsqueeze(-1), 0.0)",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "ignores padding",
        edits=[("hidden = self._hidden(x, padding)", "hidden = self._hidden(x, None)")],
        check="test_values",
    ),
    Wrong(
        "hides after the softmax",
        edits=[(WEIGHTS, "weights = scores.softmax(-1).masked_fill(hidden, 0.0)")],
        check="test_values",
    ),
    Wrong(
        "-inf, and NaN where nothing is seen",
        edits=[(WEIGHTS, 'weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)')],
        check="test_nothing_to_see",
        says="nan",
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
        says="nan",
    ),
    Wrong(
        "averages over what is hidden where nothing is seen",
        edits=[(WEIGHTS, "weights = scores.masked_fill(hidden, lowest).softmax(-1)")],
        check="test_nothing_to_see",
    ),
    Wrong(
        "zeros, without the bias, where nothing is seen",
        edits=[
            (
                RETURN,
                "return self.out(gathered.flatten(-2)).masked_fill(hidden.all(-1).any(-2).unsqueeze(-1), 0.0)",
            )
        ],
        check="test_nothing_to_see",
    ),
    Wrong(
        "takes 1e4 off what is hidden",
        edits=[
            (
                WEIGHTS,
                "weights = (scores - 1e4 * hidden).softmax(-1)\n        weights = weights.masked_fill(hidden.all(-1, keepdim=True), 0.0)",
            )
        ],
        check="test_hidden_tokens_have_no_influence",
    ),
    Wrong(
        "multiplies the scores by the mask",
        edits=[(WEIGHTS, "weights = (scores * ~hidden).softmax(-1)")],
        check="test_values",
    ),
    Wrong(
        "without a shift: large scores overflow",
        edits=[
            (
                WEIGHTS,
                "powers = scores.exp().masked_fill(hidden, 0.0)\n        weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)",
            )
        ],
        check="test_long_and_large",
        says="finite",
    ),
    Wrong(
        "what is hidden scores -1e4",
        edits=[(".masked_fill(hidden, lowest)", ".masked_fill(hidden, -1e4)")],
        check="test_long_and_large",
    ),
    Wrong(
        "clamps the scores",
        edits=[(SCALED, SCALED + ".clamp(-1e4, 1e4)")],
        check="test_long_and_large",
    ),
    Wrong(
        "a mask for 1024 tokens",
        edits=[
            (
                LATER,
                "hidden = torch.ones(1024, 1024, dtype=torch.bool, device=x.device).triu(1)[:time, :time]",
            )
        ],
        check="test_long_and_large",
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
        check="test_registered",
        says="buffers",
    ),
    Wrong(
        "keeps the mask of the first call",
        edits=[
            ("self.causal = causal", "self.causal = causal\n        self._mask = None"),
            (
                LATER,
                "if self._mask is None:\n            self._mask = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n        hidden = self._mask",
            ),
        ],
        check="test_long_and_large",
    ),
    Wrong("makes the mask on the CPU", edits=[(", device=x.device", "")], check="test_on_a_device"),
    Wrong(
        "moves the mask over",
        edits=[(LATER, "hidden = torch.ones(time, time, dtype=torch.bool).triu(1).to(x.device)")],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "asks whether there is padding",
        edits=[("if padding is not None:\n", "if padding is not None and padding.any():\n")],
        check="test_on_a_device",
        says="copies",
    ),
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
        "computes in float32",
        edits=[(RETURN, "return self.out(gathered.flatten(-2)).float()")],
        check="test_dtypes",
        says="dtype",
    ),
    Wrong(
        "softmax in float32, rounded scores for float64",
        edits=[("softmax(-1)", "softmax(-1, dtype=torch.float32).to(x.dtype)")],
        check="test_dtypes",
    ),
    Wrong(
        "batches only",
        edits=[(SCALED, "batch, heads, time, size = q.shape\n        " + SCALED)],
        check="test_values",
    ),
    Wrong(
        "-1 in a reshape: no tokens, no shape",
        edits=[(RETURN, "return self.out(gathered.reshape(-1, x.shape[-2], x.shape[-1])).view(x.shape)")],
        check="test_empty",
    ),
    Wrong(
        "the largest score by hand: there may be none",
        edits=[
            (
                WEIGHTS,
                "shown = scores.masked_fill(hidden, lowest)\n        powers = (shown - shown.amax(-1, keepdim=True)).exp().masked_fill(hidden, 0.0)\n        weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-4)",
            )
        ],
        check="test_empty",
    ),
    Wrong(
        "constant weights",
        edits=[(".masked_fill(hidden, 0.0)", ".masked_fill(hidden, 0.0).detach()")],
        check="test_gradients",
        says="gradient",
    ),
    Wrong(
        "always with biases",
        edits=[(OUT, "self.out = nn.Linear(dim, dim)")],
        check="test_registered",
        says="out.bias",
    ),
    Wrong(
        "never with biases",
        edits=[("        self.heads = heads\n", "        self.heads = heads\n        bias = False\n")],
        check="test_registered",
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
    ),
    Wrong(
        "one matrix for query and key",
        edits=[("self.key = nn.Linear(dim, dim, bias=bias)", "self.key = self.query")],
        check="test_registered",
    ),
    Wrong(
        "starts at zero",
        edits=[(OUT, OUT + "\n        nn.init.zeros_(self.out.weight)")],
        check="test_registered",
        says="start",
    ),
    Wrong(
        "starts with normal numbers",
        edits=[(OUT, OUT + "\n        nn.init.normal_(self.query.weight, std=0.02)")],
        check="test_registered",
        says="start",
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
    ),
    Wrong(
        "drops out while training",
        edits=[
            (
                ".masked_fill(hidden, 0.0)",
                ".masked_fill(hidden, 0.0)\n        weights = nn.functional.dropout(weights, 0.1, self.training)",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "scales x in place",
        edits=[(SCALED, "x.data.mul_(1.0 / math.sqrt(2.0))\n        " + SCALED)],
        check="test_inputs_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "marks later tokens in the caller's padding",
        edits=[(PADDED, "padding |= padding.roll(1, -1)\n            " + PADDED)],
        check="test_inputs_are_left_alone",
    ),
    Wrong("does not look at the shape of padding", edits=[(CHECK, "if False:")], check="test_bad_input"),
    Wrong(
        "lets padding broadcast",
        edits=[
            (
                CHECK,
                "if padding is not None and (padding.dim() > x.dim() - 1 or padding.shape[-1:] != x.shape[-2:-1]):",
            )
        ],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "does not look at heads",
        edits=[("if heads < 1 or dim % heads:", "if heads < 1:")],
        check="test_bad_input",
    ),
    Wrong("heads of 0", edits=[("if heads < 1 or dim % heads:", "if dim % heads:")], check="test_bad_input"),
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
    Wrong(
        "a loop over the queries",
        edits=[
            (
                WEIGHTS,
                "shown = scores.masked_fill(hidden, lowest)\n        rows = [shown[..., t, :].softmax(-1) for t in range(x.shape[-2])]\n        weights = (torch.stack(rows, -2) if rows else shown).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "merges the batch dimensions by a view",
        edits=[
            (
                "        q, k, v = (self._split(part(x))",
                "        h = x.view(-1, *x.shape[-2:]) if x.numel() else x\n"
                "        q, k, v = (self._split(part(h).view(x.shape))",
            )
        ],
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "the mask is kept by length alone, and stays where it was",
        edits=[
            (
                "        hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n",
                "        kept = self.__dict__.setdefault('kept', {})\n        hidden = kept.setdefault(time, torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1))\n",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "a mask for the first length",
        edits=[
            (
                "        hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n",
                "        self.__dict__.setdefault('kept', torch.ones(time + 9, time + 9, dtype=torch.bool, device=x.device).triu(1))\n        hidden = self.kept[:time, :time]\n",
            )
        ],
        check="test_long_and_large",
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
        "-inf, and NaN replaced: masked_fill lets no gradient through",
        edits=[(WEIGHTS, 'weights = scores.masked_fill(hidden, float("-inf")).softmax(-1).nan_to_num()')],
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
    Wrong(
        "keeps the longest mask so far: one that was made in inference_mode cannot be part of a graph",
        edits=[
            ("self.causal = causal", "self.causal = causal\n        self._mask = None"),
            (
                LATER,
                "if self._mask is None or len(self._mask) < time or self._mask.device != x.device:\n"
                "            self._mask = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n"
                "        hidden = self._mask[:time, :time]",
            ),
        ],
        check="test_gradients",
    ),
    Wrong(
        "takes 1e7 off the scores of what is hidden, which a padded token's own score makes up for",
        edits=[
            (
                WEIGHTS,
                "weights = (scores - hidden.to(scores.dtype) * (6e4 if scores.dtype == torch.float16 else 1e7))\n"
                "        weights = weights.softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_hidden_tokens_have_no_influence",
        says="padding of 1e4",
    ),
    Wrong(
        "takes half of the largest number off the scores of what is hidden: too little for what float16 may hold",
        edits=[
            (
                WEIGHTS,
                "weights = (scores + hidden.to(scores.dtype) * lowest / 2).softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_hidden_tokens_have_no_influence",
        says="torch.float16",
    ),
    Wrong(
        "takes the largest number off the scores of what is hidden: -inf in float16, for scores below -16",
        edits=[
            (
                WEIGHTS,
                "weights = (scores + hidden.to(scores.dtype) * lowest).softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_nothing_to_see",
        says="torch.float16",
    ),
    Wrong(
        "a single token always sees itself, also where it is padding",
        edits=[
            (
                "        q, k, v = (self._split",
                "        if x.shape[-2] == 1:\n            return self.out(self.value(x))\n        q, k, v = (self._split",
            )
        ],
        check="test_nothing_to_see",
        says="sequences of one token",
    ),
    Right(
        "a single token that is no padding sees itself",
        edits=[
            (
                "        q, k, v = (self._split",
                "        if x.shape[-2] == 1:\n"
                "            only = self.value(x) + 0 * (self.query(x) + self.key(x))\n"
                "            hidden = torch.zeros_like(x[..., 0], dtype=torch.bool) if padding is None else padding\n"
                "            return self.out(only.masked_fill(hidden.unsqueeze(-1), 0.0))\n"
                "        q, k, v = (self._split",
            )
        ],
    ),
    Wrong(
        "adds -inf to hidden scores, which may be inf in float16",
        edits=[
            (
                WEIGHTS,
                "minus = torch.zeros_like(scores).masked_fill(hidden, -math.inf)\n"
                "        blind = hidden.expand(scores.shape).all(-1, keepdim=True)\n"
                "        weights = (scores + minus).masked_fill(blind, 0.0).softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
        check="test_hidden_tokens_have_no_influence",
        says="torch.float16",
    ),
    Right(
        "puts -inf in the place of hidden scores",
        edits=[
            (
                WEIGHTS,
                "blind = hidden.expand(scores.shape).all(-1, keepdim=True)\n"
                "        scores = scores.masked_fill(hidden, -math.inf).masked_fill(blind, 0.0)\n"
                "        weights = scores.softmax(-1).masked_fill(hidden, 0.0)",
            )
        ],
    ),
]
