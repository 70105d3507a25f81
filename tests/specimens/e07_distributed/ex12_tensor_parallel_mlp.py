"""Answers to tensor_parallel_mlp that people write."""

from grader.authoring.specimen import Right, Wrong

TO = "        x = _ToAllRanks.apply(x, self.group)\n"
HIDDEN = "        hidden = self.activation(F.linear(x, self.up.weight, self.up.bias))  # (*batch, H/N)\n"
FROM = "        y = _FromAllRanks.apply(F.linear(hidden, self.down.weight), self.group)  # (*batch, out)\n"
RETURN = "        return y if self.down.bias is None else y + self.down.bias  # once, not on each rank\n"
COPY = "nn.Parameter(t.detach().clone(memory_format=torch.contiguous_format))"
PASS = """    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None
"""
KEEP = "        total = term.clone(memory_format=torch.contiguous_format)\n"
RANKS = "        ranks, rank = dist.get_world_size(group), dist.get_rank(group)\n"
CHECK = """        if up.out_features % ranks:
            raise ValueError(f"{ranks} ranks cannot share {up.out_features} hidden units evenly")
"""

SPECIMENS = [
    Wrong(
        "contiguous() in place of a copy: with one rank it is the layer's own memory",
        edits=[(COPY, "nn.Parameter(t.detach().contiguous() if t.dim() > 1 else t.detach().clone())")],
        check="test_results",
        says="share memory",
    ),
    Wrong(
        "without gradients each rank adds the bias before the sum",
        edits=[
            (
                TO,
                """        if not torch.is_grad_enabled():
            y = self.activation(F.linear(x, self.up.weight, self.up.bias))
            y = F.linear(y, self.down.weight, self.down.bias)
            dist.all_reduce(y, group=self.group)
            return y
"""
                + TO,
            )
        ],
        check="test_messages",
        says="under torch.no_grad",
    ),
    Wrong("each rank's own gradient of the input", edits=[(TO, "")], check="test_gradients", says="of x"),
    Wrong(
        "an all-reduce of the sum's gradient as well: it counts once for each rank",
        edits=[
            (
                PASS,
                """    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(gradient, group=ctx.group)
        return gradient, None
""",
            ),
            (KEEP, "        ctx.group = group\n" + KEEP),
            (TO, ""),
        ],
        check="test_gradients",
    ),
    Wrong(
        "both of them in the backward",
        edits=[
            (
                PASS,
                """    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(gradient)
        return gradient / dist.get_world_size(), None
""",
            )
        ],
        check="test_messages",
        says="in a backward",
    ),
    Wrong(
        "the terms added up where no gradient can go",
        edits=[
            (
                FROM,
                """        y = F.linear(hidden, self.down.weight).detach().contiguous()
        dist.all_reduce(y, group=self.group)
""",
            )
        ],
        check="test_gradients",
        says="of x",
    ),
    Wrong(
        "the sum at once, and its gradient from a hook on the caller's own input",
        edits=[
            (
                TO,
                """        def add_up(gradient):
            total = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=self.group)
            return total

        if x.requires_grad:
            x.register_hook(add_up)
""",
            )
        ],
        check="test_gradients",
        says="of x",
    ),
    Wrong(
        "the bias on every rank",
        edits=[
            (FROM, FROM.replace("self.down.weight)", "self.down.weight, self.down.bias)")),
            (RETURN, "        return y\n"),
        ],
        check="test_results",
        says="on rank 0 of 3",
    ),
    Wrong(
        "a share of the bias on every rank: its gradient is too small",
        edits=[
            (
                FROM,
                """        bias = None if self.down.bias is None else self.down.bias / dist.get_world_size(self.group)
        y = _FromAllRanks.apply(F.linear(hidden, self.down.weight, bias), self.group)
""",
            ),
            (RETURN, "        return y\n"),
        ],
        check="test_gradients",
        says="gradient of down.bias",
    ),
    Wrong(
        "the bias on the first rank only: the others have no gradient for it",
        edits=[
            (
                FROM,
                """        bias = self.down.bias if dist.get_rank(self.group) == 0 else None
        y = _FromAllRanks.apply(F.linear(hidden, self.down.weight, bias), self.group)
""",
            ),
            (RETURN, "        return y\n"),
        ],
        check="test_gradients",
        says="no gradient for down.bias",
    ),
    Wrong(
        "the mean of the terms",
        edits=[(RETURN, "        y = y / dist.get_world_size(self.group)\n" + RETURN)],
        check="test_results",
    ),
    Wrong(
        "puts the hidden units together: the whole of down on every rank",
        edits=[
            ("_copy(down.weight[:, mine])", "_copy(down.weight)"),
            (
                FROM,
                """        parts = [torch.empty_like(hidden) for _ in range(dist.get_world_size(self.group))]
        dist.all_gather(parts, hidden.detach().contiguous(), group=self.group)
        parts[dist.get_rank(self.group)] = hidden
        y = F.linear(torch.cat(parts, -1), self.down.weight)
""",
            ),
        ],
        check="test_parts",
        says="down.weight",
    ),
    Wrong(
        "an all-reduce before the activation, and one after",
        edits=[(RETURN, "        dist.barrier(group=self.group)\n" + RETURN)],
        check="test_messages",
        says="barrier",
    ),
    Wrong(
        "sees to it that the layers are equal",
        edits=[
            (
                RANKS,
                "        for p in (*up.parameters(), *down.parameters()):\n"
                "            dist.all_reduce(p.detach().clone(), op=dist.ReduceOp.MAX, group=group)\n"
                + RANKS,
            )
        ],
        check="test_messages",
        says="when the MLP is built",
    ),
    Wrong(
        "every N-th unit",
        edits=[("slice(rank * size, (rank + 1) * size)", "slice(rank, None, ranks)")],
        check="test_parts",
        says="up.weight on rank",
    ),
    Wrong(
        "views of the layers",
        edits=[(COPY, "nn.Parameter(t.detach())")],
        check="test_parts",
        says="too much memory",
    ),
    Wrong(
        "copies where a view is not contiguous",
        edits=[(COPY, "nn.Parameter(t.detach().contiguous())")],
        check="test_parts",
    ),
    Wrong(
        "keeps the layers for later",
        edits=[
            ("        self.group = group\n", "        self.group = group\n        self.layers = [up, down]\n")
        ],
        check="test_parts",
        says="keeps alive",
    ),
    Wrong(
        "the layers' own parameters, cut short",
        edits=[
            (
                "        self.group = group\n",
                "        self.group = group\n        up.weight = self.up.weight\n",
            )
        ],
        check="test_parts",
    ),
    Wrong(
        "adds up over all ranks",
        edits=[("        dist.all_reduce(total, group=group)\n", "        dist.all_reduce(total)\n")],
        check="test_groups",
    ),
    Wrong(
        "the gradient over all ranks",
        edits=[("        dist.all_reduce(total, group=ctx.group)\n", "        dist.all_reduce(total)\n")],
        check="test_groups",
        says="gradient of x",
    ),
    Wrong(
        "the rank among all",
        edits=[(RANKS, RANKS.replace("get_rank(group)", "get_rank() % dist.get_world_size(group)"))],
        check="test_groups",
    ),
    Wrong(
        "GELU for ever",
        edits=[("self.activation(F.linear(", "F.gelu(F.linear(")],
        check="test_results",
        says="with tanh",
    ),
    Wrong(
        "a bias is taken for granted",
        edits=[("return y if self.down.bias is None else y + self.down.bias", "return y + self.down.bias")],
        check="test_results",
    ),
    Wrong(
        "float32 whatever the layers are",
        edits=[(COPY, COPY.replace("t.detach()", "t.detach().float()"))],
        check="test_results",
    ),
    Wrong(
        "matrices only",
        edits=[
            ("F.linear(x, self.up.weight, self.up.bias)", "(torch.mm(x, self.up.weight.T) + self.up.bias)")
        ],
        check="test_results",
    ),
    Wrong("rounds down", edits=[(CHECK, "")], check="test_indivisible", says="no error"),
    Wrong(
        "an assertion",
        edits=[(CHECK, '        assert up.out_features % ranks == 0, "cannot share evenly"\n')],
        check="test_indivisible",
        says="wrong error",
    ),
    Wrong(
        "without gradients no message either",
        edits=[
            (
                KEEP,
                "        if not term.requires_grad:\n            return term.clone()\n" + KEEP,
            )
        ],
        check="test_messages",
        says="without gradients",
    ),
    Wrong(
        "nothing to do for no rows, not even a graph",
        edits=[
            (
                "        x = _ToAllRanks.apply(x, self.group)\n",
                """        if not x.numel():
            return x.new_zeros(*x.shape[:-1], len(self.down.weight), requires_grad=True)
        x = _ToAllRanks.apply(x, self.group)
""",
            )
        ],
        check="test_gradients",
        says="x of [0, 2, 3]",
    ),
    Wrong(
        "sums in training mode only",
        edits=[
            (
                "_FromAllRanks.apply(F.linear(hidden, self.down.weight), self.group)",
                "F.linear(hidden, self.down.weight)\n        y = _FromAllRanks.apply(y, self.group) if self.training else y",
            )
        ],
        check="test_messages",
        says="in a forward without gradients",
    ),
    Wrong(
        "rows of down.weight where it is square",
        edits=[
            (
                "_copy(down.weight[:, mine])",
                "_copy(down.weight[mine] if down.in_features == down.out_features else down.weight[:, mine])",
            )
        ],
        check="test_parts",
        says="down.weight",
    ),
    Wrong(
        "the caller's input is told to require a gradient",
        edits=[
            (
                TO,
                "        if torch.is_grad_enabled() and not x.requires_grad:\n            x.requires_grad_()\n"
                + TO,
            )
        ],
        check="test_messages",
        says="an x that required no gradient",
    ),
    Right(
        "linear layers for the cuts, hooks on a view, and the sum as a constant",
        code='''"""Another answer."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class TensorParallelMLP(nn.Module):
    @torch.no_grad()
    def __init__(self, up, down, activation=F.gelu, group=None):
        super().__init__()
        self.group = dist.group.WORLD if group is None else group
        share, left = divmod(up.out_features, self.group.size())
        if left:
            raise ValueError("the ranks must divide the hidden units")
        start = self.group.rank() * share
        kind = dict(dtype=up.weight.dtype, device=up.weight.device)
        self.up = nn.Linear(up.in_features, share, bias=up.bias is not None, **kind)
        self.down = nn.Linear(share, down.out_features, bias=down.bias is not None, **kind)
        self.up.weight.copy_(up.weight.narrow(0, start, share))
        self.down.weight.copy_(down.weight.narrow(1, start, share))
        if up.bias is not None:
            self.up.bias.copy_(up.bias.narrow(0, start, share))
        if down.bias is not None:
            self.down.bias.copy_(down.bias)
        self.act = activation

    def _sum(self, t):
        t = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(t, group=self.group)
        return t

    def forward(self, x):
        if x.requires_grad and torch.is_grad_enabled():
            x = x.view_as(x)
            x.register_hook(self._sum)
        term = self.act(self.up(x)) @ self.down.weight.t()
        y = term + (self._sum(term) - term.detach())
        if self.down.bias is not None:
            y = y + self.down.bias
        return y
''',
    ),
    Right(
        "one function for all, with the gradient of each part written out by autograd",
        code='''"""Another answer."""

import torch
import torch.distributed as dist
from torch import nn


class Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, mlp, x, *parameters):
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            term = mlp.term(leaf)
        ctx.saved = mlp, leaf, term, parameters
        total = term.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=mlp.group)
        return total

    @staticmethod
    def backward(ctx, cotangent):
        mlp, leaf, term, parameters = ctx.saved
        first, *others = torch.autograd.grad(term, [leaf, *parameters], cotangent)
        first = first.contiguous()
        work = dist.all_reduce(first, group=mlp.group, async_op=True)
        work.wait()
        return None, first, *others


class TensorParallelMLP(nn.Module):
    def __init__(self, up, down, activation=nn.GELU(), group=None):
        super().__init__()
        world = dist.get_world_size(group=group)
        if up.weight.size(0) % world != 0:
            raise ValueError(f"{up.weight.size(0)} hidden units on {world} ranks")
        self.group, self.between = group, activation
        rank = dist.get_rank(group=group)

        def take(t, dim):
            return nn.Parameter(t.data.tensor_split(world, dim)[rank].clone().contiguous())

        self.up = nn.ParameterDict({"weight": take(up.weight, 0)})
        self.down = nn.ParameterDict({"weight": take(down.weight, 1)})
        if up.bias is not None:
            self.up["bias"] = take(up.bias, 0)
        if down.bias is not None:
            self.down["bias"] = nn.Parameter(down.bias.data.clone())

    def term(self, x):
        h = torch.matmul(x, self.up["weight"].T)
        if "bias" in self.up:
            h = h + self.up["bias"]
        return torch.matmul(self.between(h), self.down["weight"].T)

    def forward(self, x):
        y = Whole.apply(self, x, *self.up.values(), self.down["weight"])
        return y + self.down["bias"] if "bias" in self.down else y
''',
    ),
    Wrong(
        "sums the gradient of x for batches only",
        edits=[(TO, "        x = _ToAllRanks.apply(x, self.group) if x.dim() > 1 else x\n")],
        check="test_gradients",
        says="[3]",
    ),
]
