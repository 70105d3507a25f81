"""What grades ddp_step: the losses and weights of one process, uneven shares, clipping, messages, runs."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_number, expect_that
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

EXTRA_CALLS, EXTRA_BYTES = 2, 128


def squared_error(predictions, targets):
    return (predictions - targets).square().mean(1)


def cross_entropy(predictions, labels):
    return F.cross_entropy(predictions, labels, reduction="none")


@dataclass
class Case:
    """What the ranks train on: `steps[i][r]` is the share of rank r in step i, inputs and targets."""

    steps: list[Any]
    weights: dict[str, torch.Tensor]
    loss_fn: Any = squared_error
    old_gradient: float | None = None
    max_norm: float | None = None


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def drawn(gen, *sizes, labels=False, **options):
    """A case with shares of `sizes[i][r]` rows."""
    weights = {name: torch.randn(p.shape, generator=gen) for name, p in network().named_parameters()}

    def share(rank, rows):
        numbers = torch.randn(rows, 2, generator=gen)
        # ranks differ, so that it shows who is left out
        targets = numbers.argmax(1) if labels else numbers + 2 * rank
        return torch.randn(rows, 3, generator=gen), targets

    steps = [[share(rank, rows) for rank, rows in enumerate(step)] for step in sizes]
    return Case(steps, weights, cross_entropy if labels else squared_error, **options)


def prepared(case):
    model = network()
    model.load_state_dict(case.weights)
    if case.old_gradient is not None:
        for p in model.parameters():
            p.grad = torch.full_like(p, case.old_gradient)
    return model


def optimizer_of(model):
    return torch.optim.SGD([{"params": [p]} for p in model.parameters()], lr=0.1, momentum=0.9)


def state(model):
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def train(rank, world_size, answer, cases):
    """What each rank does: loss and weights after each step of each case."""
    found = []
    for case in cases:
        model = DistributedDataParallel(prepared(case))
        optimizer = optimizer_of(model)
        clip = {} if case.max_norm is None else {"max_norm": case.max_norm}
        results = []
        for shares in case.steps:
            loss = answer.ddp_step(model, case.loss_fn, optimizer, *shares[rank], **clip)
            results.append((loss, state(model.module)))
        found.append(results)
    return found


def train_alone(case, *, only=None, means=False, factor=1.0, keeps_old=False):
    """The same on one process, in float64, with all rows of a step in one batch; or with a mistake."""
    model = prepared(case).double()
    optimizer = optimizer_of(model)
    results = []
    for shares in case.steps:
        losses = [
            case.loss_fn(model(x.double()), y.double() if y.is_floating_point() else y) for x, y in shares
        ]
        losses = losses if only is None else [losses[only]]
        loss = torch.stack([part.mean() for part in losses]).mean() if means else torch.cat(losses).mean()
        if not keeps_old:
            optimizer.zero_grad()
        (factor * loss).backward()
        if case.max_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), case.max_norm)
        optimizer.step()
        results.append((loss.item(), {name: p.float() for name, p in state(model).items()}))
    return results


def expect_as_alone(answer, world_size, about, case):
    """Losses and weights on every rank are those of one process with all rows."""
    wanted = train_alone(case)
    for rank, (results,) in enumerate(run_ranks(world_size, train, [case], answer=answer)):
        mistakes = {
            "only the rows of this rank count": {"only": rank},
            "every rank's mean counts the same, whatever its number of rows": {"means": True},
            "the gradients are divided by the ranks, which DDP has done": {"factor": 1 / world_size},
            "the gradients of the ranks are summed": {"factor": world_size},
            "the losses of the rows are added up: their mean is wanted": {
                "factor": len(case.steps[0][rank][0])
            },
            "gradients from before are added: clear them before the backward": {"keeps_old": True},
            "the gradients are not clipped": {},
        }
        for number, ((loss, weights), (right, right_weights)) in enumerate(zip(results, wanted, strict=True)):
            where = f"in step {number + 1} on rank {rank} of {world_size}, {about}"

            def made(mistake, name=None, number=number):
                other = replace(case, max_norm=None) if not mistake else case
                loss, weights = train_alone(other, **mistake)[number]
                return loss if name is None else weights[name]

            losses = list(mistakes.items())[:2]
            told = {words: lambda how=how, made=made: made(how) for words, how in losses}
            expect_number(loss, right, f"ddp_step(…) {where}", rtol=1e-5, suspects=told)
            for name, weight in right_weights.items():
                told = {
                    words: lambda how=how, name=name, made=made: made(how, name)
                    for words, how in mistakes.items()
                }
                # several steps add up the rounding of each
                expect_close(weights[name], weight, f"{name} {where}", ulps=500, scale=1.0, suspects=told)


@pytest.mark.parametrize("world_size", [2, 3])
def test_equal_shares(answer, gen, world_size):
    """With shares of one size, every rank takes the steps that one process takes on all rows."""
    case = drawn(gen, *[[4] * world_size] * 3)
    expect_as_alone(answer, world_size, "4 rows each", case)


def test_labels(answer, gen):
    """Cross-entropy, whose targets are integers."""
    expect_as_alone(answer, 2, "cross-entropy", drawn(gen, [3, 3], labels=True))


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """What lies in `.grad` before the first step has no influence."""
    case = drawn(gen, [3, 3], old_gradient=10.0)
    expect_as_alone(answer, 2, "where `.grad` holds numbers from before", case)


@pytest.mark.fine
def test_uneven_shares(answer, gen):
    """Every row counts the same, whether it lies in a large share or in a small one, in every step."""
    expect_as_alone(answer, 3, "shares of several sizes", drawn(gen, [1, 4, 2], [5, 1, 3], [2, 3, 40]))


@pytest.mark.fine
def test_empty_shares(answer, gen):
    """A rank without rows takes part in the step, and gets the loss and the weights."""
    case = drawn(gen, [2, 0, 1], [0, 0, 3], [1, 4, 0])
    case.steps[2][1][1][0] = torch.nan  # not every NaN is the mean over no rows
    expect_as_alone(answer, 3, "some without rows, and in step 3 a target of NaN", case)


@pytest.mark.fine
@pytest.mark.parametrize("max_norm", [0.5, 1e3])
def test_clipping(answer, gen, max_norm):
    """With max_norm the gradient of the whole batch is clipped, by the norm over all parameters."""
    case = drawn(gen, [3, 3], [2, 2], max_norm=max_norm)
    expect_as_alone(answer, 2, f"max_norm={max_norm}", case)


def count(rank, world_size, answer, case):
    """The messages of the last step, of DDP alone and of the answer: number, bytes, kinds."""

    def plain_step(model, loss_fn, optimizer, inputs, targets):
        loss_fn(model(inputs), targets).sum().backward()

    found = []
    for step in (plain_step, answer.ddp_step):
        model = DistributedDataParallel(prepared(case))
        optimizer = optimizer_of(model)
        for shares in case.steps:
            with count_collectives() as messages:
                step(model, case.loss_fn, optimizer, *shares[rank])
        found.append((len(messages.calls), sum(call.bytes for call in messages.calls), messages.count))
    return found


@pytest.mark.fine
def test_messages(answer, gen):
    """A step sends what DDP sends, and at most two small collectives more."""
    case = drawn(gen, *[[40, 40]] * 3)
    for rank, (plain, mine) in enumerate(run_ranks(2, count, case, answer=answer)):
        facts = {
            "yours": f"{mine[0]} collectives, {mine[1]} bytes: {in_words(mine[2])}",
            "wanted": f"those of DDP, here {plain[0]} of {plain[1]} bytes ({in_words(plain[2])}), and "
            f"at most {EXTRA_CALLS} more of {EXTRA_BYTES} bytes together",
        }
        expect_that(mine[0] <= plain[0] + EXTRA_CALLS, f"too many messages from rank {rank}", **facts)
        expect_that(mine[1] <= plain[1] + EXTRA_BYTES, f"too many bytes from rank {rank}", **facts)


def watch(rank, world_size, answer, case):
    """How often each part runs in one step; the modes of three layers and the data afterwards."""
    model = DistributedDataParallel(prepared(case))
    optimizer = optimizer_of(model)
    model.module[1].eval()
    runs = {"the model": 0, "loss_fn": 0, "optimizer.step": 0}

    def count_in(what):
        runs[what] += 1

    def loss_fn(predictions, targets):
        count_in("loss_fn")
        return squared_error(predictions, targets)

    model.register_forward_hook(lambda *_: count_in("the model"))
    optimizer.register_step_post_hook(lambda *_: count_in("optimizer.step"))
    inputs, targets = (x.clone() for x in case.steps[0][rank])
    answer.ddp_step(model, loss_fn, optimizer, inputs, targets)
    return runs, [part.training for part in model.module], (inputs, targets)


@pytest.mark.fine
def test_what_runs(answer, gen):
    """The model, loss_fn and the optimizer run once each; modes, inputs and targets stay as they are."""
    case = drawn(gen, [3, 3])
    for rank, (runs, modes, data) in enumerate(run_ranks(2, watch, case, answer=answer)):
        for what, number in runs.items():
            expect_equal(number, 1, f"the number of times that {what} runs on rank {rank}")
        expect_equal(modes, [True, False, True], f"the training flags of the model's parts on rank {rank}")
        for name, mine, right in zip(("inputs", "targets"), data, case.steps[0][rank], strict=True):
            expect_equal(mine, right, f"the {name} after ddp_step(…) on rank {rank}")


def oracle(answer, gen):
    def trained(case):
        return lambda: [found for (found,) in run_ranks(3, train, [case], answer=answer)]

    def losses(case):
        return lambda: [[loss for loss, _ in found] for found in trained(case)()]

    def weights(case):
        return lambda: [[state for _, state in found] for found in trained(case)()]

    one, three = drawn(gen, [4, 4, 4]), drawn(gen, *[[4, 4, 4]] * 3)
    return {
        "the loss of a step on three ranks": losses(one),
        "the weights after a step on three ranks": weights(one),
        "the weights after three steps on three ranks": weights(three),
        "the losses with cross-entropy": losses(drawn(gen, [3, 3, 3], labels=True)),
        "the weights with cross-entropy": weights(drawn(gen, [3, 3, 3], labels=True)),
    }


def fine_oracle(answer, gen):
    cases = {
        "shares of several sizes": drawn(gen, [1, 3, 2], [4, 2, 1]),
        "old gradients": drawn(gen, [2, 2, 2], old_gradient=3.0),
        "clipped": drawn(gen, [2, 2, 2], max_norm=0.4),
    }
    found = zip(*run_ranks(3, train, list(cases.values()), answer=answer), strict=True)
    return dict(zip(cases, map(list, found), strict=True))
