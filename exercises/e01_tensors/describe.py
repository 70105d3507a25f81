"""What a tensor is: the record to print first when a model complains about its input.

Return a dict that says of x what you would want to know, under these nine keys:

    weights = torch.arange(12.0).view(3, 4)
    describe(weights[1:].t())

    {"shape": (4, 2), "rank": 2, "elements": 8, "dtype": torch.float32, "device": torch.device("cpu"),
     "requires_grad": False, "contiguous": False, "bytes": 32, "storage_bytes": 48}

- "rank" is the number of dims, "elements" how many numbers there are.
- "bytes" is what the elements take: here 8 numbers of 4 bytes.
- "storage_bytes" is the size of the memory block that x looks at. A view keeps all of it alive: here the 48 bytes of
  `weights`, although x shows 32.

Fine print:
- An expanded tensor counts what it repeats: `torch.zeros(3, 1).expand(3, 1000)` has 12000 bytes and a storage of 12.
- An empty tensor has 0 elements and 0 bytes, though its storage may have some.
- "contiguous" is what PyTorch means by it: in row-major order without gaps, whatever the strides of dims of size 1.
- Nothing is copied, fetched from another device or waited for.
"""

from typing import Any

from jaxtyping import Shaped
from torch import Tensor


def describe(x: Shaped[Tensor, "*sizes"]) -> dict[str, Any]:
    """The properties of a tensor, as plain data: ints, bools, a tuple, torch's own dtype and device."""
    raise NotImplementedError
