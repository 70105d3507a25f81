"""What grades tensor_parallel_mlp: shares, results and gradients of one process, groups; memory, messages."""

import copy
from dataclasses import dataclass
from functools import cache

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

ACTIVATIONS = {"gelu": F.gelu, "tanh": torch.tanh}


@dataclass
class Case:
    """The layers of one process, and what goes in."""

    up: nn.Linear
    down: nn.Linear
    x: torch.Tensor
    cotangent: torch.Tensor
    activation: str = "gelu"

    def build(self, answer, group=None):
        options = {} if self.activation == "gelu" else {"activation": ACTIVATIONS[self.activation]}
        return answer.TensorParallelMLP(self.up, self.down, group=group, **options)

    def terms(self, layers, x, world_size):
        """What each rank adds to the result, without the bias of down."""
        hidden = ACTIVATIONS[self.activation](layers.up(x)).chunk(world_size, -1)
        return [h @ w.T for h, w in zip(hidden, layers.down.weight.chunk(world_size, 1), strict=True)]


def drawn(gen, hidden, shape=(4, 3), out=None, *, biases=(True, True), dtype=torch.float32, **options):
    up = nn.Linear(shape[-1], hidden, bias=biases[0], dtype=dtype)
    down = nn.Linear(hidden, out or shape[-1], bias=biases[1], dtype=dtype)
    for p in (*up.parameters(), *down.parameters()):
        p.data.copy_(torch.randn(p.shape, generator=gen, dtype=torch.float64))  # all digits of dtype
    x, cotangent = (torch.randn(shape, generator=gen).to(dtype) for _ in range(2))
    return Case(up, down, x, cotangent, **options)


def exact(case):
    """The layers of one process in float64, with parameters of the same names."""
    layers = nn.Module()
    layers.up, layers.down = copy.deepcopy(case.up).double(), copy.deepcopy(case.down).double()
    return layers


def share(name, t, rank, world_size):
    """What a rank has of a parameter of the whole MLP, or of its gradient."""
    if name == "down.bias":
        return t
    return t.chunk(world_size, dim=1 if name == "down.weight" else 0)[rank]


def local(tensor):
    """A plain tensor; of a DTensor, what this rank has."""
    tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return None if tensor is None else tensor.detach().clone()


def look(rank, world_size, answer, cases, backward):
    """Of each case the result and, for a residual connection as in a transformer, the gradients."""
    return [_look(answer, case, backward) for case in cases]


def _look(answer, case, backward):
    mlp = case.build(answer)
    if not backward:
        return local(mlp(case.x)), {}
    x = case.x.clone().requires_grad_()
    y = mlp(x)
    ((x + y) * case.cotangent).sum().backward()
    return local(y), {"x": x.grad} | {name: local(p.grad) for name, p in mlp.named_parameters()}


def look_alone(case, world_size):
    """The same on one process in float64; what is wanted comes with the mistakes people make, in words."""
    layers, x, c = exact(case), case.x.double().requires_grad_(), case.cotangent.double()
    terms = case.terms(layers, x, world_size)
    bias = 0 if layers.down.bias is None else layers.down.bias
    total = sum(terms) + bias
    y = [
        {
            "the bias of down is added once on every rank": total + (world_size - 1) * bias,
            "the bias of down is missing": total - bias,
            "that is this rank's term: the terms are not added up": term + bias,
            "that is the mean of the terms, where their sum is wanted": sum(terms) / world_size + bias,
        }
        for term in terms
    ]
    if x.shape[-1] != total.shape[-1]:
        return total, y, {}
    own = [torch.autograd.grad((term * c).sum(), x, retain_graph=True)[0] for term in terms]
    (total * c).sum().backward()
    gradients = {"x": [(c + x.grad, _of_x(c, x.grad, mine, world_size)) for mine in own]}
    for name, p in layers.named_parameters():
        rights = [share(name, p.grad, rank, world_size) for rank in range(world_size)]
        gradients[name] = [(right, _of_parameter(right, world_size)) for right in rights]
    return total, y, gradients


def _of_x(past, through, mine, world_size):
    return {
        "that is this rank's part: the ranks' gradients of x are not added up": past + mine,
        "what comes past the MLP is added up over the ranks as well": world_size * past + through,
        "what comes through the MLP is counted once for each rank": past + world_size * through,
    }


def _of_parameter(right, world_size):
    return {
        f"it is counted {world_size} times, once for each rank": right * world_size,
        f"it is divided by the {world_size} ranks": right / world_size,
    }


def expect_as_alone(answer, world_size, cases, *, backward=True):
    """The results and the gradients of each case are those of one process."""
    ranks = run_ranks(world_size, look, list(cases.values()), backward, answer=answer)
    for number, (about, case) in enumerate(cases.items()):
        right, suspects, gradients = look_alone(case, world_size)
        for rank, found in enumerate(ranks):
            y, yours = found[number]
            where = f"on rank {rank} of {world_size}, {about}"
            expect_near(y, right, case, f"mlp(x) {where}", suspects[rank])
            for name, wanted in gradients.items() if backward else ():
                expect_that(yours.get(name) is not None, f"no gradient for {name} {where}", yours="None")
                expect_near(
                    yours[name], wanted[rank][0], case, f"the gradient of {name} {where}", wanted[rank][1]
                )


