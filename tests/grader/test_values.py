"""What is said where containers differ."""

import pytest
import torch

from grader.checks import CheckFailure, expect_equal


@pytest.mark.parametrize(
    ("yours", "wanted", "says"),
    [
        ([1, 3], [1, 2, 3], "differ  from item 1 on: int 3, wanted int 2"),
        ([True], (1,), "wrong type"),
        ((1.0, 2.0), (1.0,), "extra   item 1: float 2.0"),
        ([], ["a", "b", "c"], "lacks   item 0: str 'a' and 2 more"),
        ([[1], [2, 3]], [[1], [2]], r"wrong length of f\(x\)\[1\]"),
        ([torch.ones(2)], [torch.zeros(2), torch.ones(2)], r"from item 0 on: another float32\[2\]"),
        ([torch.ones(2)], [torch.ones(2)] * 2, r"lacks   item 1: float32\[2\]"),
    ],
)
def test_lists_of_unequal_length(yours, wanted, says):
    with pytest.raises(CheckFailure, match=says):
        expect_equal(yours, wanted, "f(x)")
