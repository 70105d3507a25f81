"""Experts on several ranks: tokens travel to their experts, and back.

Experts are too many for one device: each rank holds a few, and rows of x travel (Lepikhin et al. 2020, "GShard"). The ranks
tell each other how many rows will come. Then `dist.all_to_all_single`, with these numbers as split sizes, takes rows to
their experts, and results back.

    # two ranks: rank 0 holds experts 0 and 1, times 1 and times 2, rank 1 experts 2 and 3, times 4 and times 8
    # rank 0: x [[1.], [2.]], chosen [[3, 0], [1, 2]], weights [[0.5, 0.5], [0.9, 0.1]]
    # rank 1: x [[3.]], chosen [[2, 1]], weights [[0.2, 0.8]]
    expert_parallel(x, chosen, weights, experts)    # rank 0 gets [[4.5], [4.4]], rank 1 [[7.2]]: 0.2 * 12 + 0.8 * 6

- Rank r holds the experts r * n to r * n + n - 1, where n is len(experts), the same on all ranks.
- A rank gets, for each of its own tokens in order, the sum over k of weight times result.
- Ranks have different numbers of tokens.
- Rows travel by all-to-all, to the rank that needs them.
- No gradients are asked for.

Fine print:
- There are three messages, however many experts there are: rows for each expert as numbers, rows, and results.
- Nothing is padded: k rows for a token go, and k come back.
- An expert is called once at most, with the rows of all ranks together, and not without rows.
- A rank may have no tokens, or get none.
- x may be in half precision or float64, with weights in float32: rows travel in x's dtype, and the result has it.
- The arguments stay as they are, and may have any strides.
"""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor


def expert_parallel(
    x: Float[Tensor, "tokens dim"],
    chosen: Int[Tensor, "tokens k"],
    weights: Float[Tensor, "tokens k"],
    experts: Sequence[Callable[[Tensor], Tensor]],
) -> Float[Tensor, "tokens dim"]:
    """Send each row of x to its k chosen experts, wherever they are; `experts` are those of this rank."""
    raise NotImplementedError
