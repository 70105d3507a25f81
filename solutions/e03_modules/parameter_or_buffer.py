import torch
from jaxtyping import Float
from torch import Tensor, nn


class SensorHead(nn.Module):
    def __init__(self, mean: Float[Tensor, "channels"], std: Float[Tensor, "channels"], time: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones_like(mean))  # (channels,)
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())
        ramp = torch.arange(1, time + 1, dtype=mean.dtype, device=mean.device) / time  # (time,)
        self.register_buffer("ramp", ramp, persistent=False)

    def forward(self, x: Float[Tensor, "*batch time channels"]) -> Float[Tensor, "*batch time channels"]:
        return (x - self.mean) / self.std * self.gain * self.ramp[:, None]
