"""What grades ddp_from_hooks: training like one process, the start, messages, overlap, calls."""

import time
from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


class Plain(nn.Sequential):
    """Two layers, in float64; the first one's weight is transposed in memory, and so is its gradient."""

    def __init__(self):
        super().__init__(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self[0].weight = nn.Parameter(torch.zeros(3, 4).t())
        self.double()


class Mixed(nn.Module):
    """Tied, frozen and unused parameters, one that the first forward uses, and two dtypes."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(3, 4)
        self.middle = nn.Linear(4, 4)
        self.again = nn.Linear(4, 4, bias=False)
        self.again.weight = self.middle.weight
        self.middle.bias.requires_grad_(False)
        self.unused = nn.Linear(2, 5)
        self.first = nn.Parameter(torch.zeros(4, 3))
        self.forwards = 0
        self.leave = nn.Linear(4, 2).double()

    def forward(self, x):
        self.forwards += 1
        early = nn.functional.linear(x.float(), self.first) if self.forwards == 1 else 0
        x = self.middle((self.enter(x.float()) + early).tanh()).tanh()
        return self.leave(self.again(x).double())


MODELS = {"Plain": Plain, "Mixed": Mixed}
OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.3),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.1),
}


@dataclass
class Case:
    """What the ranks train on: `steps[i][r]` are inputs and targets of rank r; `weights[r]` its start."""

    steps: list
    weights: list
    model: str = "Plain"
    optimizer: str = "SGD"
    to_none: bool = True
    forwards: int = 1
    training: bool = True


def drawn(gen, world_size, *, model="Plain", rows=4, steps=3, **options):
    """A case with shards of one size, and ranks that start with weights of their own."""
    shapes = {name: p.shape for name, p in MODELS[model]().named_parameters()}

    def start():
        return {name: torch.randn(shape, generator=gen).double() for name, shape in shapes.items()}

    def shard(rank):
        inputs = torch.randn(rows, 3, generator=gen).double()
        return inputs, torch.randn(rows, 2, generator=gen).double() + 2 * rank

    weights = [start() for _ in range(world_size)]
    data = [[shard(rank) for rank in range(world_size)] for _ in range(steps)]
    return Case(data, weights, model, **options)


def prepared(case, rank):
    module = MODELS[case.model]()
    module.load_state_dict(case.weights[rank], strict=False)  # tied weights have one name here
    return module


def loss_of(model, inputs, targets, forwards):
    """The loss, of the rows in as many forwards as are asked for."""
    parts = zip(inputs.chunk(forwards), targets.chunk(forwards), strict=True)
    return torch.cat([(model(x) - y).square().mean(1) for x, y in parts]).mean()


def state(module):
    """Weights, the dtypes of gradients, and gradients; in float32, as parts of a model may be."""
    return {
        name: (p.detach().float().clone(), *(("None", None) if p.grad is None else _told(p.grad)))
        for name, p in module.named_parameters()
    }


def _told(gradient):
    return str(gradient.dtype).removeprefix("torch."), gradient.float().clone()


def train(rank, world_size, answer, cases):
    """What each rank does: the state of each case after each step."""
    results = []
    for case in cases:
        module = prepared(case, rank)
        optimizer = OPTIMIZERS[case.optimizer](module.parameters())
        model = answer.DataParallelModel(module).train(case.training)
        states = []
        for shards in case.steps:
            optimizer.zero_grad(set_to_none=case.to_none)
            loss_of(model, *shards[rank], case.forwards).backward()
            model.finish_gradients()
            optimizer.step()
            states.append(state(module))
        results.append(states)
    return results


def train_alone(case):
    """The same on one process, with all rows of a step in one batch, from the weights of rank 0."""
    module = prepared(case, 0)
    optimizer = OPTIMIZERS[case.optimizer](module.parameters())
    states = []
    for shards in case.steps:
        inputs, targets = (torch.cat(parts) for parts in zip(*shards, strict=True))
        optimizer.zero_grad(set_to_none=case.to_none)
        loss_of(module, inputs, targets, 1).backward()
        optimizer.step()
        states.append(state(module))
    return states


def expect_as_alone(answer, world_size, **cases):
    """Weights and gradients on every rank are those of one process."""
    wanted = [train_alone(case) for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for rank, results in enumerate(found):
        for states, about, right_states in zip(results, cases, wanted, strict=True):
            for number, (mine, right) in enumerate(zip(states, right_states, strict=True), start=1):
                when = f"after step {number} on rank {rank} of {world_size}, {about.replace('_', ' ')}"
                _expect_state(mine, right, when)


def _expect_state(mine, right, when):
    for name, (weight, dtype, gradient) in right.items():
        weight_now, dtype_now, gradient_now = mine[name]
        told = (
            "is there, although it is frozen or was not used"
            if dtype == "None"
            else "has another dtype, or is not there"
        )
        expect_that(
            dtype_now == dtype, f"the gradient of {name} {told}, {when}", yours=dtype_now, wanted=dtype
        )
        if gradient is not None:
            # several steps add up the rounding of each
            expect_close(gradient_now, gradient, f"the gradient of {name} {when}", ulps=500, scale=1.0)
        expect_close(weight_now, weight, f"{name} {when}", ulps=500, scale=1.0)


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_steps_of_one_process(answer, gen, world_size):
    """Every rank takes the steps that one process takes on all rows, from the weights of rank 0."""
    cases = {"with_SGD": drawn(gen, world_size)}
    if world_size > 1:
        cases["with_momentum_and_gradients_set_to_zero"] = drawn(
            gen, world_size, optimizer="momentum", to_none=False
        )
        cases["in_eval_mode_with_two_forwards"] = drawn(gen, world_size, forwards=2, training=False)
    expect_as_alone(answer, world_size, **cases)


def test_tied_frozen_and_unused(answer, gen):
    """Tied weights count once, and parameters that are frozen or not used in a step have no gradient."""
    expect_as_alone(
        answer,
        2,
        tied_frozen_and_unused=drawn(gen, 2, model="Mixed"),
        with_gradients_set_to_zero=drawn(gen, 2, model="Mixed", to_none=False),
    )


def begin(rank, world_size, answer):
    """A module of each rank's own after wrapping: its state, and whether the objects are the same."""
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Embedding(4, 2))
    module[0].bias.requires_grad_(False)
    module[2].weight.requires_grad_(False)
    module.register_buffer("order", torch.arange(4), persistent=False)
    module.register_buffer("column", torch.zeros(4, 3)[:, 1])
    module.register_buffer("large", torch.zeros(2, dtype=torch.int64))
    module.register_buffer("mask", torch.zeros(3, dtype=torch.bool))
    module[1].eval()
    modes = [m.training for m in module.modules()]
    tensors = dict([*module.named_parameters(), *module.named_buffers()])
    with torch.no_grad():
        for number, tensor in enumerate(tensors.values(), start=1):
            tensor.copy_(torch.arange(tensor.numel()).view(tensor.shape) + number + 100 * (rank + 1))
        tensors["large"] += 2**60  # no number of float64
        tensors["mask"][rank] = False
    before = {name: tensor.clone().detach() for name, tensor in tensors.items()}
    flags = {name: tensor.requires_grad for name, tensor in tensors.items()}
    model = answer.DataParallelModel(module)
    now = dict([*model.module.named_parameters(), *model.module.named_buffers()])
    same = model.module is module and all(now[name] is tensor for name, tensor in tensors.items())
    kept = {name: tensor.requires_grad for name, tensor in tensors.items()} == flags
    kept = kept and [m.training for m in module.modules()] == modes
    return before, {name: tensor.detach() for name, tensor in tensors.items()}, same, kept


