"""A whole batch to the device: tensors in dictionaries, lists and tuples, and what is no tensor.

Batches are seldom one tensor. A collate function returns what suits the model:

    class Boxes(NamedTuple):
        corners: Tensor
        names: list[str]

    batch = {"image": images, "boxes": [Boxes(corners, ["cat"])], "sizes": (heights, 640), "epoch": 3}
    there = move_batch(batch, "cuda", non_blocking=True)
    # {"image": on cuda, "boxes": [Boxes(on cuda, ["cat"])], "sizes": (on cuda, 640), "epoch": 3}

Write the function that brings every tensor in it to the device, and leaves the rest as it is.

Rules:
- Dictionaries, lists, tuples and named tuples, in each other at any depth, are rebuilt, also where
  nothing in them moves, as what they were: a named tuple of the same class; an OrderedDict in its order; a
  defaultdict with its factory; a dict with its keys, of whatever kind, in their order, and no tensor among
  the keys is moved. Empty ones stay empty.
- A tensor is moved by one copy, and a tensor that is on the device is the very same object in the result.
  Nothing else is copied or computed, and the host does not wait for the device. dtype, strides and the
  autograd graph are those that `Tensor.to` gives: a gradient finds its way back to the batch.
- Whatever else has a method `to` (a packed sequence, a batch class of one's own) moves itself: it is replaced
  by what its `to(device, non_blocking=non_blocking)` returns, and an error in there comes through. This comes
  first: a PackedSequence is a named tuple too, whose `batch_sizes` have to stay on the CPU. A class is not
  asked, only objects are; and a field that is called `to`, such as the address of a letter, is no method.
- Anything else (strings, bytes, numbers, None, NumPy arrays, sets, iterators, other collections, dataclasses
  without a `to`, …) is the very same object in the result. Nothing is taken from an iterator.
- The batch itself, the containers in it included, is not changed. The device may be a `torch.device` or a
  string; a batch may also be moved back to the CPU.
- non_blocking is handed on to every tensor, and is False where it is not given.
"""

from typing import Any

import torch


def move_batch(batch: Any, device: torch.device | str, non_blocking: bool = False) -> Any:
    """Move all tensors of nested data to a device.

    Args:
        batch: a tensor, nested data with tensors in it, or anything else.
        device: where to.
        non_blocking: whether copies may go on while the host does.

    Returns:
        The same structure with its tensors on the device.
    """
    raise NotImplementedError
