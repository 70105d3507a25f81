"""Whoever writes a check is told why a cause that fits was not."""

import pytest
import torch

from grader.authoring.untold import untold
from grader.checks import expect_close
from grader.checks.failure import CheckFailure

x, y = torch.tensor([1.0, 0.0]), torch.tensor([1.5, 1.5])
OTHER = {"nothing is doubled": lambda: x}
THREE = {"x is tripled": lambda: 3 * y, "three is added": lambda: y + 3}


@pytest.mark.parametrize(
    ("yours", "wanted", "suspects", "cause", "why"),
    [
        (x, 2 * x, OTHER, "nothing is doubled", "would fit, but chance explains these numbers as well"),
        (3 * y, 2 * y, THREE, "three is added", "fits as well as what is told"),
    ],
)
def test_why(yours, wanted, suspects, cause, why):
    with pytest.raises(CheckFailure) as failed:
        expect_close(yours, wanted, "double(x)", suspects=suspects)
    assert f"{cause!r} {why}" in untold(failed.value.feedback)[0]


def test_what_is_told_stands_alone():
    more = torch.tensor([1.5, 2.0])
    with pytest.raises(CheckFailure) as failed:
        expect_close(3 * more, 2 * more, "double(x)", suspects={"x is tripled": lambda: 3 * more})
    assert untold(failed.value.feedback) == []
