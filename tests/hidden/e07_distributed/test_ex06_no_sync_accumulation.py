"""What grades no_sync_accumulation: the steps of one process, messages, graphs, what runs, errors."""

import weakref
from dataclasses import dataclass
from itertools import chain

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that, marked
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


@dataclass
class Case:
    """What the ranks train on: `steps[i][r]` is the list of pieces that rank r has in step i."""

    steps: list
    weights: dict
    loss_fn: object
    optimizer: str = "SGD"
    old_gradient: float | None = None


class Enter(nn.Linear):
    """A first layer that takes integers, too."""

    def forward(self, x):
        return super().forward(x.to(self.weight.dtype))


def network():
    return nn.Sequential(Enter(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


def drawn(gen, sizes, *, classes=False, **options):
    """A case with pieces of `sizes[i][r][k]` rows. In float64, as AdamW's division enlarges rounding."""
    weights = {name: torch.randn(p.shape, generator=gen).double() for name, p in network().named_parameters()}

    def piece(rank, rows):
        inputs = torch.randn(rows, 3, generator=gen).double()
        numbers = torch.randn(rows, 2, generator=gen).double()
        # ranks differ, so that it shows who is left out
        if classes:  # of integers, in whose dtype a loss would be cut off
            return (3 * inputs).long(), numbers.argmax(1)
        return inputs, numbers + 2 * rank

    steps = [[[piece(rank, n) for n in mine] for rank, mine in enumerate(step)] for step in sizes]
    return Case(steps, weights, cross_entropy if classes else squared_error, **options)


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
        for pieces in case.steps:
            losses.append(answer.accumulated_step(wrapped, case.loss_fn, optimizer, pieces[rank]))
            states.append(state(model))
        results.append((losses, states))
    return results


def train_alone(case):
    """The same on one process, with all rows of a step in one batch."""
    model = prepared(case)
    optimizer = OPTIMIZERS[case.optimizer](model.parameters())
    losses, states = [], []
    for pieces in case.steps:
        inputs, targets = (torch.cat(parts) for parts in zip(*chain(*pieces), strict=True))
        optimizer.zero_grad()
        loss = case.loss_fn(model(inputs), targets).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        states.append(state(model))
    return losses, states


def expect_as_alone(answer, world_size, **cases):
    """Losses, weights and gradients on every rank are those of one process."""
    wanted = [train_alone(case) for case in cases.values()]
    found = run_ranks(world_size, train, list(cases.values()), answer=answer)
    for rank, results in enumerate(found):
        for (losses, states), about, (right_losses, right_states) in zip(results, cases, wanted, strict=True):
            where = f"on rank {rank} of {world_size}, {about.replace('_', ' ')}"
            steps = zip(losses, states, right_losses, right_states, strict=True)
            for number, (loss, mine, right_loss, right) in enumerate(steps, start=1):
                step = f"in step {number} {where}"
                expect_equal(type(loss).__name__, "float", f"the type of accumulated_step(…) {step}")
                expect_close(torch.tensor(loss), torch.tensor(right_loss), f"accumulated_step(…) {step}")
                _expect_state(mine, right, f"after step {number} {where}")


def _expect_state(mine, right, when):
    for name, (weight, gradient) in right.items():
        weight_now, gradient_now = mine[name]
        expect_that(gradient_now is not None, f"{name} has no gradient {when}", yours="None")
        # several steps add up the rounding of each
        expect_close(gradient_now, gradient, f"the gradient of {name} {when}", ulps=500, scale=1.0)
        expect_close(weight_now, weight, f"{name} {when}", ulps=500, scale=1.0)


@pytest.mark.parametrize("world_size", [1, 2])
def test_pieces_of_one_size(answer, gen, world_size):
    """With pieces of one size, every rank takes the steps that one process takes on all rows."""
    sizes = [[[4, 4, 4]] * world_size, [[4]] * world_size, [[4, 4]] * world_size]
    expect_as_alone(answer, world_size, with_pieces_of_4_rows=drawn(gen, sizes, optimizer="momentum"))


def test_uneven_pieces(answer, gen):
    """Every row counts the same, however many pieces a rank has, and however many rows a piece has."""
    sizes = [[[1, 4], [2], [3, 1, 5]], [[5], [1, 3, 2, 2], [2, 1]], [[2, 3], [6, 1], [1]]]
    empty = [[[0, 2], [0], [3, 0, 1]], [[1], [0, 0], [2, 0]]]
    broken = drawn(gen, empty)
    broken.steps[1][2][0][1][0, 0] = torch.nan  # a loss of NaN is none of an empty piece
    expect_as_alone(
        answer,
        3,
        uneven_pieces_with_momentum=drawn(gen, sizes, optimizer="momentum"),
        uneven_pieces_with_AdamW=drawn(gen, sizes[::-1], optimizer="AdamW", classes=True),
        with_empty_pieces=drawn(gen, empty, optimizer="momentum"),
        with_a_target_of_NaN_in_step_2=broken,
    )


def test_old_gradients(answer, gen):
    """Gradients from before have no influence, on the weights or on `.grad`."""
    sizes = [[[3, 2], [1]], [[1], [2, 2]]]
    for number in (10.0, float("nan")):
        case = drawn(gen, sizes, old_gradient=number, optimizer="groups")
        expect_as_alone(answer, 2, **{f"with_old_gradients_of_{number}": case})


class Seen(nn.Module):
    """A layer with a buffer, which DDP sends round in the first forward of a step."""

    def __init__(self):
        super().__init__()
        self.register_buffer("numbers", torch.zeros(100))

    def forward(self, x):
        return x


def count(rank, world_size, answer, case):
    """The messages of the last step, of the answer and of one backward of DDP: kinds, and bytes."""

    def plain_step(wrapped, loss_fn, optimizer, pieces):
        inputs, targets = pieces[0]
        optimizer.zero_grad()
        loss_fn(wrapped(inputs), targets).sum().backward()
        optimizer.step()

    found = []
    for step in (plain_step, answer.accumulated_step):
        wrapped = DistributedDataParallel(nn.Sequential(prepared(case), Seen()))
        optimizer = OPTIMIZERS["SGD"](wrapped.parameters())
        for pieces in case.steps:
            with count_collectives() as messages:
                step(wrapped, case.loss_fn, optimizer, pieces[rank])
        found.append((len(messages.calls), sum(call.bytes for call in messages.calls), messages.count))
    return found


def test_messages(answer, gen):
    """A step of many pieces sends what one backward of DDP sends, and at most two small collectives more."""
    case = drawn(gen, [[[3, 1], [2, 1]], [[2], [2]], [[9, 8, 20, 7, 5, 0], [12, 5, 8, 10, 8, 0]]])
    for pieces in case.steps[2]:
        pieces[1] = pieces[-1]  # the very same pair, as from a loader that repeats a batch
    for rank, (plain, mine) in enumerate(run_ranks(2, count, case, answer=answer)):
        facts = {
            "yours": f"{mine[0]} collectives, {mine[1]} bytes: {in_words(mine[2])}",
            "wanted": f"those of DDP, here {plain[0]} of {plain[1]} bytes ({in_words(plain[2])}), and "
            f"at most {EXTRA_CALLS} more of {EXTRA_BYTES} bytes together",
        }
        where = (
            f"from rank {rank} in a step of 6 pieces, of which the second and the last are one, without rows"
        )
        expect_that(mine[0] <= plain[0] + EXTRA_CALLS, f"too many messages {where}", **facts)
        expect_that(mine[1] <= plain[1] + EXTRA_BYTES, f"too many bytes {where}", **facts)


class Kept:
    """A tensor that a graph has saved."""

    def __init__(self, tensor):
        self.tensor = tensor


def watch(rank, world_size, answer, case):
    """What runs in one step: rows, saved tensors and graphs at each run of the model, runs of all else."""
    model = prepared(case)
    wrapped = DistributedDataParallel(model)
    model[1].eval()
    modes = [part.training for part in wrapped.modules()]
    optimizer = OPTIMIZERS["SGD"](wrapped.parameters())
    saved, rows, alive, marks, graphs, losses, steps = [], [], [], [], [], [], []

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    def look(_module, inputs):
        rows.append(len(inputs[0]))
        alive.append(sum(ref() is not None for ref in saved))
        graphs.append(sum(ref() is not None for ref in marks))

    def mark(_module, _inputs, out):
        out, new = marked(out)
        marks.append(new)
        return out

    def loss_fn(predictions, targets):
        losses.append(len(targets))
        return squared_error(predictions, targets)

    model.register_forward_pre_hook(look)
    model.register_forward_hook(mark)
    optimizer.register_step_post_hook(lambda *_: steps.append(len(rows)))
    pieces = case.steps[0][rank]
    before = [(inputs.clone(), targets.clone()) for inputs, targets in pieces]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        answer.accumulated_step(wrapped, loss_fn, optimizer, pieces)
    same = len(pieces) == len(before) and all(map(torch.equal, chain(*pieces), chain(*before)))
    same = same and not any(t.requires_grad for t in chain(*pieces))
    return rows, losses, alive, graphs, steps, modes == [part.training for part in wrapped.modules()], same


def test_one_piece_at_a_time(answer, gen):
    """Model and loss_fn run once on each piece, in order, and no two pieces have a graph at once."""
    sizes = [[3, 0, 4, 1], [0, 5]]
    for rank, found in enumerate(run_ranks(2, watch, drawn(gen, [sizes]), answer=answer)):
        rows, losses, alive, graphs, steps, same_modes, same_pieces = found
        where = f"on rank {rank}, whose pieces have {' and '.join(map(str, sizes[rank]))} rows"
        for what, ran in (("the model", rows), ("loss_fn", losses)):
            told = f"wrong rows that {what} runs on, {where}"
            expect_that(
                ran == sizes[rank], told, yours=str(ran), wanted=f"{sizes[rank]}, each piece in its turn"
            )
        for number, kept in enumerate(alive, start=1):
            told = (
                f"saved tensors of other pieces are there when the forward of piece {number} begins {where}"
            )
            expect_that(
                kept == 0, told, yours=kept, wanted="0: the backward of a piece before the next forward"
            )
        expect_that(
            max(graphs) <= 1,  # the last one may still have a name
            f"the graphs of earlier pieces are alive when the model runs on another, {where}",
            yours=f"{max(graphs)} graphs",
            likely="a sum of losses that carry their graphs: add up loss.detach()",
        )
        expect_that(same_modes, f"accumulated_step changes the mode of a layer on rank {rank}")
        expect_that(same_pieces, f"accumulated_step changes the pieces, or the list of them, on rank {rank}")
        expect_equal(steps, [len(rows)], f"the pieces done when the optimizer steps, on rank {rank}")


def break_and_go_on(rank, world_size, answer, case):
    """What comes out of steps whose loss_fn raises, and the gradients of a plain backward after each."""
    return [_broken(rank, answer, case, error) for error in (ZeroDivisionError, KeyboardInterrupt)]


def _broken(rank, answer, case, error):
    wrapped = DistributedDataParallel(prepared(case))
    optimizer = OPTIMIZERS["SGD"](wrapped.parameters())
    first, second = case.steps

    def broken(predictions, targets):
        raise error("no loss today")

    raised = None
    try:
        answer.accumulated_step(wrapped, broken, optimizer, first[rank])
    except NotImplementedError:
        raise
    except BaseException as caught:
        raised = caught  # with its traceback, like a notebook: what a frame holds on to stays as it is
    optimizer.zero_grad()
    ((inputs, targets),) = second[rank]
    squared_error(wrapped(inputs), targets).sum().backward()
    return type(raised).__name__, [p.grad for p in wrapped.parameters()]


def test_after_an_error(answer, gen):
    """An error of loss_fn comes out, and the model synchronises in later backwards as it did before."""
    case = drawn(gen, [[[2, 3], [1, 2]], [[4], [4]]])
    found = zip(*run_ranks(2, break_and_go_on, case, answer=answer), strict=True)
    for wanted, ((told, mine), (told_too, others)) in zip(
        ("ZeroDivisionError", "KeyboardInterrupt"), found, strict=True
    ):
        for rank, name in enumerate((told, told_too)):
            expect_equal(name, wanted, f"what accumulated_step raises where loss_fn does, on rank {rank}")
        for a, b in zip(mine, others, strict=True):
            expect_close(
                a,
                b,
                f"a gradient on rank 0, of a plain backward after a {wanted} in loss_fn, against rank 1's",
            )


def oracle(answer, gen):
    cases = [
        drawn(gen, [[[1, 2], [3], [0, 2]], [[4], [0, 1], [2, 2, 1]]], optimizer="momentum"),
        drawn(gen, [[[2], [1, 1, 3], [5, 2]]], classes=True),
    ]
    results = []
    for rank in run_ranks(3, train, cases, answer=answer):
        for losses, states in rank:
            results += [*losses, *(list(pair) for state in states for pair in state.values())]
    return results
