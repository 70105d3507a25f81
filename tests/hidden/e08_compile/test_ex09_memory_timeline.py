"""What grades memory_timeline: views, graphs, gradients, memory from before, addresses that come back."""

import gc
import weakref
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.cost.dispatch import DispatchMode, is_followed

N = 10_240
"""How many float32 numbers make a block of 40 kB, the unit of the wanted sizes in most checks."""
UNIT = 4 * N


def rows_of(timeline):
    """Plain data, in bytes."""
    return [(row.name, row.peak, row.live) for row in timeline.rows]


def expect_rows(timeline, wanted, what, unit=UNIT):
    """Compare all rows: `wanted` has name, peak and live of each, in units."""
    yours = rows_of(timeline)
    right = [(name, round(peak * unit), round(live * unit)) for name, peak, live in wanted]
    expect_equal([name for name, *_ in yours], [name for name, *_ in right], f"the names of the rows, {what}")
    for (name, *mine), (_, *exact) in zip(yours, right, strict=True):
        for quantity, number, size in zip(("peak", "live"), mine, exact, strict=True):
            expect_that(
                type(number) is int and abs(number - size) <= 1000,
                f"wrong {quantity} of the phase {name!r}: {what}",
                yours=number,
                wanted=f"{size} bytes, up to 1 kB",
            )


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
        self.see((args, *(kwargs or {}).values()), 0)
        result = func(*args, **(kwargs or {}))
        self.see(result, 1)
        return result


def expect_like_reference(answer, make, what):
    """`make` builds a program anew: a function of a timeline. Both run it, each on its own."""
    program = make()
    with Reference() as reference:
        program(reference)
    program = make()
    with answer.memory_timeline() as timeline:
        program(timeline)
    expect_rows(timeline, reference.rows, what, unit=1)


def test_phases(answer):
    """Each phase has its own peak, which begins with what is alive; a phase may be empty."""
    x = torch.ones(N)
    with answer.memory_timeline() as timeline:
        timeline.mark("nothing yet")
        a = x * 2
        b = a + 1
        c = a + b
        del b, c
        timeline.mark("three, one stays")
        timeline.mark("nothing new")
        d = a.repeat(4)
        timeline.mark("five")
        del a
        timeline.mark("less")
        del d
        timeline.mark("less")
        late = x.add(1).mul(2)
    del late
    wanted = [
        ("nothing yet", 0, 0),
        ("three, one stays", 3, 1),
        ("nothing new", 1, 1),
        ("five", 5, 5),
        ("less", 5, 4),
        ("less", 4, 0),
    ]
    expect_rows(timeline, wanted, "a chain of operations")


def test_dtypes(answer):
    """Bytes are those of the dtype."""
    x = torch.ones(N)
    with answer.memory_timeline() as timeline:
        kept = [x.to(torch.bfloat16)]
        timeline.mark("bfloat16")
        kept.append(x.to(torch.float64))
        timeline.mark("float64")
        kept.append(x > 0)
        timeline.mark("bool")
        kept.append(x.to(torch.complex128))
        timeline.mark("complex128")
    wanted = [("bfloat16", 0.5, 0.5), ("float64", 2.5, 2.5), ("bool", 2.75, 2.75), ("complex128", 6.75, 6.75)]
    expect_rows(timeline, wanted, "results of several dtypes")


def test_views(answer):
    """Views and operations in place add nothing; a view keeps all of its memory alive."""
    with answer.memory_timeline() as timeline:
        a = torch.ones(4, N)
        timeline.mark("four")
        rows, turned, wide = a[1:3], a.t(), torch.ones(N).expand(30, N)
        rows.mul_(2)
        turned.add_(1).relu_()
        wide.view(30, 2, -1).unbind(1)
        timeline.mark("views")
        del a, turned, wide
        timeline.mark("a slice is left")
        last = rows[0][:1]
        del rows
        timeline.mark("one number is left")
        last = last.clone()
        timeline.mark("a copy of it")
    del last
    wanted = [
        ("four", 4, 4),
        ("views", 5, 5),
        ("a slice is left", 5, 4),
        ("one number is left", 4, 4),
        ("a copy of it", 4, 0),
    ]
    expect_rows(timeline, wanted, "views of one memory")


def test_all_bytes(answer):
    """Memory counts with all its bytes, also those that its tensor leaves out."""
    with answer.memory_timeline() as timeline:
        padded = torch.empty_strided((3, N), (2 * N, 1))
        timeline.mark("rows with gaps")
        del padded
        timeline.mark("none")
    expect_rows(timeline, [("rows with gaps", 5, 5), ("none", 5, 0)], "a matrix with gaps between its rows")


