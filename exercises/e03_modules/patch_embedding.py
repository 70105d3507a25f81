"""Patch embedding: an image becomes a row of tokens, as in a vision transformer.

A transformer reads a sequence. For images that is a row of square patches, each mapped to `dim` features, behind a token
that stands for the whole image (Dosovitskiy et al. 2020, "An image is worth 16 × 16 words", equation 1). Patches go row
by row, from left to right.

    layer = PatchEmbedding(image=(4, 6), patch=2, channels=1, dim=1)
    # Say that proj.weight is all 1, proj.bias 0, class_token [[[100]]], and positions 0, 1, 2, … 6 in a (1, 7, 1) tensor.
    image = torch.arange(24.0).view(1, 1, 4, 6)
    layer(image).flatten()      # [100, 14 + 1, 22 + 2, 30 + 3, 62 + 4, 70 + 5, 78 + 6]; 14 = 0 + 1 + 6 + 7

- `proj` is an nn.Conv2d with kernel and stride `patch`: one place of it is one patch.
- `class_token` is a parameter of (1, 1, dim), which comes first; `positions`, of (1, 1 + patches, dim), are added to all.
- Both begin normal, with standard deviation 0.02.
- The result is (batch, 1 + patches, dim).

Fine print:
- image is (height, width). ValueError where patch does not divide both.
- ValueError for images of another size, also those with as many patches.
- An empty batch gives an empty result.
- Cast or moved, the layer works in half precision and on another device, without a trip through the CPU.
- The argument stays as it is. No loop over images or patches.
"""

from jaxtyping import Float
from torch import Tensor, nn


class PatchEmbedding(nn.Module):
    """The tokens of images: one for the whole, and one for each patch."""

    def __init__(self, image: tuple[int, int], patch: int, channels: int, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch tokens dim"]:
        raise NotImplementedError
