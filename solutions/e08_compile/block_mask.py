from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor

MaskMod = Callable[[Tensor | int, Tensor | int, Tensor, Tensor], Bool[Tensor, "*pairs"]]


def packed(documents: Int[Tensor, "positions"], window: int | None = None) -> MaskMod:
    def mask_mod(b: Tensor | int, h: Tensor | int, q: Tensor, kv: Tensor) -> Bool[Tensor, "*pairs"]:
        seen = (documents[q] == documents[kv]) & (q >= kv)
        return seen if window is None else seen & (q - kv < window)

    return mask_mod


def block_table(mask_mod: MaskMod, queries: int, keys: int, block: int) -> Int[Tensor, "rows columns"]:
    zero, q, kv = torch.tensor(0), torch.arange(queries)[:, None], torch.arange(keys)
    mask = mask_mod(zero, zero, q, kv).expand(queries, keys)
    mask = F.pad(mask, (0, -keys % block, 0, -queries % block))  # whole blocks, hidden behind the end
    blocks = mask.unfold(0, block, block).unfold(1, block, block)  # (rows, columns, block, block)
    return blocks.any((2, 3)).long() + blocks.all((2, 3)).long()
