"""What grades largest_batch: what fits, how it is looked for, what is let go; buffers, other errors."""

import math
import weakref

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, modes_kept

CALL = "largest_batch(model, attempt, limit)"
ROOMS = [(90, 1000), (200, 60), (0, 9), (1, 9), (2, 9), (3, 50), (5, 5), (6, 5), (16, 100), (33, 33), (1, 1)]


class Machine:
    """A simulated memory for so many rows, which writes down what is tried on it."""

    def __init__(self, room, error=None):
        self.room, self.error, self.tried = room, error, []
        self.held, self.stale, self.crowded = [], [], []
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))

    def attempt(self, rows):
        self.tried.append(rows)
        if len(self.tried) > 200:
            raise AssertionError("200 attempts and no end")
        if any(ref() is not None for ref in self.held):
            self.crowded.append(rows)
        if any(p.grad is not None and p.grad.any() for p in self.model.parameters()):
            self.stale.append(rows)
        activations = torch.ones(min(rows, 50) + 1, 3)
        self.held = [weakref.ref(activations)]
        self.model(activations).sum().backward()
        if self.error and rows > 2:
            raise self.error
        if rows > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


def drawn(gen, count=12):
    """Rooms and limits, of which most don't end at a power of 2."""
    limits = torch.randint(20, 5000, (count,), generator=gen).tolist()
    return [(int(limit * 1.1 * torch.rand((), generator=gen)), limit) for limit in limits]


def suspects(room, limit):
    wanted = min(room, limit)
    return {
        "the last power of 2 that fits: look between it and the next": lambda: (
            2 ** int(math.log2(max(wanted, 1)))
        ),
        "it is one too many": lambda: wanted + 1,
        "it is one too few": lambda: wanted - 1,
        "the limit is not kept": lambda: room,
    }


def test_values(answer, gen):
    """The largest number of rows that fits is found, up to the limit."""
    for room, limit in ROOMS + drawn(gen):
        machine = Machine(room)
        yours = answer.largest_batch(machine.model, machine.attempt, limit)
        call = f"{CALL} with {limit=}, where {room} rows fit"
        expect_equal(yours, min(room, limit), call, suspects=suspects(room, limit))


def test_no_leap(answer, gen):
    """No attempt goes beyond the limit, or twice what has fitted."""
    for room, limit in ROOMS + drawn(gen):
        machine, fitted = Machine(room), 0
        answer.largest_batch(machine.model, machine.attempt, limit)
        for rows in machine.tried:
            told = f"{CALL} tries {rows} rows with {limit=}, where {fitted} have fitted so far"
            expect_that(1 <= rows <= min(limit, max(1, 2 * fitted)), told, tried=machine.tried)
            fitted = max(fitted, rows) if rows <= room else fitted


def test_attempts(answer, gen):
    """There are no more than 2 * log2(limit) + 2 attempts."""
    for room, limit in ROOMS + drawn(gen):
        machine = Machine(room)
        answer.largest_batch(machine.model, machine.attempt, limit)
        told = f"{CALL} makes too many attempts with {limit=}, where {room} rows fit"
        most = 2 * math.log2(limit) + 2
        expect_that(len(machine.tried) <= most, told, attempts=len(machine.tried), most=int(most))


def test_error_is_let_go(answer):
    """The tensors of a failed attempt are gone before the next."""
    machine = Machine(21)
    answer.largest_batch(machine.model, machine.attempt, 100)
    told = f"tensors of the attempt before are still held at the next one in {CALL}"
    expect_that(
        not machine.crowded,
        told,
        rows=machine.crowded,
        likely="the error holds them: go on outside of `except`, and do not keep it",
    )


def test_gradients(answer):
    """Gradients are gone before each attempt, and at the end."""
    for room in (21, 100, 0):
        machine = Machine(room)
        machine.model[0].weight.grad = torch.ones(4, 3)
        answer.largest_batch(machine.model, machine.attempt, 100)
        told = f"gradients of the attempt before are there at the next one in {CALL}"
        expect_that(not machine.stale, told, rows=machine.stale)
        left = [name for name, p in machine.model.named_parameters() if p.grad is not None and p.grad.any()]
        expect_that(not left, f"{CALL} leaves gradients, where {room} rows fit", parameters=left)


@pytest.mark.parametrize("error", [RuntimeError("shapes don't fit"), KeyError("ids")], ids=["runtime", "key"])
def test_other_errors(answer, error):
    """Another error reaches the caller at once."""
    machine = Machine(21, error)
    expect_raises(type(error), lambda: answer.largest_batch(machine.model, machine.attempt, 100), CALL)
    expect_that(
        max(machine.tried) == machine.tried[-1], f"{CALL} goes on after an error", tried=machine.tried
    )


@pytest.mark.fine
@pytest.mark.parametrize("fails", [False, True], ids=["ends", "raises"])
def test_buffers(answer, fails):
    """Buffers are as before, and the same tensors; no gradient is left, also when an error comes."""
    machine = Machine(21, ValueError("ids") if fails else None)
    machine.model(torch.rand(5, 3))
    before = [(name, buffer, buffer.clone()) for name, buffer in machine.model.named_buffers()]
    try:
        answer.largest_batch(machine.model, machine.attempt, 100)
    except ValueError:
        expect_that(fails, f"{CALL} raises")
    after = dict(machine.model.named_buffers())
    changed = [name for name, buffer, value in before if not torch.equal(after[name], value)]
    other = [name for name, buffer, value in before if after[name] is not buffer]
    expect_that(not changed, f"{CALL} leaves other numbers in buffers", buffers=changed)
    expect_that(not other, f"{CALL} puts other tensors in the place of buffers", buffers=other)
    left = [name for name, p in machine.model.named_parameters() if p.grad is not None and p.grad.any()]
    expect_that(not left, f"{CALL} leaves gradients", parameters=left)


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_mode_is_kept(answer, training):
    """The model runs in its mode, and keeps it."""
    machine, modes = Machine(5), set()
    machine.model.train(training)[1].register_forward_hook(lambda module, *_: modes.add(module.training))
    with modes_kept(CALL, machine.model):
        answer.largest_batch(machine.model, machine.attempt, 9)
    expect_equal(modes, {training}, f"the modes in which a batch norm runs in {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize("limit", [0, -3])
def test_errors(answer, limit):
    """A limit below 1 raises ValueError before any attempt."""
    machine = Machine(5)
    expect_raises(
        ValueError,
        lambda: answer.largest_batch(machine.model, machine.attempt, limit),
        f"{CALL[:-6]}{limit})",
    )
    expect_that(not machine.tried, f"{CALL} with {limit=} tries something", tried=machine.tried)


def oracle(answer, gen):
    def found(count):
        pairs = drawn(gen, count)

        def run():
            machines = [(Machine(room), limit) for room, limit in pairs]
            return [answer.largest_batch(one.model, one.attempt, limit) for one, limit in machines]

        return run

    return {"five machines": found(5), "six machines": found(6), "seven machines": found(7)}
