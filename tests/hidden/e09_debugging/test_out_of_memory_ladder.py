"""What grades first_that_fits: which measure, gradients, what is let go, errors; buffers, random numbers."""

import copy
import weakref
from contextlib import suppress

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

CALL = "first_that_fits(model, step, measures)"
LADDER = [{}, {"parts": 2}, {"parts": 2, "checkpoint": True}, {"parts": 4, "checkpoint": True}]
LADDER += [{"parts": 4, "checkpoint": True, "half": True}]
COSTS = [480, 240, 120, 60, 30]  # what each of the measures takes of the simulated memory


class Machine:
    """A simulated memory of so many bytes, and a step on it that gives up half way, in its backward."""

    def __init__(self, gen, room, error=None):
        self.room, self.error = room, error
        self.tried, self.held, self.crowded = [], lambda: None, []
        self.buffers, self.drawn = [], []
        self.x, self.y = torch.randn(8, 3, generator=gen), torch.randn(8, 1, generator=gen)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))

    def step(self, parts=1, checkpoint=False, half=False):
        measure = {"parts": parts if parts > 1 else 0, "checkpoint": checkpoint, "half": half}
        self.tried.append({name: value for name, value in measure.items() if value})
        if self.held() is not None:
            self.crowded.append(self.tried[-1])
        self.buffers.append([b.clone() for b in self.model.buffers()])
        activations = self.x + 0
        self.held = weakref.ref(activations)
        self.drawn.append(torch.rand(()).item())
        total = 0.0
        for rows, wanted in zip(activations.chunk(parts), self.y.chunk(parts), strict=True):
            loss = (self.model(rows) - wanted).square().mean() / parts
            loss.backward()
            total += loss.item()
            if self.error and len(self.tried) == 2:
                raise self.error
            if 480 // parts // (1 + checkpoint) // (1 + half) > self.room:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return total

    def grads(self):
        return {
            name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
            for name, p in self.model.named_parameters()
        }


def with_gradients(machine, gen):
    """Gradients of an earlier batch, but for the last layer."""
    for p in machine.model[:2].parameters():
        p.grad = torch.randn(p.shape, generator=gen)
    return machine


