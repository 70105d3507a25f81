"""What grades shape_trace: order, names, nested data, shared modules, errors, hooks, what stays alive."""

import contextlib
import copy
import gc
import weakref
from collections import OrderedDict, namedtuple
from dataclasses import make_dataclass
from itertools import islice, pairwise

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, hooks_of, hooks_of_all

CALL = "the rows of shape_trace(model)"
Pair = namedtuple("Pair", "first second")
Batch = make_dataclass("Batch", ["x"])


def table(rows):
    """Plain data."""
    return [
        (
            row.name,
            row.kind,
            [tuple(shape) for shape in row.inputs],
            None if row.outputs is None else [tuple(shape) for shape in row.outputs],
        )
        for row in rows
    ]


def traced(answer, model, *args, **kwargs):
    with answer.shape_trace(model) as rows:
        model(*args, **kwargs)
    return table(rows)


def expect_rows(yours, wanted, call=CALL):
    """Field by field, so that feedback says which row of which layer is wrong."""
    layers = [(name, kind) for name, kind, *_ in wanted]
    expect_equal([(name, kind) for name, kind, *_ in yours], layers, f"the names and kinds in {call}")
    for number, (row, right) in enumerate(zip(yours, wanted, strict=True)):
        for field, shapes, expected in zip(("inputs", "outputs"), row[2:], right[2:], strict=True):
            where = f"the {field} in row {number}, a call of {row[0]!r} ({row[1]}), of {call}"
            expect_equal(shapes, expected, where)


def traces(model):
    """All that a tool could leave behind on a model or on all modules."""
    found = {name: (sorted(vars(module)), hooks_of(module)) for name, module in model.named_modules()}
    patched = [nn.Module.__call__, *(type(m).forward for m in model.modules())]
    return found, hooks_of_all(), patched


class Block(nn.Module):
    """Two layers with a residual, called through the submodules in another order than they stand in."""

    def __init__(self, width, hidden):
        super().__init__()
        self.down = nn.Linear(hidden, width)
        self.up = nn.Linear(width, hidden)
        self.spare = nn.Linear(7, 7)

    def forward(self, x):
        return x + self.down(self.up(x).relu())


class Shared(nn.Module):
    """One layer under two names, called three times with different shapes."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(4, 4)
        self.parts = nn.ModuleList([self.encode, nn.Tanh()])

    def forward(self, x):
        for _ in range(2):
            x = self.parts[1](self.parts[0](x))[:-1]
        return self.encode(x[None])


class Halving(nn.Module):
    """Calls itself on one half after the other."""

    def __init__(self):
        super().__init__()
        self.leaf = nn.Linear(2, 3)

    def forward(self, x):
        if len(x) == 1:
            return self.leaf(x)
        return torch.cat([self(x[: len(x) // 2]), self(x[len(x) // 2 :])])


class Nested(nn.Module):
    """Takes and returns tensors in tuples, lists and dicts."""

    def _get_name(self):
        return "Another"  # what it prints as, not the name of its class

    def forward(self, batch, *extra, mask=None, scale=1.0, states=()):
        first, (second, label) = batch["pair"], batch["rest"]
        out = OrderedDict(loss=first.sum(), deep=[(second, [None, {"b": second.mT, "a": first}])], name="x")
        return out, label, Pair(mask, 3), [*extra], list(states)


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args, **kwargs):
        self.inner(*args, **kwargs)


class Counts(nn.Module):
    """Takes anything, and goes through the last argument."""

    def forward(self, *args):
        return len(list(args[-1]))


class Growing(nn.Module):
    """Adds to the list that it is given, as a cache does."""

    def forward(self, x, cache):
        cache.append(x)
        return torch.stack(cache)


class Fallback(nn.Module):
    """Tries one layer, and takes the other where it does not fit."""

    def __init__(self):
        super().__init__()
        self.large = nn.Sequential(nn.Linear(4, 5), nn.Linear(9, 2))
        self.small = nn.Linear(4, 2)
        self.last = nn.ReLU()

    def forward(self, x):
        try:
            x = self.large(x)
        except RuntimeError:
            x = self.small(x[:2])
        return self.last(x)


class Retry(nn.Module):
    """Calls itself on what it cannot take, and goes on with less of it."""

    def forward(self, x):
        if len(x) == 5:
            raise ValueError("five")
        if len(x) == 4:
            try:
                self(x.new_zeros(5, 2))
            except ValueError:
                return self(x[:3])
        return x[:1]


def test_order_and_names(answer, gen):
    """Every call has a row, in the order in which the calls begin, with the module's full name."""
    model = nn.Sequential(OrderedDict(embed=nn.Linear(3, 4), body=nn.Sequential(Block(4, 6), nn.Tanh())))
    wanted = [
        ("", "Sequential", [(2, 5, 3)], [(2, 5, 4)]),
        ("embed", "Linear", [(2, 5, 3)], [(2, 5, 4)]),
        ("body", "Sequential", [(2, 5, 4)], [(2, 5, 4)]),
        ("body.0", "Block", [(2, 5, 4)], [(2, 5, 4)]),
        ("body.0.up", "Linear", [(2, 5, 4)], [(2, 5, 6)]),
        ("body.0.down", "Linear", [(2, 5, 6)], [(2, 5, 4)]),
        ("body.1", "Tanh", [(2, 5, 4)], [(2, 5, 4)]),
    ]
    expect_rows(traced(answer, model, torch.randn(2, 5, 3, generator=gen)), wanted)
    with answer.shape_trace(model) as rows:
        expect_equal(table(rows), [], f"{CALL} before the first call")
        model.body[1](torch.zeros(3))
        expect_equal(len(rows), 1, f"the number of rows after one call in the block, in {CALL}")
        model.embed(torch.zeros(0, 3))
    wanted = [("body.1", "Tanh", [(3,)], [(3,)]), ("embed", "Linear", [(0, 3)], [(0, 4)])]
    expect_rows(table(rows), wanted, f"{CALL} where parts are called by themselves")