def test_start(answer):
    """Wrapping gives all ranks the parameters and buffers of rank 0, in the same objects."""
    found = run_ranks(3, begin, answer=answer)
    wanted = found[0][0]
    for rank, (_, after, same, kept) in enumerate(found):
        for name, tensor in wanted.items():
            expect_close(after[name], tensor, f"{name} after wrapping, on rank {rank}")
        expect_that(same, f"wrapping replaces the module, a parameter or a buffer on rank {rank}")
        expect_that(kept, f"wrapping changes requires_grad of a parameter, or a mode, on rank {rank}")


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


class Watched(Mixed):
    """Has a buffer, and looks at what has been sent when the backward reaches the layers before the last."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float64))
        self.look = lambda: None

    def forward(self, x):
        x = self.middle(self.enter(x.float()).tanh()).tanh()
        return self.leave(Look.apply(self.again(x).double(), self.look)) * self.scale


def count(rank, world_size, answer, steps):
    """The messages of each part of each step, and what had been sent in the middle of the backward."""
    module = Watched()
    model = answer.DataParallelModel(module)
    found = []
    for shards in steps:
        model.zero_grad()
        halfway = []
        with count_collectives() as all_parts:
            with count_collectives() as forward:
                loss = loss_of(model, *shards[rank], 1)
                with torch.no_grad():
                    model.eval()(shards[rank][0])
                model.train()
            module.look = lambda: halfway.append(len(sending.calls))  # noqa: B023 - called in this turn
            loss = loss_of(model, *shards[rank], 1)
            with count_collectives() as sending:
                loss.backward()
            model.finish_gradients()
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        found.append((len(forward.calls), halfway, all_parts.calls, [g.nbytes for g in gradients]))
    return found


def test_messages(answer, gen):
    """A step sends the gradient of each parameter once, as soon as it is complete, and nothing else."""
    steps = drawn(gen, 2, model="Mixed", steps=2).steps
    for inputs, _ in steps[1]:
        inputs.zero_()  # and so is the gradient of the first weights, which is sent all the same
    for rank, results in enumerate(run_ranks(2, count, steps, answer=answer)):
        for number, (forward, halfway, calls, sizes) in enumerate(results, start=1):
            where = f"on rank {rank}, in step {number}"
            sent = "the messages sent once the backward has passed the last layer (weight, bias, a scale)"
            expect_equal(
                len(halfway), 1, f"the number of times that the backward passes the last layer {where}"
            )
            expect_equal(halfway[0], 3, f"the number of {sent.removeprefix('the ')} {where}")
            expect_equal(
                forward,
                0,
                f"the number of messages of a forward in train mode, and of one in eval mode, {where}",
            )
            told = ", ".join(f"{call.kind} of {call.bytes} bytes" for call in calls) or "none"
            wanted = ", ".join(f"all_reduce of {size} bytes" for size in sizes) + ", in any order"
            right = sorted((c.kind, c.bytes) for c in calls) == sorted(("all_reduce", n) for n in sizes)
            expect_that(right, f"wrong messages {where}", yours=told, wanted=wanted)


def be_late(rank, world_size, answer, steps):
    """The last rank begins its backward when all others have told it that theirs is over."""
    layers = [nn.Linear(4, 4) for _ in range(8)]  # more messages than one would keep under way by hand
    module = nn.Sequential(nn.Linear(3, 4), *layers, nn.Linear(4, 2)).double()
    model = answer.DataParallelModel(module)
    last, token = world_size - 1, torch.zeros(1)
    averages = []
    for shards in steps:
        model.zero_grad()
        loss = loss_of(model, *shards[rank], 1)
        if rank == last:
            for other in range(last):
                dist.recv(token, other)
            time.sleep(0.05)
            loss.backward()
        else:
            loss.backward()
            dist.send(token, last)
        model.finish_gradients()
        averages.append([p.grad.clone() for p in module.parameters()])
    return averages


def test_waits_in_finish_gradients_only(answer, gen):
    """A rank's backward ends although another rank has not begun, and finish_gradients waits for that one."""
    steps = drawn(gen, 2, steps=2).steps
    steps[1][1][0].fill_(torch.nan)  # the late rank's inputs
    ahead, late = run_ranks(2, be_late, steps, answer=answer)
    for a, b in zip(ahead[0], late[0], strict=True):
        expect_close(a, b, "a gradient of rank 0 when finish_gradients returns, in step 1")
    for a in ahead[1]:
        expect_that(
            bool(a.isnan().all()),
            "a gradient of rank 0 is not NaN when finish_gradients returns, and that of rank 1 is, in step 2",
            wanted="the average of both, which is NaN",
        )