def expect_near(yours, right, case, call, suspects):
    dtype = case.x.dtype
    suspects = {about: lambda t=t: t.detach().to(dtype) for about, t in suspects.items()}
    # the terms are rounded before they are added up, and they can be larger than their sum
    scale = 8 * float(right.abs().max()) if right.numel() else 1.0
    ulps = 16 if dtype == torch.bfloat16 else 200
    expect_close(yours, right.detach().to(dtype), call, scale=scale, ulps=ulps, suspects=suspects)


def shares(rank, world_size, answer, cases):
    return [{name: local(p) for name, p in case.build(answer).named_parameters()} for case in cases]


def expect_shares(answer, cases):
    for rank, found in enumerate(run_ranks(2, shares, cases, answer=answer)):
        for case, parts in zip(cases, found, strict=True):
            whole = dict(nn.ModuleDict({"up": case.up, "down": case.down}).named_parameters())
            expect_equal(sorted(parts), sorted(whole), f"the names of the parameters on rank {rank}")
            for name, p in whole.items():
                dim = 1 if name == "down.weight" else 0
                suspects = {
                    "these are every second unit: a rank has neighbours": lambda p=p, dim=dim, r=rank: (
                        p.detach().index_select(dim, torch.arange(r, p.shape[dim], 2))
                    )
                }
                wanted, call = share(name, p.detach(), rank, 2), f"{name} on rank {rank} of 2"
                expect_close(parts[name], wanted, call, suspects=suspects)


def test_shares(answer, gen):
    """Each rank has its share of every parameter, and the whole bias of down."""
    expect_shares(answer, [drawn(gen, 6), drawn(gen, 6, out=6)])  # down.weight of the second is square


@pytest.mark.parametrize("world_size", [1, 3])
def test_results(answer, gen, world_size):
    """Every rank returns what the MLP on one process does."""
    cases = {
        "with GELU": drawn(gen, 6),
        "with tanh": drawn(gen, 6, activation="tanh"),
        "of a batch of sequences": drawn(gen, 12, (2, 5, 3), out=4),
    }
    expect_as_alone(answer, world_size, cases, backward=False)


@pytest.mark.parametrize("world_size", [2, 3])
def test_gradients(answer, gen, world_size):
    """The gradients of x and of the parameters are those of one process, or this rank's share of them."""
    cases = {"of rows": drawn(gen, 6), "of sequences": drawn(gen, 12, (2, 5, 4), activation="tanh")}
    expect_as_alone(answer, world_size, cases)


def in_pairs(rank, world_size, answer, cases):
    """Two groups, each with layers and inputs of its own."""
    group = [dist.new_group([0, 2]), dist.new_group([1, 3])][rank % 2]
    case = cases[rank % 2]
    mlp = case.build(answer, group)
    x = case.x.clone().requires_grad_()
    y = mlp(x)
    y.square().sum().backward()
    return local(y), x.grad, local(mlp.get_parameter("up.weight"))


