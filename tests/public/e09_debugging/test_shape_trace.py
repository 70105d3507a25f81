"""The worked example of shape_trace, and a model that runs to its end."""

from functools import partial

import torch
from torch import nn

from grader.checks import expect_equal, expect_raises

CALL = "the rows of shape_trace(model)"


def shapes(found):
    """As plain tuples; a `torch.Size` is as good."""
    return found if found is None else [tuple(shape) for shape in found]


def listed(names):
    """In one text, for which feedback knows suspects."""
    return ", ".join(map(repr, names))


def expect_rows(rows, wanted, suspects=None):
    made = {told: partial(listed, names) for told, names in (suspects or {}).items()}
    names = listed(name for name, *_ in wanted)
    expect_equal(listed(row.name for row in rows), names, f"names in {CALL}", suspects=made)
    expect_equal(listed(row.kind for row in rows), listed(kind for _, kind, *_ in wanted), f"kinds in {CALL}")
    for row, (name, _, inputs, outputs) in zip(rows, wanted, strict=True):
        expect_equal(shapes(row.inputs), inputs, f"the inputs of module {name!r} in {CALL}")
        expect_equal(shapes(row.outputs), outputs, f"the outputs of module {name!r} in {CALL}")


def test_worked_example(answer):
    """The worked example of the statement comes out, up to the layer that raises."""
    model, found = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(4, 2)), []

    def block():
        with answer.shape_trace(model) as rows:
            found.append(rows)
            model(torch.zeros(8, 3))

    expect_raises(RuntimeError, block, "the block of the worked example")
    wanted = [
        ("", "Sequential", [(8, 3)], None),
        ("0", "Linear", [(8, 3)], [(8, 5)]),
        ("1", "ReLU", [(8, 5)], [(8, 5)]),
        ("2", "Linear", [(8, 5)], None),
    ]
    suspects = {
        "a forward hook runs when a call has ended, which one that raises never does": ["0", "1"],
        "the model itself has a row, too: `named_modules` has it, under the name ''": ["0", "1", "2"],
        "no row was added: was the block left before the model ran?": [],
    }
    expect_rows(found[0], wanted, suspects)


def test_model_that_fits(answer):
    """A model that runs to its end has outputs everywhere."""
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
    with answer.shape_trace(model) as rows:
        model(torch.zeros(8, 3))
    wanted = [
        ("", "Sequential", [(8, 3)], [(8, 2)]),
        ("0", "Linear", [(8, 3)], [(8, 5)]),
        ("1", "Linear", [(8, 5)], [(8, 2)]),
    ]
    late = {"the rows are in the order in which calls end: add them before": ["0", "1", ""]}
    expect_rows(rows, wanted, late)
