"""What grades tensor_parallel_mlp: results and gradients of one process, cuts, groups, messages."""

import copy
import gc
import weakref
from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

ACTIVATIONS = {"gelu": F.gelu, "tanh": torch.tanh, "squared ReLU": lambda x: x.relu().square()}


@dataclass
class Case:
    """The layers of one process, and what goes in."""

    up: nn.Linear
    down: nn.Linear
    x: torch.Tensor
    activation: str = "gelu"

    def options(self):
        return {} if self.activation == "gelu" else {"activation": ACTIVATIONS[self.activation]}

    def whole(self):
        """The MLP on one process, with parameters of the same names."""
        layers = nn.Module()
        layers.up, layers.down = copy.deepcopy(self.up), copy.deepcopy(self.down)
        layers.forward = lambda x: layers.down(ACTIVATIONS[self.activation](layers.up(x)))
        return layers


def drawn(gen, hidden, shape=(4, 3), out=5, *, biases=(True, True), dtype=torch.float32, **options):
    up = nn.Linear(shape[-1], hidden, bias=biases[0], dtype=dtype)
    down = nn.Linear(hidden, out, bias=biases[1], dtype=dtype)
    for p in (*up.parameters(), *down.parameters()):
        p.data.copy_(torch.randn(p.shape, generator=gen, dtype=torch.float64))  # all digits of dtype
    x = torch.randn(shape, generator=gen).to(dtype)
    return Case(up, down, x, **options)


def cut(name, t, rank, world_size):
    """What a rank has of a parameter of the whole MLP, or of its gradient."""
    if name == "down.bias":
        return t
    return t.chunk(world_size, dim=1 if name == "down.weight" else 0)[rank]


def outputs(rank, world_size, answer, cases):
    """The results, and the names of parameters that share memory with the layers."""
    return [_outputs(answer, case) for case in cases]


def _outputs(answer, case):
    mlp = answer.TensorParallelMLP(case.up, case.down, **case.options())
    layers = {p.untyped_storage().data_ptr() for p in (*case.up.parameters(), *case.down.parameters())}
    shared = [name for name, p in mlp.named_parameters() if p.untyped_storage().data_ptr() in layers]
    return mlp(case.x).detach(), shared


def parts(rank, world_size, answer, cases):
    return [_parts(answer, case) for case in cases]


def _parts(answer, case):
    """What a rank keeps: parameters, their memory, and whether the layers can go."""
    up, down = copy.deepcopy(case.up), copy.deepcopy(case.down)
    mlp = answer.TensorParallelMLP(up, down, **case.options())
    values = {name: p.detach().clone() for name, p in mlp.named_parameters()}
    facts = {
        name: (type(p).__name__, p.is_leaf and p.requires_grad, p.untyped_storage().nbytes())
        for name, p in mlp.named_parameters()
    }
    keys = sorted(mlp.state_dict())
    with torch.no_grad():
        for p in mlp.parameters():
            p.zero_()
    kept = all(
        torch.equal(now.get_parameter(name), was) and now.get_parameter(name).requires_grad
        for now, before in ((up, case.up), (down, case.down))
        for name, was in before.named_parameters()
    )
    held = {"up": weakref.ref(up.weight), "down": weakref.ref(down.weight)}
    del up, down
    gc.collect()
    return values, facts, keys, kept, [name for name, weight in held.items() if weight() is not None]


