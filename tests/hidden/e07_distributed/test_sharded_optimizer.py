"""What grades sharded_optimizer: the steps of one process, who owns what; parts, memory, messages."""

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
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05, weight_decay=0.1),
}


@dataclass
class Case:
    """What the ranks train on: `steps[i]` are the rows of step i, cut into equal shards.

    `missing[r]` names the parameters that have no gradient on rank r.
    """

    model: nn.Module
    steps: list
    optimizer: str = "SGD"
    missing: dict = field(default_factory=dict)
    rates: tuple = ()
    loaded: dict = field(default_factory=dict)  # before the second step


def network():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def drawn(gen, world_size, *, model=network, dtype=torch.float32, **options):
    model = model().to(dtype)
    for p in model.parameters():
        p.data.copy_(torch.randn(p.shape, generator=gen))
    # ranks differ, so that it shows who is left out
    ramp = torch.linspace(0.5, 2.0, 2 * world_size).view(-1, 1)
    rows = [(torch.randn(2 * world_size, 3, generator=gen) * ramp).to(dtype) for _ in range(3)]
    return Case(model, rows, **options)


def backward(model, rows, missing=()):
    """Leave the gradients of the mean over these rows; for the missing ones, None."""
    for p in model.parameters():
        p.grad = None
    model(rows).square().sum(1).mean().backward()
    for name in missing:
        model.get_parameter(name).grad = None


def before_step(case, number, model, optimizer):
    for group in optimizer.param_groups if case.rates else ():
        group["lr"] = case.rates[number]
    if number == 1:
        model.load_state_dict(case.loaded, strict=False)


def train(rank, world_size, answer, case):
    """The parameters after each step; whose gradients step() changes and zero_grad leaves; what it owns."""
    model = case.model
    sharded = answer.ShardedOptimizer(model.parameters(), OPTIMIZERS[case.optimizer])
    states, changed = [], set()
    for number, rows in enumerate(case.steps):
        before_step(case, number, model, sharded.optimizer)
        backward(model, rows.chunk(world_size)[rank], case.missing.get(rank, ()))
        before = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
        sharded.step()
        changed |= {name for name, p in model.named_parameters() if not _same(p.grad, before[name])}
        states.append({name: p.detach().clone() for name, p in model.named_parameters()})
    sharded.zero_grad()
    left = [name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()]
    owned = [t for group in sharded.optimizer.param_groups for t in group["params"]]
    return states, sorted(changed), left, sum(t.numel() for t in owned)


def _same(gradient, before):
    if gradient is None or before is None:
        return gradient is before
    return torch.equal(gradient, before)


def train_alone(world_size, case, only=None, factor=1.0, keeps_old=False):
    """The same on one process, with the mean of the gradients of all shards, or those of one alone."""
    model = copy.deepcopy(case.model)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimizer = OPTIMIZERS[case.optimizer](trained.values())
    states = []
    for number, rows in enumerate(case.steps):
        before_step(case, number, model, optimizer)
        if not (states and keeps_old):
            sums = {name: torch.zeros_like(p) for name, p in trained.items()}
        shards = list(enumerate(rows.chunk(world_size)))
        for rank, shard in shards if only is None else shards[only : only + 1]:
            backward(model, shard, case.missing.get(rank, ()))
            for name, p in trained.items():
                sums[name] += 0 if p.grad is None else p.grad
        for name, p in trained.items():
            p.grad = sums[name] * factor / (world_size if only is None else 1)
        optimizer.step()
        states.append({name: p.detach().clone() for name, p in model.named_parameters()})
    return states


