"""What grades shape_trace: order, names, tuples, hooks; keywords, caught errors, what stays alive."""

import contextlib
import gc
import weakref
from collections import OrderedDict
from functools import partial
from itertools import islice, pairwise

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, hooks_of, hooks_of_all

CALL = "the rows of shape_trace(model)"


def table(rows):
    """Plain data; a `torch.Size` is as good as a tuple."""
    plain = lambda shapes: None if shapes is None else [tuple(shape) for shape in shapes]  # noqa: E731
    return [(row.name, row.kind, plain(row.inputs), plain(row.outputs)) for row in rows]


def traced(answer, model, *args, **kwargs):
    with answer.shape_trace(model) as rows:
        model(*args, **kwargs)
    return table(rows)


def listed(names):
    """In one text, for which feedback knows suspects."""
    return ", ".join(map(repr, names))


def expect_rows(yours, wanted, call=CALL, suspects=None):
    """Field by field, so that feedback says which row of which layer is wrong."""
    made = {told: partial(listed, names) for told, names in (suspects or {}).items()}
    for number, field in enumerate(("names", "kinds")):
        right = listed(row[number] for row in wanted)
        expect_equal(listed(row[number] for row in yours), right, f"{field} in {call}", suspects=made)
    for number, (row, right) in enumerate(zip(yours, wanted, strict=True)):
        for field, shapes, expected in zip(("inputs", "outputs"), row[2:], right[2:], strict=True):
            expect_equal(shapes, expected, f"the {field} in row {number}, a call of {row[0]!r}, of {call}")


def traces(model):
    """All that a tool could leave behind on a model or on all modules."""
    patched = [nn.Module.__call__, *(type(m).forward for m in model.modules())]
    return [(sorted(vars(module)), hooks_of(module)) for module in model.modules()], hooks_of_all(), patched


class Block(nn.Module):
    """Two layers with a residual, called in another order than they stand in; a third is not called."""

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


class Nested(nn.Module):
    """Takes and returns tensors in tuples, lists and dicts."""

    def forward(self, batch, scale=1.0, *, mask=None, states=()):
        first, (second, label) = batch["pair"], batch["rest"]
        return {"deep": [(second, [None, {"b": second.mT, "a": first}])], "name": "x"}, label, [*states]


class Other(nn.Module):
    """Has nothing to do with tensors."""

    def forward(self, x):
        return None


class Fallback(nn.Module):
    """Tries one layer, and takes the other where it does not fit."""

    def __init__(self):
        super().__init__()
        self.large = nn.Sequential(nn.Linear(4, 5), nn.Linear(9, 2))
        self.small = nn.Linear(4, 2)

    def forward(self, x):
        try:
            return self.large(x)
        except RuntimeError:
            return self.small(x[:2])


def test_order_and_names(answer):
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
    suspects = {
        "only the model's own parts are watched: theirs count as well": ["", "embed", "body"],
        "modules with parts have rows, too": ["embed", "body.0.up", "body.0.down", "body.1"],
        "these are all modules in the order of definition: the calls are asked for": [
            name for name, _ in model.named_modules()
        ],
        "these are names within a parent: the full ones are in named_modules": [
            name.split(".")[-1] for name, *_ in wanted
        ],
    }
    expect_rows(traced(answer, model, torch.zeros(2, 5, 3)), wanted, suspects=suspects)


def test_called_twice(answer):
    """A module that is called twice has two rows, each with its own shapes, under its first name."""
    wanted = [
        ("", "Shared", [(5, 4)], [(1, 3, 4)]),
        ("encode", "Linear", [(5, 4)], [(5, 4)]),
        ("parts.1", "Tanh", [(5, 4)], [(5, 4)]),
        ("encode", "Linear", [(4, 4)], [(4, 4)]),
        ("parts.1", "Tanh", [(4, 4)], [(4, 4)]),
        ("encode", "Linear", [(1, 3, 4)], [(1, 3, 4)]),
    ]
    names = ["", *2 * ["encode", "parts.0", "parts.1"], "encode", "parts.0"]
    suspects = {
        "there is one row for each module: one for each call is asked for": ["", "encode", "parts.1"],
        "each name of a shared module has a hook, and so a row: its first name is enough": names,
    }
    expect_rows(traced(answer, Shared(), torch.zeros(5, 4)), wanted, suspects=suspects)


def test_tuples(answer):
    """The tensors of a tuple that comes back have a shape each."""
    rows = traced(answer, nn.LSTM(3, 6), torch.zeros(5, 2, 3), (torch.zeros(1, 2, 6), torch.ones(1, 2, 6)))
    state = [(1, 2, 6), (1, 2, 6)]
    expect_rows(rows, [("", "LSTM", [(5, 2, 3), *state], [(5, 2, 6), *state])], "the rows for an LSTM")


def test_no_hook_is_left(answer):
    """After the block all is as before, and later calls add nothing."""
    model = nn.Sequential(Block(4, 6), nn.ReLU())
    before = traces(model)
    with answer.shape_trace(model) as rows:
        model(torch.zeros(2, 4))
    expect_that(
        traces(model) == before,
        "hooks or attributes are left on the modules after the block",
        likely="each `register_…` returns a handle, and its `remove()` takes the hook off",
    )
    count = len(rows)
    model(torch.zeros(2, 4))
    expect_equal(len(rows), count, "the number of rows after a call behind the block")