def test_parts(answer, gen):
    """Each rank has its cut of every parameter, in memory of its own, and does not keep the layers."""
    cases = [drawn(gen, 6, biases=biases) for biases in [(True, True), (False, True), (True, False)]]
    cases.append(drawn(gen, 6, out=6))  # down.weight is square
    for rank, found in enumerate(run_ranks(2, parts, cases, answer=answer)):
        for case, (values, facts, keys, kept, held) in zip(cases, found, strict=True):
            whole = dict(case.whole().named_parameters())
            expect_equal(sorted(values), sorted(whole), f"the names of the parameters on rank {rank}")
            expect_equal(keys, sorted(whole), f"the keys of the state dict on rank {rank}")
            for name, p in whole.items():
                right = cut(name, p.detach(), rank, 2)
                expect_equal(values[name], right, f"{name} on rank {rank} of 2")
                kind, trains, size = facts[name]
                expect_equal(
                    (kind, trains), ("Parameter", True), f"the type of {name}, and whether it trains"
                )
                expect_that(
                    size <= right.nbytes,
                    f"{name} on rank {rank} of 2 keeps too much memory",
                    yours=f"{size} bytes",
                    wanted=f"{right.nbytes} bytes: a copy of the cut, not a view of the whole",
                )
            told = (
                "building the MLP, or writing to its parameters, changes the layers (values, requires_grad)"
            )
            expect_that(kept, f"{told} on rank {rank}")
            told = f"the MLP keeps alive the whole layers on rank {rank}"
            expect_that(not held, told, yours=" and ".join(held), wanted="copies of the cuts only")


def build(rank, world_size, answer, sizes):
    for hidden in sizes:
        up, down = nn.Linear(2, hidden), nn.Linear(hidden, 3)
        call = f"TensorParallelMLP with {hidden} hidden units on {world_size} ranks"
        expect_raises(ValueError, lambda up=up, down=down: answer.TensorParallelMLP(up, down), call)


@pytest.mark.parametrize("world_size", [1, 3])
def test_results(answer, gen, world_size):
    """Every rank returns what the MLP on one process does, for all shapes, dtypes and layers."""
    cases = {
        "with GELU": drawn(gen, 6),
        "with tanh": drawn(gen, 6, activation="tanh"),
        "with squared ReLU": drawn(gen, 3, (2, 4), activation="squared ReLU"),
        "of a batch of sequences": drawn(gen, 12, (2, 5, 3), out=4),
        "of a batch of one": drawn(gen, 9, (1, 3)),
        "of one row without a batch": drawn(gen, 3, (7,)),
        "of no rows": drawn(gen, 6, (0, 3)),
        "without biases": drawn(gen, 6, biases=(False, False)),
        "without the bias of up": drawn(gen, 6, biases=(False, True)),
        "without the bias of down": drawn(gen, 6, biases=(True, False)),
        "in float64": drawn(gen, 6, dtype=torch.float64),
        "in bfloat16": drawn(gen, 6, dtype=torch.bfloat16),
    }
    wanted = [case.whole().double().forward(case.x.double()).detach() for case in cases.values()]
    for rank, found in enumerate(run_ranks(world_size, outputs, list(cases.values()), answer=answer)):
        for (y, shared), right, (about, case) in zip(found, wanted, cases.items(), strict=True):
            # the terms are rounded before they are added up, and they can be larger than their sum
            scale = 2 * float(right.abs().max()) if right.numel() else 1.0
            ulps = 16 if case.x.dtype == torch.bfloat16 else None
            call = f"mlp(x) on rank {rank} of {world_size}, {about}"
            expect_close(y, right.to(case.x.dtype), call, scale=scale, ulps=ulps)
            told = f"parameters share memory with the layers on rank {rank} of {world_size}"
            expect_that(not shared, told, yours=" and ".join(shared), wanted="copies")


def flow(model, x, cotangent):
    """The gradient of x, where it goes into the MLP twice, past it, and through a view."""
    x = x.clone().requires_grad_()
    inner = x * 2.0
    turned = inner.transpose(0, 1) if inner.dim() > 1 else inner
    y = model.forward(turned)
    y = inner + (y.transpose(0, 1) if inner.dim() > 1 else y)
    y = y + model.forward(y)
    (y if cotangent is None else y * cotangent).sum().backward()
    return x.grad


def gradients(rank, world_size, answer, cases, cotangents):
    results = []
    for case, cotangent in zip(cases, cotangents, strict=True):
        mlp = answer.TensorParallelMLP(case.up, case.down, **case.options())
        found = flow(mlp, case.x, cotangent)
        results.append((found, {name: p.grad for name, p in mlp.named_parameters()}))
    return results