def test_called_twice(answer, gen):
    """A module that is called twice has two rows, each with its own shapes, under its first name."""
    wanted = [
        ("", "Shared", [(5, 4)], [(1, 3, 4)]),
        ("encode", "Linear", [(5, 4)], [(5, 4)]),
        ("parts.1", "Tanh", [(5, 4)], [(5, 4)]),
        ("encode", "Linear", [(4, 4)], [(4, 4)]),
        ("parts.1", "Tanh", [(4, 4)], [(4, 4)]),
        ("encode", "Linear", [(1, 3, 4)], [(1, 3, 4)]),
    ]
    expect_rows(traced(answer, Shared(), torch.randn(5, 4, generator=gen)), wanted)


def test_calls_itself(answer, gen):
    """A module that calls itself has a row for each call."""
    wanted = [
        ("", "Halving", [(3, 2)], [(3, 3)]),
        ("", "Halving", [(1, 2)], [(1, 3)]),
        ("leaf", "Linear", [(1, 2)], [(1, 3)]),
        ("", "Halving", [(2, 2)], [(2, 3)]),
        ("", "Halving", [(1, 2)], [(1, 3)]),
        ("leaf", "Linear", [(1, 2)], [(1, 3)]),
        ("", "Halving", [(1, 2)], [(1, 3)]),
        ("leaf", "Linear", [(1, 2)], [(1, 3)]),
    ]
    expect_rows(traced(answer, Halving(), torch.randn(3, 2, generator=gen)), wanted)


def nested_call(answer):
    a, b, mask = torch.zeros(2, 3), torch.zeros(4, 5), torch.zeros(6, dtype=torch.bool)
    args = ({"pair": a, "rest": (b, torch.tensor(7))}, torch.zeros(8), None)
    kwargs = {"scale": 2.0, "states": [nn.Parameter(torch.zeros(1, 9)), (torch.zeros(0, 2),)], "mask": mask}
    return traced(answer, nn.Sequential(OrderedDict(w=Wrapper(Nested()))).w, *args, **kwargs)


def test_nested_data(answer):
    """Tensors are found in tuples, lists, dicts and keyword arguments, in order; all else is left out."""
    inputs = [(2, 3), (4, 5), (), (8,), (1, 9), (0, 2), (6,)]
    outputs = [(), (4, 5), (5, 4), (2, 3), (), (6,), (8,), (1, 9), (0, 2)]
    wanted = [("", "Wrapper", inputs, []), ("inner", "Nested", inputs, outputs)]
    expect_rows(nested_call(answer), wanted)
    x, model = torch.zeros(2, 3), Counts()
    with answer.shape_trace(model) as rows:
        count = model(x, [x, x], {x}, x.numpy(), Batch(x), (part for part in (x, x)))
    call = "model(x, [x, x], a set, a NumPy array, a dataclass, a generator)"
    expect_equal(table(rows)[0][2], [(2, 3)] * 3, f"the inputs in the row of {call}")
    expect_equal(table(rows)[0][3], [], f"the outputs in the row of {call}")
    expect_equal(count, 2, "what the model finds in its generator, within the block")


def test_inputs_as_the_call_begins(answer):
    """Inputs are those at the beginning, also of a list that the module adds to."""
    cache = [torch.zeros(2)]
    rows = traced(answer, Growing(), torch.zeros(2), cache=cache)
    expect_rows(rows, [("", "Growing", [(2,), (2,)], [(2, 2)])])
    model = nn.Identity()
    with answer.shape_trace(model) as rows:
        model([torch.zeros(3)]).append(torch.zeros(4))
    call = f"{CALL}, where the caller adds to the list that came back"
    expect_rows(table(rows), [("", "Identity", [(3,)], [(3,)])], call)