class Ranker(nn.Module):
    """Takes positional and keyword arguments, and returns a dict."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 1)

    def forward(self, *features, scale=1.0, **options):
        return {
            "scores": [self.score(x) * scale for x in features],
            "options": options,
            "mode": self.training,
        }


class Pair(nn.Linear):
    """Returns a tuple, like a recurrent layer."""

    def __init__(self):
        super().__init__(3, 1)

    def forward(self, x):
        return super().forward(x), None


def call(rank, world_size, answer):
    model, hooked = answer.DataParallelModel(Ranker()), []
    model.module.register_forward_hook(lambda *_: hooked.append(1))
    x = torch.arange(6.0).view(2, 3)
    trained, evaluated = model(x, x + 1, scale=3.0, top="k"), model.eval()(x)
    score = model.module.score(x).detach()
    found = [s.detach() for s in trained["scores"]], trained["options"], trained["mode"], evaluated["mode"]
    pair = answer.DataParallelModel(Pair())(x)
    found = *found, len(hooked), type(pair).__name__, [type(part).__name__ for part in pair]
    return *found, [score * 3, model.module.score(x + 1).detach() * 3]


def test_calls(answer):
    """The model takes what the module takes, returns what it returns, and passes on modes."""
    ((scores, options, training, evaluating, hooked, *pair, wanted),) = run_ranks(1, call, answer=answer)
    expect_equal(len(scores), 2, "the number of results of a module that takes two tensors")
    for mine, right in zip(scores, wanted, strict=True):
        expect_close(mine, right, "model(x, x + 1, scale=3.0)")
    expect_equal(options, {"top": "k"}, "the other keyword arguments that reach the module")
    expect_equal(hooked, 2, "the runs of a forward hook on the module, in two calls of the model")
    expect_equal(pair, ["tuple", ["Tensor", "NoneType"]], "the result of a module that returns a tuple")
    expect_equal((training, evaluating), (True, False), "the module's mode, in training and after eval()")


def oracle(answer, gen):
    cases = [drawn(gen, 3, optimizer="momentum"), drawn(gen, 3, model="Mixed", steps=2)]
    results = []
    for plain, mixed in run_ranks(3, train, cases, answer=answer):
        results += [list(parts) for step in plain for parts in step.values()]
        for weight, dtype, gradient in (parts for step in mixed for parts in step.values()):
            # two steps add up the rounding of each
            results += [weight.half(), dtype, None if gradient is None else gradient.half()]
    return results
