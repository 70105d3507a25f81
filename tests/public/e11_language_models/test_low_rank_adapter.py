"""The worked example of low_rank_adapter: before and after merging."""

import torch
from torch import nn

from grader.checks import expect_close


def test_worked_example(answer):
    """The worked example of the statement comes out, merged or not."""
    layer, x = answer.LoRALinear(nn.Linear(2, 1, bias=False), 1, 2.0), torch.tensor([3.0, 4.0])
    numbers = {"linear": [[1.0, 2.0]], "lora_a": [[1.0, 1.0]], "lora_b": [[0.5]]}
    layer.load_state_dict({f"{name}.weight": torch.tensor(weight) for name, weight in numbers.items()})
    expect_close(layer(x).detach(), torch.tensor([18.0]), "layer(x)")
    layer.merge()
    suspects = {"alpha / rank is missing from what is merged": lambda: torch.tensor([[1.5, 2.5]])}
    weight, wanted = layer.linear.weight.detach(), torch.tensor([[2.0, 3.0]])
    expect_close(weight, wanted, "linear.weight after merge()", suspects=suspects)
    suspects = {"the update counts twice: it is in linear.weight already": lambda: torch.tensor([25.0])}
    expect_close(layer(x).detach(), torch.tensor([18.0]), "layer(x) after merge()", suspects=suspects)
