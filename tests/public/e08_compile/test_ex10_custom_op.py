"""The contract of scan."""

import torch
from torch.library import CustomOpDef

from grader.checks import expect_close, expect_raises, expect_that

X, DECAY = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.5, 0.5, 0.25])


def test_worked_example(answer):
    """The worked example of the statement comes out, in both directions."""
    expect_close(answer.scan(X, DECAY), torch.tensor([1.0, 2.5, 4.625]), "scan(x, decay)")
    wanted = torch.tensor([3.0, 4.0, 4.0])
    expect_close(answer.scan(X, DECAY, reverse=True), wanted, "scan(x, decay, reverse=True)")


def test_is_an_operator(answer):
    """`scan` is an operator, not a function that calls one."""
    answer.scan(X, DECAY)
    packet = torch.ops.aten.sin
    kinds = (CustomOpDef, type(packet), type(packet.default))
    expect_that(isinstance(answer.scan, kinds), "scan is no operator", yours=type(answer.scan).__name__)


def test_bad_input(answer):
    """Shapes that differ raise ValueError."""
    expect_raises(ValueError, lambda: answer.scan(X, DECAY[:2]), "scan(x, decay) of 3 and 2 steps")
