"""What grades sharded_optimizer: the steps of one process, what each rank holds, what it sends."""

import copy
import gc
import time
from dataclasses import dataclass, field

import pytest
import torch
import torch.distributed as dist
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, held_bytes
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

OPTIMIZERS = {
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05, weight_decay=0.1),
}


class Scale(nn.Module):
    """Two numbers: fewer than there are ranks."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(1.0))
        self.shift = nn.Parameter(torch.tensor([0.0]))

    def forward(self, x):
        return x * self.factor + self.shift


def turned(model):
    """The same model with matrices that are transposed in memory."""
    for p in model.parameters():
        p.data = p.data.t().contiguous().t()
    return model


MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double(),
    "turned": lambda: turned(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()),
    "conv": lambda: nn.Sequential(nn.Conv2d(3, 4, 2), nn.Flatten()).to(memory_format=torch.channels_last),
    "scale": lambda: Scale().double(),
}
SHAPES = {"mlp": (3,), "turned": (3,), "conv": (3, 3, 2), "scale": (2,)}


@dataclass
class Case:
    """What the ranks train on: `steps[i]` are the rows of step i, cut into equal shards.

    `missing[r]` names the parameters that have no gradient on rank r; in the steps of `idle` none has one.
    """

    model: nn.Module
    steps: list
    optimizer: str = "AdamW"
    missing: dict = field(default_factory=dict)
    idle: tuple = ()
    rates: tuple = ()
    loaded: dict = field(default_factory=dict)
    before: int = 1  # the step before which they are loaded, from 0

    def without(self, step, rank):
        """The names of the parameters that have no gradient."""
        return dict(self.model.named_parameters()) if step in self.idle else self.missing.get(rank, ())


def drawn(gen, kind, world_size, *, steps=3, frozen=(), **options):
    model = MODELS[kind]()
    for name, p in model.named_parameters():
        p.data.copy_(torch.randn(p.shape, generator=gen))
        p.requires_grad_(name not in frozen)
    dtype = next(model.parameters()).dtype
    rows = [torch.randn(2 * world_size, *SHAPES[kind], generator=gen).to(dtype) for _ in range(steps)]
    # ranks differ, so that it shows who is left out
    ramp = torch.linspace(0.5, 2.0, 2 * world_size, dtype=dtype)
    return Case(model, [x * ramp.view(-1, *[1] * (x.dim() - 1)) for x in rows], **options)


def backward(model, rows, missing):
    """Leave the gradients of the mean over these rows; for the missing ones, None."""
    for p in model.parameters():
        p.grad = None
    if any(p.requires_grad for p in model.parameters()):
        model(rows).square().flatten(1).sum(1).mean().backward()
    for name, p in model.named_parameters():
        if name in missing:
            p.grad = None


def train(rank, world_size, answer, cases):
    """What each rank does: the parameters after each step."""
    return [_trained(rank, world_size, answer, case) for case in cases]


def _trained(rank, world_size, answer, case):
    model = case.model
    leaves = list(model.parameters())
    calls = []

    def make_optimizer(part):
        calls.append(type(part).__name__)
        return OPTIMIZERS[case.optimizer](part)

    sharded = answer.ShardedOptimizer(model.parameters(), make_optimizer)
    places = [p.data_ptr() for p in leaves]
    facts = {"make_optimizer gets": calls, "gradients": True, "leaves": True, "memory": True}
    states = []
    for number, rows in enumerate(case.steps):
        _before_step(case, number, model, sharded.optimizer)
        backward(model, rows.chunk(world_size)[rank], case.without(number, rank))
        before = [None if p.grad is None else p.grad.clone() for p in leaves]
        sharded.step()
        facts["gradients"] &= all(
            p.grad is None
            if g is None
            else p.grad is not None
            and torch.equal(p.grad.isnan(), g.isnan())
            and torch.equal(p.grad.nan_to_num(), g.nan_to_num())
            for p, g in zip(leaves, before, strict=True)
        )
        facts["leaves"] &= all(p.is_leaf for p in leaves) and all(
            p is q for p, q in zip(leaves, model.parameters(), strict=True)
        )
        facts["memory"] &= places == [p.data_ptr() for p in leaves]
        states.append({name: p.detach().clone() for name, p in model.named_parameters()})
    facts["part"] = _has_its_part(rank, world_size, leaves, sharded.optimizer)
    sharded.zero_grad()
    facts["after zero_grad()"] = [p.grad is None for p in leaves]
    return states, facts


def _has_its_part(rank, world_size, parameters, optimizer):
    """Whether the optimizer has the numbers of part `rank`, in any order, and else zeros."""
    vector = torch.cat([p.detach().flatten() for p in parameters if p.requires_grad])
    size = -(-len(vector) // world_size)
    tensors = [t for group in optimizer.param_groups for t in group["params"]]
    mine, right = (
        numbers[numbers != 0].nan_to_num().sort().values
        for numbers in (
            torch.cat([t.detach().flatten() for t in tensors]),
            vector[rank * size : (rank + 1) * size],
        )
    )
    return torch.equal(mine, right)


def _before_step(case, number, model, optimizer):
    if case.rates:
        for group in optimizer.param_groups:
            group["lr"] = case.rates[number]
    if number == case.before:
        for name, p in model.named_parameters():
            p.data.copy_(case.loaded.get(name, p.data))


def train_alone(world_size, case):
    """The same on one process, with the mean of the gradients of all shards."""
    model = copy.deepcopy(case.model)
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimizer = OPTIMIZERS[case.optimizer](trainable.values())
    states = []
    for number, rows in enumerate(case.steps):
        _before_step(case, number, model, optimizer)
        sums = {name: torch.zeros_like(p) for name, p in trainable.items()}
        for rank, shard in enumerate(rows.chunk(world_size)):
            backward(model, shard, case.without(number, rank))
            for name, p in trainable.items():
                sums[name] += 0 if p.grad is None else p.grad
        for name, p in trainable.items():
            p.grad = sums[name] / world_size
        optimizer.step()
        states.append({name: p.detach().clone() for name, p in model.named_parameters()})
    return states


def expect_as_alone(answer, world_size, **cases):
    """On every rank, the parameters are those of one process, and those of rank 0 bit for bit."""
    wanted = [train_alone(world_size, case) for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for number, (about, right) in enumerate(zip(cases, wanted, strict=True)):
        for rank, results in enumerate(found):
            states, facts = results[number]
            where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
            for step, (state, right_state) in enumerate(zip(states, right, strict=True), start=1):
                for name, p in right_state.items():
                    of = f"{name} after step {step} {where}"
                    # several steps add up the rounding of each, and AdamW's division enlarges it
                    ulps = 1e6 if p.dtype == torch.float64 else 500
                    expect_close(state[name], p, of, ulps=ulps, scale=1.0)
                    expect_equal(state[name], found[0][number][0][step - 1][name], f"{of}, as on rank 0")
            given = facts["make_optimizer gets"]
            told = f"make_optimizer is not called once, with a list, {where}"
            expect_that(
                given == ["list"], told, yours=f"{len(given)} calls, with {', '.join(given) or 'nothing'}"
            )
            expect_that(facts["part"], f"the optimizer has other numbers than those of part {rank} {where}")
            expect_that(facts["gradients"], f"step() changes .grad of the parameters {where}")
            expect_that(facts["leaves"], f"the model has other parameters after step() {where}")
            told = f"step() puts the parameters into other memory, where no view of them follows, {where}"
            expect_that(facts["memory"], told)
            expect_that(all(facts["after zero_grad()"]), f"zero_grad() leaves gradients {where}")


@pytest.mark.parametrize("world_size", [1, 3, 4])
def test_steps(answer, gen, world_size):
    """On any number of ranks, each step gives the parameters that one process would have."""
    expect_as_alone(
        answer,
        world_size,
        with_AdamW=drawn(gen, "mlp", world_size),
        with_weights_that_are_transposed_in_memory=drawn(gen, "turned", world_size, optimizer="momentum"),
        with_channels_last=drawn(gen, "conv", world_size, optimizer="momentum"),
        with_two_numbers_without_gradients_in_step_2=drawn(gen, "scale", world_size, idle=(1,)),
    )


def test_missing_gradients(answer, gen):
    """Where a rank has no gradient, it counts as zeros, and is still None after the step."""
    one = {0: ["0.bias", "2.weight"], 1: ["0.weight"]}
    both = {0: ["0.bias", "2.bias"], 1: ["2.bias"]}
    broken = drawn(gen, "mlp", 2, optimizer="momentum")
    broken.steps[2][0, 1] = torch.nan
    expect_as_alone(
        answer,
        2,
        with_NaN_on_rank_0_in_step_3=broken,
        without_some_gradients=drawn(gen, "mlp", 2, missing=one),
        without_a_gradient_on_all_ranks=drawn(gen, "mlp", 2, missing=both),
        without_any_gradient_in_steps_2_and_3=drawn(gen, "mlp", 2, idle=(1, 2)),
        without_any_gradient_in_step_1=drawn(gen, "mlp", 2, idle=(0,), optimizer="momentum"),
        without_any_gradient_on_rank_0=drawn(
            gen, "scale", 2, missing={0: ["factor", "shift"]}, optimizer="momentum"
        ),
    )


def test_frozen_parameters(answer, gen):
    """Parameters that do not require gradients stay as they are, with weight decay too."""
    expect_as_alone(
        answer,
        2,
        with_a_frozen_layer=drawn(gen, "mlp", 2, frozen=["0.weight", "0.bias"]),
        with_a_frozen_bias=drawn(gen, "mlp", 2, frozen=["0.bias"], optimizer="momentum"),
    )


def test_between_steps(answer, gen):
    """Learning rates that a scheduler sets and parameters that someone loads count from the next step on."""
    other = drawn(gen, "mlp", 2).model.state_dict()
    last = {name: other[name] for name in ("2.weight", "2.bias")}
    near = drawn(gen, "mlp", 2, optimizer="momentum", rates=(0.0, 0.1, 0.1))  # the first step moves nothing
    near.loaded = {name: p.detach() * (1 + 1e-6) for name, p in near.model.named_parameters()}
    expect_as_alone(
        answer,
        2,
        with_a_schedule=drawn(gen, "mlp", 2, rates=(0.1, 0.02, 0.3)),
        with_parameters_loaded=drawn(gen, "mlp", 2, loaded=other),
        with_parameters_loaded_before_step_1=drawn(gen, "mlp", 2, loaded=other, before=0),
        with_the_last_layer_loaded=drawn(gen, "mlp", 2, loaded=last),
        with_parameters_loaded_that_are_close=near,
    )


def hold(rank, world_size, answer, model):
    """The bytes that outlive the steps, beside the parameters and gradients, and the optimizer's numbers."""
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    before = {p.untyped_storage().data_ptr() for p in model.parameters()}
    owned = []

    def run():
        sharded = answer.ShardedOptimizer(model.parameters(), OPTIMIZERS["AdamW"])
        for _ in range(2):
            sharded.step()
        tensors = [t for group in sharded.optimizer.param_groups for t in group["params"]]
        owned.extend([sum(t.numel() for t in tensors), all(t.is_leaf and t.requires_grad for t in tensors)])
        gc.collect()
        for _ in range(4):
            dist.barrier()  # gloo's threads hold on to a message's tensors for a moment
        time.sleep(0.05)
        return sharded

    held = held_bytes(run)
    # parameters may have moved into memory that they share
    moved = {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in model.parameters()}
    return held - sum(size for place, size in moved.items() if place not in before), owned