def expect_as_alone(answer, world_size, case, about):
    """On every rank, the parameters are those of one process, and those of rank 0 bit for bit."""
    found = run_ranks(world_size, train, case, answer=answer)
    right = train_alone(world_size, case)
    for rank, (states, *_) in enumerate(found):
        for number, (state, wanted) in enumerate(zip(states, right, strict=True)):
            for name, p in wanted.items():
                what = f"{name} after step {number + 1} on rank {rank} of {world_size}, {about}"
                suspects = {
                    "the ranks' gradients are added up, where their mean is wanted": (
                        lambda n=number, name=name: train_alone(world_size, case, factor=world_size)[n][name]
                    ),
                    "the gradients of earlier steps are added: those of this step alone count": (
                        lambda n=number, name=name: train_alone(world_size, case, keeps_old=True)[n][name]
                    ),
                    **{
                        f"that is a step with the gradients of rank {r} alone": (
                            lambda n=number, name=name, r=r: train_alone(world_size, case, only=r)[n][name]
                        )
                        for r in range(world_size)
                    },
                }
                before = case.model.get_parameter(name).detach() if number == 0 else None
                # several steps add up the rounding of each
                expect_close(state[name], p, what, ulps=500, scale=1.0, suspects=suspects, before=before)
                expect_equal(state[name], found[0][0][number][name], f"{what}, against rank 0")
    return found


@pytest.mark.parametrize(("optimizer", "world_size"), [("SGD", 2), ("AdamW", 3)])
def test_steps(answer, gen, optimizer, world_size):
    """Each step gives the parameters that one process would have, on all ranks alike."""
    expect_as_alone(answer, world_size, drawn(gen, world_size, optimizer=optimizer), f"with {optimizer}")


def test_owners(answer, gen):
    """Each number of the parameters lies in one rank's optimizer, and so its state does."""
    case = drawn(gen, 3)
    total = sum(p.numel() for p in case.model.parameters())
    owned = [numbers for *_, numbers in run_ranks(3, train, case, answer=answer)]
    facts = {"yours": f"{owned}, of {total} numbers", "wanted": f"together {total}, and a few zeros at most"}
    if owned == [total] * 3:
        facts["likely"] = "every rank keeps the state of all parameters"
    told = "the optimizers of three ranks do not hold each number once"
    expect_that(total <= sum(owned) <= total + 6, told, **facts)


def test_zero_grad(answer, gen):
    """zero_grad() clears the gradients of all parameters, on every rank."""
    for rank, (*_, left, _) in enumerate(run_ranks(2, train, drawn(gen, 2), answer=answer)):
        facts = {"yours": " and ".join(left), "wanted": "none, whoever owns them"}
        expect_that(not left, f"parameters have gradients after zero_grad() on rank {rank}", **facts)


@pytest.mark.fine
def test_gradients_stay(answer, gen):
    """step() leaves every .grad as it is."""
    for rank, (_, changed, *_) in enumerate(run_ranks(2, train, drawn(gen, 2), answer=answer)):
        told = f"step() changes .grad of parameters on rank {rank}"
        expect_that(not changed, told, changed=" and ".join(changed))


@pytest.mark.fine
def test_missing_gradients(answer, gen):
    """Where a rank has no gradient, it counts as zeros."""
    missing = {0: ["0.bias", "2.weight"], 1: ["0.weight"]}
    expect_as_alone(answer, 2, drawn(gen, 2, missing=missing), "without some gradients")


def frozen():
    model = network()
    model[0].requires_grad_(False)
    return model


@pytest.mark.fine
def test_frozen_parameters(answer, gen):
    """Parameters that do not require gradients stay as they are, with weight decay too."""
    expect_as_alone(answer, 2, drawn(gen, 2, model=frozen), "with a frozen layer")


@pytest.mark.fine
def test_schedule(answer, gen):
    """Learning rates that a scheduler sets count from the next step on."""
    expect_as_alone(answer, 2, drawn(gen, 2, rates=(0.1, 0.02, 0.3)), "with a schedule")


@pytest.mark.fine
def test_loaded_parameters(answer, gen):
    """Parameters that someone loads count from the next step on."""
    loaded = drawn(gen, 2).model.state_dict()
    expect_as_alone(answer, 2, drawn(gen, 2, loaded=loaded), "with parameters loaded before step 2")


def turned():
    model = network()
    for p in model.parameters():
        p.data = p.data.t().contiguous().t()
    return model


@pytest.mark.fine
def test_float64_and_layouts(answer, gen):
    """Parameters in float64, and weights that are transposed in memory."""
    expect_as_alone(answer, 3, drawn(gen, 3, dtype=torch.float64), "in float64")
    expect_as_alone(answer, 3, drawn(gen, 3, model=turned), "with weights that are transposed in memory")


