"""What grades no_sync_accumulation: the steps of one process, one synchronisation, one graph at a time."""

import weakref
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
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
    """What the ranks train on: `steps[i][r]` is the list of pieces that rank r has in step i."""

    steps: list[Any]
    weights: dict[str, torch.Tensor]
    loss_fn: Any = squared_error
    old_gradient: float | None = None


def network():
    return nn.Sequential(nn.Linear(3, 40), nn.Tanh(), nn.Linear(40, 2))


def drawn(gen, *sizes, labels=False, **options):
    """A case with pieces of `sizes[i][r][k]` rows."""
    weights = {name: torch.randn(p.shape, generator=gen) for name, p in network().named_parameters()}

    def piece(rank, rows):
        numbers = torch.randn(rows, 2, generator=gen)
        # ranks differ, so that it shows who is left out
        targets = numbers.argmax(1) if labels else numbers + 2 * rank
        return torch.randn(rows, 3, generator=gen), targets

    steps = [[[piece(rank, n) for n in mine] for rank, mine in enumerate(step)] for step in sizes]
    return Case(steps, weights, cross_entropy if labels else squared_error, **options)


def prepared(case):
    model = network()
    model.load_state_dict(case.weights)
    if case.old_gradient is not None:
        for p in model.parameters():
            p.grad = torch.full_like(p, case.old_gradient)
    return model


def optimizer_of(model):
    return torch.optim.SGD([{"params": [p]} for p in model.parameters()], lr=0.02, momentum=0.9)


def state(model):
    return {name: p.detach().float().clone() for name, p in model.named_parameters()}


def train(rank, world_size, answer, cases):
    """What each rank does: loss and weights after each step of each case."""
    found = []
    for case in cases:
        model = DistributedDataParallel(prepared(case))
        optimizer = optimizer_of(model)
        results = []
        for pieces in case.steps:
            loss = answer.accumulated_step(model, case.loss_fn, optimizer, pieces[rank])
            results.append((loss, state(model.module)))
        found.append(results)
    return found


def train_alone(case, *, only=None, part=slice(None), means=False, factor=None, keeps_old=False):
    """The same on one process, in float64, with all rows of a step in one batch; or with a mistake."""
    model = prepared(case).double()
    optimizer = optimizer_of(model)
    results = []
    for step in case.steps:
        losses = [
            [case.loss_fn(model(x.double()), y.double() if y.is_floating_point() else y) for x, y in mine]
            for mine in step
        ]
        mine = [rank[part] for rank in (losses if only is None else [losses[only]])]
        if means:
            loss = torch.stack([torch.stack([piece.mean() for piece in rank]).mean() for rank in mine]).mean()
        else:
            loss = torch.cat([torch.cat(rank) for rank in mine]).mean()
        if not keeps_old:
            optimizer.zero_grad()
        (loss if factor is None else loss * factor(len(step), len(step[0]))).backward()
        optimizer.step()
        results.append((loss.item(), state(model)))
    return results


def expect_as_alone(answer, world_size, about, case):
    """Losses and weights on every rank are those of one process with all rows."""
    wanted = train_alone(case)
    for rank, (results,) in enumerate(run_ranks(world_size, train, [case], answer=answer)):
        mistakes = {
            "only the rows of this rank count: nothing is synchronised": {"only": rank},
            "only the last piece counts": {"part": slice(-1, None)},
            "the mean of each piece counts the same, whatever its number of rows": {"means": True},
            "the gradients of the pieces are added: divide by their number": {"factor": lambda _, n: n},
            "the gradients are divided by the ranks, which DDP has done": {"factor": lambda n, _: 1 / n},
            "the gradients of the ranks are summed": {"factor": lambda n, _: n},
            "gradients from before are added: clear them first": {"keeps_old": True},
        }
        wrong = {words: cache(partial(train_alone, case, **how)) for words, how in mistakes.items()}
        for number, ((loss, weights), (right, right_weights)) in enumerate(zip(results, wanted, strict=True)):
            where = f"in step {number + 1} on rank {rank} of {world_size}, {about}"
            told = {words: lambda run=run, n=number: run()[n][0] for words, run in list(wrong.items())[:3]}
            expect_number(loss, right, f"accumulated_step(…) {where}", rtol=1e-5, suspects=told)
            for name, weight in right_weights.items():
                told = {
                    words: lambda run=run, n=number, name=name: run()[n][1][name]
                    for words, run in wrong.items()
                }
                # several steps add up the rounding of each
                expect_close(weights[name], weight, f"{name} {where}", ulps=500, scale=1.0, suspects=told)


