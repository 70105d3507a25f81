"""What grades ddp_from_hooks: training like one process, the start, overlap, calls; corners, messages."""

import time
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


class Look(torch.autograd.Function):
    """Calls a function during the backward."""

    @staticmethod
    def forward(ctx, x, look):
        ctx.look = look
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.look()
        return gradient, None


class Plain(nn.Module):
    """Two layers; `look` is called when the backward has left the last one."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(3, 4), nn.Linear(4, 2)
        self.look = lambda: None

    def forward(self, x):
        return self.leave(Look.apply(self.enter(x).tanh(), self.look))


class Corners(nn.Module):
    """Tied, frozen and unused parameters, and one that only the first forward uses."""

    def __init__(self):
        super().__init__()
        self.enter, self.middle, self.leave = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.again = nn.Linear(4, 4, bias=False)
        self.again.weight = self.middle.weight
        self.middle.bias.requires_grad_(False)
        self.unused = nn.Linear(2, 5)
        self.first = nn.Parameter(torch.zeros(4, 3))
        self.forwards = 0

    def forward(self, x):
        self.forwards += 1
        early = F.linear(x, self.first) if self.forwards == 1 else 0
        return self.leave(self.again(self.middle((self.enter(x) + early).tanh()).tanh()))


class Transposed(Plain):
    """The first weight is transposed in memory, and so is its gradient."""

    def __init__(self):
        super().__init__()
        self.enter.weight = nn.Parameter(torch.zeros(3, 4).t())


MODELS = {"Plain": Plain, "Corners": Corners, "Transposed": Transposed}


@dataclass
class Case:
    """What the ranks train on: `steps[i][r]` are inputs and targets of rank r; `weights[r]` its start."""

    steps: list[Any]
    weights: list[dict[str, torch.Tensor]]
    model: str = "Plain"
    to_none: bool = True
    late: bool = False


def drawn(gen, world_size, *, model="Plain", steps=3, **options):
    """A case with shards of one size, and ranks that start with weights of their own."""
    shapes = {name: p.shape for name, p in MODELS[model]().named_parameters()}
    weights = [
        {name: torch.randn(shape, generator=gen) for name, shape in shapes.items()} for _ in range(world_size)
    ]
    data = [
        [
            (torch.randn(4, 3, generator=gen), torch.randn(4, 2, generator=gen) + 2 * rank)
            for rank in range(world_size)
        ]
        for _ in range(steps)
    ]
    return Case(data, weights, model, **options)


def prepared(case, rank):
    """The module that a rank brings, and an optimizer over its parameters."""
    module = MODELS[case.model]()
    module.load_state_dict(case.weights[rank], strict=False)  # tied weights have one name here
    return module, torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)


def loss_of(model, inputs, targets):
    return (model(inputs) - targets).square().mean()


def state(module):
    """Gradient, or None, and weight of each parameter."""
    return {
        name: (None if p.grad is None else p.grad.float().clone(), p.detach().float().clone())
        for name, p in module.named_parameters()
    }


def train(rank, world_size, answer, cases):
    """What each rank does: gradients and weights after each step of each case."""
    found = []
    for case in cases:
        module, optimizer = prepared(case, rank)
        model = answer.DataParallelModel(module)
        results = []
        for shards in case.steps:
            optimizer.zero_grad(set_to_none=case.to_none)
            loss = loss_of(model, *shards[rank])
            if case.late:
                wait_for_others(rank, world_size, loss.backward)
            else:
                loss.backward()
            model.finish_gradients()
            optimizer.step()
            results.append(state(module))
        found.append(results)
    return found


def wait_for_others(rank, world_size, backward):
    """The last rank begins its backward when all others have told it that theirs is over."""
    last, token = world_size - 1, torch.zeros(1)
    if rank == last:
        for other in range(last):
            dist.recv(token, other)
        time.sleep(0.05)
    backward()
    if rank != last:
        dist.send(token, last)


def train_alone(case, *, start=0, only=None, factor=1.0):
    """The same on one process, in float64, with all rows of a step in one batch; or with a mistake."""
    module, optimizer = prepared(case, start)
    module.double()
    results = []
    for shards in case.steps:
        shards = shards if only is None else [shards[only]]
        inputs, targets = (torch.cat(parts).double() for parts in zip(*shards, strict=True))
        optimizer.zero_grad(set_to_none=case.to_none)
        (factor * loss_of(module, inputs, targets)).backward()
        optimizer.step()
        results.append(state(module))
    return results


def expect_as_alone(answer, world_size, about, case):
    """Gradients and weights on every rank are those of one process, from the weights of rank 0."""
    wanted = train_alone(case)
    for rank, (results,) in enumerate(run_ranks(world_size, train, [case], answer=answer)):
        mistakes = {
            "that is this rank's own gradient: it was not averaged, or not waited for": {"only": rank},
            "the gradients are summed: divide by the number of ranks": {"factor": world_size},
            "the gradients are divided twice by the number of ranks": {"factor": 1 / world_size},
            "this rank has kept the weights it came with": {"start": rank},
        }
        wrong = {words: cache(partial(train_alone, case, **how)) for words, how in mistakes.items()}
        for number, (mine, right) in enumerate(zip(results, wanted, strict=True)):
            where = f"in step {number + 1} on rank {rank} of {world_size}, {about}"
            for name, pair in right.items():
                for part, what in enumerate((f"`.grad` of {name} when finish_gradients returns,", name)):
                    told = {
                        words: lambda run=run, n=number, name=name, part=part: run()[n][name][part]
                        for words, run in wrong.items()
                    }
                    if pair[part] is None:
                        ok = mine[name][part] is None
                        expect_that(
                            ok, f"{what} {where}", yours="a tensor", wanted="None: it has no gradient"
                        )
                    else:
                        # several steps add up the rounding of each
                        call = f"{what} {where}"
                        expect_close(mine[name][part], pair[part], call, ulps=500, scale=1.0, suspects=told)


@pytest.mark.parametrize("world_size", [2, 3])
def test_steps_of_one_process(answer, gen, world_size):
    """Every rank takes the steps that one process takes on all rows, from the weights of rank 0."""
    expect_as_alone(answer, world_size, "two layers", drawn(gen, world_size))


def begin(rank, world_size, answer, weights):
    """The parameters after wrapping, and whether they are the same objects."""
    module, _ = prepared(Case([], weights), rank)
    before = list(module.parameters())
    answer.DataParallelModel(module)
    same = all(a is b for a, b in zip(before, module.parameters(), strict=True))
    return {name: p.detach() for name, p in module.named_parameters()}, same


def test_start(answer, gen):
    """Wrapping gives all ranks the parameters of rank 0, in the same objects."""
    weights = drawn(gen, 3).weights
    for rank, (after, same) in enumerate(run_ranks(3, begin, weights, answer=answer)):
        for name, wanted in weights[0].items():
            told = {
                "that is what this rank came with": lambda rank=rank, name=name: weights[rank][name],
                "that is the mean over the ranks": lambda name=name: sum(w[name] for w in weights) / 3,
            }
            expect_close(after[name], wanted, f"{name} after wrapping, on rank {rank}", suspects=told)
        expect_that(
            same, f"wrapping replaces a parameter, which the optimizer goes on holding, on rank {rank}"
        )


def look(rank, world_size, answer, case):
    """How many messages have set out when the backward has left the last layer."""
    module, _ = prepared(case, rank)
    model, halfway = answer.DataParallelModel(module), []
    module.look = lambda: halfway.append(len(sending.calls))
    loss = loss_of(model, *case.steps[0][rank])
    with count_collectives() as sending:
        loss.backward()
    model.finish_gradients()
    return halfway


def test_sent_during_the_backward(answer, gen):
    """A gradient sets out before the backward of the layers that come earlier in the model."""
    for rank, (halfway,) in enumerate(run_ranks(2, look, drawn(gen, 2, steps=1), answer=answer)):
        told = f"gradients that have set out when the backward has left the last layer, on rank {rank}"
        expect_that(halfway >= 2, told, yours=halfway, wanted="2: its weight and its bias")


def test_the_backward_waits_for_nobody(answer, gen):
    """A rank's backward ends although another rank has not begun, and finish_gradients waits for that one."""
    expect_as_alone(answer, 2, "where rank 1 comes late", drawn(gen, 2, steps=2, late=True))


