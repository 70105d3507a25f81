"""A model that takes raw pixels and answers with labels, since all that is needed for it is saved with it.

A network was trained on normalised images and answers with class numbers. The mean, the deviation and the
names of the classes lie in a notebook, and sooner or later somebody serves the network with those of another.
A Bundle keeps them together:

    bundle = Bundle(network, mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25], labels=["cat", "dog"])
    pixels = torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)
    bundle(pixels)            # network sees (255 / 255 - 0.5) / 0.25 = 2.0 everywhere; its logits, (1, 2)
    bundle.classify(pixels)   # ["dog"] if the second logit is the largest
    bundle.labels             # ("cat", "dog")

    torch.save(bundle.state_dict(), "bundle.pt")
    other = Bundle(same_network, mean=[0.0] * 3, std=[1.0] * 3, labels=["?", "?"])
    other.load_state_dict(torch.load("bundle.pt", weights_only=True))  # now as bundle is

Rules:
- uint8 pixels are 0 to 255, and divided by 255. Floating pixels are divided already (0 to 1, a little more or
  less after resizing) and taken as they are. Other dtypes are a TypeError. Then the mean is subtracted and
  the result divided by std: each has a number for every channel.
- The network is given the dtype and the device that the bundle was moved to: float64 after `bundle.double()`,
  float32 without a move, for pixels of any dtype. The pixels are on the bundle's device; nothing is copied to
  another one, except the class numbers in classify, once.
- mean and std may be lists or tensors, and are copied, as labels are: changing them later changes nothing.
  They are not trained: `bundle.parameters()` are those of the network.
- The state dict holds all: the network's weights, mean, std and labels, in types that `weights_only=True`
  reads. Loaded (strictly) into a bundle that was made with others, it replaces them, however long the labels
  are and whatever characters they hold (NUL, too), alone or as a part of something larger; only the numbers
  of channels and classes agree. `copy.deepcopy` and pickle, too, take everything along.
- forward lets gradients through, to floating pixels as to the network. Pixels are not changed. The layers run
  in the mode that the caller has put them in. An empty batch gives (0, classes) and [].
- ValueError from the constructor if mean and std have not the same length, or a std is not positive.
- ValueError from forward and classify if the pixels have not 4 dimensions, or not as many channels as the
  mean: a grey image would broadcast to three channels, and nobody would notice. And from classify if the
  network gives another number of logits than there are labels.
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
        """Keep a network, which maps (batch, channels, height, width) to logits, with all it needs.

        Raises:
            ValueError: mean and std differ in length, or a std is not positive.
        """
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits."""
        raise NotImplementedError

    def forward(
        self, pixels: Shaped[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        """The logits for raw pixels, uint8 or floating.

        Raises:
            TypeError: the pixels are of another dtype.
            ValueError: they have another number of dimensions or channels.
        """
        raise NotImplementedError

    def classify(self, pixels: Shaped[Tensor, "batch channels height width"]) -> list[str]:
        """The label of the largest logit of each image; of equal ones, the first.

        Raises:
            TypeError, ValueError: as forward; or there are not as many logits as labels.
        """
        raise NotImplementedError
