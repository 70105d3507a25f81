"""What is said of a module that has registered other tensors than it should have."""

import pytest
from torch import nn

from grader.checks import CheckFailure
from grader.checks.registered import UNREGISTERED, expect_registered

RIGHT = {"0.weight": (3, 2), "0.bias": (3,), "1.weight": (1, 3), "1.bias": (1,)}


@pytest.mark.parametrize(
    ("layers", "says"),
    [
        ([nn.Linear(2, 3), nn.Linear(3, 1)], None),
        ([nn.Linear(2, 3), nn.Linear(3, 1, bias=False)], f"lacks   1.bias (1,)\n  likely  {UNREGISTERED}"),
        ([nn.Linear(2, 3), nn.Linear(3, 1), nn.PReLU()], "extra   2.weight (1,)"),
        ([nn.Linear(2, 3), nn.Linear(4, 1)], "yours   1.weight (1, 4)\n  wanted  1.weight (1, 3)"),
    ],
)
def test_only_what_differs_is_told(layers, says):
    net = nn.Sequential(*layers)
    if says is None:
        expect_registered(net, "Net(2)", parameters=RIGHT)
        return
    with pytest.raises(CheckFailure) as failure:
        expect_registered(net, "Net(2)", parameters=RIGHT)
    assert str(failure.value) == f"wrong parameters of Net(2)\n  {says}"


def test_sizes_in_the_wrong_order_are_told():
    with pytest.raises(CheckFailure, match="likely  right sizes in the wrong order"):
        expect_registered(nn.Embedding(2, 9), "Table(9, 2)", parameters={"weight": (9, 2)})
