"""Windows over a long row of tokens: what a language model reads, and what it shall say next.

A corpus is one long row of token numbers. The model reads `block` of them, x, and is to tell at each place the
token that follows, y: the same row, one place on. Cut a corpus into windows.

    tokens = torch.tensor([7, 3, 9, 4, 1, 8, 2])
    x, y = next_token_windows(tokens, block=3, stride=2)
    x    # [[7, 3, 9], [9, 4, 1]]
    y    # [[3, 9, 4], [4, 1, 8]]
    x, y = next_token_windows(tokens, block=3, stride=3, offset=1)
    x    # [[3, 9, 4]]
    y    # [[9, 4, 1]]: a second window would have to know the token after the 2

- Window i starts at token offset + i * stride; it may overlap the one before, or skip tokens.
- All windows that are complete, with the token after their last, are there; a rest at the end is left out.
- stride is `block` where it is None: every token is then read once.

Fine print:
- Nothing is copied, however long the row is: x and y are views into the memory of tokens. (`torch.stack` of
  slices, as in nanoGPT's get_batch, copies: fine for a batch, but not for all windows of a corpus.)
- tokens may be a part of a larger row, such as corpus[5:] or corpus[::2], on any device.
- They have any dtype: files often hold uint16.
- Where not one window fits, both results have the shape (0, block).
- ValueError if block or stride is below 1, or offset below 0.
"""

from jaxtyping import Shaped
from torch import Tensor


def next_token_windows(
    tokens: Shaped[Tensor, "tokens"], block: int, stride: int | None = None, offset: int = 0
) -> tuple[Shaped[Tensor, "windows block"], Shaped[Tensor, "windows block"]]:
    """Cut a row of tokens into inputs x and targets y."""
    raise NotImplementedError
