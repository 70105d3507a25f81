"""A whole batch to the device: tensors in dictionaries, lists and tuples, and what is no tensor.

Batches are seldom one tensor. A collate function returns what suits the model:

    class Boxes(NamedTuple):
        corners: Tensor
        names: list[str]

    batch = {"image": images, "boxes": [Boxes(corners, ["cat"])], "sizes": (heights, 640), "epoch": 3}
    there = move_batch(batch, "cuda", non_blocking=True)
    # {"image": on cuda, "boxes": [Boxes(on cuda, ["cat"])], "sizes": (on cuda, 640), "epoch": 3}

Write the function that brings every tensor in it to the device, and leaves the rest as it is.

- Dictionaries, lists, tuples and named tuples lie in each other at any depth.
- Each comes back as what it was, a named tuple as one of its class.
- Strings, numbers, None and whatever else is no tensor stay as they are.
- non_blocking is handed on to every tensor.

Fine print:
- An OrderedDict and a defaultdict stay what they are, the latter with its factory. Keys stay as they are.
- What else has a method `to`, such as HF's BatchEncoding, moves itself: what its `to(device, non_blocking=…)` returns
  takes its place.
- This comes before tuples: a PackedSequence is a named tuple, too, of which a part has to stay on the CPU.
- What is neither (an array, a set, an iterator, …) is the very same object afterwards; nothing is taken from an iterator.
- The batch is not changed, the containers in it included.
- Each tensor is moved by one copy. One that is there is the very same object afterwards, and the host does not wait.
- A gradient finds its way back to the batch.
"""

from typing import Any

import torch


def move_batch(batch: Any, device: torch.device | str, non_blocking: bool = False) -> Any:
    """Move all tensors of nested data to a device; return the same structure."""
    raise NotImplementedError
