"""Selective scan: the recurrence of Mamba.

Mamba has no attention. Each channel of x carries a few numbers h from token to token, and each token says how fast they
fade and what is added. (Gu & Dao 2023, "Mamba", Algorithm 2, discretised as in its code.) Token by token, for channel d
and its numbers n, from h = 0:

    h[d, n] = exp(delta[d] * A[d, n]) * h[d, n] + delta[d] * B[n] * x[d]
    y[d] = D[d] * x[d] + the sum of C[n] * h[d, n] over n

    # one sequence of two tokens, one channel, one number: x is 2, 4, delta 1, 0.5, A -log(4), B 1, 3, C 1, 2, D 10
    y, h = selective_scan(x, delta, A, B, C, D)    # y is 22, 54; h is 2, then 0.5 * 2 + 0.5 * 3 * 4 = 7

- With `h`, (batch, dim, state), the scan goes on from there.
- It returns y and the last h.
- Long sequences come out right, where all decays multiplied are 0 in float32.
- Gradients flow to every argument.

Fine print:
- No loop over tokens: the number of operations grows with the logarithm of time.
- float16 and bfloat16 are computed in float32: y is rounded once, at the end, to x's dtype; the last h stays in float32.
- A, D and h may be float32 where the others are in half precision.
- float64 is computed in float64.
- Where time is 0, y is empty, and the last h is the one that was given, or 0. The batch may be empty as well.
- Any strides will do, and the arguments stay as they are.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def selective_scan(
    x: Float[Tensor, "batch time dim"],
    delta: Float[Tensor, "batch time dim"],
    A: Float[Tensor, "dim state"],
    B: Float[Tensor, "batch time state"],
    C: Float[Tensor, "batch time state"],
    D: Float[Tensor, "dim"],
    h: Float[Tensor, "batch dim state"] | None = None,
) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim state"]]:
    """Run the recurrence over time: y, (batch, time, dim), and the last h, (batch, dim, state)."""
    raise NotImplementedError