@pytest.mark.parametrize("world_size", [2, 3])
def test_equal_pieces(answer, gen, world_size):
    """With pieces of one size, every rank takes the steps that one process takes on all rows."""
    case = drawn(gen, [[4, 4, 4]] * world_size, [[4]] * world_size, [[4, 4]] * world_size)
    expect_as_alone(answer, world_size, "with pieces of 4 rows", case)


def test_labels(answer, gen):
    """Cross-entropy, whose targets are integers."""
    expect_as_alone(answer, 2, "with cross-entropy", drawn(gen, [[3, 3], [3, 3]], labels=True))


def counted(rank, world_size, answer, case):
    """The messages of the last step, of one backward of DDP and of the answer: number, bytes, in words."""

    def plain_step(model, loss_fn, optimizer, pieces):
        inputs, targets = pieces[0]
        loss_fn(model(inputs), targets).sum().backward()

    found = []
    for step in (plain_step, answer.accumulated_step):
        model = DistributedDataParallel(prepared(case))
        optimizer = optimizer_of(model)
        for pieces in case.steps:
            with count_collectives() as messages:
                step(model, case.loss_fn, optimizer, pieces[rank])
        number, size = len(messages.calls), sum(call.bytes for call in messages.calls)
        found.append((number, size, f"{number} collectives, {size} bytes: {in_words(messages.count)}"))
    return found


def test_one_synchronisation(answer, gen):
    """A step of many pieces sends the gradients once."""
    case = drawn(gen, *[[[2] * 5] * 2] * 3)
    for rank, (plain, mine) in enumerate(run_ranks(2, counted, case, answer=answer)):
        told = f"the gradients travel more than once in a step of 5 pieces, from rank {rank}"
        likely = "forward and backward of a piece both belong inside no_sync, and of all pieces but the last"
        facts = {"yours": mine[2], "wanted": f"those of one backward, {plain[2]}", "likely": likely}
        expect_that(mine[1] < 1.9 * plain[1], told, **facts)


@pytest.mark.fine
def test_messages(answer, gen):
    """A step sends what one backward of DDP sends, and at most two small collectives more."""
    case = drawn(gen, *[[[2] * 5] * 2] * 3)
    for rank, (plain, mine) in enumerate(run_ranks(2, counted, case, answer=answer)):
        more = f"and at most {EXTRA_CALLS} more of {EXTRA_BYTES} bytes together"
        facts = {"yours": mine[2], "wanted": f"those of one backward, {plain[2]}; {more}"}
        few = mine[0] <= plain[0] + EXTRA_CALLS and mine[1] <= plain[1] + EXTRA_BYTES
        expect_that(few, f"too many messages in a step of 5 pieces, from rank {rank}", **facts)


class Kept:
    """A tensor that a graph has saved."""

    def __init__(self, tensor):
        self.tensor = tensor


def watch(rank, world_size, answer, case):
    """What runs in one step: rows, and the saved tensors that are there; runs of all else; what is left."""
    model = prepared(case)
    model[1].eval()
    wrapped = DistributedDataParallel(model)
    optimizer = optimizer_of(wrapped)
    saved, rows, alive, losses, steps = [], [], [], [], []

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    def look(_module, inputs):
        rows.append(len(inputs[0]))
        alive.append(sum(ref() is not None for ref in saved))

    def loss_fn(predictions, targets):
        losses.append(len(targets))
        return squared_error(predictions, targets)

    model.register_forward_pre_hook(look)
    optimizer.register_step_post_hook(lambda *_: steps.append(len(rows)))
    pieces = case.steps[0][rank]
    before = [(inputs.clone(), targets.clone()) for inputs, targets in pieces]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        answer.accumulated_step(wrapped, loss_fn, optimizer, pieces)
    same = len(pieces) == len(before) and all(map(torch.equal, chain(*pieces), chain(*before)))
    return rows, losses, alive, steps, [part.training for part in model], same


def test_one_piece_at_a_time(answer, gen):
    """Each piece has its backward before the model runs on the next, and the optimizer steps at the end."""
    case = drawn(gen, [[3, 3, 3], [3, 3, 3]])
    for rank, (rows, _, alive, steps, _, _) in enumerate(run_ranks(2, watch, case, answer=answer)):
        where = f"on rank {rank}, which has three pieces of 3 rows"
        wanted = "[3, 3, 3], each piece in its turn"
        expect_that(
            rows == [3, 3, 3], f"wrong rows that the model runs on, {where}", yours=rows, wanted=wanted
        )
        told = f"what the graph of a piece saved is alive when the model runs on the next, {where}"
        likely = "one backward at the end, or retain_graph: call `backward` for each piece"
        expect_that(not any(alive), told, yours=f"{max(alive)} tensors", wanted="none", likely=likely)
        expect_equal(steps, [3], f"the pieces done when the optimizer steps, {where}")


