"""Windows over a long row of tokens: what a language model reads, and what it shall say next.

A corpus is one long row of token numbers, often mapped from a file larger than memory. The model reads
`block` of them, x, and is to tell at each place the token that follows, y: the same row, one place on.

    tokens = torch.tensor([7, 3, 9, 4, 1, 8, 2])
    x, y = next_token_windows(tokens, block=3, stride=2)
    x    # [[7, 3, 9], [9, 4, 1]]
    y    # [[3, 9, 4], [4, 1, 8]]
    x, y = next_token_windows(tokens, block=3, stride=3, offset=1)
    x    # [[3, 9, 4]]
    y    # [[9, 4, 1]]: a second window would have to know the token after the 2

Window i starts at token offset + i * stride: a stride below `block` makes windows overlap, one above it skips
tokens between them. Training shifts `offset` from epoch to epoch, so that the borders fall elsewhere.

Rules:
- All windows that are complete, with the token after their last, are there; a rest at the end is left out.
  Where not one fits, also without any token, both results have shape (0, block).
- Nothing is copied, however long the row is: x and y are views into the memory of tokens, so that a change of
  a token shows in every window. The cost does not grow with the number of windows.
- tokens has one dimension, any dtype (uint16 is usual in files), any stride and any storage offset, such as
  `corpus[5:]`, `corpus[::2]` or a column of a table; it may be a tensor made of a `numpy.memmap`, and on any
  device, where the views are too. It is not changed.
- stride is `block` where it is None: every token is then read at most once.
- ValueError if tokens does not have exactly one dimension, if block or stride is below 1, or offset below 0.
"""

from jaxtyping import Shaped
from torch import Tensor


def next_token_windows(
    tokens: Shaped[Tensor, "tokens"], block: int, stride: int | None = None, offset: int = 0
) -> tuple[Shaped[Tensor, "windows block"], Shaped[Tensor, "windows block"]]:
    """Cut a row of tokens into inputs and targets.

    Args:
        tokens: (tokens,).
        block: tokens in a window, from 1.
        stride: how far one window starts after the one before, from 1; None for `block`.
        offset: where the first window starts, from 0.

    Returns:
        The inputs x and the targets y, (windows, block) both, as views.

    Raises:
        ValueError: `tokens` is no row, or a number is too small.
    """
    stride = block if stride is None else stride
    if tokens.dim() != 1:
        raise ValueError(f"tokens must have one dimension, not {tokens.dim()}")
    if block < 1 or stride < 1 or offset < 0:
        raise ValueError(f"block {block} and stride {stride} must be 1 or more, offset {offset} 0 or more")
    rest = tokens[offset:]
    if len(rest) <= block:  # unfold refuses rows that are too short
        empty = rest[:0].view(0, 1).expand(0, block)
        return empty, empty
    windows = rest.unfold(0, block + 1, stride)  # (windows, block + 1)
    return windows[:, :-1], windows[:, 1:]