def test_groups(answer, gen):
    """With a group, its ranks share the work among themselves, and leave the others alone."""
    cases = [drawn(gen, 6), drawn(gen, 4, activation="tanh")]
    for rank, (y, gradient, weight) in enumerate(run_ranks(4, in_pairs, cases, answer=answer)):
        case = cases[rank % 2]
        where = f"on rank {rank}, in the group of ranks {rank % 2} and {rank % 2 + 2}"
        layers, x = exact(case), case.x.double().requires_grad_()
        right = layers.down(ACTIVATIONS[case.activation](layers.up(x)))
        (wanted,) = torch.autograd.grad(right.square().sum(), x)
        expect_close(weight, case.up.weight.detach().chunk(2)[rank // 2], f"up.weight {where}")
        of_all = {
            "the terms of all ranks are added up, not those of the group alone": lambda case=case: (
                sum(sum(one.terms(exact(one), one.x.double(), 2)) for one in cases).detach()
                + case.down.bias.detach()
            ).float()
        }
        expect_close(y, right.detach().float(), f"mlp(x) {where}", ulps=200, suspects=of_all)
        expect_close(gradient, wanted.float(), f"the gradient of x {where}", ulps=400)


@pytest.mark.fine
def test_without_bias(answer, gen):
    """A layer without a bias gives no parameter for it."""
    cases = [drawn(gen, 6, biases=biases) for biases in [(False, False), (False, True), (True, False)]]
    expect_shares(answer, cases)
    expect_as_alone(
        answer, 2, {f"without a bias, {number} of 3": case for number, case in enumerate(cases, 1)}
    )


@pytest.mark.fine
def test_rows(answer, gen):
    """x may be a single row, without a batch, or have no rows."""
    shapes = {"of one row without a batch": (7,), "of no rows": (0, 7)}
    expect_as_alone(answer, 2, {about: drawn(gen, 4, shape) for about, shape in shapes.items()})


@pytest.mark.fine
def test_dtypes(answer, gen):
    """Layers in another dtype are computed in it."""
    dtypes = torch.float64, torch.bfloat16
    expect_as_alone(answer, 2, {f"in {dtype}": drawn(gen, 6, dtype=dtype) for dtype in dtypes})


def refuse(rank, world_size, answer, hidden):
    up, down = nn.Linear(2, hidden), nn.Linear(hidden, 3)
    call = f"TensorParallelMLP with {hidden} hidden units on {world_size} ranks"
    expect_raises((ValueError, RuntimeError), lambda: answer.TensorParallelMLP(up, down), call)


@pytest.mark.fine
def test_indivisible(answer):
    """Hidden units that the ranks cannot share evenly get a ValueError on every rank."""
    run_ranks(3, refuse, 5, answer=answer)


def keep(rank, world_size, answer, case):
    """The memory of each parameter, and whether what is written to it shows in the layers."""
    layers = nn.ModuleDict({"up": case.up, "down": case.down})
    before = copy.deepcopy(layers.state_dict())
    mlp = case.build(answer)
    sizes = {name: p.untyped_storage().nbytes() for name, p in mlp.named_parameters()}
    with torch.no_grad():
        for p in mlp.parameters():
            p.zero_()
    return sizes, all(torch.equal(t, before[name]) for name, t in layers.state_dict().items())


@pytest.mark.fine
@pytest.mark.parametrize("world_size", [1, 2])
def test_memory(answer, gen, world_size):
    """The parameters have memory of their own, of the size of the share; the layers stay as they are."""
    most = {
        name: 4 * n // world_size for name, n in {"up.weight": 18, "up.bias": 6, "down.weight": 18}.items()
    }
    for rank, (sizes, same) in enumerate(run_ranks(world_size, keep, drawn(gen, 6), answer=answer)):
        where = f"on rank {rank} of {world_size}"
        for name, size in most.items():
            wanted = f"{size} bytes: a copy of the share, not a view of the whole"
            told = f"{name} keeps too much memory {where}"
            expect_that(sizes[name] <= size, told, yours=f"{sizes[name]} bytes", wanted=wanted)
        expect_that(same, f"writing to the MLP's parameters changes the layers {where}", wanted="copies")


def count(rank, world_size, answer, case):
    """What is sent when the MLP is built, in a forward, in a backward, and in a forward without gradients."""
    with count_collectives() as built:
        mlp = case.build(answer)
    x = case.x.clone().requires_grad_()
    with count_collectives() as forward:
        y = mlp(x)
    with count_collectives() as backward:
        y.square().sum().backward()
    with count_collectives() as evaluated, torch.no_grad():
        mlp(case.x)
    return [(c.count, sum(c.bytes.values())) for c in (built, forward, backward, evaluated)]


@pytest.mark.fine
def test_messages(answer, gen):
    """One all-reduce in the forward, one in the backward, and none when the MLP is built."""
    case = drawn(gen, 6, (4, 2, 3), out=5)
    result = 4 * 2 * 5 * 4
    sizes = {
        "when the MLP is built": 0,
        "in a forward": result,
        "in a backward": case.x.nbytes,
        "in a forward without gradients": result,
    }
    for rank, found in enumerate(run_ranks(2, count, case, answer=answer)):
        for (calls, size), (when, most) in zip(found, sizes.items(), strict=True):
            wanted = {"all_reduce": 1} if most else {}
            told = f"wrong messages of rank {rank} {when}"
            expect_that(calls == wanted, told, yours=in_words(calls), wanted=in_words(wanted))
            told = f"rank {rank} sends too much {when}"
            expect_that(size <= most, told, yours=f"{size} bytes", wanted=f"at most {most}")


def oracle(answer, gen):
    cases = [drawn(gen, 6, (2, 4, 3)), drawn(gen, 9, (2, 5), activation="tanh")]

    @cache
    def looked_at(place):
        """The result and the gradients on each rank."""
        return [
            pair
            for rank in run_ranks(3, look, cases[place : place + 1], True, answer=answer)
            for pair in rank
        ]

    def results(place):
        return lambda: [y for y, _ in looked_at(place)]

    def parameters(place):
        return lambda: [
            [g for name, g in sorted(gradients.items()) if name != "x"] for _, gradients in looked_at(place)
        ]

    return {
        "the results on three ranks": results(0),
        "the results on three ranks, with tanh": results(1),
        "the gradient of x": lambda: [gradients["x"] for _, gradients in looked_at(0)],
        "the gradients of the parameters": parameters(0),
        "the gradients of the parameters, with tanh": parameters(1),
    }
