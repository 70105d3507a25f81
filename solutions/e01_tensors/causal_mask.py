import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "queries keys"]:
    if queries > keys:
        raise ValueError(f"{queries} queries cannot be the last positions of {keys} keys")
    every_pair = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return every_pair.tril(diagonal=keys - queries)  # (queries, keys)


def mask_scores(scores: Float[Tensor, "*batch query key"]) -> Float[Tensor, "*batch query key"]:
    visible = causal_mask(*scores.shape[-2:], device=scores.device)  # (query, key)
    return scores.masked_fill(~visible, -math.inf)  # (*batch, query, key)
