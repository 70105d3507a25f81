from jaxtyping import Float
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    def __init__(self, channels: int, filters: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(filters)
        self.downsample = None
        if stride != 1 or channels != filters:
            projection = nn.Conv2d(channels, filters, 1, stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(filters))

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch filters high wide"]:
        y = self.bn1(self.conv1(x)).relu()  # (batch, filters, high, wide)
        y = self.bn2(self.conv2(y))
        shortcut = x if self.downsample is None else self.downsample(x)
        return (y + shortcut).relu()
