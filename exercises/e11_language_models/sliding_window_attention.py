"""Sliding-window attention: each token sees the last few, however long the text is.

With causal attention a text of twice the length costs four times as much. Layers of Mistral 7B and Gemma 2 let each token
see the last `window` ones alone, itself counted. (Beltagy et al. 2020, "Longformer", section 3.1; Jiang et al. 2023,
"Mistral 7B", section 2.) For q, k and v of (batch, heads, time, dim):

    result[t] = softmax(q[t] @ k[s].mT / sqrt(dim)) @ v[s]       # s: the tokens t - window + 1, …, t that there are

    v = torch.tensor([1.0, 3.0, 5.0, 9.0, 8.0]).view(1, 1, 5, 1)
    q = k = torch.ones(1, 1, 5, 1)                                   # all keys fit equally well
    window_attention(q, k, v, window=2).flatten()                    # [1, 2, 4, 7, 8.5]
    window_attention(q, k, v, window=3).flatten()                    # [1, 2, 3, 5.6667, 7.3333]

- A window may be longer than the text.
- Gradients flow to q, k and v.
- All of PyTorch may be used. (On the CPU, its flex_attention has no gradients.)

Fine print:
- Memory grows with time * window, not with time * time: no matrix of time * time numbers is made, not even a mask.
- No loop over batch, heads or tokens. One over blocks of `window` tokens is fine.
- Every dtype comes out as it went in.
- Inputs may have any strides, and stay as they are; batch may be 0.
- On another device nothing is copied to or from the CPU.
- A window below 1 raises ValueError.
"""

from jaxtyping import Float
from torch import Tensor


def window_attention(
    q: Float[Tensor, "batch heads time dim"],
    k: Float[Tensor, "batch heads time dim"],
    v: Float[Tensor, "batch heads time dim"],
    window: int,
) -> Float[Tensor, "batch heads time dim"]:
    """Let each token attend to the last `window` tokens, itself counted."""
    raise NotImplementedError
