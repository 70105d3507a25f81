"""Class numbers without gaps: any set of labels becomes 0 … C−1, and comes back.

`cross_entropy` wants classes 0 … C−1. Your segmentation masks are uint8, use the ids 3, 7 and 40 of a larger
catalogue, and mark the pixels that nobody has labelled with 255; `cross_entropy` skips targets of -100.

    mask = torch.tensor([[7, 255, 40], [3, 7, 7]], dtype=torch.uint8)
    classes = ClassMap(mask, ignore=255)
    len(classes)              # 3
    classes.labels            # tensor([3, 7, 40], dtype=torch.uint8)
    codes = classes.encode(mask)      # tensor([[1, -100, 2], [0, 1, 1]]), int64
    classes.decode(codes)     # the mask again, in uint8

Rules:
- The classes are the distinct labels in ascending order, without `ignore`; where they come and how often does
  not matter. `labels` lists them, in the dtype of the labels that were given. There may be one, or none.
- Labels are any integers that uint8 or a signed dtype holds: negative ones, and ids of 64 bits. They are
  compared exactly, and no memory or time goes by how large they are.
- encode gives int64: the class number of each label, or -100 where it is `ignore`. decode is its inverse and
  gives the dtype of `labels`; -100 becomes `ignore`. Without an `ignore` (None), -100 means nothing special.
- encode takes any of these dtypes, also another one than that of `labels`: 263 is not 7, though as uint8 it
  would be, and -1 in int8 is not 255. Likewise decode takes codes of any signed integer dtype.
- All three take any shape, also none and empty ones, and any layout. encode and decode give the same shape,
  on the device of their argument (the map may have been built on another), in memory of their own, also for
  a single number: indexing with a 0-d tensor gives a view. Arguments are not changed, and the map does not
  change with the tensor that it was built of.
- No Python loop over labels or classes.

ValueError from encode for a label that is no class, with one such label in the message: better found out
here than by a loss that is a little off. IndexError from decode for a code that is not among 0 … C−1 (nor
-100, where there is an `ignore`). TypeError from all three for a floating dtype.
"""

import torch
from jaxtyping import Int, Integer, Shaped
from torch import Tensor

IGNORED = -100  # what cross_entropy skips


class ClassMap:
    """Numbers classes from 0 on.

    Attributes:
        labels: the label of each class, ascending, (classes,).
    """

    labels: Integer[Tensor, "classes"]

    def __init__(self, labels: Integer[Tensor, "*shape"], ignore: int | None = None) -> None:
        """Find the classes.

        Args:
            labels: all labels that there are, in uint8 or a signed integer dtype.
            ignore: a label that is no class, if there is one; a number that this dtype holds.

        Raises:
            TypeError: the labels are floats.
        """
        _expect_integers(labels)
        found = labels.unique()  # (classes,), ascending
        self.labels = found if ignore is None else found[found != ignore]
        self.ignore = ignore

    def __len__(self) -> int:
        """The number of classes."""
        return len(self.labels)

    def encode(self, labels: Integer[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The class number of each label.

        Args:
            labels: any shape, uint8 or any signed integer dtype.

        Returns:
            Numbers from 0 to classes - 1, or -100 where the label is `ignore`; int64.

        Raises:
            TypeError: the labels are floats.
            ValueError: a label is no class.
        """
        _expect_integers(labels)
        wide = labels.long().contiguous()  # also for uint8, where 263 would wrap around
        known = self.labels.to(wide.device).long()  # (classes,)
        codes = torch.searchsorted(known, wide)  # the place, or where it would go
        ignored = torch.zeros_like(wide, dtype=torch.bool) if self.ignore is None else wide == self.ignore
        right = ignored.clone()
        if len(known) > 0:
            right |= known[codes.clamp(max=len(known) - 1)] == wide
        if not right.all():
            raise ValueError(f"label {int(wide[~right][0])} is none of the {len(known)} classes")
        return codes.masked_fill(ignored, IGNORED)

    def decode(self, codes: Integer[Tensor, "*shape"]) -> Integer[Tensor, "*shape"]:
        """The label of each class number.

        Args:
            codes: any shape, any signed integer dtype, from 0 to classes - 1, or -100 for `ignore`.

        Returns:
            Labels, and `ignore` for -100, in the dtype of `labels`.

        Raises:
            TypeError: the codes are floats.
            IndexError: a code stands for nothing.
        """
        _expect_integers(codes)
        codes = codes.long()
        ignored = torch.zeros_like(codes, dtype=torch.bool) if self.ignore is None else codes == IGNORED
        right = ignored | ((codes >= 0) & (codes < len(self)))
        if not right.all():
            raise IndexError(f"code {int(codes[~right][0])} stands for none of {len(self)} classes")
        last = self.labels.new_full((1,), self.ignore or 0)  # the place of -100
        table = torch.cat([self.labels, last]).to(codes.device)  # (classes + 1,)
        return table[codes.masked_fill(ignored, len(self))]


def _expect_integers(x: Shaped[Tensor, "*shape"]) -> None:
    if x.is_floating_point() or x.is_complex():
        raise TypeError(f"want integers, got {x.dtype}: are there missing values?")
