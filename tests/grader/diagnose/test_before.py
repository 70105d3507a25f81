"""What a step made of a value is told by the value from before it."""

import pytest
import torch
from torch import Tensor

from grader.checks import CheckFailure, expect_close, expect_gradient
from tests.grader.support.telling import numbers, told

BEFORE = numbers(3, 4)
STEP = numbers(4, 3).mT.square() - 0.3
WANTED = BEFORE - STEP


@pytest.mark.parametrize(
    "yours, likely",
    [
        (BEFORE, "unchanged: this is the value from before"),
        (BEFORE + STEP, "changed the wrong way, and as much as it should be: a plus for a minus?"),
        (BEFORE - 2 * STEP, "changed twice as much as it should be"),
        (BEFORE - STEP / 2, "changed half as much as it should be"),
        (BEFORE - STEP / 5, "changed 1/5 as much as it should be"),
        (BEFORE - 0.077 * STEP, "changed 0.077 times as much as it should be"),
        (BEFORE + WANTED, "this is what is wanted, added to the value from before"),
        (
            -STEP,
            "the value from before is missing: it is replaced, where something is to be added to it",
        ),
    ],
)
def test_what_changed(yours: Tensor, likely: str) -> None:
    message = told(yours, WANTED, before=BEFORE, rtol=1e-6)
    assert message.splitlines()[-1] == f"  likely  {likely}"
    assert "before 0.668" in message


def test_small_weights_are_shown_whole() -> None:
    message = told(torch.tensor([2.0, 1.0]), torch.tensor([0.7, 1.0]), before=torch.tensor([2.0, 1.5]))
    assert message.splitlines()[2:5] == ["  yours   [2, 1]", "  wanted  [0.7, 1]", "  before  [2, 1.5]"]


def test_one_weight() -> None:
    message = told(torch.tensor([[2.0]]), torch.tensor([[0.7]]), before=torch.tensor([[2.0]]))
    assert message.splitlines()[1:] == [
        "  value   at [0, 0]: yours 2, wanted 0.7, before 2 in float32[1, 1]",
        "  likely  unchanged: this is the value from before",
    ]
    message = told(torch.tensor(1.9), torch.tensor(0.7), before=torch.tensor(2.0))
    assert "likely" not in message  # one number is some multiple of any other


@pytest.mark.parametrize("before", [WANTED, torch.zeros(2), torch.full((3, 4), float("nan"))])
def test_a_value_that_says_nothing(before: Tensor) -> None:
    yours = WANTED.clone()
    yours[1] += 0.125
    assert "likely" not in told(yours, WANTED, before=before, rtol=1e-6)


def test_other_numbers_have_no_cause() -> None:
    assert "likely" not in told(numbers(12, 3)[4:7, :1].expand(3, 4) + BEFORE.sin(), WANTED, before=BEFORE)


def test_checks_pass_it_on() -> None:
    with pytest.raises(CheckFailure, match="unchanged"):
        expect_close(BEFORE, WANTED, "the weight after a step", before=BEFORE)
    with pytest.raises(CheckFailure, match="this is what is wanted, added to the value from before"):
        expect_gradient(STEP + 2, STEP, "w", before=torch.full_like(STEP, 2.0))
