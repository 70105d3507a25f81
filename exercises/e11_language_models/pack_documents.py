"""Documents side by side in rows of one length, in place of padding, and none sees another.

    documents = [[5, 6, 7], [8, 9], [1, 2, 3, 4]]
    ids, labels, positions, segments = pack(documents, length=6)
    ids           # [[5, 6, 7, 8, 9, 0], [1, 2, 3, 4, 0, 0]]
    labels        # [[-100, 6, 7, -100, 9, -100], [-100, 2, 3, 4, -100, -100]]
    positions     # [[0, 1, 2, 0, 1, 0], [0, 1, 2, 3, 0, 0]]
    segments      # [[1, 1, 1, 2, 2, 0], [1, 1, 1, 1, 0, 0]]
    packed_mask(segments)[0, 4]      # [False, False, False, True, True, False]: what the 9 sees

- Documents keep their order: one that does not fit into what is left of a row begins the next row.
- One that is longer than a row is first cut into pieces of `length` tokens: each, and the rest, is then a document.
- labels are ids, which the loss shifts; -100 at padding and at each document's first token.
- positions count from 0 in each document. segments number the documents of a row from 1. Both are 0 at padding.
- packed_mask[row, i, j] says whether token i may look at token j: one of its own document, and not after it.

Fine print:
- Documents may hold the token of padding, `pad`: it counts like any other.
- Documents without tokens are left out. Without documents there are no rows: the shape is (0, length).
- At padding the mask has at least one True: a softmax over none is NaN. (What padding sees is all the same.)
- packed_mask has no loop over rows or tokens, and works where segments are; nothing is copied to or from the CPU.
- All of pack's results are int64, those of packed_mask bool. documents and segments stay as they are.
"""

from collections.abc import Sequence

from jaxtyping import Bool, Int64
from torch import Tensor


def pack(
    documents: Sequence[Sequence[int]], length: int, pad: int = 0
) -> tuple[
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
]:
    """Put documents into rows of `length` tokens: ids, labels, positions and segments."""
    raise NotImplementedError


def packed_mask(segments: Int64[Tensor, "rows length"]) -> Bool[Tensor, "rows length length"]:
    """True where a token may look at another."""
    raise NotImplementedError