def expect_gradients_as_alone(answer, world_size, cases, cotangents):
    wanted = []
    for case, cotangent in zip(cases, cotangents, strict=True):
        exact = case.whole().double()
        found = flow(exact, case.x.double(), None if cotangent is None else cotangent.double())
        wanted.append((found, {name: p.grad for name, p in exact.named_parameters()}))
    for rank, results in enumerate(run_ranks(world_size, gradients, cases, cotangents, answer=answer)):
        where = f"on rank {rank} of {world_size}"
        for (found, mine), (right, whole), case in zip(results, wanted, cases, strict=True):
            dtype = case.x.dtype
            pairs = [("x", found, right)]
            pairs += [(name, mine.get(name), cut(name, g, rank, world_size)) for name, g in whole.items()]
            for name, yours, wanted_one in pairs:
                about = f"no gradient for {name} {where}, x of {list(case.x.shape)}"
                expect_that(yours is not None, about, yours="None")
                scale = 4 * float(wanted_one.abs().max()) if wanted_one.any() else 1.0
                about = f"the gradient of {name} {where}, x of {list(case.x.shape)}"
                expect_close(yours, wanted_one.to(dtype), about, ulps=200, scale=scale)


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_gradients(answer, gen, world_size):
    """The gradients of x and of the parameters are those of one process, or this rank's cut of them."""
    cases = [
        drawn(gen, 6, (2, 4, 3), out=3),
        drawn(gen, 12, (2, 5, 3), out=3, activation="tanh", dtype=torch.float64),
        drawn(gen, 6, (3, 1, 4), out=4, biases=(False, False)),
        drawn(gen, 6, (0, 2, 3), out=3),
        drawn(gen, 6, (3,), out=3),
    ]
    cotangents = [None, *(torch.randn(c.x.shape, generator=gen).to(c.x.dtype) for c in cases[1:])]
    expect_gradients_as_alone(answer, world_size, cases, cotangents)


