"""What grades diverging_ranks: training like one process, broken records, empty shards, the end, the log."""

import math
from dataclasses import dataclass
from itertools import chain, repeat

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=0.1),
}


@dataclass
class Case:
    """`batches[r]` and `held_out[r]` are what rank r has."""

    batches: list
    held_out: list
    weights: dict
    optimizer: str = "SGD"
    loss_fn: object = F.mse_loss
    epochs: int = 2
    patience: int = 100


def network():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model.register_buffer("seen", torch.zeros(2))  # a forward of DDP sends it, so all ranks must come
    model[1].eval()
    return model.double()


def error(predictions, targets):
    return (predictions - targets).mean()


def squared_error(predictions, targets):
    """The mean squared error, by a last operation whose backward needs its result as it was."""
    return F.mse_loss(predictions, targets).log().exp()


def steep_error(predictions, targets):
    """A loss that is finite, with gradients that are not: the slope of sqrt at 0."""
    return F.mse_loss(predictions, targets) + (0 * predictions).abs().sqrt().mean()


def drawn(gen, world_size, held_out, *, rows=(2, 3, 1), **options):
    """A case with batches of `rows` rows on each rank, and `held_out[r]` rows for the validation."""
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in network().named_parameters()}

    def batch(rank, n):
        inputs = torch.randn(n, 3, generator=gen).double()
        # ranks differ, so that it shows who is left out
        return inputs, torch.randn(n, 2, generator=gen).double() + rank

    batches = [[batch(rank, n) for n in rows] for rank in range(world_size)]
    return Case(batches, [batch(rank, n) for rank, n in enumerate(held_out)], weights, **options)


def train(rank, world_size, answer, cases):
    """What each rank gets: validation losses, what it logged, and the weights afterwards."""
    results = []
    for case in cases:
        model = network()
        model.load_state_dict(case.weights, strict=False)
        for p in model.parameters():
            p.grad = torch.full_like(p, 10.0)  # of somebody else, of no account
        wrapped = DistributedDataParallel(model)
        optimizer = OPTIMIZERS[case.optimizer](wrapped.parameters())
        logged, events = [], []
        optimizer.register_step_post_hook(lambda *_, events=events: events.append("step"))

        def log(loss, logged=logged, events=events):
            logged.append(loss)
            events.append("log")

        history = answer.fit(
            wrapped,
            case.loss_fn,
            optimizer,
            case.batches[rank],
            case.held_out[rank],
            epochs=case.epochs,
            patience=case.patience,
            log=log,
        )
        weights = {name: p.detach() for name, p in model.named_parameters()}
        at_once = rank > 0 or events == ["step", "log"] * len(logged)
        results.append((history, logged, weights, [part.training for part in wrapped.modules()], at_once))
    return results


def train_alone(case):
    """The same on one process, with the rows of all ranks in each batch. No case here ends early."""
    model = network()
    model.load_state_dict(case.weights, strict=False)
    optimizer = OPTIMIZERS[case.optimizer](model.parameters())
    inputs_held, targets_held = (torch.cat(parts) for parts in zip(*case.held_out, strict=True))
    history, logged = [], []
    for _ in range(case.epochs):
        for shards in zip(*case.batches, strict=True):
            inputs, targets = (torch.cat(parts) for parts in zip(*shards, strict=True))
            loss = case.loss_fn(model(inputs), targets)
            if not loss.isfinite():
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            logged.append(loss.item())
        with torch.no_grad():
            history.append(case.loss_fn(model(inputs_held), targets_held).item())
    return history, logged, {name: p.detach() for name, p in model.named_parameters()}


