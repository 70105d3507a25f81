"""Causal mask: no position may look at what comes after it.

While a model writes text, the keys of earlier positions wait in a cache. So the queries are the *last* positions of the
keys' sequence: of 2 queries and 5 keys, query 0 stands at position 3 and query 1 at position 4. Each query sees its own
position and all before it. Make the mask, and hide the future of attention scores.

- `causal_mask` gives bools on `device`: True where the key is visible.
- `mask_scores` gives -inf for hidden scores, not the -1e9 that some code has, and keeps the others.
- Any number of dimensions, also none, may stand before query and key. No loop.

    causal_mask(3, 3)                          causal_mask(2, 5)
    # [[True, False, False],                   # [[True, True, True, True, False],
    #  [True, True,  False],                   #  [True, True, True, True, True ]]
    #  [True, True,  True ]]

    mask_scores(torch.tensor([[1., 2.], [3., 4.]]))     # [[1., -inf], [3., 4.]]

Fine print:
- Scores keep their dtype, half precision and float64 too, and stay as they are.
- A hidden score is -inf whatever stood there: padding may hold inf or NaN.
- One plane (query, key) serves the whole batch: no mask, fill value or copy of its size.
- The mask of scores is made on their device: nothing is copied there from the CPU.
- Scores may be strided, a batch or a cache empty.
- More queries than keys raise ValueError.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "queries keys"]:
    """Where each of the last `queries` positions may look; None is PyTorch's default device."""
    raise NotImplementedError


def mask_scores(scores: Float[Tensor, "*batch query key"]) -> Float[Tensor, "*batch query key"]:
    """The scores with -inf where the key lies in the query's future."""
    raise NotImplementedError