def optimizer_of(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def train(rank, world_size, answer, first, second, batches):
    """Two blocks with residual connections: the losses, and the parameters after each step."""
    blocks = [answer.TensorParallelMLP(c.up, c.down, **c.options()) for c in (first, second)]
    optimizer = optimizer_of([p for block in blocks for p in block.parameters()])
    losses, states = [], []
    for x in batches:
        losses.append(_step(blocks, optimizer, x))
        states.append([{n: p.detach().clone() for n, p in block.named_parameters()} for block in blocks])
    return losses, states


def _step(blocks, optimizer, x):
    h = x
    for block in blocks:
        h = h + block.forward(h)
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def test_training(answer, gen):
    """Several steps of training on two blocks give every rank its cut of what one process would have."""
    first, second = (drawn(gen, hidden, out=3, dtype=torch.float64) for hidden in (8, 4))
    for p in (
        *first.up.parameters(),
        *first.down.parameters(),
        *second.up.parameters(),
        *second.down.parameters(),
    ):
        p.data /= 2
    batches = [torch.randn(6, 3, generator=gen).double() for _ in range(4)]
    whole = [first.whole(), second.whole()]
    optimizer = optimizer_of([p for block in whole for p in block.parameters()])
    wanted = []
    for x in batches:
        loss = _step(whole, optimizer, x)
        wanted.append((loss, [{n: p.detach().clone() for n, p in b.named_parameters()} for b in whole]))
    found = run_ranks(4, train, first, second, batches, answer=answer)
    for rank, (losses, states) in enumerate(found):
        for number, (loss, blocks) in enumerate(wanted):
            where = f"in step {number + 1} on rank {rank} of 4"
            expect_close(torch.tensor(losses[number]), torch.tensor(loss), f"the loss {where}", ulps=500)
            for which, block in enumerate(blocks):
                for name, p in block.items():
                    yours = states[number][which].get(name)
                    expect_close(
                        yours,
                        cut(name, p, rank, 4),
                        f"{name} of block {which + 1} {where}",
                        ulps=1e6,
                        scale=1.0,
                    )


def in_pairs(rank, world_size, answer, cases):
    """Two groups, each with layers and inputs of its own."""
    groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    case, group = cases[rank % 2], groups[rank % 2]
    mlp = answer.TensorParallelMLP(case.up, case.down, group=group, **case.options())
    mlp.train(rank % 2 == 0)  # of no account
    x = case.x.clone().requires_grad_()
    y = mlp(x)
    y.square().sum().backward()
    return y.detach(), x.grad, {name: p.detach() for name, p in mlp.named_parameters()}


def test_groups(answer, gen):
    """With a group, its ranks share the work among themselves, and leave the others alone."""
    cases = [drawn(gen, 6), drawn(gen, 4, activation="tanh")]
    for rank, (y, gradient, parts) in enumerate(run_ranks(4, in_pairs, cases, answer=answer)):
        case = cases[rank % 2]
        where = f"on rank {rank}, in the group of ranks {rank % 2} and {rank % 2 + 2}"
        whole = case.whole().double()
        x = case.x.double().requires_grad_()
        right = whole.forward(x)
        (wanted,) = torch.autograd.grad(right.square().sum(), x)
        for name, p in whole.named_parameters():
            expect_close(parts.get(name), cut(name, p.detach().float(), rank // 2, 2), f"{name} {where}")
        expect_close(y, right.detach().float(), f"mlp(x) {where}", ulps=100)
        expect_close(gradient, wanted.float(), f"the gradient of x {where}", ulps=200)


def count(rank, world_size, answer, case):
    """What is sent when the MLP is built, in a forward, in a backward, and in a forward without gradients."""
    with count_collectives() as built:
        mlp = answer.TensorParallelMLP(case.up, case.down, **case.options())
    x = case.x.clone().requires_grad_()
    for _ in range(2):
        with count_collectives() as forward:
            y = mlp(x)
        cotangent = torch.ones_like(y)
        with count_collectives() as backward:
            y.backward(cotangent)
    with count_collectives() as evaluated, torch.no_grad():
        without = mlp.eval()(case.x)
    plain = case.x.clone()
    mlp(plain)
    intact = (
        torch.equal(x.detach(), case.x),
        torch.equal(cotangent, torch.ones_like(y)),
        not plain.requires_grad,
    )
    sent = [(c.count, sum(c.bytes.values())) for c in (built, forward, backward, evaluated)]
    return sent, intact, (without, y.detach())


def test_messages(answer, gen):
    """One all-reduce in the forward, one in the backward, none otherwise; and inputs are left alone."""
    case = drawn(gen, 6, (4, 2, 3))
    sizes = [0, 4 * 2 * 5 * 4, case.x.nbytes, 4 * 2 * 5 * 4]
    whens = ["when the MLP is built", "in a forward", "in a backward", "in a forward without gradients"]
    for rank, (found, intact, results) in enumerate(run_ranks(2, count, case, answer=answer)):
        for (calls, size), most, when in zip(found, sizes, whens, strict=True):
            wanted = {"all_reduce": 1} if most else {}
            told = f"wrong messages of rank {rank} {when}"
            expect_that(calls == wanted, told, yours=in_words(calls), wanted=in_words(wanted))
            expect_that(
                size <= most,
                f"rank {rank} sends too much {when}",
                yours=f"{size} bytes",
                wanted=f"at most {most}",
            )
        call = f"mlp(x) under torch.no_grad, against that with gradients, on rank {rank} of 2"
        expect_close(*results, call, scale=float(results[1].abs().max()), ulps=16)
        expect_that(intact[0], f"the MLP changes its input on rank {rank}")
        expect_that(intact[1], f"the MLP changes the gradient that comes in on rank {rank}")
        expect_that(intact[2], f"after mlp(x), an x that required no gradient requires one, on rank {rank}")


def test_indivisible(answer):
    """Hidden units that the ranks cannot share evenly get a ValueError on every rank."""
    run_ranks(3, build, [4, 5, 2], answer=answer)


def oracle(answer, gen):
    cases = [
        drawn(gen, 6, (2, 4, 3), out=3, dtype=torch.float64),
        drawn(gen, 9, (2, 1, 5), out=5, activation="tanh", biases=(True, False)),
    ]
    cotangents = [torch.randn(c.x.shape, generator=gen).to(c.x.dtype) for c in cases]
    found = run_ranks(3, gradients, cases, cotangents, answer=answer)
    return [*found, *run_ranks(3, outputs, cases, answer=answer)]
