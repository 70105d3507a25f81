"""What grades memory_timeline: phases, views, graphs, old memory, training; errors, what is kept alive."""

import gc
import weakref
from itertools import islice

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.cost.dispatch import DispatchMode, is_followed

N = 10_240
"""How many float32 numbers make a block of 40 kB, the unit of the wanted sizes in most checks."""
UNIT = 4 * N


def expect_rows(timeline, wanted, what, unit=UNIT, suspects=()):
    """Compare all rows: `wanted` has name, peak and live of each, in units; `suspects` peaks and lives."""
    expect_equal(
        [row.name for row in timeline.rows], [name for name, *_ in wanted], f"the names of the rows, {what}"
    )
    yours = [(row.peak, row.live) for row in timeline.rows]

    def agree(mine, units):
        return all(abs(number - round(size * unit)) <= 1000 for number, size in zip(mine, units, strict=True))

    for number, ((name, *exact), mine) in enumerate(zip(wanted, yours, strict=True), start=1):
        if not agree(mine, exact):
            likely = [
                t for t, rows in dict(suspects).items() if all(map(agree, yours[:number], rows[:number]))
            ]
            told = [f"peak {peak}, live {live}" for peak, live in (mine, [round(n * unit) for n in exact])]
            facts = {"yours": told[0], "wanted": f"{told[1]} bytes, up to 1 kB"}
            facts |= {"likely": likely[0]} if likely else {}
            expect_that(False, f"wrong bytes of the phase {name!r}: {what}", **facts)


def tensors_in(data):
    if isinstance(data, torch.Tensor):
        yield data
    elif isinstance(data, (list, tuple)):
        for each in data:
            yield from tensors_in(each)


class Reference(DispatchMode):
    """Follows memory in the block, for programs that are too long to do so by hand."""

    def __init__(self):
        super().__init__()
        self.sizes, self.rows, self.live, self.peak = {}, [], 0, 0

    def mark(self, name):
        self.rows.append((name, self.peak, self.live))
        self.peak = self.live

    def forget(self, key):
        self.live -= self.sizes.pop(key)

    def see(self, data, counts):
        for tensor in tensors_in(data):
            if id(s := tensor.untyped_storage()) not in self.sizes:
                self.sizes[id(s)] = s.nbytes() * counts
                self.live += s.nbytes() * counts
                weakref.finalize(s, self.forget, id(s))
        self.peak = max(self.peak, self.live)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not torch.ops.aten.lift_fresh.default:
            self.see((args, *(kwargs or {}).values()), 0)
        result = func(*args, **(kwargs or {}))
        self.see(result, 1)
        return result


def test_phases(answer):
    """Each phase has its own peak, which begins with what is alive."""
    x = torch.ones(N)
    with answer.memory_timeline() as timeline:
        a = x * 2
        b = a + 1
        c = a + b
        del b, c
        timeline.mark("three, one stays")
        timeline.mark("nothing new")
        d = a.repeat(4)
        timeline.mark("five")
        del d
        timeline.mark("one is left")
        late = x.add(1).mul(2)
    del a, late
    wanted = [("three, one stays", 3, 1), ("nothing new", 1, 1), ("five", 5, 5), ("one is left", 5, 1)]
    suspects = {
        "one peak for all phases: it begins anew at a mark": [(3, 1), (3, 1), (5, 5), (5, 1)],
        "what is freed still counts": [(3, 3), (3, 3), (7, 7), (7, 7)],
        "a peak begins with what is alive, not with 0": [(3, 1), (0, 1), (5, 5), (0, 1)],
        "bytes count, not numbers": [(n / 4, m / 4) for _, n, m in wanted],
        "memory from before the block does not count": [(n + 1, m + 1) for _, n, m in wanted],
    }
    expect_rows(timeline, wanted, "a chain of operations", suspects=suspects)


def test_views(answer):
    """Views and operations in place add nothing; a view keeps all of its memory alive."""
    with answer.memory_timeline() as timeline:
        a = torch.ones(4, N)
        timeline.mark("four")
        rows, turned = a[1:3], a.t()
        rows.mul_(2)
        turned.add_(1).relu_()
        timeline.mark("views")
        del a, turned
        timeline.mark("a slice is left")
        del rows
        timeline.mark("none is left")
    wanted = [("four", 4, 4), ("views", 4, 4), ("a slice is left", 4, 4), ("none is left", 4, 0)]
    suspects = {
        "the slice keeps all of its memory": [(4, 4), (4, 4), (4, 2), (2, 0)],
        "the tensor goes, but its memory stays: a view holds it": [(4, 4), (4, 4), (4, 0), (0, 0)],
    }
    expect_rows(timeline, wanted, "views of one memory", suspects=suspects)


