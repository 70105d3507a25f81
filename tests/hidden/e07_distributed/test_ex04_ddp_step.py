"""What grades ddp_step: losses, weights and gradients of one process, clipping, messages, what runs."""

from dataclasses import dataclass, field

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

EXTRA_CALLS, EXTRA_BYTES = 2, 128

OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.3),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05, weight_decay=0.1),
    "groups": lambda parameters: torch.optim.SGD([{"params": [p], "lr": 0.1 * p.dim()} for p in parameters]),
}


def squared_error(predictions, targets):
    return (predictions - targets).square().mean(1)


def cross_entropy(predictions, labels):
    return F.cross_entropy(predictions, labels, reduction="none")


def nothing(predictions, targets):
    return 0 * squared_error(predictions, targets)


@dataclass
class Case:
    """What the ranks train on: `steps[i][r]` is the shard of rank r in step i, inputs and targets."""

    steps: list
    weights: dict
    optimizer: str = "SGD"
    loss_fn: object = squared_error
    options: dict = field(default_factory=dict)
    old_gradient: float | None = None


class Enter(nn.Linear):
    """A first layer that takes integers, too, and tells them from floating numbers, as an embedding does."""

    def forward(self, x):
        return super().forward((x if x.is_floating_point() else x % 3).to(self.weight.dtype))


def network():
    return nn.Sequential(Enter(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


def drawn(gen, sizes, *, classes=False, **options):
    """A case with shards of `sizes[i][r]` rows. In float64, as AdamW's division enlarges rounding."""
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in network().named_parameters()}
    steps = []
    for rows in sizes:
        inputs = [torch.randn(n, 3, generator=gen).double() for n in rows]
        if classes:  # of integers, in whose dtype a loss would be cut off
            inputs = [(3 * x).long() for x in inputs]
        numbers = [torch.randn(n, 2, generator=gen).double() for n in rows]
        # ranks differ, so that it shows who is left out
        targets = [t.argmax(1) if classes else t + 2 * rank for rank, t in enumerate(numbers)]
        steps.append(list(zip(inputs, targets, strict=True)))
    return Case(steps, weights, loss_fn=cross_entropy if classes else squared_error, **options)


def state(model):
    """Weights and gradients, in float32: a right answer may divide in it."""
    return {
        name: (p.detach().float(), None if p.grad is None else p.grad.float())
        for name, p in model.named_parameters()
    }


def prepared(case):
    model = network()
    model.load_state_dict(case.weights)
    if case.old_gradient is not None:
        for p in model.parameters():
            p.grad = torch.full_like(p, case.old_gradient)
    return model


def train(rank, world_size, answer, cases):
    """What each rank does: the losses of each case, and the state after each step."""
    results = []
    for case in cases:
        model = prepared(case)
        wrapped = DistributedDataParallel(model)
        optimizer = OPTIMIZERS[case.optimizer](wrapped.parameters())
        losses, states = [], []
        for shards in case.steps:
            losses.append(answer.ddp_step(wrapped, case.loss_fn, optimizer, *shards[rank], **case.options))
            states.append(state(model))
        results.append((losses, states))
    return results


def train_alone(case):
    """The same on one process, with all rows of a step in one batch."""
    model = prepared(case)
    optimizer = OPTIMIZERS[case.optimizer](model.parameters())
    losses, states = [], []
    for shards in case.steps:
        inputs, targets = (torch.cat(parts) for parts in zip(*shards, strict=True))
        optimizer.zero_grad()
        loss = case.loss_fn(model(inputs), targets).mean()
        loss.backward()
        max_norm = case.options.get("max_norm")
        if max_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.item())
        states.append(state(model))
    return losses, states