def test_error_reaches_the_caller(answer):
    """The model's error comes through as it is, and no hook is left."""
    error = ValueError("at two in the morning")

    class Raises(nn.Module):
        def forward(self, x):
            raise error

    model = nn.Sequential(nn.Linear(2, 3), Raises())
    before, caught = traces(model), None
    try:
        with answer.shape_trace(model):
            model(torch.zeros(4, 2))
    except Exception as raised:
        caught = raised
    expect_that(caught is error, "another error than the model's", yours=repr(caught), wanted=repr(error))
    expect_that(
        traces(model) == before,
        "hooks or attributes are left on the modules after a model that raises",
        likely="what comes behind `yield` does not run then: put it into `finally`",
    )


@pytest.mark.fine
def test_nested_data(answer):
    """Tensors are found in dicts and keyword arguments, in order; all else is left out."""
    a, b, mask = torch.zeros(2, 3), torch.zeros(4, 5), torch.zeros(6)
    batch, states = (
        {"pair": a, "rest": (b, torch.tensor(7))},
        [nn.Parameter(torch.zeros(1, 9)), (torch.zeros(8),)],
    )
    inputs = [(2, 3), (4, 5), (), (6,), (1, 9), (8,)]
    outputs = [(4, 5), (5, 4), (2, 3), (), (1, 9), (8,)]
    yours = traced(answer, Nested(), batch, 2.0, mask=mask, states=states)
    expect_rows(yours, [("", "Nested", inputs, outputs)])
    expect_rows(traced(answer, Other(), 3), [("", "Other", [], [])], f"{CALL} without tensors")


@pytest.mark.fine
def test_caught_errors(answer):
    """A call whose error is caught has no outputs; the others keep theirs."""
    wanted = [
        ("", "Fallback", [(3, 4)], [(2, 2)]),
        ("large", "Sequential", [(3, 4)], None),
        ("large.0", "Linear", [(3, 4)], [(3, 5)]),
        ("large.1", "Linear", [(3, 5)], None),
        ("small", "Linear", [(2, 4)], [(2, 2)]),
    ]
    expect_rows(traced(answer, Fallback(), torch.zeros(3, 4)), wanted, f"{CALL} that catches an error")


@pytest.mark.fine
def test_hooks_of_others(answer):
    """Hooks of others still run after the block, also those added within it."""
    model, seen = nn.Sequential(Block(4, 6), nn.ReLU()), []
    model[0].up.register_forward_hook(lambda *_: seen.append("early"))
    with answer.shape_trace(model):
        model[1].register_forward_hook(lambda *_: seen.append("late"))
        model[0].down.register_forward_pre_hook(lambda *_: seen.append("pre"))
    model(torch.zeros(2, 4))
    expect_equal(seen, ["early", "pre", "late"], "the hooks of others that run after the block")


@pytest.mark.fine
def test_model_computes_the_same(answer, gen):
    """Results, graph and modes are those without the trace."""
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4).eval(), nn.ReLU())
    x = torch.randn(5, 4, generator=gen)
    wanted = model(x)
    with answer.shape_trace(model):
        out, modes = model(x), [m.training for m in model.modules()]
    expect_close(out.detach(), wanted.detach(), "the model's result in the block")
    expect_that(out.requires_grad, "the model's result in the block has no graph")
    expect_equal(modes, [True, True, False, True], "the modes in the block")


@pytest.mark.fine
def test_keeps_nothing_alive(answer):
    """No tensor is alive because of the rows."""
    model, alive = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), []
    with answer.shape_trace(model) as rows, torch.no_grad():
        x = torch.zeros(2, 3)
        alive += [weakref.ref(x), weakref.ref(model(x))]
        del x
        gc.collect()
        kept = sum(ref() is not None for ref in alive)
        expect_equal(
            kept, 0, "the number of tensors, input and output, that are alive after the model's call"
        )
    expect_equal(len(rows), 3, "the number of rows")


@pytest.mark.fine
def test_blocks_nest(answer):
    """Each block has its own list, and logs its own model only."""
    model, other = nn.Sequential(nn.Linear(2, 3)), nn.ReLU()
    with answer.shape_trace(model) as outer:
        with answer.shape_trace(model[0]) as inner, answer.shape_trace(model) as again:
            model(other(torch.zeros(4, 2)))
        model(torch.zeros(5, 2))
    part = lambda n: ("0", "Linear", [(n, 2)], [(n, 3)])  # noqa: E731
    whole = lambda n: ("", "Sequential", [(n, 2)], [(n, 3)])  # noqa: E731
    expect_rows(table(inner), [("", *part(4)[1:])], "the rows of a block for a part of the model")
    expect_rows(table(again), [whole(4), part(4)], "the rows of a block for the same model within another")
    expect_rows(table(outer), [whole(4), part(4), whole(5), part(5)], "the rows of the outer block")


def stack(*widths):
    return nn.Sequential(*[nn.Linear(*pair) for pair in pairwise(widths)])


def oracle(answer, gen):
    sizes = iter(torch.randint(2, 60, (16,), generator=gen).tolist())
    batch, first, *widths = islice(sizes, 7)
    steps, rows, features, hidden = islice(sizes, 4)
    some, narrow, middle, wide = islice(sizes, 4)
    broken = nn.Sequential(stack(narrow, middle, wide), stack(wide + 1, middle))

    def halfway():
        with answer.shape_trace(broken) as calls, contextlib.suppress(RuntimeError):
            broken(torch.zeros(some, narrow))
        return table(calls)

    lstm = nn.Sequential(nn.LSTM(features, hidden))
    return {
        "a stack of layers": lambda: traced(answer, stack(first, *widths), torch.zeros(batch, first)),
        "an LSTM, which returns tuples": lambda: traced(answer, lstm, torch.zeros(steps, rows, features)),
        "a layer under two names, called three times": lambda: traced(
            answer, Shared(), torch.zeros(batch + 2, 4)
        ),
        "a stack that fails halfway": halfway,
    }