def test_memory(answer, gen):
    """A rank holds its part, the part's gradient and the state for its part, and nothing more."""
    # one large layer and small ones, so that whole parameters cannot be shared out evenly
    model = nn.Sequential(nn.Linear(40, 50), nn.Linear(50, 3), nn.Linear(3, 8))  # 2235 numbers
    total = sum(p.numel() for p in model.parameters())
    part = -(-total // 3)
    for rank, (held, (numbers, are_leaves)) in enumerate(run_ranks(3, hold, model, answer=answer)):
        expect_that(
            numbers <= part,
            f"the optimizer of rank {rank} of 3 has more than its part",
            yours=f"{numbers} of {total} numbers",
            wanted=f"at most {part}",
        )
        expect_that(are_leaves, f"the optimizer of rank {rank} has tensors that are no leaves with gradients")
        # AdamW's two moments, the part itself and its gradient
        most = 4 * part * 4 + 500
        expect_that(
            held <= most,
            f"rank {rank} of 3 holds too much between the steps",
            yours=f"{held} bytes",
            wanted=f"at most {most}: four times its {part} numbers in float32, and a little",
        )


def count(rank, world_size, answer, case):
    """What the second step sends."""
    sharded = answer.ShardedOptimizer(case.model.parameters(), OPTIMIZERS[case.optimizer])
    for rows in case.steps:
        backward(case.model, rows.chunk(world_size)[rank], ())
        with count_collectives() as messages:
            sharded.step()
    return messages.count, messages.bytes


def test_messages(answer, gen):
    """A step sends one reduce-scatter of the whole vector and one all-gather of the parts."""
    case = drawn(gen, "mlp", 3, steps=2)
    part = -(-sum(p.numel() for p in case.model.parameters()) // 3)
    most = {"reduce_scatter": 3 * part * 8, "all_gather": part * 8}
    for rank, (calls, sizes) in enumerate(run_ranks(3, count, case, answer=answer)):
        wanted = {"all_gather": 1, "reduce_scatter": 1}
        told = f"wrong messages of step() on rank {rank} of 3"
        expect_that(calls == wanted, told, yours=in_words(calls), wanted=in_words(wanted))
        for kind, size in sizes.items():
            expect_that(
                size <= most[kind],
                f"rank {rank} of 3 hands too much into its {kind}",
                yours=f"{size} bytes",
                wanted=f"at most {most[kind]}",
            )


def oracle(answer, gen):
    cases = [
        drawn(gen, "mlp", 3),
        drawn(gen, "conv", 3, optimizer="momentum", missing={1: ["0.bias"]}),
    ]
    return [[states for states, _ in rank] for rank in run_ranks(3, train, cases, answer=answer)]
