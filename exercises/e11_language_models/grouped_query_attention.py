"""Grouped-query attention: several heads of queries share one head of keys and values.

A model with 32 heads of queries and 8 of keys fills a quarter of the cache. (Ainslie et al. 2023, "GQA"; LLaMA 3, Mistral,
Qwen.) With group = heads / kv_heads, head h of the queries uses head h // group of keys and values:

    result[:, h] = softmax(q[:, h] @ k[:, h // group].mT / sqrt(dim)) @ v[:, h // group]      # over the keys that are seen

    v = torch.tensor([[1.0, 3.0, 5.0], [5.0, 9.0, 1.0]]).view(1, 2, 3, 1)      # two heads, three tokens
    q, k = torch.ones(1, 4, 3, 1), torch.ones(1, 2, 3, 1)                      # all keys fit equally well
    grouped_attention(q, k, v)[0, ..., 0]              # [[1, 2, 3], [1, 2, 3], [5, 7, 5], [5, 7, 5]]
    grouped_attention(q[:, :, 1:], k, v)[0, ..., 0]    # [[2, 3], [2, 3], [7, 5], [7, 5]]: the last two tokens

- Each token sees itself and what came before.
- The queries belong to the last tokens: with fewer queries than keys, as with a cache, the last query sees all keys.
- Gradients flow to q, k and v.
- All of PyTorch may be used.

Fine print:
- Keys and values are not copied for each head of queries: for one query and many keys, new memory stays below that of k.
  (repeat_interleave copies. So does `@` where it has to broadcast.)
- No loop over batch, heads or time.
- Every dtype comes out as it went in.
- Inputs may have any strides, and stay as they are; batch may be 0.
- On another device nothing is copied to or from the CPU.
- heads that are no multiple of kv_heads raise ValueError (RuntimeError will do).
"""

from jaxtyping import Float
from torch import Tensor


def grouped_attention(
    q: Float[Tensor, "batch heads time dim"],
    k: Float[Tensor, "batch kv_heads keys dim"],
    v: Float[Tensor, "batch kv_heads keys dim"],
) -> Float[Tensor, "batch heads time dim"]:
    """Let each head of q attend to its group's head of k and v, causally; time is at most keys."""
    raise NotImplementedError