def expect_as_alone(answer, world_size, **cases):
    """Validation losses and weights on every rank, and the log of rank 0, are those of one process."""
    wanted = [train_alone(case) for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for rank, results in enumerate(found):
        for (history, logged, weights, modes, at_once), (first, *_), about, right in zip(
            results, found[0], cases, wanted, strict=True
        ):
            where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
            _expect_numbers(history, right[0], f"fit(…) {where}")
            told = f"fit(…) returns other losses than on rank 0, in the last digits, {where}"
            expect_that(str(history) == str(first), told, yours=history, wanted=f"{first}, on every rank")
            _expect_numbers(logged, [] if rank else right[1], f"what is logged {where}")
            expect_that(at_once, f"log is not called after each step, before the next one, {where}")
            parts = {"DDP": True, "the model": True, "layer 0": True, "layer 1": False, "layer 2": True}
            for (part, before), mode in zip(parts.items(), modes, strict=True):
                before, mode = ("train" if m else "eval" for m in (before, mode))
                told = f"fit(…) leaves {part} in another mode {where}"
                expect_that(mode == before, told, yours=mode, wanted=f"{before}, as before")
            for name, weight in right[2].items():
                # some steps add up the rounding of each; a right answer may divide in float32
                expect_close(weights[name].float(), weight.float(), f"{name} {where}", ulps=500, scale=1.0)


def _expect_numbers(mine, right, what):
    expect_equal({type(x).__name__ for x in mine} - {"float"}, set(), f"other types than float in {what}")
    expect_equal(len(mine), len(right), f"the number of losses in {what}")
    expect_close(torch.tensor(mine), torch.tensor(right), what, ulps=100)


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_nothing_happens(answer, gen, world_size):
    """Without any incident, every rank trains and validates as one process would, and rank 0 logs."""
    held_out = [4, 1, 2][:world_size]
    expect_as_alone(
        answer,
        world_size,
        with_held_out_rows=drawn(gen, world_size, held_out, epochs=3, loss_fn=squared_error),
    )


def broken(case, *records):
    """The case with `value` as a target of rank r in batch k, for each of the records (r, k, value)."""
    for rank, number, value in records:
        case.batches[rank][number][1][0, 1] = value
    return case


def test_broken_records(answer, gen):
    """Where the loss of one rank is inf or NaN, all ranks skip the step, and no other one."""
    rows = (2, 3, 1, 2)
    last = drawn(gen, 3, [2, 1, 3], rows=rows, optimizer="momentum", epochs=3)
    first = drawn(gen, 3, [2, 1, 3], rows=rows, optimizer="momentum")
    other = drawn(gen, 3, [2, 1, 3], rows=rows, optimizer="momentum", loss_fn=F.l1_loss)
    below = drawn(gen, 3, [2, 1, 3], rows=rows, loss_fn=error)
    steep = drawn(gen, 3, [2, 1, 3], rows=rows, loss_fn=steep_error)
    expect_as_alone(
        answer,
        3,
        with_NaN_in_the_last_batch_of_rank_1=broken(last, (1, 3, math.nan)),
        with_NaN_or_inf_in_batches_of_two_ranks=broken(first, (0, 0, math.nan), (2, 1, math.inf)),
        # |x - inf| is inf, and its gradient 1 is finite
        with_inf_and_the_L1_loss=broken(other, (1, 0, math.inf), (2, 0, -math.inf), (2, 2, math.inf)),
        with_a_loss_of_minus_inf_on_rank_1=broken(below, (1, 0, math.inf)),
        with_a_finite_loss_that_has_gradients_of_NaN=steep,
    )


def test_no_rows_held_out(answer, gen):
    """A rank without held-out rows takes part, and every held-out row counts the same."""
    spoiled = drawn(gen, 3, [0, 3, 1])
    spoiled.held_out[1][1][0, 0] = math.nan  # a loss of NaN is none of no rows
    expect_as_alone(
        answer,
        3,
        with_a_held_out_target_of_NaN_on_rank_1=spoiled,
        with_no_held_out_rows_on_rank_0=drawn(gen, 3, [0, 3, 1]),
        with_held_out_rows_on_rank_1_only=drawn(gen, 3, [0, 2, 0]),
    )


WEIGHTS = [5.0, -4.0, 4.0, 3.0, -6.0, 3.0, 7.0, 2.0, 1.0]
"""Of a model that predicts its weight, after each epoch."""
ENDS = {  # (epochs, patience): the epochs that are run
    (9, 1): 3,
    (9, 2): 6,
    (9, 3): 7,
    (9, 4): 9,
    (2, 1): 2,
    (1, 5): 1,
    (0, 1): 0,
}


class Scripted(torch.optim.Optimizer):
    """Sets the weight to the next of a script, whose last one stays."""

    def __init__(self, parameters, script):
        super().__init__(parameters, {})
        self.script = chain(script, repeat(script[-1]))

    @torch.no_grad()
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.fill_(next(self.script))


UNMEASURED = [-4.0, 9.0, 3.0, 9.0, 4.0]
"""Weights of which the 9 has a validation loss of NaN."""
CLOSE = [1.0, 0.99999, 0.99998]


def gap_at_nine(predictions, targets):
    """The mean squared error, but NaN for a prediction of 9 of a held-out row, whose target is 4 or -4."""
    loss = F.mse_loss(predictions, targets)
    return loss * math.nan if 9 in predictions and 4 in targets.abs() else loss


def end(rank, world_size, answer):
    """The validation losses for each setting, and the weights when the log is called."""
    x, found = torch.ones(1, 1), []
    held_out = (
        x,
        x * (4.0 if rank else -4.0),
    )  # (w - 4)² on one rank, (w + 4)² on the other, on average w² + 16
    # where the weight becomes NaN, no step and no new best follow
    settings = [*((*setting, WEIGHTS) for setting in ENDS), (9, 2, [5.0, math.nan])]
    settings += [(9, 2, UNMEASURED), (len(CLOSE), 1, CLOSE)]
    for epochs, patience, script in settings:
        model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
        optimizer = Scripted(model.parameters(), script)
        weights = []

        def log(loss, weights=weights, weight=model.module.weight):
            weights.append(weight.item())

        history = answer.fit(model, gap_at_nine, optimizer, [(x, x)], held_out, epochs, patience, log)
        found.append((history, weights))
    return found


def test_end(answer):
    """All ranks end in the same epoch: when there is no new best for `patience` epochs, or at the last."""
    for rank, (*results, (broken, _), (gaps, _), (close, _)) in enumerate(run_ranks(2, end, answer=answer)):
        for (epochs, patience), (mine, logged) in zip(ENDS, results, strict=True):
            weights = WEIGHTS[: ENDS[epochs, patience]]
            where = f"with epochs={epochs}, patience={patience} on rank {rank}"
            _expect_numbers(mine, [w * w + 16 for w in weights], f"fit(…) {where}")
            if rank == 0:
                expect_equal(
                    logged, weights, f"the weight each time that log is called, after a step, {where}"
                )
        where = f"with a validation loss of NaN from the second epoch on, patience=2, on rank {rank}"
        _expect_numbers(broken, [41.0, math.nan, math.nan], f"fit(…) {where}")
        right = [math.nan if w == 9 else w * w + 16 for w in UNMEASURED]
        where = f"with a validation loss of NaN in the second and fourth epoch, patience=2, on rank {rank}"
        _expect_numbers(gaps, right, f"fit(…) {where}")
        where = f"with a validation loss that falls by 0.00002 in each epoch, patience=1, on rank {rank}"
        _expect_numbers(close, [w * w + 16 for w in CLOSE], f"fit(…) {where}")


def oracle(answer, gen):
    cases = [
        broken(drawn(gen, 3, [1, 0, 2], optimizer="momentum"), (2, 1, math.nan), (0, 2, math.inf)),
        drawn(gen, 3, [2, 1, 0], patience=1, epochs=4),
    ]
    results = run_ranks(3, train, cases, answer=answer)
    return [
        [*history, *logged, *(w.float() for w in weights.values())]
        for rank in results
        for history, logged, weights, *_ in rank
    ]
