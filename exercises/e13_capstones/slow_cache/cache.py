"""What a decoder keeps of the tokens it has read: keys and values of each layer, and positions."""

import copy

import torch
from torch import Tensor


class Cache:
    """The past of `size` rows; all rows have as many places, some of which may be padding."""

    def __init__(self, size: int) -> None:
        """Nothing has been read."""
        self.lengths = torch.zeros(size, dtype=torch.int64)  # tokens read, padding not counted
        self.known = torch.zeros(size, 0, dtype=torch.int64)  # the positions of the places; -1 is padding
        self.keys: dict[int, Tensor] = {}  # for each layer, (size, heads, places, features)
        self.values: dict[int, Tensor] = {}

    def place(self, real: Tensor) -> Tensor:
        """Make room for new tokens, `real` (size, new) is False at padding; return their positions."""
        counted = real.cumsum(dim=1) - 1  # (size, new)
        new = (self.lengths[:, None] + counted).masked_fill(~real, -1)
        self.known = torch.cat((self.known, new), dim=1)
        self.lengths = self.lengths + real.sum(dim=1)
        return new

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add those of the new tokens, (size, heads, new, features); return those of all places."""
        if layer in self.keys:
            keys = torch.cat((self.keys[layer], keys), dim=2)
            values = torch.cat((self.values[layer], values), dim=2)
        self.keys[layer], self.values[layer] = keys, values
        return keys, values

    def trim(self, window: int) -> None:
        """Keep the last `window` places."""
        self.known = self.known[:, -window:]
        self.keys = {layer: keys[:, :, -window:] for layer, keys in self.keys.items()}
        self.values = {layer: values[:, :, -window:] for layer, values in self.values.items()}

    def select(self, rows: Tensor) -> None:
        """Let row i be what row rows[i] was."""
        self.lengths, self.known = self.lengths[rows], self.known[rows]
        self.keys = {layer: keys[rows] for layer, keys in self.keys.items()}

    def clone(self) -> "Cache":
        """Another cache with the same past; what one reads from now on, the other does not."""
        other = copy.copy(self)
        other.keys, other.values = dict(self.keys), dict(self.values)
        return other