def test_error_reaches_the_caller(answer):
    """The model's error comes through as it is, no hook is left, and the rows say how far it came."""
    error = ValueError("at two in the morning")

    class Raises(nn.Module):
        def forward(self, x):
            raise error

    model = nn.Sequential(nn.Sequential(nn.Linear(2, 3), Raises()), nn.ReLU())
    before, caught, rows = traces(model), None, None
    try:
        with answer.shape_trace(model) as rows:
            model(torch.zeros(4, 2))
    except Exception as raised:
        caught = raised
    expect_that(caught is error, "another error than the model's", yours=repr(caught), wanted=repr(error))
    expect_that(traces(model) == before, "hooks or attributes are left after a model that raises")
    wanted = [
        ("", "Sequential", [(4, 2)], None),
        ("0", "Sequential", [(4, 2)], None),
        ("0.0", "Linear", [(4, 2)], [(4, 3)]),
        ("0.1", "Raises", [(4, 3)], None),
    ]
    expect_rows(table(rows), wanted, f"{CALL} that raises")
    for stop in (error, KeyboardInterrupt()):  # in the block, but not in the model
        try:
            with answer.shape_trace(model):
                raise stop
        except (ValueError, KeyboardInterrupt):
            pass
        kind = type(stop).__name__
        expect_that(traces(model) == before, f"hooks or attributes are left after a block that raises {kind}")


def test_caught_errors(answer):
    """A call whose error the model catches has no outputs; the others keep theirs."""
    wanted = [
        ("", "Fallback", [(3, 4)], [(2, 2)]),
        ("large", "Sequential", [(3, 4)], None),
        ("large.0", "Linear", [(3, 4)], [(3, 5)]),
        ("large.1", "Linear", [(3, 5)], None),
        ("small", "Linear", [(2, 4)], [(2, 2)]),
        ("last", "ReLU", [(2, 2)], [(2, 2)]),
    ]
    expect_rows(traced(answer, Fallback(), torch.zeros(3, 4)), wanted)
    model = Fallback()
    with answer.shape_trace(model) as rows:
        for size in (9, 4):
            try:
                model.large[0](torch.zeros(1, size))
            except RuntimeError:
                continue
    wanted = [("large.0", "Linear", [(1, 9)], None), ("large.0", "Linear", [(1, 4)], [(1, 5)])]
    expect_rows(table(rows), wanted, f"{CALL} where the block catches an error")
    wanted = [
        ("", "Retry", [(4, 2)], [(1, 2)]),
        ("", "Retry", [(5, 2)], None),
        ("", "Retry", [(3, 2)], [(1, 2)]),
    ]
    expect_rows(traced(answer, Retry(), torch.zeros(4, 2)), wanted, f"{CALL} that raises within itself")


def test_no_hook_is_left(answer):
    """After the block all is as before: later calls add nothing, and hooks of others still run."""
    model, seen = nn.Sequential(Block(4, 6), nn.ReLU()), []
    model[0].up.register_forward_hook(lambda *_: seen.append("early"))
    before = traces(model)
    with answer.shape_trace(model) as rows:
        model(torch.zeros(2, 4))
    expect_that(traces(model) == before, "hooks or attributes of the modules are not as before")
    count = len(rows)
    model(torch.zeros(2, 4))
    expect_equal(len(rows), count, "the number of rows after a call behind the block")
    with answer.shape_trace(model):
        model[1].register_forward_hook(lambda *_: seen.append("late"))
        model[0].down.register_forward_pre_hook(lambda *_: seen.append("pre"))
        spare, model[0].spare = model[0].spare, nn.Identity()
    expect_equal(hooks_of(spare), [], "the hooks left on a layer that was replaced within the block")
    seen.clear()
    model(torch.zeros(2, 4))
    expect_equal(seen, ["early", "pre", "late"], "the hooks of others that run after the block")


