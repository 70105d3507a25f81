"""Preprocessing inside of the model: raw pixels in, labels out.

A network was trained on normalised images and answers with class numbers. Mean, deviation and class names lie in a
notebook, and somebody will serve the network with those of another. Keep them together:

    bundle = Bundle(network, mean=[0.5, 0.0, 0.5], std=[0.25, 0.5, 0.25], labels=["cat", "dog"])
    pixels = torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)
    bundle(pixels)            # network sees (255 / 255 - 0.5) / 0.25 = 2.0, in all channels; its logits, (1, 2)
    bundle.classify(pixels)   # ["dog"] if the second logit is the largest
    bundle.labels             # ("cat", "dog")
    other = Bundle(same_network, mean=[0.0] * 3, std=[1.0] * 3, labels=["?", "?"])
    other.load_state_dict(bundle.state_dict())             # now it is as bundle is

- uint8 pixels are divided by 255; floating ones are 0 to 1 already. Then mean is subtracted, and the result divided by
  std: each has a number for every channel.
- The state dict holds all: weights, mean, std and labels, in types that `weights_only=True` reads.
- mean and std are not trained: `bundle.parameters()` are those of the network.

Fine print:
- The network gets the dtype that the bundle was moved to, whatever the pixels have: float64 after `bundle.double()`.
- Nothing is copied to another device but the class numbers in classify, once.
- mean, std (lists or tensors) and labels are copied.
- The state dict may be a part of a larger one. Labels may hold any characters.
- Gradients reach floating pixels; classify leaves modes as they are.
- TypeError for pixels of other dtypes. ValueError if they have not 4 dimensions or other channels than mean (a grey
  image would broadcast), if mean and std, or labels and logits, differ in number, or a std is not positive.
"""

from collections.abc import Sequence

from jaxtyping import Float, Shaped
from torch import Tensor, nn


class Bundle(nn.Module):
    """A network with its preprocessing and its labels."""

    def __init__(
        self,
        network: nn.Module,
        mean: Sequence[float] | Float[Tensor, " channels"],
        std: Sequence[float] | Float[Tensor, " channels"],
        labels: Sequence[str],
    ) -> None:
        """Keep a network, which maps (batch, channels, height, width) to logits, with all it needs."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits."""
        raise NotImplementedError

    def forward(
        self, pixels: Shaped[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        """The logits for raw pixels, uint8 or floating."""
        raise NotImplementedError

    def classify(self, pixels: Shaped[Tensor, "batch channels height width"]) -> list[str]:
        """The label of the largest logit of each image; of equal ones, the first."""
        raise NotImplementedError
