"""What grades diverging_ranks: training like one process, broken records, empty shards, the end, the log."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


@dataclass
class Case:
    """`batches[r]` and `held_out[r]` are what rank r has."""

    batches: list
    held_out: list
    weights: dict
    loss_fn: object = F.mse_loss
    epochs: int = 2
    dtype: torch.dtype = torch.float32

    def model(self):
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        model.register_buffer("seen", torch.zeros(2))  # a forward of DDP sends it, so all ranks must come
        model.load_state_dict(self.weights, strict=False)
        return model.to(self.dtype)


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1)


def drawn(gen, held_out, *, broken=(), dtype=torch.float32, **options):
    """A case with `held_out[r]` rows for the validation on rank r.

    For each (r, k, value) of `broken`, a target in batch k of rank r has this value.
    """
    weights = {
        name: torch.randn(shape, generator=gen)
        for name, shape in [("0.weight", (4, 3)), ("0.bias", (4,)), ("2.weight", (2, 4)), ("2.bias", (2,))]
    }

    def batch(rank, n):
        inputs = torch.randn(n, 3, generator=gen).to(dtype)
        # ranks differ, so that it shows who is left out
        return inputs, torch.randn(n, 2, generator=gen).to(dtype) + rank

    batches = [[batch(rank, n) for n in (2, 3, 1)] for rank in range(len(held_out))]
    for rank, number, value in broken:
        batches[rank][number][1][0, 1] = value
    held_out = [batch(rank, n) for rank, n in enumerate(held_out)]
    return Case(batches, held_out, weights, dtype=dtype, **options)


def train(rank, world_size, answer, case, frozen=False):
    """What a rank gets: validation losses, what it logged, the weights afterwards, and the layers' modes."""
    model = case.model()
    if frozen:
        model[1].eval()
    wrapped = DistributedDataParallel(model)
    logged = []
    history = answer.fit(
        wrapped,
        case.loss_fn,
        optimizer_of(wrapped),
        case.batches[rank],
        case.held_out[rank],
        epochs=case.epochs,
        patience=100,
        log=logged.append,
    )
    weights = {name: p.detach() for name, p in model.named_parameters()}
    return history, logged, weights, [part.training for part in wrapped.modules()]


def train_alone(case, decides=slice(None)):
    """The same on one process, which has the rows of all ranks; the losses of each rank by themselves.

    `decides`: whose losses are looked at.
    """
    model = case.model()
    optimizer = optimizer_of(model)
    history, logged = [], []
    for _ in range(case.epochs):
        for shards in zip(*case.batches, strict=True):
            losses = torch.stack([case.loss_fn(model(inputs), targets) for inputs, targets in shards])
            if not losses[decides].isfinite().all():
                continue
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            logged.append(losses.tolist())
        with torch.no_grad():
            losses = [case.loss_fn(model(inputs), targets).item() for inputs, targets in case.held_out]
        history.append(losses)
    return history, logged, {name: p.detach() for name, p in model.named_parameters()}


def mean(numbers, weights):
    pairs = [(n, w) for n, w in zip(numbers, weights, strict=True) if w]
    return sum(n * w for n, w in pairs) / sum(w for _, w in pairs)


def numbers(found):
    return torch.tensor([float(x) for x in found])


def expect_as_alone(answer, case, about):
    """Validation losses and weights on every rank, and the log of rank 0, are those of one process."""
    world_size = len(case.batches)
    by_rank, steps, right = train_alone(case)
    rows = [len(inputs) for inputs, _ in case.held_out]
    history = numbers(mean(losses, rows) for losses in by_rank)
    log = numbers(mean(losses, [1] * world_size) for losses in steps)
    for rank, (found, logged, weights, _) in enumerate(run_ranks(world_size, train, case, answer=answer)):
        where = f"on rank {rank} of {world_size}, {about}"
        suspects = {
            "that is the mean of the ranks' means: every row is to count the same": lambda: numbers(
                mean(losses, [n > 0 for n in rows]) for losses in by_rank
            ),
            "that is the loss of this rank's own rows": lambda rank=rank: numbers(x[rank] for x in by_rank),
        }
        if rank == 0:
            told = f"what is logged {where}"
            expect_that(len(logged) > 0, f"nothing is logged {where}", wanted=f"{len(log)} losses")
            own = {
                "that is the loss of rank 0 alone": lambda: numbers(x[0] for x in steps),
                "rank 0 decides by its own loss: that of any rank is to stop all": lambda: numbers(
                    mean(losses, [1] * world_size) for losses in train_alone(case, 0)[1]
                ),
            }
            expect_close(numbers(logged), log, told, ulps=500, scale=1.0, suspects=own)
        else:
            expect_equal(len(logged), 0, f"the number of losses that are logged {where}")
        for name, weight in right.items():
            # some steps add up the rounding of each
            expect_close(weights[name], weight, f"{name} after fit(…) {where}", ulps=500, scale=1.0)
        expect_close(numbers(found), history, f"fit(…) {where}", ulps=500, suspects=suspects)


def test_nothing_happens(answer, gen):
    """Without any incident, every rank trains and validates as one process would, and rank 0 logs."""
    expect_as_alone(answer, drawn(gen, [4, 1, 2], epochs=3), "with rows to validate on everywhere")


@pytest.mark.parametrize("where", ["first", "last"])
def test_broken_records(answer, gen, where):
    """Where one rank has a loss of NaN or inf, all ranks skip the step, and no other one."""
    records = [(1, 2, math.nan)] if where == "last" else [(0, 0, math.nan), (2, 1, math.inf)]
    told = ", ".join(f"{value} in batch {number} of rank {rank}" for rank, number, value in records)
    expect_as_alone(answer, drawn(gen, [2, 1, 3], broken=records), f"with {told}")


