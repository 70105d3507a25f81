"""The worked example of attention_masks, by both ways."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close


@pytest.mark.parametrize("name", ["by_module", "by_function"])
def test_worked_example(answer, name):
    """Both ways take the mean of the tokens that are seen."""
    layer = nn.MultiheadAttention(1, 1, batch_first=True)
    numbers = {"in_proj_weight": [[0.0], [0.0], [1.0]], "out_proj.weight": [[1.0]]}
    numbers |= {"in_proj_bias": [0.0] * 3, "out_proj.bias": [0.0]}
    layer.load_state_dict({key: torch.tensor(values) for key, values in numbers.items()})
    x, real = torch.tensor([[[1.0], [3.0], [8.0]]]), torch.tensor([[True, True, False]])
    suspects = {
        "padding is seen, and real tokens are not": lambda: torch.tensor([[8.0], [8.0]]),
        "nothing is hidden": lambda: torch.tensor([[4.0], [4.0]]),
    }
    y = getattr(answer, name)(layer, x, real).detach()
    expect_close(y[0, :2], torch.tensor([[2.0], [2.0]]), f"{name}(layer, x, real)[0, :2]", suspects=suspects)
    y = getattr(answer, name)(layer, x, real, causal=True).detach()
    call = f"{name}(layer, x, real, causal=True)[0, :2]"
    expect_close(y[0, :2], torch.tensor([[1.0], [2.0]]), call)