class Ranker(nn.Module):
    """Takes positional and keyword arguments, and returns a dict."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 1)

    def forward(self, *features, scale=1.0):
        return {"scores": [self.score(x).detach() * scale for x in features]}


def call(rank, world_size, answer, x):
    module = Ranker()
    model = answer.DataParallelModel(module)
    return [(m(x), m(x, x + 1, scale=2.0)) for m in (model, module)]


def test_calls(answer, gen):
    """The model takes what the module takes, and returns what it returns."""
    x = torch.randn(2, 3, generator=gen)
    ((mine, wanted),) = run_ranks(1, call, x, answer=answer)
    for found, right, what in zip(mine, wanted, ("model(x)", "model(x, x + 1, scale=2.0)"), strict=True):
        unscaled = {
            "keyword arguments are not handed on": lambda r=right: {"scores": [t / 2 for t in r["scores"]]}
        }
        expect_equal(found, right, f"{what}, where the module returns a dict", suspects=unscaled)


def wrap_buffers(rank, world_size, answer):
    """The buffers of a module after wrapping."""
    module = nn.BatchNorm1d(3)
    module.running_mean += rank
    module.num_batches_tracked += 2**24 + 1 + rank  # no number of float32
    module.register_buffer("mask", torch.tensor([True, rank > 0]))
    module.register_buffer("ids", torch.arange(4) + rank, persistent=False)
    answer.DataParallelModel(module)
    return dict(module.named_buffers())


@pytest.mark.fine
def test_buffers(answer):
    """Wrapping gives all ranks the buffers of rank 0."""
    wanted, *others = run_ranks(3, wrap_buffers, answer=answer)
    expect_equal(wanted["ids"], torch.arange(4), "the buffer ids after wrapping, on rank 0")
    for rank, mine in enumerate(others, start=1):
        for name, buffer in wanted.items():
            expect_equal(mine[name], buffer, f"the buffer {name} after wrapping, on rank {rank}")


@pytest.mark.fine
@pytest.mark.parametrize("to_none", [True, False], ids=["to None", "to zeros"])
def test_tied_frozen_and_unused(answer, gen, to_none):
    """Tied weights count once, and parameters that are frozen or not used in a step have no gradient."""
    case = drawn(gen, 2, model="Corners", to_none=to_none)
    expect_as_alone(answer, 2, f"tied, frozen and unused parameters, zero_grad(set_to_none={to_none})", case)


@pytest.mark.fine
def test_transposed(answer, gen):
    """A parameter may be transposed in memory, and then its gradient is."""
    expect_as_alone(answer, 2, "the first weight transposed in memory", drawn(gen, 2, model="Transposed"))


def count(rank, world_size, answer, case):
    """The messages of a forward, and of the rest of each step, and the sizes of gradients."""
    module, _ = prepared(case, rank)
    module.register_buffer("seen", torch.zeros(3))
    model = answer.DataParallelModel(module)
    found = []
    for shards in case.steps:
        model.zero_grad()
        with count_collectives() as messages:
            loss_of(model, *shards[rank]).backward()
            model.finish_gradients()
        sizes = [p.grad.nbytes for p in module.parameters() if p.grad is not None]
        found.append(([(call.kind, call.bytes) for call in messages.calls], sizes))
    return found


@pytest.mark.fine
def test_messages(answer, gen):
    """A step sends the gradient of each parameter once, and nothing else."""
    for rank, results in enumerate(run_ranks(2, count, drawn(gen, 2, model="Corners"), answer=answer)):
        for number, (calls, sizes) in enumerate(results, start=1):
            yours = ", ".join(f"{kind} of {size} bytes" for kind, size in calls) or "none"
            wanted = ", ".join(f"all_reduce of {size} bytes" for size in sizes) + ", in any order"
            right = sorted(calls) == sorted(("all_reduce", size) for size in sizes)
            told = f"wrong messages on rank {rank}, in step {number}"
            expect_that(right, told, yours=yours, wanted=wanted)


def oracle(answer, gen):
    def trained(case):
        return lambda: [found for (found,) in run_ranks(3, train, [case], answer=answer)]

    return {
        "one step on three ranks": trained(drawn(gen, 3, steps=1)),
        "three steps on three ranks": trained(drawn(gen, 3)),
        "where the last rank comes late": trained(drawn(gen, 3, steps=2, late=True)),
    }


def fine_oracle(answer, gen):
    case = drawn(gen, 2, model="Corners", steps=2)
    return {"tied, frozen and unused parameters": run_ranks(2, train, [case], answer=answer)}
