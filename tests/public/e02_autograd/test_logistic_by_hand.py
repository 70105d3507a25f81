"""The contract of logistic_by_hand."""

import torch

from grader.checks import expect_close, expect_equal

CALL = "logistic_by_hand(x, w, b, y)"


def worked_example():
    return torch.tensor([[1.1]]), torch.tensor([2.2]), torch.tensor(0.0), torch.tensor([1.0])


def test_worked_example(answer):
    """The worked example of the statement comes out: the gradient for w is -0.0898."""
    steps = answer.logistic_by_hand(*worked_example())
    wanted = {"z": [2.42], "a": [0.9183397], "loss": [0.0851879], "dw": [-0.0898263], "db": -0.0816603}
    suspects = {
        "loss": {
            "this is the mean loss: each message has its own": lambda: torch.tensor(0.0851879),
            "the minus in front of the logarithm is missing": lambda: torch.tensor([-0.0851879]),
        },
        "dw": {
            "the factor is w: the derivative for w has the factor x": lambda: torch.tensor([-0.1796526]),
            "this is a gradient for each message: take the mean over them": lambda: torch.tensor(
                [[-0.0898263]]
            ),
            "y - a stands where a - y belongs": lambda: torch.tensor([0.0898263]),
        },
    }
    for field, value in wanted.items():
        right, known = torch.tensor(value), suspects.get(field)
        expect_close(getattr(steps, field), right, f"{field} of {CALL}", scale=1.0, suspects=known)


def test_factors(answer):
    """Every factor of the chain rule has the value that the statement names."""
    steps = answer.logistic_by_hand(*worked_example())
    wanted = {
        "dloss_da": [-1.0889217],
        "da_dz": [0.0749919],
        "dloss_dz": [-0.0816603],
        "dz_dw": [[1.1]],
        "dz_db": [1.0],
    }
    a = torch.tensor([2.42]).sigmoid()
    slopes = {
        "sigmoid is applied to a once more: a * (1 - a) is its slope": lambda: (
            a.sigmoid() * (1 - a.sigmoid())
        ),
        "that is the slope of tanh: that of sigmoid is a * (1 - a)": lambda: 1 - a**2,
    }
    for field, value in wanted.items():
        suspects = slopes if field == "da_dz" else {}
        right = torch.tensor(value)
        expect_close(getattr(steps, field), right, f"{field} of {CALL}", scale=1.0, suspects=suspects)


def test_shapes(answer):
    """With four messages of three features, dw has three entries, db none, and dz_dw is four by three."""
    steps = answer.logistic_by_hand(torch.ones(4, 3), torch.ones(3), torch.tensor(1.0), torch.ones(4))
    fields = ["z", "a", "loss", "dloss_da", "da_dz", "dloss_dz", "dz_db"]
    shapes = {field: (4,) for field in fields} | {"dz_dw": (4, 3), "dw": (3,), "db": ()}
    for field, shape in shapes.items():
        expect_equal(tuple(getattr(steps, field).shape), shape, f"the shape of {field} of {CALL}")
