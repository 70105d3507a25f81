"""The contract of shape_trace."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal


def table(rows):
    return [(row.name, row.kind, row.inputs, row.outputs) for row in rows]


def test_worked_example(answer):
    """The worked example of the statement comes out, up to the layer that raises."""
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(4, 2))
    trace = answer.shape_trace(model)
    rows = trace.__enter__()
    with pytest.raises(RuntimeError) as raised:
        model(torch.zeros(8, 3))
    trace.__exit__(raised.type, raised.value, raised.tb)
    wanted = [
        ("", "Sequential", [(8, 3)], None),
        ("0", "Linear", [(8, 3)], [(8, 5)]),
        ("1", "ReLU", [(8, 5)], [(8, 5)]),
        ("2", "Linear", [(8, 5)], None),
    ]
    expect_equal(table(rows), wanted, "the rows of shape_trace(model)")
    expect_equal(type(rows[0].inputs[0]).__name__, "tuple", "the type of a shape")


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
    expect_equal(table(rows), wanted, "the rows of shape_trace(model)")
