"""Parameter, buffer or neither: a head that learns a gain on top of fixed statistics.

`SensorHead` standardises windows of sensor readings, scales each channel by a gain that it learns, and
weighs each time step, the last one most (its weights are 1/time, 2/time, … 1):

    head = SensorHead(mean=torch.tensor([1.0, 10.0]), std=torch.tensor([1.0, 5.0]), time=2)
    x = torch.tensor([[2.0, 20.0], [3.0, 0.0]])     # two time steps of two channels
    head(x)                                         # [[0.5, 1.0], [2.0, -2.0]]

The first version computed the right numbers on its author's laptop. But a trained head came back from its
checkpoint untrained; after `model.to("cuda")` it raised "Expected all tensors to be on the same device";
`model.double()` was no double; and the optimizer's parameter list was empty.

What has to be registered, under these names, and nothing else:
- `gain` (channels,): learned, starts at ones. The one parameter: `parameters()` gives nothing else, and no
  other tensor gets gradients or moves in training.
- `mean` and `std` (channels,): statistics of the training set, fixed. They are saved in the state dict
  and restored from it.
- `ramp` (time,): the weights of the time steps, right in half precision as well, which cannot count
  thousands of steps. It follows from `time`, so it is neither saved nor looked for when a state dict is
  loaded: one saved with another `time` loads as well, into the head or a model that contains it. One that
  lacks gain, mean or std raises RuntimeError, as PyTorch has it.

Rules:
- All four are made in the dtype and on the device of the given mean, move and cast with every model that
  contains the head, and are used as they then are: forward copies nothing between the CPU and a device.
- mean and std are copied: what the head does with its own, loading a state dict for example, changes
  nothing in the tensors that it was given, and later changes of those do not reach the head.
- x has the dtype and device of the head, any leading dimensions, and is not changed; gradients flow through.
  The result is exact up to rounding, also where a mean is thousands of times its deviation.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class SensorHead(nn.Module):
    """Standardise, scale and weigh windows of readings.

    Args:
        mean: the mean of each channel, (channels,), in any floating dtype; requires no gradient.
        std: the standard deviation of each channel, (channels,), dtype and device as mean; not zero.
        time: the number of time steps of a window, at least 1.
    """

    def __init__(self, mean: Float[Tensor, "channels"], std: Float[Tensor, "channels"], time: int) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.gain = torch.ones(len(mean), requires_grad=True)
        self.ramp = torch.arange(1, time + 1) / time

    def forward(self, x: Float[Tensor, "*batch time channels"]) -> Float[Tensor, "*batch time channels"]:
        """(x - mean) / std, times the gain of each channel, times the weight of each time step."""
        return (x - self.mean) / self.std * self.gain * self.ramp[:, None]
