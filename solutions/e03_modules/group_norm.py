import torch
from jaxtyping import Float
from torch import Tensor, nn


class GroupNorm(nn.Module):
    def __init__(self, groups: int, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        if groups < 1 or channels % groups:
            raise ValueError(f"{channels=} cannot be divided into {groups=}")
        self.groups, self.eps = groups, eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(
        self, x: Float[Tensor, "batch channels *positions"]
    ) -> Float[Tensor, "batch channels *positions"]:
        channels = len(self.weight)
        if x.dim() < 2 or x.shape[1] != channels:
            raise ValueError(f"x must be (batch, {channels}, ...), not {tuple(x.shape)}")
        exact = x if x.dtype == torch.float64 else x.float()
        grouped = exact.unflatten(1, (self.groups, -1))  # (batch, groups, channels / groups, *positions)
        dims = tuple(range(2, grouped.dim()))
        centred = grouped - grouped.mean(dims, keepdim=True)
        y = centred * (centred.square().mean(dims, keepdim=True) + self.eps).rsqrt()
        column = (channels, *[1] * (x.dim() - 2))
        y = y.flatten(1, 2) * self.weight.view(column) + self.bias.view(column)
        return y.to(x.dtype)  # (batch, channels, *positions)
