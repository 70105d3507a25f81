"""Grow a cache: the keys so far, and the new ones.

A model that writes token by token keeps the keys of all tokens so far. Return them with the new ones behind: a text
grows along time.

    old = torch.tensor([[[[1.0, 2.0]]]])     # (batch, heads, time, dim)
    grow_a_cache(old, torch.tensor([[[[3.0, 4.0]]]]))
    # tensor([[[[1., 2.], [3., 4.]]]])

- Before the first token the cache is None: return the new keys.

New here: `x is None` asks whether there is a tensor yet. `torch.cat` takes any dim, and dim -1 is the last one.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def grow_a_cache(
    cache: Float[Tensor, "batch heads time dim"] | None, new: Float[Tensor, "batch heads more dim"]
) -> Float[Tensor, "batch heads longer dim"]:
    raise NotImplementedError
