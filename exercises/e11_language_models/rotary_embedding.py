"""Rotary position embedding: queries and keys are turned by where they stand.

Each pair of a head's features is turned by an angle that grows with the token's position: then the product of a query and
a key depends on how far apart they are. (Su et al. 2021, "RoFormer", equations 15 and 34.) For pair i = 0, 1, … of
x, (..., time, dim), at position m:

    angle = m * base ** (-2 * i / dim)
    (a, b) becomes (a * cos(angle) - b * sin(angle), a * sin(angle) + b * cos(angle))

    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    rotary(x, offset=1)                      # [[-1.9841, 1.9599, 2.4624, 4.0198]]: pairs (1, 3) and (2, 4)
    rotary(x, offset=1, interleaved=True)    # [[-1.1426, 1.9221, 2.9599, 4.0298]]: pairs (1, 2) and (3, 4)

- Token t of x is at position offset + t.
- A pair is features i and i + dim / 2 (Hugging Face's LLaMA, GPT-NeoX).
- Interleaved, it is features 2 * i and 2 * i + 1 (the paper, Meta's LLaMA).
- Gradients flow to x.
- No loop over positions or pairs.

Fine print:
- float16 and bfloat16 are computed in float32, angles too, and rounded once, at the end: bfloat16 has no 257.
- The result has x's dtype; float64 is computed in float64, angles too.
- x may have any dimensions in front of time, also none, and any strides; any size may be 0.
- x stays as it is.
- On another device nothing is copied to or from the CPU.
- An odd dim raises ValueError (RuntimeError will do).
"""

from jaxtyping import Float
from torch import Tensor


def rotary(
    x: Float[Tensor, "*batch time dim"], offset: int = 0, *, base: float = 10_000.0, interleaved: bool = False
) -> Float[Tensor, "*batch time dim"]:
    """Turn each pair of features of x, (*batch, time, dim), by its position's angle."""
    raise NotImplementedError