def test_operations_that_write(answer):
    """An operation that writes to an argument adds what it makes: nothing, or what it returns besides."""
    x, target = torch.ones(N), torch.ones(N)
    with answer.memory_timeline() as timeline:
        torch.mul(x, 2, out=target)
        timeline.mark("out=")
        noisy = nn.functional.rrelu(x, training=True)  # writes its noise to an argument
        timeline.mark("a noisy ReLU")
        del noisy
        timeline.mark("none")
    wanted = [("out=", 0, 0), ("a noisy ReLU", 2, 1), ("none", 1, 0)]
    expect_rows(timeline, wanted, "operations that write to an argument")


def test_memory_from_before(answer):
    """Memory from before the block does not count, however it is used, nor where it is freed."""
    before, other, spare = torch.ones(3, N), torch.ones(2, N), torch.ones(5, N)
    with answer.memory_timeline() as timeline:
        before.mul_(2)
        part = before[1]  # does not begin where its memory begins
        flat = other.view(-1)
        part.add_(flat[:N])
        timeline.mark("in place")
        part = part + 1
        timeline.mark("a result")
        del before, other, flat
        timeline.mark("used ones are freed")
        del spare
        timeline.mark("a spare one is freed")
        del part
        timeline.mark("the result is freed")
    wanted = [
        ("in place", 0, 0),
        ("a result", 1, 1),
        ("used ones are freed", 1, 1),
        ("a spare one is freed", 1, 1),
        ("the result is freed", 1, 0),
    ]
    expect_rows(timeline, wanted, "memory from before the block")


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
        timeline.mark("those from before are freed")
        kept += [torch.zeros(N) for _ in range(20)]
        timeline.mark("twenty more")
        kept.clear()
        timeline.mark("none")
    wanted = [
        ("one at a time", 1, 0),
        ("five", 5, 5),
        ("those from before are freed", 5, 5),
        ("twenty more", 25, 25),
        ("none", 25, 0),
    ]
    expect_rows(timeline, wanted, "memory that is freed and made again")


def test_several_results(answer):
    """All tensors that an operation returns count, in a tuple or a list."""
    x = torch.arange(4.0 * N).view(4, N)
    with answer.memory_timeline() as timeline:
        largest = x.max(0)
        timeline.mark("values and indices")
        rows = torch.unbind_copy(x)
        timeline.mark("a list")
        parts = x.chunk(2, 1)
        timeline.mark("a list of views")
        del largest
        timeline.mark("the list is left")
    del rows, parts
    wanted = [
        ("values and indices", 3, 3),
        ("a list", 7, 7),
        ("a list of views", 7, 7),
        ("the list is left", 7, 4),
    ]
    expect_rows(timeline, wanted, "operations with several results")


def test_graph(answer):
    """What autograd keeps is alive without a name, until backward has used it."""
    x = torch.ones(N, requires_grad=True)
    with answer.memory_timeline() as timeline:
        y = x.sigmoid().exp().tanh()
        timeline.mark("forward")
        loss = y.sum()
        del y
        timeline.mark("the loss is left")
        loss.backward(retain_graph=True)
        timeline.mark("backward, graph retained")
        loss.backward()
        timeline.mark("backward")
        x.grad = None
        timeline.mark("without the gradient")
        with torch.no_grad():
            x.sigmoid().exp().tanh().sum()
        timeline.mark("no graph")
    wanted = [("forward", 3, 3), ("the loss is left", 3, 3)]
    yours = rows_of(timeline)
    expect_equal(len(yours), 6, "the number of rows")
    expect_rows(SimpleNamespace(rows=timeline.rows[:2]), wanted, "a graph")
    others = timeline.rows[2:]
    # the peak of a backward depends on how it is done: a product of two gradients, fused or not
    lives = [round(row.live / UNIT, 1) for row in others]
    expect_equal(lives, [4.0, 1.0, 0.0, 0.0], f"live in units of {UNIT} bytes, after backward and behind it")
    expect_equal(round(others[3].peak / UNIT, 1), 2.0, f"peak in units of {UNIT} bytes, under no_grad")


def training(optimizer, layers=3, dtype=torch.float32, checkpointed=False):
    def make():
        torch.manual_seed(4)
        blocks = [nn.Sequential(nn.Linear(64, 96), nn.Tanh(), nn.Linear(96, 64)) for _ in range(layers)]
        model = nn.Sequential(*blocks).to(dtype)
        step = optimizer(model.parameters(), lr=0.1)
        x = torch.randn(50, 64, dtype=dtype)

        # without the state of the generator, which is memory that no operation makes
        plain = {"use_reentrant": False, "preserve_rng_state": False}

        def program(timeline):
            for _ in range(2):
                y = x
                for block in model:
                    y = checkpoint(block, y, **plain) if checkpointed else block(y)
                loss = y.square().mean()
                del y
                timeline.mark("forward")
                loss.backward()
                timeline.mark("backward")
                step.step()
                timeline.mark("step")
            step.zero_grad()
            timeline.mark("zero_grad")

        return program

    return make


