from torch import nn


def norms_of_gradients(model: nn.Module) -> dict[str, float]:
    return {name: p.grad.norm().item() for name, p in model.named_parameters()}
