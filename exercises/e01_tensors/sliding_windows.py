"""Windows that cost no memory: strides.

Convolutions, moving averages and patches look through windows that overlap. Copied, the 3 × 3 windows around all pixels
take nine times the image; by strides they take nothing. Write them, and a function that can tell:

    x = torch.arange(12.).view(3, 4)
    w = windows(x, size=2, step=1)        # shape (2, 3, 2, 2)
    w[1, 2]                               # [[6, 7], [10, 11]]
    windows(x, size=2, step=2)[0, 1]      # [[2, 3], [6, 7]]
    shares_storage(w, x)                  # True: whoever writes to w writes to x
    shares_storage(x, x.clone())          # False

- windows[r, c] begins at x[r * step, c * step], and is (size, size). Leading dimensions of x stay in front.
- All complete windows are there; a rest at the right and below is left out.
- Nothing is copied, and gradients flow to x (section e02).
- shares_storage says whether two tensors have one memory, even at different places: x[0] and x[1] do.

Fine print:
- x may have any strides: transposed, expanded, or a part of a larger image.
- Where size or step is below 1, or not one window fits, ValueError is raised (RuntimeError will do).
- An empty batch of images gives an empty batch of windows.
- Two empty tensors that were made apart share nothing.
"""

from jaxtyping import Shaped
from torch import Tensor


def windows(
    x: Shaped[Tensor, "*batch height width"], size: int, step: int
) -> Shaped[Tensor, "*batch rows columns size size"]:
    """A view of x: each complete window of `size` times `size`, `step` apart in both directions."""
    raise NotImplementedError


def shares_storage(a: Tensor, b: Tensor) -> bool:
    """Whether the numbers of a and b lie in the same storage."""
    raise NotImplementedError
