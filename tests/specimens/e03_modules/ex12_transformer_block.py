"""Answers to transformer_block that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "finite numbers for NaN, to be safe",
        edits=[(FIRST, FIRST + "\n        x = x.nan_to_num()")],
        check="test_values",
        says="is NaN",
    ),
    Wrong(
        "seeds the global stream: all start alike",
        edits=[
            ("        super().__init__()\n", "        super().__init__()\n        torch.manual_seed(0)\n")
        ],
        check="test_registered",
        says="in two blocks",
    ),
    Wrong(
        "drops the same elements in each sequence",
        edits=[
            (FIRST, "x = x + self._attend(self.norm1(x)) * self.dropout(torch.ones_like(x[:1]))"),
            (SECOND, SECOND.replace("self.dropout(", "self.dropout(torch.ones_like(x[:1])) * (")),
        ],
        check="test_dropout_in_training",
        says="each sequence",
    ),
    Wrong(
        "drops whole positions",
        edits=[
            (FIRST, "x = x + self._attend(self.norm1(x)) * self.dropout(torch.ones_like(x[..., :1]))"),
            (SECOND, SECOND.replace("self.dropout(", "self.dropout(torch.ones_like(x[..., :1])) * (")),
        ],
        check="test_dropout_in_training",
        says="whole positions",
    ),
    Wrong(
        "drops the same features everywhere",
        edits=[
            (FIRST, "x = x + self._attend(self.norm1(x)) * self.dropout(x.new_ones(x.shape[-1]))"),
            (SECOND, SECOND.replace("self.dropout(", "self.dropout(x.new_ones(x.shape[-1])) * (")),
        ],
        check="test_dropout_in_training",
        says="whole features",
    ),
    Wrong(
        "subtracts 10000 from what is hidden",
        edits=[(WEIGHTS, "weights = (scores - 1e4 * later).softmax(-1)")],
        check="test_large_scores",
    ),
    Wrong(
        "normalises after the sum",
        edits=[
            (FIRST, "x = self.norm1(x + self.dropout(self._attend(x)))"),
            (SECOND, "return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))"),
        ],
        check="test_branches",
        says="the norms come after the sums",
    ),
    Wrong(
        "normalises the stream itself",
        edits=[
            (FIRST, "x = self.norm1(x)\n        x = x + self.dropout(self._attend(x))"),
            (SECOND, "x = self.norm2(x)\n        return x + self.dropout(self.down(F.gelu(self.up(x))))"),
        ],
        check="test_branches",
    ),
    Wrong(
        "no norm before the attention",
        edits=[(FIRST, FIRST.replace("self.norm1(x)", "x + 0 * self.norm1(x)"))],
        check="test_values",
    ),
    Wrong(
        "one norm for both",
        edits=[("self.up(self.norm2(x))", "self.up(self.norm1(x))")],
        check="test_values",
        says="norm1 stands before both branches",
    ),
    Wrong(
        "the norms the wrong way round",
        edits=[("self.norm1(x)", "self.norm2(x)"), ("self.up(self.norm2(x))", "self.up(self.norm1(x))")],
        check="test_values",
    ),
    Wrong(
        "no first sum",
        edits=[(FIRST, "x = self.dropout(self._attend(self.norm1(x)))")],
        check="test_branches",
    ),
    Wrong("no second sum", edits=[(SECOND, SECOND.replace("x + ", "", 1))], check="test_branches"),
    Wrong(
        "both branches read the same stream",
        edits=[
            (FIRST, "added = self.dropout(self._attend(self.norm1(x)))"),
            (SECOND, SECOND.replace("return x + ", "return x + added + ")),
        ],
        check="test_values",
        says="both branches read x",
    ),
    Wrong(
        "the second sum starts from the first stream",
        edits=[
            (FIRST, "before = x\n        " + FIRST),
            (SECOND, SECOND.replace("return x", "return before")),
        ],
        check="test_values",
    ),
    Wrong(
        "a norm at the end",
        edits=[
            (
                SECOND,
                SECOND.replace("return x + ", "x = x + ") + "\n        return F.layer_norm(x, x.shape[-1:])",
            )
        ],
        check="test_branches",
    ),
    Wrong(
        "gelu by tanh",
        edits=[("self.up(self.norm2(x))", "self.up(self.norm2(x)), approximate='tanh'")],
        check="test_values",
        says="gelu is the approximation with tanh",
    ),
    Wrong("relu", edits=[("F.gelu(", "F.relu(")], check="test_values", says="relu stands where gelu should"),
    Wrong(
        "gelu at the end, too",
        edits=[
            ("self.down(F.gelu(self.up(self.norm2(x))))", "F.gelu(self.down(F.gelu(self.up(self.norm2(x)))))")
        ],
        check="test_values",
    ),
    Wrong(
        "another eps",
        edits=[(NORM2, "self.norm2 = nn.LayerNorm(dim, eps=1e-6)")],
        check="test_large_and_small_streams",
    ),
    Wrong(
        "norms over time as well",
        edits=[("self.norm1(x)", "F.layer_norm(x, x.shape[-2:]) * self.norm1.weight + self.norm1.bias")],
        check="test_values",
    ),
    Wrong(
        "sees the future",
        edits=[(WEIGHTS, "weights = scores.softmax(-1)")],
        check="test_values",
        says="positions see later ones",
    ),
    Wrong("sees the future and not the past", edits=[("triu(1)", "tril(-1)")], check="test_values"),
    Wrong("one token too far", edits=[("triu(1)", "triu(2)")], check="test_values"),
    Wrong(
        "scaled by all features", edits=[(SCORES, "scores = q @ k.mT / math.sqrt(dim)")], check="test_values"
    ),
    Wrong("keys first", edits=[(HEADS, HEADS.replace("q, k, v", "k, q, v"))], check="test_values"),
    Wrong(
        "queries, keys and values head by head",
        edits=[
            (SPLIT, "qkv = self.qkv(x).unflatten(-1, (self.heads, 3, dim // self.heads)).transpose(-3, -2)")
        ],
        check="test_values",
        says="qkv",
    ),
    Wrong(
        "merges the heads without a transpose",
        edits=[(OUT, "return self.out((weights @ v).reshape(x.shape))")],
        check="test_values",
    ),
    Wrong(
        "softmax over the queries", edits=[("softmax(-1)", "softmax(-2).nan_to_num()")], check="test_values"
    ),
    Wrong(
        "ignores heads",
        edits=[("self.heads = heads", "self.heads = 1")],
        check="test_values",
        says="heads has no effect",
    ),
    Wrong(
        "batches only", edits=[(SPLIT, "batch, time, dim = x.shape\n        " + SPLIT)], check="test_values"
    ),
    Wrong(
        "guesses the batch with -1",
        edits=[
            (OUT, "return self.out((weights @ v).transpose(-3, -2).reshape(-1, time, dim)).view(x.shape)")
        ],
        check="test_empty",
    ),
    Wrong(
        "drops elements of the stream",
        edits=[(FIRST, "x = self.dropout(x + self._attend(self.norm1(x)))")],
        check="test_dropout_in_training",
    ),
    Wrong(
        "drops nothing", edits=[(DROPOUT, "self.dropout = nn.Dropout(0.0)")], check="test_dropout_in_training"
    ),
    Wrong(
        "a dropout of 0.1, always",
        edits=[(DROPOUT, "self.dropout = nn.Dropout(0.1)")],
        check="test_dropout_in_training",
    ),
    Wrong(
        "a default dropout",
        edits=[
            ("dropout: float = 0.0", "dropout: float = 0.1"),
        ],
        check="test_dropout_streams",
    ),
    Wrong(
        "drops in the attention only",
        edits=[(SECOND, "return x + self.down(F.gelu(self.up(self.norm2(x))))")],
        check="test_dropout_in_training",
    ),
    Wrong(
        "drops attention weights as well",
        edits=[(WEIGHTS, WEIGHTS.replace("weights = ", "weights = self.dropout(") + ")")],
        check="test_dropout_in_training",
    ),
    Wrong(
        "drops hidden features as well",
        edits=[
            ("self.down(F.gelu(", "self.down(F.dropout(F.gelu("),
            ("self.norm2(x)))))", "self.norm2(x))), self.dropout.p, self.training)))"),
        ],
        check="test_dropout_in_training",
    ),
    Wrong(
        "does not scale up",
        edits=[
            (
                FIRST,
                "x = x + (1 - self.dropout.p if self.training else 1.0) * self.dropout(self._attend(self.norm1(x)))",
            )
        ],
        check="test_dropout_in_training",
    ),
    Wrong(
        "one mask for both branches",
        edits=[
            (
                FIRST,
                "mask = self.dropout(torch.ones_like(x))\n        x = x + mask * self._attend(self.norm1(x))",
            ),
            (SECOND, "return x + mask * self.down(F.gelu(self.up(self.norm2(x))))"),
        ],
        check="test_dropout_in_training",
        says="independently",
    ),
    Wrong(
        "drops in evaluation mode, too",
        edits=[(FIRST, "x = x + F.dropout(self._attend(self.norm1(x)), self.dropout.p)")],
        check="test_dropout_streams",
    ),
    Wrong(
        "seeds the dropout",
        edits=[(FIRST, "torch.manual_seed(0)\n        " + FIRST)],
        check="test_dropout_streams",
    ),
    Wrong(
        "cuts the first sum",
        edits=[(FIRST, FIRST.replace("x = x +", "x = x.detach() +"))],
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "cuts the second branch",
        edits=[("self.up(self.norm2(x))", "self.up(self.norm2(x.detach()))")],
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "a mask of -1e9: too much for float16",
        edits=[(WEIGHTS, "weights = scores.masked_fill(later, -1e9).softmax(-1)")],
        check="test_dtypes",
    ),
    Wrong(
        "returns float32",
        edits=[
            (
                "return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))",
                "return (x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))).float()",
            )
        ],
        check="test_dtypes",
        says="dtype",
    ),
    Wrong(
        "a float32 mask to multiply with",
        edits=[
            (
                WEIGHTS,
                "powers = (scores - scores.detach().max()).exp() * (~later).float() if scores.numel() else scores\n        weights = powers / powers.sum(-1, keepdim=True)",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "no biases",
        edits=[("nn.Linear(dim, 3 * dim)", "nn.Linear(dim, 3 * dim, bias=False)")],
        check="test_registered",
        says="qkv.bias",
    ),
    Wrong(
        "ignores hidden",
        edits=[("hidden = 4 * dim if hidden is None else hidden", "hidden = 4 * dim")],
        check="test_registered",
    ),
    Wrong("twice as many hidden features", edits=[("4 * dim if", "2 * dim if")], check="test_registered"),
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
        check="test_registered",
        says="mask",
    ),
    Wrong(
        "starts with zeros",
        edits=[(DOWN, DOWN + "\n        nn.init.zeros_(self.down.weight)")],
        check="test_registered",
        says="start",
    ),
    Wrong(
        "starts with small normal numbers",
        edits=[(DOWN, DOWN + "\n        nn.init.normal_(self.up.weight, std=0.02)")],
        check="test_registered",
        says="start",
    ),
    Wrong(
        "layers that all blocks share",
        edits=[
            ("\n\nclass Tr", "\n\nSHARED = {}\n\n\nclass Tr"),
            (NORM2, "self.norm2 = SHARED.setdefault(dim, nn.LayerNorm(dim))"),
        ],
        check="test_in_use",
    ),
    Wrong("a mask on the CPU", edits=[(", device=x.device", "")], check="test_on_a_device"),
    Wrong(
        "moves its mask over",
        edits=[(LATER, "later = torch.ones(time, time, dtype=torch.bool).triu(1).to(x.device)")],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "adds in place",
        edits=[(FIRST, FIRST.replace("x = x +", "x += "))],
        check="test_stream_is_left_alone",
        says="changes its input",
    ),
    Wrong(
        "does not look at heads",
        edits=[("if heads < 1 or dim % heads:", "if heads < 1:")],
        check="test_bad_input",
    ),
    Wrong(
        "asserts",
        edits=[
            ("if heads < 1 or dim % heads:", "assert heads > 0 and dim % heads == 0\n        if heads < 1:")
        ],
        check="test_bad_input",
        says="AssertionError",
    ),
    Wrong(
        "a loop over the heads",
        edits=[
            (
                OUT,
                "parts = [weights[..., h, :, :] @ v[..., h, :, :] for h in range(self.heads)]\n        return self.out(torch.cat(parts, -1))",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "a loop over the tokens",
        edits=[
            (
                SECOND,
                "rows = [self.down(F.gelu(self.up(self.norm2(x[..., t, :])))) for t in range(x.shape[-2])]\n        return x + self.dropout(torch.stack(rows, -2) if rows else x)",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "merges the batch dimensions by a view",
        edits=[
            (
                "        x = x + self.dropout(self._attend(self.norm1(x)))",
                "        shape, x = x.shape, x.view(-1, *x.shape[-2:]) if x.numel() else x\n"
                "        x = (x + self.dropout(self._attend(self.norm1(x)))).view(shape)",
            )
        ],
        check="test_stream_is_left_alone",
    ),
    Wrong(
        "the mask is kept by length alone, and stays where it was",
        edits=[
            (
                "        later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n",
                "        kept = self.__dict__.setdefault('kept', {})\n        later = kept.setdefault(time, torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1))\n",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "a mask for the first length",
        edits=[
            (
                "        later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n",
                "        self.__dict__.setdefault('kept', torch.ones(time + 9, time + 9, dtype=torch.bool, device=x.device).triu(1))\n        later = self.kept[:time, :time]\n",
            )
        ],
        check="test_values",
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
    Wrong(
        "keeps the longest mask so far: one that was made in inference_mode cannot be part of a graph",
        edits=[
            (DROPOUT, DROPOUT + "\n        self._mask = None"),
            (
                LATER,
                "if self._mask is None or len(self._mask) < time or self._mask.device != x.device:\n"
                "            self._mask = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n"
                "        later = self._mask[:time, :time]",
            ),
        ],
        check="test_gradients",
        says="nference",
    ),
    Wrong(
        "the network reads the sum as it is before the dropout",
        edits=[
            (
                FIRST,
                "added = self._attend(self.norm1(x))\n        whole = x + added\n        x = x + self.dropout(added)",
            ),
            (SECOND, SECOND.replace("norm2(x)", "norm2(whole)")),
        ],
        check="test_dropout_in_training",
        says="no sum of x",
    ),
    Wrong(
        "scales up for the network what the first dropout leaves, and not for the stream",
        edits=[
            (
                FIRST,
                "added = self.dropout(self._attend(self.norm1(x)))\n"
                "        whole, x = x + 2 * added, x + added",
            ),
            (SECOND, SECOND.replace("norm2(x)", "norm2(whole if self.training and self.dropout.p else x)")),
        ],
        check="test_dropout_in_training",
        says="no sum of x",
    ),
    Wrong(
        "makes the mask of a single position on the CPU",
        edits=[(LATER, LATER.replace("device=x.device", "device=x.device if time > 1 else None"))],
        check="test_on_a_device",
    ),
]
