import torch
from jaxtyping import Float
from torch import Tensor, nn


class PatchEmbedding(nn.Module):
    def __init__(self, image: tuple[int, int], patch: int, channels: int, dim: int) -> None:
        super().__init__()
        height, width = image
        if height % patch or width % patch:
            raise ValueError(f"patches of {patch} do not fill an image of {height} x {width}")
        self.image = (height, width)
        patches = (height // patch) * (width // patch)
        self.proj = nn.Conv2d(channels, dim, kernel_size=patch, stride=patch)
        self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        self.positions = nn.Parameter(0.02 * torch.randn(1, 1 + patches, dim))

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch tokens dim"]:
        if images.shape[-2:] != self.image:
            raise ValueError(f"want images of {self.image}, got {tuple(images.shape)}")
        patches = self.proj(images).flatten(2).transpose(1, 2)  # (batch, patches, dim)
        first = self.class_token.expand(len(images), -1, -1)  # (batch, 1, dim)
        return torch.cat([first, patches], dim=1) + self.positions
