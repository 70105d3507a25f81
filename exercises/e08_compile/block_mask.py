"""Masks as functions, and the blocks that they leave.

flex_attention asks a function `mask_mod(b, h, q, kv)` whether query q sees key kv. It skips blocks in which nothing is seen,
and masks none in which all is seen. (Dong et al. 2024, "Flex Attention".) Write one for packed documents, and the table of
blocks of any mask:

    mask_mod = packed(torch.tensor([7, 7, 7, 7, 7, 7, 2, 2]), window=5)
    b = h = torch.tensor(0)
    mask_mod(b, h, torch.tensor([3, 3, 5, 5, 7]), torch.tensor([3, 4, 1, 0, 5]))    # [True, False, True, False, False]
    block_table(mask_mod, queries=8, keys=8, block=2)
    # [[1, 0, 0, 0], [2, 1, 0, 0], [1, 2, 1, 0], [0, 0, 0, 1]]

- Of the last `window` keys up to itself, which is one of them, a query sees those of its own document.
- A mask_mod takes tensors of positions, which broadcast, and returns bools.
- Entry (i, j) is about the i-th `block` queries and j-th `block` keys: 0 if no pair is seen, 1 if some are, 2 if all are.

Fine print:
- window=None is no window. The numbers of documents are any whole numbers.
- Where block does not divide a length, what is behind the end counts as hidden: that block is never 2. (create_block_mask of
  PyTorch does so too.) A mask_mod is not asked about positions behind the end.
- A mask_mod may look at q alone or at kv alone; then its result has the shape of that. It is asked for b = 0 and h = 0.
- The table is a tensor of whole numbers. All of PyTorch may be used.
"""

from collections.abc import Callable

from jaxtyping import Bool, Int
from torch import Tensor

MaskMod = Callable[[Tensor | int, Tensor | int, Tensor, Tensor], Bool[Tensor, "*pairs"]]


def packed(documents: Int[Tensor, "positions"], window: int | None = None) -> MaskMod:
    """The mask_mod of a sequence where `documents` says to which document each position belongs."""
    raise NotImplementedError


def block_table(mask_mod: MaskMod, queries: int, keys: int, block: int) -> Int[Tensor, "rows columns"]:
    """0, 1 or 2 for each block of block × block pairs: nothing, something or everything is seen."""
    raise NotImplementedError