def expect_as_alone(answer, world_size, **cases):
    """Losses, weights and gradients on every rank are those of one process."""
    wanted = [train_alone(case) for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for rank, results in enumerate(found):
        for place, (about, (right_losses, right_states)) in enumerate(zip(cases, wanted, strict=True)):
            losses, states = results[place]
            where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
            steps = zip(losses, states, right_losses, right_states, strict=True)
            for number, (loss, mine, right_loss, right) in enumerate(steps, start=1):
                step = f"in step {number} {where}"
                expect_equal(type(loss).__name__, "float", f"the type of ddp_step(…) {step}")
                expect_close(torch.tensor(loss), torch.tensor(right_loss), f"ddp_step(…) {step}")
                first = found[0][place][0][number - 1]
                same = loss == first or loss != loss  # NaN is the same everywhere
                told = f"ddp_step(…) {step} is another float than on rank 0"
                expect_that(same, told, yours=f"{loss!r}, and {first!r} on rank 0")
                _expect_state(mine, right, f"after step {number} {where}")


def _expect_state(mine, right, when):
    for name, (weight, gradient) in right.items():
        weight_now, gradient_now = mine[name]
        expect_that(gradient_now is not None, f"{name} has no gradient {when}", yours="None")
        # several steps add up the rounding of each
        expect_close(gradient_now, gradient, f"the gradient of {name} {when}", ulps=500, scale=1.0)
        expect_close(weight_now, weight, f"{name} {when}", ulps=500, scale=1.0)


@pytest.mark.parametrize("world_size", [1, 2])
def test_shards_of_one_size(answer, gen, world_size):
    """With shards of one size, every rank takes the steps that one process takes on all rows."""
    sizes = [[4] * world_size] * 3
    cases = {"shards_of_4_rows": drawn(gen, sizes, optimizer="momentum")}
    if world_size == 1:  # with more ranks, test_clipping
        cases["clipped_shards_of_4_rows"] = drawn(gen, sizes[:1], options={"max_norm": 0.1})
    expect_as_alone(answer, world_size, **cases)


def test_uneven_shards(answer, gen):
    """Every row counts the same, whether it lies in a large shard or in a small one, in every step."""
    sizes = [[1, 4, 2], [5, 1, 3], [2, 3, 2049]]
    expect_as_alone(
        answer,
        3,
        uneven_shards_with_momentum=drawn(gen, sizes, optimizer="momentum"),
        uneven_shards_with_AdamW=drawn(gen, sizes[::-1], optimizer="AdamW", classes=True),
    )


def test_empty_shards(answer, gen):
    """A rank without rows takes part in the step, and gets its loss and its weights."""
    sizes = [[2, 0, 1], [0, 0, 3], [1, 4, 0]]
    broken = drawn(gen, sizes, options={"max_norm": 1.0})
    broken.steps[2][1][1][0] = torch.nan  # a loss of NaN is none of an empty shard
    expect_as_alone(
        answer,
        3,
        with_empty_shards=drawn(gen, sizes, optimizer="momentum"),
        with_targets_of_NaN_in_step_3_and_max_norm=broken,
    )


def test_clipping(answer, gen):
    """With max_norm the gradient of the whole batch is clipped, by the norm over all parameters."""
    sizes = [[1, 4], [3, 1]]
    still = drawn(gen, sizes, options={"max_norm": 1.0})
    still.loss_fn = nothing
    expect_as_alone(
        answer,
        2,
        max_norm_of_1_where_all_gradients_are_0=still,
        max_norm_of_one_half=drawn(gen, sizes, optimizer="groups", options={"max_norm": 0.5}),
        max_norm_of_2=drawn(gen, sizes, classes=True, options={"max_norm": 2}),
        max_norm_of_1000=drawn(gen, sizes, options={"max_norm": 1e3}),
        max_norm_of_None=drawn(gen, sizes, options={"max_norm": None}),
    )


def test_old_gradients(answer, gen):
    """Gradients from before have no influence, on the weights, on `.grad` or on the clipping."""
    sizes = [[3, 2], [1, 2]]
    expect_as_alone(
        answer,
        2,
        with_old_gradients_of_NaN=drawn(gen, sizes, old_gradient=float("nan")),
        with_old_gradients_and_max_norm=drawn(gen, sizes, old_gradient=10.0, options={"max_norm": 0.5}),
    )


def count(rank, world_size, answer, case):
    """The messages of the third step, of the answer and of DDP alone: kinds, and bytes."""

    def plain_step(wrapped, loss_fn, optimizer, inputs, targets):
        optimizer.zero_grad()
        loss_fn(wrapped(inputs), targets).sum().backward()
        optimizer.step()

    found = []
    for step in (plain_step, answer.ddp_step):
        wrapped = DistributedDataParallel(prepared(case))
        optimizer = OPTIMIZERS["SGD"](wrapped.parameters())
        for shards in case.steps:
            with count_collectives() as messages:
                step(wrapped, case.loss_fn, optimizer, *shards[rank])
        found.append((len(messages.calls), sum(call.bytes for call in messages.calls), messages.count))
    return found


def test_messages(answer, gen):
    """A step sends what DDP sends, and at most two small collectives more."""
    case = drawn(gen, [[9, 30], [12, 5], [40, 20]])
    for rank, (plain, mine) in enumerate(run_ranks(2, count, case, answer=answer)):
        facts = {
            "yours": f"{mine[0]} collectives, {mine[1]} bytes: {in_words(mine[2])}",
            "wanted": f"those of DDP, here {plain[0]} of {plain[1]} bytes ({in_words(plain[2])}), and "
            f"at most {EXTRA_CALLS} more of {EXTRA_BYTES} bytes together",
        }
        expect_that(
            mine[0] <= plain[0] + EXTRA_CALLS, f"too many messages from rank {rank} in a step", **facts
        )
        expect_that(mine[1] <= plain[1] + EXTRA_BYTES, f"too many bytes from rank {rank} in a step", **facts)


class Modes(nn.Module):
    """Counts its runs in a buffer, and remembers in which mode they were."""

    def __init__(self):
        super().__init__()
        self.register_buffer("runs", torch.tensor(0))
        self.modes = []

    def forward(self, x):
        self.runs += 1
        self.modes.append(self.training)
        return x


def watch(rank, world_size, answer, case):
    """How often each part runs in one step, and in which modes, for a model in train and in eval mode."""
    return [_watched(answer, case, rank, training) for training in (True, False)]


def _watched(answer, case, rank, training):
    probe = Modes()
    wrapped = DistributedDataParallel(nn.Sequential(prepared(case), probe))
    wrapped.train(training)
    probe.train(not training)
    optimizer = OPTIMIZERS["SGD"](wrapped.parameters())
    runs = {"the model": 0, "loss_fn": 0, "optimizer.step": 0}

    def count_in(what):
        runs[what] += 1

    wrapped.register_forward_hook(lambda *_: count_in("the model"))
    optimizer.register_step_post_hook(lambda *_: count_in("optimizer.step"))

    def loss_fn(predictions, targets):
        count_in("loss_fn")
        return squared_error(predictions, targets)

    (shards,) = case.steps
    inputs, targets = shards[rank]
    before = inputs.clone(), targets.clone()
    answer.ddp_step(wrapped, loss_fn, optimizer, inputs, targets)
    kept = torch.equal(inputs, before[0]) and torch.equal(targets, before[1])
    kept = kept and not inputs.requires_grad
    after = [wrapped.training, wrapped.module.training, probe.training]
    found = dict(runs), int(probe.runs), list(probe.modes), after, kept
    optimizer.zero_grad()
    wrapped(inputs).sum().backward()  # of the caller's own, by which the last bias counts a rank's rows
    return *found, wrapped.module[0][2].bias.grad


def test_what_runs(answer, gen):
    """The wrapped model, loss_fn and the optimizer run once each, in the modes that the caller chose."""
    found = run_ranks(2, watch, drawn(gen, [[3, 0]]), answer=answer)
    for rank, both in enumerate(found):
        for training, (runs, inner, modes, after, kept, own) in zip((True, False), both, strict=True):
            where = f"on rank {rank}, {'train' if training else 'eval'} mode"
            for what, number in runs.items():
                expect_equal(number, 1, f"the number of times that {what} runs {where}")
            expect_equal(inner, 1, f"the number of times that the last layer runs {where}")
            told = f"the last layer, in another mode than the model before, runs in the model's mode {where}"
            expect_that(modes == [not training], told)
            parts = zip(("DDP", "the model", "the last layer"), after, strict=True)
            changed = [part for part, mode in parts if mode != (training ^ (part == "the last layer"))]
            told = f"ddp_step leaves other modes than it found {where}"
            expect_that(not changed, told, changed=", ".join(changed))
            expect_that(kept, f"ddp_step changes its inputs or targets {where}")
            # 3 rows on rank 0, none on rank 1
            told = f"the gradient of the last bias after ddp_step and a backward of the caller's own {where}"
            expect_close(own, torch.full_like(own, 1.5), told)


def oracle(answer, gen):
    cases = [
        drawn(gen, [[1, 3, 2], [4, 0, 2]], optimizer="momentum"),
        drawn(gen, [[2, 1, 5]], classes=True, options={"max_norm": 0.4}),
    ]
    results = []
    for rank in run_ranks(3, train, cases, answer=answer):
        for losses, states in rank:
            results += [*losses, *(list(pair) for state in states for pair in state.values())]
    return results