@pytest.mark.fine
def test_what_runs(answer, gen):
    """Model and loss_fn run once on each piece, also without rows; modes and pieces stay as they are."""
    sizes = [[3, 0, 4], [0, 5]]
    for rank, found in enumerate(run_ranks(2, watch, drawn(gen, sizes), answer=answer)):
        rows, losses, _, _, modes, same = found
        for what, ran in (("the model", rows), ("loss_fn", losses)):
            expect_equal(ran, sizes[rank], f"the numbers of rows that {what} runs on, on rank {rank}")
        expect_equal(modes, [True, False, True], f"the training flags of the model's parts on rank {rank}")
        expect_that(same, f"accumulated_step changes the pieces, or the list of them, on rank {rank}")


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """What lies in `.grad` before the first step has no influence."""
    case = drawn(gen, [[3, 3], [3, 3]], old_gradient=10.0)
    expect_as_alone(answer, 2, "where `.grad` holds numbers from before", case)


@pytest.mark.fine
def test_uneven_pieces(answer, gen):
    """Every row counts the same, however many pieces a rank has, and however many rows a piece has."""
    sizes = [[1, 4], [2], [3, 1, 5]], [[5], [1, 3, 2, 2], [2, 1]]
    expect_as_alone(answer, 3, "with uneven pieces", drawn(gen, *sizes))


@pytest.mark.fine
def test_empty_pieces(answer, gen):
    """Pieces without rows count for nothing, and a rank that has no others takes part."""
    case = drawn(gen, [[0, 2], [0], [3, 0, 1]], [[1], [0, 0], [2, 0]])
    case.steps[1][2][0][1][0, 0] = torch.nan  # not every NaN is the mean over no rows
    expect_as_alone(answer, 3, "some pieces without rows, and in step 2 a target of NaN", case)


def break_and_go_on(rank, world_size, answer, case):
    """What comes out where loss_fn raises, and the gradients of a plain backward after that."""
    model = DistributedDataParallel(prepared(case))
    optimizer = optimizer_of(model)

    def broken(predictions, targets):
        raise ZeroDivisionError("no loss today")

    raised = None
    try:
        answer.accumulated_step(model, broken, optimizer, case.steps[0][rank])
    except ZeroDivisionError as error:
        raised = error  # with its traceback, like a notebook: what a frame holds on to stays as it is
    optimizer.zero_grad()
    inputs, targets = case.steps[0][rank][0]
    squared_error(model(inputs), targets).sum().backward()
    return raised is not None, model.module[2].bias.grad


@pytest.mark.fine
def test_after_an_error(answer, gen):
    """An error of loss_fn comes out, and the model synchronises in later backwards."""
    found = run_ranks(2, break_and_go_on, drawn(gen, [[3, 3], [3, 3]]), answer=answer)
    for rank, (raised, _) in enumerate(found):
        expect_that(raised, f"accumulated_step lets no error of loss_fn out, on rank {rank}")
    told = "a gradient on rank 0 is another than on rank 1, in a plain backward after an error of loss_fn"
    one, other = (grad for _, grad in found)
    expect_that(torch.allclose(one, other), told, likely="the switch of no_sync is still on")


def results(answer, cases):
    found = zip(*run_ranks(3, train, list(cases.values()), answer=answer), strict=True)
    return dict(zip(cases, map(list, found), strict=True))


def oracle(answer, gen):
    cases = {
        "two steps of three pieces": drawn(gen, *[[[2, 2, 2]] * 3] * 2),
        "one piece": drawn(gen, [[5]] * 3),
        "two steps of one piece": drawn(gen, [[4]] * 3, [[4]] * 3),
        "cross-entropy": drawn(gen, [[3, 3]] * 3, labels=True),
    }
    return {
        about: lambda about=about, case=case: results(answer, {about: case})[about]
        for about, case in cases.items()
    }


def fine_oracle(answer, gen):
    cases = {
        "uneven pieces": drawn(gen, [[1, 2], [3], [2, 2, 1]], [[4], [1, 1], [2, 2]]),
        "old gradients": drawn(gen, [[2, 2]] * 3, old_gradient=3.0),
    }
    return results(answer, cases)