TRAINING = {
    "SGD": training(torch.optim.SGD),
    "Adam": training(torch.optim.Adam),
    "float64": training(torch.optim.Adam, 2, torch.float64),
    "checkpointed": training(torch.optim.SGD, 4, checkpointed=True),
}


@pytest.mark.parametrize("name", TRAINING)
def test_training(answer, name):
    """Two steps of training: activations, gradients, states of the optimizer, checkpoints."""
    expect_like_reference(answer, TRAINING[name], f"two steps of training, {name}")


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


def test_after_the_block(answer):
    """What happens after the block changes nothing; each block has numbers of its own."""
    with answer.memory_timeline() as first:
        a = torch.ones(N)
        first.mark("one")
    expect_that(not is_followed(), "operations are still followed after the block")
    follow = answer.memory_timeline()
    b = torch.ones(2, N)  # before the block, though after the call
    with follow as second:
        c = a + b
        second.mark("two")
        del a
        second.mark("from the block before")
    del b, c
    expect_rows(second, [("two", 2, 2), ("from the block before", 2, 2)], "a second block")
    expect_rows(first, [("one", 1, 1)], "the first block, after a second one")


def test_nothing_is_kept_alive(answer):
    """Neither results nor memory from before are alive because of the timeline."""
    before = torch.ones(N)
    with answer.memory_timeline() as timeline:
        result = before * 2
        alive = {"result": weakref.ref(result), "input": weakref.ref(before)}
        memory = {"result": result.untyped_storage(), "input": before.untyped_storage()}
        memory = {name: weakref.ref(storage) for name, storage in memory.items()}
        del result, before
        if any(ref() is not None for ref in (*alive.values(), *memory.values())):
            gc.collect()
        timeline.mark("all gone")
        for name in alive:
            gone = alive[name]() is None and memory[name]() is None
            expect_that(gone, f"the {name} of an operation is still alive though nobody has a name for it")
    expect_rows(timeline, [("all gone", 1, 0)], "an input and a result that are freed")


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
            with answer.memory_timeline() as timeline:
                y = step()
                timeline.mark("step")
        else:
            y = step()
        results.append((y, weight.grad, torch.rand(2)))
    for name, wanted, yours in zip(("result", "gradient", "next random numbers"), *results, strict=True):
        expect_that(yours is not None, f"no {name} in the block")
        expect_close(yours, wanted, f"the {name} in the block")
    with torch.no_grad(), answer.memory_timeline():
        on = torch.is_grad_enabled()
    expect_equal(on, False, "torch.is_grad_enabled() in a block under no_grad")


def in_units(timeline):
    """The rows in units of 4 kB. How much a backward pass holds for a moment is its own affair."""
    return [
        (row.name, round(row.live / 4096), "free" if row.name == "backward" else round(row.peak / 4096))
        for row in timeline.rows
    ]


def oracle(answer, gen):
    sizes = iter(torch.randint(1, 200, (18,), generator=gen).tolist())
    with answer.memory_timeline() as tensors:
        kept = [torch.zeros(size, 1024) for size in islice(sizes, 5)]
        tensors.mark("five made")
        del kept[1:3]
        tensors.mark("two deleted")
        kept.append(torch.zeros(next(sizes), 1024))
        tensors.mark("one made")
        del kept[0]
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

    with answer.memory_timeline() as turns:
        for size in islice(sizes, 4):
            latest = torch.zeros(size, 1024)  # the one before is freed once this one is made
            turns.mark("made")
    del latest

    weights = [torch.ones(size, 1024, requires_grad=True) for size in islice(sizes, 4)]
    x = torch.ones(1024)
    optimizer = torch.optim.SGD(weights, lr=0.1, momentum=0.9)
    with answer.memory_timeline() as training:
        loss = sum((weight * x).exp().sum() for weight in weights[:3])
        training.mark("forward")
        loss.backward()
        training.mark("backward")
        optimizer.step()
        training.mark("step")
        optimizer.zero_grad()
        training.mark("gradients cleared")
        (weights[3] * x).exp().sum().backward()
        training.mark("backward")
    return {
        "tensors that are made and deleted": in_units(tensors),
        "a slice of a larger tensor": in_units(views),
        "one name for four tensors in turn": in_units(turns),
        "training with momentum": in_units(training),
    }
