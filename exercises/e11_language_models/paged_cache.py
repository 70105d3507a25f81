"""A paged cache: keys and values in blocks, which sequences share.

Nobody knows how long each of many sequences will get. So memory is cut into blocks, as an operating system cuts it
into pages: a sequence takes one when it needs one, and lists them in a table.

    cache = PagedCache(num_blocks=4, block_size=2, heads=1, dim=1)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]).view(5, 1, 1)
    cache.append("a", x[:3], -x[:3])    # two blocks; cache.num_free is 2
    cache.fork("a", "b")                # still 2: "b" has the same blocks
    cache.append("b", x[3:4], -x[3:4])  # 1: the half-full block was shared, so "b" writes into a copy
    cache.append("a", x[4:], -x[4:])    # 1: nobody else has that block by now
    cache.gather("b")[0].flatten()      # [1, 2, 3, 4]; of "a" it is [1, 2, 3, 5]
    cache.free("a")                     # 2: "b" still has the first block

- Token t is in slot t % block_size of block tables[seq][t // block_size], of `keys` and of `values`.
- append adds tokens, (new, heads, dim), to a sequence, which it begins if need be; gather returns all, in order.
- Any free block may be taken, when the last one is full.
- A shared block is copied before a token is written, and for that only.
- free gives back what no other sequence has.

Fine print:
- The paper is Kwon et al. 2023, on PagedAttention and vLLM, section 4.
- append raises RuntimeError where blocks are missing, ValueError for other sizes; the cache then is as it was.
- All memory is there from the start. append allocates what it adds, fork nothing.
- An unknown sequence is a KeyError in gather, fork and free. A name that was freed may begin anew.
- No graph is kept. `keys` and `values` have the dtype and device that are asked for.
"""

from collections.abc import Hashable

import torch
from jaxtyping import Float
from torch import Tensor


class PagedCache:
    """Keys and values of many sequences, in num_blocks blocks of block_size tokens."""

    keys: Float[Tensor, "num_blocks block_size heads dim"]
    values: Float[Tensor, "num_blocks block_size heads dim"]
    tables: dict[Hashable, list[int]]

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        heads: int,
        dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        raise NotImplementedError

    @property
    def num_free(self) -> int:
        """How many blocks no sequence has."""
        raise NotImplementedError

    def append(
        self, seq: Hashable, keys: Float[Tensor, "new heads dim"], values: Float[Tensor, "new heads dim"]
    ) -> None:
        """Put new tokens behind those of seq."""
        raise NotImplementedError

    def gather(
        self, seq: Hashable
    ) -> tuple[Float[Tensor, "length heads dim"], Float[Tensor, "length heads dim"]]:
        """All keys and all values of seq, (length, heads, dim)."""
        raise NotImplementedError

    def fork(self, seq: Hashable, child: Hashable) -> None:
        """Begin the sequence child with the tokens of seq, in the same blocks."""
        raise NotImplementedError

    def free(self, seq: Hashable) -> None:
        """Forget seq."""
        raise NotImplementedError
