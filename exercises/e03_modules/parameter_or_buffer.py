"""Parameter, buffer or neither: a head that learns a gain on top of fixed statistics.

`SensorHead` standardises windows of sensor readings, scales each channel by a gain that it learns, and
weighs each time step, the last one most (its weights are 1/time, 2/time, … 1):

    head = SensorHead(mean=torch.tensor([1.0, 10.0]), std=torch.tensor([1.0, 5.0]), time=2)
    x = torch.tensor([[2.0, 20.0], [3.0, 0.0]])     # two time steps of two channels
    head(x)                                         # [[0.5, 1.0], [2.0, -2.0]]

The numbers are right, but a trained head came back from its checkpoint untrained, `model.to("cuda")` left its
tensors behind, and the optimizer found no parameters. Register all four, under their names:

- `gain` (channels,) is learned, and starts at ones: the one parameter.
- `mean` and `std` (channels,) are fixed, saved in the state dict and restored from it.
- `ramp` (time,) follows from `time`: it moves along, but is not saved.

Fine print:
- mean and std are copied: what is loaded into the head does not reach the tensors that it was given.
- forward reads the buffers, the ramp as well: another ramp that is written there counts.
- All four are made in the dtype and on the device of the given mean.
- A state dict of a head with another `time` loads. One that lacks gain, mean or std raises RuntimeError, as
  PyTorch has it.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class SensorHead(nn.Module):
    """Standardise, scale and weigh windows of `time` readings; mean and std require no gradient."""

    def __init__(self, mean: Float[Tensor, "channels"], std: Float[Tensor, "channels"], time: int) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.gain = torch.ones(len(mean), requires_grad=True)
        self.ramp = torch.arange(1, time + 1) / time

    def forward(self, x: Float[Tensor, "*batch time channels"]) -> Float[Tensor, "*batch time channels"]:
        """(x - mean) / std, times the gain of each channel, times the weight of each time step."""
        return (x - self.mean) / self.std * self.gain * self.ramp[:, None]
