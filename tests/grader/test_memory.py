"""Bytes are counted where there are any."""

import math

import pytest
import torch

from grader.checks import CheckFailure, held_bytes, peak_bytes, unchanged


def test_new_tensors_count_once() -> None:
    x = torch.ones(100)
    assert peak_bytes(lambda: x.view(10, 10).t()) == 0
    assert peak_bytes(lambda: (x + 1).view(10, 10).mul_(2)) == 400
    assert held_bytes(lambda: (x + 1).sum()) == 4


def test_meta_has_no_memory() -> None:
    x = torch.ones(100)
    assert peak_bytes(lambda: x.to("meta") + torch.empty(100, device="meta")) == 0


@pytest.mark.parametrize("before,after", [(math.nan, 0.0), (0.0, math.nan), (math.inf, 3.0e38), (1.0, 2.0)])
def test_unchanged_sees_missing_and_infinite_numbers(before: float, after: float) -> None:
    x = torch.tensor([before, 5.0, math.nan])
    with unchanged("f(x)", x=x):
        pass
    with pytest.raises(CheckFailure, match="1 of 3 values differ"), unchanged("f(x)", x=x):
        x[0] = after