@pytest.mark.fine
def test_few_numbers(answer, gen):
    """There may be fewer numbers than ranks."""
    expect_as_alone(answer, 4, drawn(gen, 4, model=lambda: nn.Linear(3, 1, bias=False)), "with three numbers")


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
        owned.append(sum(t.numel() for group in sharded.optimizer.param_groups for t in group["params"]))
        gc.collect()
        for _ in range(4):
            dist.barrier()  # gloo's threads hold on to a message's tensors for a moment
        time.sleep(0.05)
        return sharded

    held = held_bytes(run)
    # parameters may have moved into memory that they share
    moved = {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in model.parameters()}
    return held - sum(size for place, size in moved.items() if place not in before), owned[0]


@pytest.mark.fine
def test_memory(answer):
    """The parts have one size; a rank holds its part, the part's gradient and state, and nothing more."""
    # one large layer and small ones, so that whole parameters cannot be shared out evenly
    model = nn.Sequential(nn.Linear(40, 50), nn.Linear(50, 3), nn.Linear(3, 8))  # 2235 numbers
    total = sum(p.numel() for p in model.parameters())
    part = -(-total // 3)
    for rank, (held, numbers) in enumerate(run_ranks(3, hold, model, answer=answer)):
        told = f"the optimizer of rank {rank} of 3 has more than its part"
        expect_that(numbers <= part, told, yours=f"{numbers} of {total} numbers", wanted=f"at most {part}")
        # AdamW's two moments, the part itself and its gradient
        most = 4 * part * 4 + 500
        wanted = f"at most {most}: four times its {part} numbers in float32, and a little"
        told = f"rank {rank} of 3 holds too much between the steps"
        expect_that(held <= most, told, yours=f"{held} bytes", wanted=wanted)


def count(rank, world_size, answer, case):
    """What the last step sends."""
    sharded = answer.ShardedOptimizer(case.model.parameters(), OPTIMIZERS[case.optimizer])
    for rows in case.steps:
        backward(case.model, rows.chunk(world_size)[rank])
        with count_collectives() as messages:
            sharded.step()
    return messages.count, messages.bytes


@pytest.mark.fine
def test_messages(answer, gen):
    """A step sends one reduce-scatter of all gradients and one all-gather of the parts."""
    case = drawn(gen, 3)
    part = -(-sum(p.numel() for p in case.model.parameters()) // 3)
    most = {"reduce_scatter": 3 * part * 4, "all_gather": part * 4}
    wanted = {"all_gather": 1, "reduce_scatter": 1}
    for rank, (calls, sizes) in enumerate(run_ranks(3, count, case, answer=answer)):
        told = f"wrong messages of step() on rank {rank} of 3"
        expect_that(calls == wanted, told, yours=in_words(calls), wanted=in_words(wanted))
        for kind, size in sizes.items():
            told = f"rank {rank} of 3 hands too much into its {kind}"
            expect_that(size <= most[kind], told, yours=f"{size} bytes", wanted=f"at most {most[kind]}")


def oracle(answer, gen):
    def trained(case, ranks, steps):
        """The parameters on each rank after so many steps."""
        return lambda: [states[:steps] for states, *_ in run_ranks(ranks, train, case, answer=answer)]

    return {
        "a step of SGD on 2 ranks": trained(drawn(gen, 2, optimizer="SGD"), 2, 1),
        "SGD on 2 ranks": trained(drawn(gen, 2, optimizer="SGD"), 2, 3),
        "SGD on 3 ranks": trained(drawn(gen, 3, optimizer="SGD"), 3, 3),
        "AdamW on 3 ranks": trained(drawn(gen, 3, optimizer="AdamW"), 3, 3),
    }


def fine_oracle(answer, gen):
    cases = {
        "a schedule": drawn(gen, 2, rates=(0.1, 0.02, 0.3)),
        "parameters loaded before step 2": drawn(gen, 2, loaded=drawn(gen, 2).model.state_dict()),
        "a gradient that one rank lacks": drawn(gen, 2, missing={1: ["0.bias"]}),
    }
    return {
        about: lambda case=case: [states for states, *_ in run_ranks(2, train, case, answer=answer)]
        for about, case in cases.items()
    }
