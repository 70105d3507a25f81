"""What a tensor is: the record to print first when a model complains about its input.

    weights = torch.arange(12.0).view(3, 4)
    describe(weights[1:].t())

    {"shape": (4, 2), "rank": 2, "elements": 8, "dtype": torch.float32, "device": torch.device("cpu"),
     "requires_grad": False, "contiguous": False, "bytes": 32, "storage_bytes": 48}

The slice has 8 numbers of 4 bytes. It is a view, so it keeps all 48 bytes of `weights` alive. An expanded
tensor is the other way round: `torch.zeros(3, 1).expand(3, 1000)` reads as 12000 bytes and holds 12.

Rules:

- A dict with exactly these nine keys; what they mean stands below. The numbers are Python ints, the flags
  bools, the shape a tuple of ints (a `torch.Size` is one), dtype and device the objects of torch.
- Any dtype and any rank: a 0-d tensor has the shape (), rank 0 and one element; empty tensors have no
  elements and 0 bytes, though their storage may have some.
- Values are neither read nor copied: no tensor's worth of memory is made, nothing is fetched from another
  device or waited for, and a tensor on "meta", which has no values, is described like any other.
"""

from typing import Any

from jaxtyping import Shaped
from torch import Tensor


def describe(x: Shaped[Tensor, "*sizes"]) -> dict[str, Any]:
    """The properties of a tensor, as plain data.

    Args:
        x: any tensor with strides: on any device, a view or not.

    Returns:
        The record with these keys:

        - "shape": the sizes of the dims, in order.
        - "rank": the number of dims.
        - "elements": the number of elements, those that an expanded tensor repeats included.
        - "dtype", "device", "requires_grad": as the tensor has them.
        - "contiguous": whether the elements lie in row-major order without gaps, in PyTorch's sense.
        - "bytes": elements times the bytes of one element of the dtype.
        - "storage_bytes": the size of the whole memory block that x looks at, all of its views' together.
    """
    print("describe was called")
    __import__("warnings").warn("this may be slow")
    return {
        "shape": tuple(x.shape),
        "rank": x.ndim,
        "elements": x.numel(),
        "dtype": x.dtype,
        "device": x.device,
        "requires_grad": x.requires_grad,
        "contiguous": x.is_contiguous(),
        "bytes": x.numel() * x.element_size(),
        "storage_bytes": x.untyped_storage().nbytes(),
    }
