"""How large is a model? Count the numbers in it.

Return two counts: the numbers in all parameters, and those in the parameters that are trained.

    model = nn.Linear(3, 2)
    # a weight of 2 × 3 numbers, a bias of 2
    how_many_numbers(model)
    # (8, 8)
    model.bias.requires_grad_(False)
    # from now on training leaves the bias alone
    how_many_numbers(model)
    # (8, 6)

New here: `for p in model.parameters():` goes through the weights and biases of all layers. Each is a tensor
with `p.numel()` numbers, and is trained if `p.requires_grad` is True.
"""

from torch import nn


def how_many_numbers(model: nn.Module) -> tuple[int, int]:
    raise NotImplementedError