def test_no_rows_held_out(answer, gen):
    """A rank without held-out rows takes part, and every held-out row counts the same."""
    expect_as_alone(answer, drawn(gen, [0, 3, 1]), "with no held-out rows on rank 0")


WEIGHTS = [5.0, -4.0, 4.0, 3.0, -6.0, 3.0, 7.0, 2.0, 1.0]
"""Of a model that predicts its weight, after each epoch."""
ENDS = {(9, 1): 3, (9, 2): 6, (9, 3): 7, (2, 1): 2}
"""(epochs, patience): the epochs that are run."""


class Scripted(torch.optim.Optimizer):
    """Sets the weight to the next of a script, whose last one stays."""

    def __init__(self, parameters, script):
        super().__init__(parameters, {})
        self.script = chain(script, repeat(script[-1]))

    @torch.no_grad()
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.fill_(next(self.script))


def gap_at_nine(predictions, targets):
    """The mean squared error, but NaN for a prediction of 9 of a held-out row, whose target is 4 or -4."""
    loss = F.mse_loss(predictions, targets)
    return loss * math.nan if 9 in predictions and 4 in targets.abs() else loss


def end(rank, world_size, answer, settings, script):
    """The validation losses for each setting: (w - 4)² on one rank, (w + 4)² on the other, w² + 16 in all."""
    x, found = torch.ones(1, 1), []
    for epochs, patience in settings:
        model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
        optimizer = Scripted(model.parameters(), script)
        held_out = x, x * (4.0 if rank else -4.0)
        history = answer.fit(
            model, gap_at_nine, optimizer, [(x, x)], held_out, epochs, patience, lambda _: None
        )
        found.append([float(loss) for loss in history])
    return found


def test_end(answer):
    """All ranks end in the same epoch: without a new lowest loss for `patience` epochs, or at the last."""
    for rank, found in enumerate(run_ranks(2, end, list(ENDS), WEIGHTS, answer=answer)):
        for ((epochs, patience), number), mine in zip(ENDS.items(), found, strict=True):
            losses = [w * w + 16 for w in WEIGHTS]
            where = f"on rank {rank}, with epochs={epochs}, patience={patience}"
            told = f"fit(…) runs the wrong number of epochs {where}"
            facts = {"yours": len(mine), "wanted": number, "losses": ", ".join(map(str, losses[:epochs]))}
            expect_that(len(mine) == number, told, **facts)
            expect_close(numbers(mine), numbers(losses[:number]), f"fit(…) {where}", ulps=100)


@pytest.mark.fine
def test_validation_of_nan(answer):
    """A validation loss of NaN is returned, and is no new lowest."""
    script = [-4.0, 9.0, 3.0, 9.0, 4.0]
    right = numbers(math.nan if w == 9 else w * w + 16 for w in script)
    for rank, (found,) in enumerate(run_ranks(2, end, [(9, 2)], script, answer=answer)):
        call = f"fit(…) with losses of NaN in between, patience=2, on rank {rank}"
        expect_close(numbers(found), right, call, ulps=100)


@pytest.mark.fine
def test_loss_decides(answer, gen):
    """A loss of inf is skipped where its gradients are finite, too."""
    # |x - inf| is inf, and its gradient is 1
    case = drawn(gen, [2, 1, 3], broken=[(1, 0, math.inf), (2, 2, math.inf)], loss_fn=F.l1_loss)
    expect_as_alone(answer, case, "with inf as a target of the L1 loss")


@pytest.mark.fine
def test_float64(answer, gen):
    """A model in float64, where a rank has no rows to validate on."""
    expect_as_alone(answer, drawn(gen, [0, 3, 1], dtype=torch.float64), "in float64")


@pytest.mark.fine
def test_losses_are_floats(answer, gen):
    """Losses are returned and logged as Python floats."""
    history, logged, *_ = run_ranks(2, train, drawn(gen, [1, 3]), answer=answer)[0]
    for about, losses in (("that fit(…) returns", history), ("that are logged", logged)):
        kinds = sorted({type(x).__name__ for x in losses})
        told = f"the losses {about} are no Python floats"
        expect_that(kinds == ["float"], told, yours=" and ".join(kinds), wanted="float")


@pytest.mark.fine
def test_modes(answer, gen):
    """Every layer keeps its mode, also one that is in eval mode while the others train."""
    for rank, (*_, modes) in enumerate(run_ranks(2, train, drawn(gen, [2, 1]), True, answer=answer)):
        names = ["DDP", "the model", "layer 0", "layer 1", "layer 2"]
        changed = [name for name, mode in zip(names, modes, strict=True) if mode == (name == "layer 1")]
        told = f"fit(…) leaves layers in another mode on rank {rank}"
        expect_that(not changed, told, changed=", ".join(changed))


def oracle(answer, gen):
    whole = drawn(gen, [2, 1, 3])
    broken = drawn(gen, [1, 2, 2], broken=[(2, 1, math.nan)])
    without_rows = drawn(gen, [2, 1, 0])

    @cache
    def trained(place):
        return run_ranks(3, train, (whole, broken, without_rows)[place], answer=answer)

    def losses(place):
        return lambda: [numbers(history) for history, *_ in trained(place)]

    def weights(place):
        return lambda: [[*held.values()] for _, _, held, _ in trained(place)]

    return {
        "the validation losses": losses(0),
        "what is logged": lambda: [numbers(logged) for _, logged, _, _ in trained(0)],
        "the weights": weights(0),
        "the weights where rank 2 meets a broken record": weights(1),
        "the validation losses where rank 2 has no rows held out": losses(2),
    }
