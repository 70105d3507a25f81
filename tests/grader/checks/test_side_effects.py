"""What a call has changed is told, and what it has left alone is not."""

import math

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, modes_kept, unchanged


@pytest.mark.parametrize("before,after", [(math.nan, 0.0), (0.0, math.nan), (math.inf, 3.0e38), (1.0, 2.0)])
def test_unchanged_sees_missing_and_infinite_numbers(before: float, after: float) -> None:
    x = torch.tensor([before, 5.0, math.nan])
    with unchanged("f(x)", x=x):
        pass
    with pytest.raises(CheckFailure, match="1 of 3 values differ"), unchanged("f(x)", x=x):
        x[0] = after


def switched(layer: nn.Module) -> None:
    layer.train(not layer.training)


def test_modes_kept_names_the_layer_that_is_in_another_mode() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout()))
    model[1].eval()
    with modes_kept("f(model)", model):
        switched(model[0])
        switched(model[0])
    with pytest.raises(CheckFailure, match=r"training flag of layer 1\.0 after") as told:  # noqa: SIM117
        with modes_kept("f(model)", nn.Identity(), model):
            switched(model[1][0])
    assert "yours   bool True" in str(told.value)
    with pytest.raises(CheckFailure, match="training flag of the model itself"), modes_kept("f(x)", model):
        model.training = False


@pytest.mark.parametrize("enabled", [True, False])
def test_modes_kept_puts_the_switch_for_gradients_back(enabled: bool) -> None:
    with torch.set_grad_enabled(enabled):
        with modes_kept("f(x)"):
            pass
        with pytest.raises(CheckFailure, match=r"after f\(x\)\n .*is_grad_enabled\(\)"), modes_kept("f(x)"):
            torch.set_grad_enabled(not enabled)
        assert torch.is_grad_enabled() is enabled
