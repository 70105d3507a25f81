from collections.abc import Hashable

import torch
from jaxtyping import Float
from torch import Tensor


class PagedCache:
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
        self.keys = torch.zeros(num_blocks, block_size, heads, dim, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.tables = {}
        self._lengths: dict[Hashable, int] = {}
        self._owners = [0] * num_blocks
        self._free = list(range(num_blocks))

    @property
    def num_free(self) -> int:
        return len(self._free)

    def _take(self) -> int:
        block = self._free.pop()
        self._owners[block] = 1
        return block

    def append(
        self, seq: Hashable, keys: Float[Tensor, "new heads dim"], values: Float[Tensor, "new heads dim"]
    ) -> None:
        new, size = len(keys), self.keys.shape[1]
        if not keys.shape == values.shape == (new, *self.keys.shape[2:]):
            raise ValueError(f"keys {tuple(keys.shape)}, values {tuple(values.shape)}: other sizes than here")
        table, start = self.tables.get(seq, []), self._lengths.get(seq, 0)
        missing = -(-(start + new) // size) - len(table)
        is_shared = new > 0 and start % size > 0 and self._owners[table[-1]] > 1
        if missing + is_shared > self.num_free:
            raise RuntimeError(f"{missing + is_shared} blocks are needed, and {self.num_free} are free")
        if is_shared:
            shared, table[-1] = table[-1], self._take()
            self.keys[table[-1]] = self.keys[shared]
            self.values[table[-1]] = self.values[shared]
            self._owners[shared] -= 1
        table += [self._take() for _ in range(missing)]
        places = torch.arange(start, start + new)
        blocks, slots = torch.tensor(table, dtype=torch.int64)[places // size], places % size  # (new,)
        self.keys[blocks, slots] = keys.detach()
        self.values[blocks, slots] = values.detach()
        self.tables[seq], self._lengths[seq] = table, start + new

    def gather(
        self, seq: Hashable
    ) -> tuple[Float[Tensor, "length heads dim"], Float[Tensor, "length heads dim"]]:
        table, length = self.tables[seq], self._lengths[seq]
        return self.keys[table].flatten(0, 1)[:length], self.values[table].flatten(0, 1)[:length]

    def fork(self, seq: Hashable, child: Hashable) -> None:
        table = self.tables[seq]
        for block in table:
            self._owners[block] += 1
        self.tables[child], self._lengths[child] = list(table), self._lengths[seq]

    def free(self, seq: Hashable) -> None:
        for block in self.tables.pop(seq):
            self._owners[block] -= 1
            if not self._owners[block]:
                self._free.append(block)
        del self._lengths[seq]
