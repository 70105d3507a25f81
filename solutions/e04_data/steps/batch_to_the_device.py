from jaxtyping import Float
from torch import Tensor, nn


def batch_to_the_device(
    model: nn.Module, features: Float[Tensor, "batch columns"], labels: Float[Tensor, "batch"]
) -> tuple[Float[Tensor, "batch columns"], Float[Tensor, "batch"]]:
    device = next(model.parameters()).device
    return features.to(device), labels.to(device)
