"""Random numbers for each purpose, which no other purpose disturbs.

Add one layer with dropout, and the data is shuffled differently: all draw from one global stream. Give each purpose a
stream of its own, whose numbers are the same on every device. (From one seed a GPU draws others than the CPU.)

    streams = Streams(seed=7)
    streams.normal("weights", (2, 3))            # such as [[0.3, -1.2, 0.9], [0.1, 1.4, -0.7]]
    streams.normal("noise", (2,), device="cuda")     # the two numbers that the CPU would get
    torch.randperm(10, generator=streams.generator("order"))

- `generator(name)` is a torch.Generator on the CPU. Asked again for a name, it gives the same one, which goes on.
- `normal` has the numbers of torch.randn with that generator, moved to `device`.
- Numbers follow from seed and name alone, in each process. Another seed or another name gives others.
- A new Streams begins all anew.
- PyTorch's global stream has no say, and stays where it is.

Fine print:
- Neither do the global streams of Python and NumPy.
- No two pairs of seed and name share a stream, but by a rare chance: 1 and "2a" are not 12 and "a". Seeds go from 0 to
  2**63 - 1, and a generator on the CPU looks at the lower 32 bits of its own seed alone.
- Names are any text. The shape may be (), of a single number.
- `normal` draws in float32, and rounds to `dtype` (or widens) afterwards: numbers are the same in each dtype.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


class Streams:
    """Streams of random numbers by name."""

    def __init__(self, seed: int) -> None:
        raise NotImplementedError

    def generator(self, name: str) -> torch.Generator:
        """The generator of this stream, where its last draw has left it."""
        raise NotImplementedError

    def normal(
        self,
        name: str,
        shape: Sequence[int],
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> Tensor:
        """The next normal numbers of this stream."""
        raise NotImplementedError
