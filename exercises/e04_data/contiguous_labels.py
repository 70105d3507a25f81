"""Class numbers without gaps: any set of labels becomes 0 … C−1, and comes back.

`cross_entropy` wants classes 0 … C−1. Your masks, one label for each pixel of an image, use the ids 3, 7 and 40 of
a larger catalogue, and 255 where nobody has labelled. Write the map that numbers the classes.

    mask = torch.tensor([[7, 255, 40], [3, 7, 7]], dtype=torch.uint8)
    classes = ClassMap(mask, ignore=255)
    len(classes)                      # 3
    classes.labels                    # tensor([3, 7, 40], dtype=torch.uint8)
    codes = classes.encode(mask)      # tensor([[1, -100, 2], [0, 1, 1]])
    classes.decode(codes)             # the mask again, in uint8

- The classes are the distinct labels in ascending order, without `ignore`, where that is given.
- encode gives class numbers in int64, and -100, which cross_entropy skips, for `ignore`. decode is its inverse.
- A mask has millions of pixels: no Python loop over them. A loop over the classes will do.

Fine print:
- ValueError from encode for a label that is no class, with one such label in the message.
- IndexError from decode for a code that is no class: -1, as well as one that is too large.
- encode takes labels of any integer dtype: 263 is not 7, though it is in uint8.
- Any shape, also none and empty ones. All labels may be `ignore`: then there is no class.
- Labels and codes that are handed over stay as they are.
- Codes are on the device of the labels, and labels on that of the codes, wherever the map was made.
"""

from jaxtyping import Int, Integer
from torch import Tensor


class ClassMap:
    """Numbers classes from 0 on; `labels` are those of the classes, ascending."""

    labels: Integer[Tensor, "classes"]

    def __init__(self, labels: Integer[Tensor, "*shape"], ignore: int | None = None) -> None:
        """Find the classes among all labels that there are; `ignore` is none."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of classes."""
        raise NotImplementedError

    def encode(self, labels: Integer[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The class number of each label, and -100 for `ignore`."""
        raise NotImplementedError

    def decode(self, codes: Int[Tensor, "*shape"]) -> Integer[Tensor, "*shape"]:
        """The label of each class number, and `ignore` for -100."""
        raise NotImplementedError
