"""A batch on the device of the model: `next(model.parameters())`.

A loader gives batches on the CPU. A model on a GPU cannot read them there. Return features and labels on the device on
which the model lies, whichever it is.

    model = nn.Linear(3, 2).to("cuda")
    x, y = batch_to_the_device(model, torch.zeros(4, 3), torch.zeros(4))
    x.device, y.device            # both cuda:0, like the weights of the model

New here: `next(model.parameters()).device` is the device of the first parameter. `x.to(device)` returns a tensor that
lies there; x itself stays where it is.
"""

from jaxtyping import Float
from torch import Tensor, nn


def batch_to_the_device(
    model: nn.Module, features: Float[Tensor, "batch columns"], labels: Float[Tensor, "batch"]
) -> tuple[Float[Tensor, "batch columns"], Float[Tensor, "batch"]]:
    raise NotImplementedError