def rooms(gen):
    """For each measure, a memory in which it is the first that fits."""
    return [cost + int(torch.randint(cost // 2, (), generator=gen)) for cost in COSTS]


def test_values(answer, gen):
    """The first measure that fits comes back, with what the step returned; no other is tried."""
    for place, room in enumerate(rooms(gen)):
        machine = Machine(gen, room)
        alone = copy.deepcopy(machine)
        wanted = alone.step(**LADDER[place])
        measure, value = answer.first_that_fits(machine.model, machine.step, copy.deepcopy(LADDER))
        call = f"{CALL} where measure {place} is the first that fits"
        expect_equal(machine.tried, LADDER[: place + 1], f"the measures that are tried in {call}")
        expect_equal(measure, LADDER[place], f"the measure of {call}")
        expect_close(torch.tensor(value), torch.tensor(wanted), f"the value of {call}")


def after(machine, measures):
    """Gradients once these attempts were made on a copy of it, with nothing put back between them."""
    alone = copy.deepcopy(machine)
    for p, other in zip(machine.model.parameters(), alone.model.parameters(), strict=True):
        other.grad = None if p.grad is None else p.grad.clone()  # a deep copy of a model has none
    for measure in measures:
        with suppress(torch.OutOfMemoryError):
            alone.step(**measure)
    return alone.grads()


def mistakes(name, before, wanted, piled, grown):
    return {
        "the failed attempts have added to it": lambda: piled[name],
        "what is put back has grown: an attempt adds to it, so give each a clone": lambda: grown[name],
        "the gradient of the call is lost": lambda: wanted[name] - before[name],
    }


def test_gradients(answer, gen):
    """Gradients are those of the call plus those of the one step that fitted."""
    for place, room in enumerate(rooms(gen)):
        for begin in (lambda machine, gen: machine, with_gradients):
            machine = begin(Machine(gen, room), gen)
            before, wanted = machine.grads(), after(machine, LADDER[place : place + 1])
            piled, grown = after(machine, LADDER[: place + 1]), after(machine, LADDER[1 : place + 1])
            answer.first_that_fits(machine.model, machine.step, LADDER)
            earlier = "" if begin is not with_gradients else ", with gradients of an earlier batch"
            for name, yours in machine.grads().items():
                told = f"the gradient of {name} after {place} failed attempts{earlier}"
                suspects = mistakes(name, before, wanted, piled, grown)
                expect_close(yours, wanted[name], told, suspects=suspects)


def test_error_is_let_go(answer, gen):
    """The tensors of a failed attempt are gone before the next."""
    machine = Machine(gen, 30)
    answer.first_that_fits(machine.model, machine.step, LADDER)
    expect_that(
        not machine.crowded,
        f"tensors of the attempt before are still held at the next one in {CALL}",
        measures=machine.crowded,
        likely="the error holds them: go on outside of `except`, and do not keep it",
    )


def test_none_fits(answer, gen):
    """Where no measure helps there is OutOfMemoryError, and the gradients are those of the call."""
    machine = with_gradients(Machine(gen, 20), gen)
    before = machine.grads()
    call = f"{CALL} where nothing fits"
    expect_raises(
        torch.OutOfMemoryError, lambda: answer.first_that_fits(machine.model, machine.step, LADDER), call
    )
    expect_equal(machine.tried, LADDER, f"the measures that are tried in {call}")
    for name, yours in machine.grads().items():
        expect_close(yours, before[name], f"the gradient of {name} after {call}")


@pytest.mark.parametrize("error", [RuntimeError("shapes don't fit"), KeyError("ids")], ids=["runtime", "key"])
def test_other_errors(answer, gen, error):
    """Another error reaches the caller at once."""
    machine = Machine(gen, 30, error)
    call = f"{CALL}, where the second attempt raises it"
    expect_raises(type(error), lambda: answer.first_that_fits(machine.model, machine.step, LADDER), call)
    expect_equal(machine.tried, LADDER[:2], f"the measures that are tried in {call}")


@pytest.mark.fine
def test_buffers(answer, gen):
    """Each attempt begins with the buffers of the call, in the same tensors."""
    machine = Machine(gen, 30)
    machine.model(torch.randn(5, 3, generator=gen))
    before, values = list(machine.model.buffers()), [b.clone() for b in machine.model.buffers()]
    answer.first_that_fits(machine.model, machine.step, LADDER)
    for attempt, found in enumerate(machine.buffers):
        same = all(torch.equal(one, other) for one, other in zip(found, values, strict=True))
        expect_that(
            same, f"attempt {attempt} of {CALL} begins with other numbers in its buffers", yours=found
        )
    after = list(machine.model.buffers())
    same = all(one is other for one, other in zip(before, after, strict=True))
    expect_that(same, f"{CALL} puts other tensors in the place of buffers")


@pytest.mark.fine
def test_random_numbers(answer, gen):
    """Each attempt draws the same random numbers."""
    machine = Machine(gen, 30)
    answer.first_that_fits(machine.model, machine.step, LADDER)
    expect_equal(len(set(machine.drawn)), 1, "how many different numbers five attempts draw first")


def oracle(answer, gen):
    def found(place):
        machine = Machine(gen, rooms(gen)[place])
        for p in machine.model.parameters():  # not as the layers draw them
            p.data = torch.randn(p.shape, generator=gen)
        with_gradients(machine, gen)

        def run():
            measure, value = answer.first_that_fits(machine.model, machine.step, LADDER)
            return [dict(measure), torch.tensor(value), *machine.grads().values()]

        return run

    return {"one attempt": found(0), "two attempts": found(1), "four attempts": found(3)}
