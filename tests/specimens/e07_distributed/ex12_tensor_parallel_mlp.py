"""Answers to tensor_parallel_mlp that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TO = "        x = _ToAllRanks.apply(x, self.group)\n"
FROM = "        y = _FromAllRanks.apply(F.linear(hidden, self.down.weight), self.group)  # (*batch, out)\n"
RETURN = "        return y if self.down.bias is None else y + self.down.bias  # once, not on each rank\n"
COPY = "nn.Parameter(t.detach().clone(memory_format=torch.contiguous_format))"
RANKS = "        ranks, rank = dist.get_world_size(group), dist.get_rank(group)\n"
CHECK = """        if up.out_features % ranks:
            raise ValueError(f"{ranks} ranks cannot share {up.out_features} hidden units evenly")
"""

SPECIMENS = [
    Wrong(
        "each rank's own gradient of the input",
        edits=[(TO, "")],
        rung="job",
        check="test_gradients",
        says="are not added up",
    ),
    Wrong(
        "torch's differentiable all-reduce, which adds up equal gradients",
        edits=[
            (
                FROM,
                """        import torch.distributed.nn
        pg = self.group or dist.group.WORLD
        y = torch.distributed.nn.all_reduce(F.linear(hidden, self.down.weight), group=pg)
""",
            ),
        ],
        rung="job",
        check="test_gradients",
        says="counted once for each rank",
    ),
    Wrong(
        "the terms added up where no gradient can go",
        edits=[
            (
                FROM,
                """        y = F.linear(hidden, self.down.weight).detach()
        dist.all_reduce(y, group=self.group)
""",
            )
        ],
        rung="job",
        check="test_gradients",
    ),
    Wrong(
        "the gradient of x from a hook on the caller's own input",
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
        rung="job",
        check="test_gradients",
        says="past the MLP is added up",
    ),
    Wrong(
        "the bias on every rank",
        edits=[
            (FROM, FROM.replace("self.down.weight)", "self.down.weight, self.down.bias)")),
            (RETURN, "        return y\n"),
        ],
        rung="job",
        check="test_results",
        says="added once on every rank",
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
        rung="job",
        check="test_gradients",
        says="divided by the 2 ranks",
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
        rung="job",
        check="test_gradients",
        says="no gradient for down.bias",
    ),
    Wrong(
        "the mean of the terms",
        edits=[(RETURN, "        y = y / dist.get_world_size(self.group)\n" + RETURN)],
        rung="job",
        check="test_results",
        says="the mean of the terms",
    ),
    Wrong(
        "its own term",
        edits=[(FROM, "        y = F.linear(hidden, self.down.weight)\n")],
        rung="job",
        check="test_results",
        says="are not added up",
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
        rung="job",
        check="test_shares",
        says="down.weight",
    ),
    Wrong(
        "every N-th unit",
        edits=[("slice(rank * size, (rank + 1) * size)", "slice(rank, None, ranks)")],
        rung="job",
        check="test_shares",
        says="up.weight on rank",
    ),
    Wrong(
        "adds up over all ranks",
        edits=[("        dist.all_reduce(total, group=group)\n", "        dist.all_reduce(total)\n")],
        rung="job",
        check="test_groups",
    ),
    Wrong(
        "GELU for ever",
        edits=[("self.activation(F.linear(", "F.gelu(F.linear(")],
        rung="job",
        check="test_results",
        says="with tanh",
    ),
    Wrong(
        "views of the layers",
        edits=[(COPY, "nn.Parameter(t.detach())")],
        rung="fine",
        check="test_memory",
        says="too much memory",
    ),
    Wrong(
        "a bias is taken for granted",
        edits=[("return y if self.down.bias is None else y + self.down.bias", "return y + self.down.bias")],
        rung="fine",
        check="test_without_bias",
    ),
    Wrong(
        "float32 whatever the layers are",
        edits=[(COPY, COPY.replace("t.detach()", "t.detach().float()"))],
        rung="fine",
        check="test_dtypes",
    ),
    Wrong(
        "nothing to do for no rows, not even a graph",
        edits=[
            (
                TO,
                """        if not x.numel():
            return x.new_zeros(*x.shape[:-1], len(self.down.weight))
"""
                + TO,
            )
        ],
        rung="fine",
        check="test_rows",
        says="no rows",
    ),
    Wrong("rounds down", edits=[(CHECK, "")], rung="fine", check="test_indivisible", says="no error"),
    Wrong(
        "waits for the others",
        edits=[(RETURN, "        dist.barrier(group=self.group)\n" + RETURN)],
        rung="fine",
        check="test_messages",
        says="barrier",
    ),
    Works(
        "as in Megatron: a column-parallel and a row-parallel layer, for layers with a bias",
        code="""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class _CopyToModelParallelRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input_, group):
        ctx.group = group
        return input_

    @staticmethod
    def backward(ctx, grad_output):
        dist.all_reduce(grad_output, group=ctx.group)
        return grad_output, None


class _ReduceFromModelParallelRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input_, group):
        dist.all_reduce(input_.contiguous(), group=group)
        return input_

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class ColumnParallelLinear(nn.Module):
    def __init__(self, layer, group):
        super().__init__()
        self.group = group
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        self.weight = nn.Parameter(layer.weight.chunk(world, dim=0)[rank])
        self.bias = nn.Parameter(layer.bias.chunk(world)[rank])

    def forward(self, x):
        x = _CopyToModelParallelRegion.apply(x, self.group)
        return F.linear(x, self.weight, self.bias)


class RowParallelLinear(nn.Module):
    def __init__(self, layer, group):
        super().__init__()
        self.group = group
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        self.weight = nn.Parameter(layer.weight.chunk(world, dim=1)[rank])
        self.bias = nn.Parameter(layer.bias)

    def forward(self, x):
        y = _ReduceFromModelParallelRegion.apply(F.linear(x, self.weight), self.group)
        return y + self.bias


class TensorParallelMLP(nn.Module):
    def __init__(self, up, down, activation=F.gelu, group=None):
        super().__init__()
        self.up = ColumnParallelLinear(up, group)
        self.down = RowParallelLinear(down, group)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))
""",
    ),
    Works(
        "parallelize_module, as in PyTorch's tutorial",
        code="""
import copy

import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class TensorParallelMLP(nn.Module):
    def __init__(self, up, down, activation=F.gelu, group=None):
        super().__init__()
        self.up, self.down, self.activation = copy.deepcopy(up), copy.deepcopy(down), activation
        mesh = DeviceMesh.from_group(group or dist.group.WORLD, "cpu")
        parallelize_module(self, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})

    def forward(self, x):
        return self.down(self.activation(self.up(x)))
""",
    ),
    Right(
        "linear layers for the shares, a hook on a view, and the sum as a constant",
        code="""
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
""",
    ),
    Right(
        "one function for all, with the gradient of each part written out by autograd",
        code="""
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
""",
    ),
]
