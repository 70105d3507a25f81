"""Causal mask: no position may look at what comes after it.

Attention scores have the shape (*batch, query, key). The queries are the *last* positions of the keys'
sequence: with 5 keys and 2 queries (3 keys come from a cache), query 0 stands at position 3 and query 1
at position 4. A query may look at its own position and at all before it.

    causal_mask(3, 3)                          causal_mask(2, 5)
    # [[True, False, False],                   # [[True, True, True, True, False],
    #  [True, True,  False],                   #  [True, True, True, True, True ]]
    #  [True, True,  True ]]

    mask_scores(torch.tensor([[1., 2.], [3., 4.]]))     # [[1., -inf], [3., 4.]]

Rules for `mask_scores`: any floating dtype comes in, the same goes out. A hidden score becomes exactly
-inf, whatever stood there (padding may hold inf or NaN); a visible one is kept as it is. `scores` is not
changed. Besides the result, memory is needed for a few (query, key) planes at most, however large the
batch is. Gradients flow to visible scores and are 0 at hidden ones.

Rules for both: each call returns a new tensor, that the caller may write into, even where nothing is
hidden. Sizes may be 0; no Python loop; more queries than keys is a ValueError. Masks are made on the
device where they are used, not moved there: nothing is copied between it and the CPU.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "queries keys"]:
    """Where each query may look.

    Args:
        queries: number of queries, the last positions of the sequence.
        keys: number of keys, the whole sequence; at least `queries`.
        device: where the mask is made; None means PyTorch's default device.

    Returns:
        (queries, keys), bool: True where the key is visible to the query.

    Raises:
        ValueError: there are more queries than keys.
    """
    if queries > keys:
        raise ValueError(f"{queries} queries cannot be the last positions of {keys} keys")
    every_pair = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return every_pair.tril(diagonal=keys - queries)  # (queries, keys)


def mask_scores(scores: Float[Tensor, "*batch query key"]) -> Float[Tensor, "*batch query key"]:
    """Attention scores in which the future is hidden.

    Args:
        scores: one score for each pair of a query and a key, with any number of leading dimensions.

    Returns:
        A new tensor like `scores`, with -inf where the key lies in the query's future.

    Raises:
        ValueError: there are more queries than keys.
    """
    visible = causal_mask(*scores.shape[-2:], device=scores.device)  # (query, key)
    return scores.masked_fill(~visible, -math.inf)  # (*batch, query, key)