def test_memory_from_before(answer):
    """Memory from before the block does not count, however it is used, nor where it is freed."""
    before, other = torch.ones(3, N), torch.ones(2, N)
    with answer.memory_timeline() as timeline:
        before.mul_(2)
        part = before[1]  # does not begin where its memory begins
        part.add_(other.view(-1)[:N])
        timeline.mark("in place")
        part = part + 1
        timeline.mark("a result")
        del before, other
        timeline.mark("those from before are freed")
        del part
        timeline.mark("the result is freed")
    wanted = [
        ("in place", 0, 0),
        ("a result", 1, 1),
        ("those from before are freed", 1, 1),
        ("the result is freed", 1, 0),
    ]
    given_back = (1, 1 - 5)
    suspects = {
        "what was there before the block is subtracted when it is freed, and was never counted": [
            (0, 0),
            (1, 1),
            given_back,
            given_back,
        ],
    }
    expect_rows(timeline, wanted, "memory from before the block", suspects=suspects)


def test_addresses_come_back(answer):
    """Memory that is made where other memory was freed counts like any other."""
    stock = [torch.ones(N) for _ in range(20)]
    with answer.memory_timeline() as timeline:
        for _ in range(30):
            torch.zeros(N)
        timeline.mark("one at a time")
        kept = [torch.zeros(N) for _ in range(5)]
        timeline.mark("five")
        while stock:
            stock.pop().mul_(2)
        kept += [torch.zeros(N) for _ in range(20)]
        timeline.mark("twenty more, as those from before are freed")
        kept.clear()
        timeline.mark("none")
    wanted = [
        ("one at a time", 1, 0),
        ("five", 5, 5),
        ("twenty more, as those from before are freed", 25, 25),
        ("none", 25, 0),
    ]
    expect_rows(timeline, wanted, "memory that is freed and made again at its address")


def test_several_results(answer):
    """All tensors that an operation returns count."""
    x = torch.arange(4.0 * N).view(4, N)
    with answer.memory_timeline() as timeline:
        largest = x.max(0)
        timeline.mark("values and indices")
        del largest
        timeline.mark("none")
    wanted = [("values and indices", 3, 3), ("none", 3, 0)]
    suspects = {
        "the first result alone counts": [(1, 1), (1, 0)],
        "a tuple is passed over": [(0, 0), (0, 0)],
    }
    expect_rows(timeline, wanted, "x.max(0)", suspects=suspects)


def test_graph(answer):
    """What autograd keeps is alive without a name, until backward has used it."""
    x = torch.ones(N, requires_grad=True)
    with answer.memory_timeline() as timeline:
        loss = x.sigmoid().exp().tanh().sum()
        timeline.mark("forward")
        loss.backward()
        timeline.mark("backward")
        x.grad = None
        timeline.mark("without the gradient")
    # the peak of a backward depends on how it is done: a product of two gradients, fused or not
    lives = [round(row.live / UNIT, 1) for row in timeline.rows]
    suspects = {
        "memory that autograd keeps still counts as alive": lambda: [0.0, 1.0, 0.0],
        "the gradient is missed: backward makes it, maybe where other memory was": lambda: [3.0, 0.0, 0.0],
    }
    what = f"live after forward, after backward and without the gradient, in units of {UNIT} bytes"
    expect_equal(
        str(lives),
        str([3.0, 1.0, 0.0]),
        what,
        suspects={t: lambda f=f: str(f()) for t, f in suspects.items()},
    )


def training(optimizer, dtype):
    """Two steps, as a function of a timeline."""
    torch.manual_seed(4)
    blocks = [nn.Sequential(nn.Linear(64, 96), nn.Tanh(), nn.Linear(96, 64)) for _ in range(3)]
    model = nn.Sequential(*blocks).to(dtype)
    step, x = optimizer(model.parameters(), lr=0.1), torch.randn(50, 64, dtype=dtype)

    def program(timeline):
        for _ in range(2):
            loss = model(x).square().mean()
            timeline.mark("forward")
            loss.backward()
            timeline.mark("backward")
            step.step()
            timeline.mark("step")
        step.zero_grad()
        timeline.mark("zero_grad")

    return program


@pytest.mark.parametrize(
    ("optimizer", "dtype"),
    [(torch.optim.SGD, torch.float32), (torch.optim.Adam, torch.float64)],
    ids=["SGD", "Adam"],
)
def test_training(answer, optimizer, dtype):
    """Two steps of training: activations, gradients, states of the optimizer."""
    program = training(optimizer, dtype)
    with Reference() as reference:
        program(reference)
    program = training(optimizer, dtype)
    with answer.memory_timeline() as timeline:
        program(timeline)
    expect_rows(timeline, reference.rows, f"two steps of training with {optimizer.__name__}", unit=1)


@pytest.mark.fine
def test_all_bytes(answer):
    """Memory counts with all its bytes, also those that its tensor leaves out."""
    with answer.memory_timeline() as timeline:
        padded = torch.empty_strided((3, N), (2 * N, 1))
        timeline.mark("rows with gaps")
        del padded
        timeline.mark("none")
    suspects = {"the tensor's numbers count, not its memory": [(3, 3), (3, 0)]}
    what = "a matrix with gaps between its rows"
    expect_rows(timeline, [("rows with gaps", 5, 5), ("none", 5, 0)], what, suspects=suspects)