def test_model_computes_the_same(answer, gen):
    """Results, gradients, modes and random numbers are those without the trace."""
    model = nn.Sequential(Block(4, 6), nn.Dropout(0.5), nn.BatchNorm1d(4), nn.Linear(4, 2))
    model[2].eval()
    twin, x = copy.deepcopy(model), torch.randn(5, 4, generator=gen)
    cotangent = torch.randn(5, 2, generator=gen)
    results = []
    for net in (twin, model):
        torch.manual_seed(3)
        if net is twin:
            out = net(x)
        else:
            with answer.shape_trace(net):
                out = net(x)
        (out * cotangent).sum().backward()
        results.append((out.detach(), torch.rand(1), [p.grad for p in net.parameters()]))
    (wanted, random, grads), (yours, drawn, got) = results
    expect_close(yours, wanted, "the model's result in the block")
    expect_equal(drawn, random, "the next random number after the block")
    for mine, right in zip(got, grads, strict=True):
        if right is None:  # a layer that never runs
            continue
        expect_that(mine is not None, "no gradient reaches a parameter after a call in the block")
        expect_close(mine, right, "the gradient of a parameter after a call in the block")
    expect_equal([m.training for m in model], [m.training for m in twin], "the modes after the block")
    with answer.shape_trace(wrapped := Wrapper(nn.Identity())):
        expect_equal(wrapped(x), None, "what a module that returns None returns in the block")
    with answer.shape_trace(same := nn.Identity()):
        expect_that(same(pair := [x, x]) is pair, "a module that returns a list returns another in the block")


def test_keeps_nothing_alive(answer):
    """No tensor is alive because of the rows."""
    model, alive = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), []
    with answer.shape_trace(model) as rows, torch.no_grad():
        for _ in range(2):
            x = torch.zeros(2, 3)
            alive += [weakref.ref(x), weakref.ref(model(x))]
            del x
            gc.collect()
            expect_that(
                all(ref() is None for ref in alive), "inputs or outputs of the model are alive after its call"
            )
    expect_equal(len(rows), 6, "the number of rows")
    model, alive = Fallback(), []
    model.large[0].register_forward_hook(lambda module, args, out: alive.append(weakref.ref(out)))
    with answer.shape_trace(model) as rows:
        model(torch.zeros(3, 4))
    gc.collect()
    expect_that(
        alive[0]() is None, "an output is alive after the error of the next layer, which the model caught"
    )
    expect_equal(len(rows), 6, "the number of rows of a model that catches an error")


def test_blocks_nest(answer):
    """Each block has its own list, and logs its own model only."""
    model, other = nn.Sequential(nn.Linear(2, 3)), nn.Sequential(nn.ReLU())
    with answer.shape_trace(model) as outer:
        model(torch.zeros(1, 2))
        trace = answer.shape_trace
        with trace(model[0]) as inner, trace(other) as apart, trace(model) as again:
            model(other(torch.zeros(4, 2)))
        model(torch.zeros(5, 2))
        alone = nn.ReLU()(input=torch.ones(2))
    expect_equal(alone, torch.ones(2), "what another model returns in the block, for a keyword argument")
    linear = [("", "Linear", [(4, 2)], [(4, 3)])]
    expect_equal(table(inner), linear, "the rows of a block for a part of the model")
    relu = [("", "Sequential", [(4, 2)], [(4, 2)]), ("0", "ReLU", [(4, 2)], [(4, 2)])]
    expect_equal(table(apart), relu, "the rows of a block for another model")
    wanted = [
        row
        for n in (1, 4, 5)
        for row in [("", "Sequential", [(n, 2)], [(n, 3)]), ("0", "Linear", [(n, 2)], [(n, 3)])]
    ]
    expect_equal(table(outer), wanted, "the rows of the outer block")
    expect_equal(table(again), wanted[2:4], "the rows of a block for the same model within")


def stack(*widths):
    return nn.Sequential(*[nn.Linear(*pair) for pair in pairwise(widths)])


def oracle(answer, gen):
    sizes = iter(torch.randint(2, 60, (24,), generator=gen).tolist())
    batch, first, *widths = islice(sizes, 7)
    batch_of_two, left, right, out = islice(sizes, 4)
    steps, rows, features, hidden = islice(sizes, 4)
    few, narrow, middle, wide = islice(sizes, 4)
    broken = nn.Sequential(stack(narrow, middle, wide), stack(wide + 1, middle))
    with answer.shape_trace(broken) as calls, contextlib.suppress(RuntimeError):
        broken(torch.zeros(few, narrow))
    return {
        "a stack of layers": traced(answer, stack(first, *widths), torch.zeros(batch, first)),
        "a layer of two inputs": traced(
            answer,
            nn.Bilinear(left, right, out),
            torch.zeros(batch_of_two, left),
            torch.zeros(batch_of_two, right),
        ),
        "an LSTM, which returns tuples": traced(
            answer, nn.Sequential(nn.LSTM(features, hidden)), torch.zeros(steps, rows, features)
        ),
        "one layer under two names, called three times": traced(
            answer, Shared(), torch.zeros(next(sizes), 4)
        ),
        "a model that calls itself": traced(answer, Halving(), torch.zeros(next(sizes) // 4 + 1, 2)),
        "a stack that fails halfway": table(calls),
    }
