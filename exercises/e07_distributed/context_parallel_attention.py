"""Attention over a sequence that no rank holds: ring attention.

A sequence too long for one device is cut along time: rank 0 has the first positions, rank 1 the next, all as many. Each query
is to see all keys. So keys and values travel around a ring, from rank to rank, and each takes what comes into its softmax,
block by block (an online softmax).

    # two ranks with one position each, one head, one feature; q is [[[0.]]] on both
    # rank 0 has k [[[1.]]] and v [[[2.]]], rank 1 has k [[[1.]]] and v [[[4.]]]
    ring_attention(q, k, v)                 # [[[3.]]] on both: both keys count the same
    ring_attention(q, k, v, causal=True)    # [[[2.]]] on rank 0, which sees itself alone; [[[3.]]] on rank 1

- Each rank returns the rows of its own queries: softmax(q·kᵀ / √features)·v over the positions of all ranks.
- With `causal` a query sees its own position and earlier ones, of the whole sequence.
- A rank sends one block at a time, to the next rank alone.

Fine print:
- Large scores neither overflow nor become NaN.
- v may have another number of features than k.
- The dtype stays; float64 is computed in float64.
"""

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def ring_attention(
    q: Float[Tensor, "heads time features"],
    k: Float[Tensor, "heads time features"],
    v: Float[Tensor, "heads time values"],
    causal: bool = False,
) -> Float[Tensor, "heads time values"]:
    """This rank's rows of the attention over all ranks' keys."""
    raise NotImplementedError