@pytest.mark.fine
def test_tensors_of_numbers(answer):
    """What torch.tensor(…) makes in the block counts."""
    numbers = [1.0] * N
    with answer.memory_timeline() as timeline:
        a = torch.tensor(numbers)
        timeline.mark("made")
        b = a.mul_(2) + 1
        timeline.mark("used")
        del a, b
        timeline.mark("none")
    suspects = {"aten.lift_fresh has it as argument, but it is not from before": [(0, 0), (1, 1), (1, 0)]}
    wanted = [("made", 1, 1), ("used", 2, 2), ("none", 2, 0)]
    expect_rows(timeline, wanted, "a tensor of a list", suspects=suspects)


@pytest.mark.fine
def test_nothing_is_kept_alive(answer):
    """Neither results nor memory from before are alive because of the timeline."""
    before = torch.ones(N)
    with answer.memory_timeline():
        result = before * 2
        memory = {"result": result.untyped_storage(), "input": before.untyped_storage()}
        memory = {name: weakref.ref(storage) for name, storage in memory.items()}
        del result, before
        if any(ref() is not None for ref in memory.values()):
            gc.collect()
        for name, ref in memory.items():
            expect_that(
                ref() is None, f"the {name} of an operation is still alive though nobody has a name for it"
            )


@pytest.mark.fine
def test_error_in_the_block(answer):
    """An error reaches the caller, the rows so far are there, and nothing is followed any more."""
    error, caught, timeline = torch.OutOfMemoryError("batch 17"), None, None
    try:
        with answer.memory_timeline() as timeline:
            a = torch.ones(N)
            timeline.mark("before")
            raise error
    except NotImplementedError:
        raise
    except Exception as raised:
        caught = raised
    expect_that(caught is error, "another error than the block's", yours=repr(caught), wanted=repr(error))
    expect_rows(timeline, [("before", 1, 1)], "a block that raises")
    expect_that(not is_followed(), "operations are still followed after a block that raises")
    del a


@pytest.mark.fine
def test_after_the_block(answer):
    """What happens after the block changes nothing; each block has numbers of its own."""
    with answer.memory_timeline() as first:
        a = torch.ones(N)
        first.mark("one")
    expect_that(not is_followed(), "operations are still followed after the block")
    with answer.memory_timeline() as second:
        b = a + torch.ones(N)
        second.mark("two")
        del a
        second.mark("from the block before")
    del b
    expect_rows(second, [("two", 2, 1), ("from the block before", 1, 1)], "a second block")
    expect_rows(first, [("one", 1, 1)], "the first block, after a second one")


@pytest.mark.fine
def test_computes_the_same(answer):
    """Results, gradients and random numbers are those without the timeline."""
    results = []
    for followed in (False, True):
        torch.manual_seed(8)
        weight = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()

        def step(weight=weight):
            y = nn.functional.dropout(torch.rand(5, 3) @ weight, 0.5)
            y.square().sum().backward()
            return y.detach()

        if followed:
            with answer.memory_timeline():
                y = step()
        else:
            y = step()
        results.append((y, weight.grad, torch.rand(2)))
    for name, wanted, yours in zip(("result", "gradient", "next random numbers"), *results, strict=True):
        expect_close(yours, wanted, f"the {name} in the block")


def in_units(timeline):
    """The rows in units of 4 kB. How much a backward pass holds for a moment is its own affair."""
    return [
        (row.name, round(row.live / 4096), "free" if row.name == "backward" else round(row.peak / 4096))
        for row in timeline.rows
    ]


def oracle(answer, gen):
    sizes = iter(torch.randint(1, 200, (14,), generator=gen).tolist())
    kept = []
    with answer.memory_timeline() as tensors:
        for size in islice(sizes, 8):
            kept.append(torch.zeros(size, 1024))
            tensors.mark("one made")
        while kept:
            kept.pop(len(kept) // 2)
            tensors.mark("one deleted")

    with answer.memory_timeline() as views:
        whole, other = torch.zeros(next(sizes), 1024), torch.zeros(next(sizes), 1024)
        part = whole[:1].add_(1)
        views.mark("a slice")
        del whole
        views.mark("the slice alone")
        del part
        views.mark("no slice")
        del other

    weights = [torch.ones(size, 1024, requires_grad=True) for size in sizes]
    x = torch.ones(1024)
    optimizer = torch.optim.SGD(weights, lr=0.1, momentum=0.9)
    with answer.memory_timeline() as trained:
        loss = sum((weight * x).exp().sum() for weight in weights)
        trained.mark("forward")
        loss.backward()
        trained.mark("backward")
        optimizer.step()
        trained.mark("step")
        optimizer.zero_grad()
        trained.mark("gradients cleared")
    return {
        "tensors that are made and deleted": in_units(tensors),
        "a slice of a larger tensor": in_units(views),
        "training with momentum": in_units(trained),
    }
