"""Generate: many prompts at once, each token through the model once.

A model with a cache takes tokens that it has not seen:

    logits, cache = model(ids, positions, cache)     # (batch, time, vocab); the first cache is None

`positions`, (batch, time), count each prompt's tokens from 0; negative ones are padding, which nobody sees.
Write `generate`, and `next_probabilities`, whose arguments apply in order:

    next_probabilities(torch.tensor([[3.0, 1.0, 2.0, 0.0]]), top_k=3, top_p=0.9)    # [[0.7311, 0, 0.2689, 0]]
    # of the 3 largest, 0.6652 and 0.2447 are the fewest that reach 0.9
    generate(counts, [[3, 4], [7]], 3, temperature=0, stop={8})      # [[5, 6, 7], [8]]: this model counts

- temperature divides the logits; at 0 the largest gets all.
- top_p keeps the fewest, largest first, whose probabilities (among top_k) reach it.
- min_p keeps min_p times the largest probability, and more. What is kept adds up to 1.
- generate returns new tokens alone, with the first of `stop` as the last.
- All prompts go through the model together, padded on the left, no token twice, until all have stopped.

Fine print:
- Where probabilities are equal, any may count as the larger.
- top_k may be larger than the vocabulary. One token at least is kept, also for top_p=0.
- All randomness comes from `generator`; without one, from the global stream.
- With max_new_tokens=0 there is nothing to say: [[], []] for two prompts. No prompts give [].
- The model is called without gradients. logits and prompts stay as they are.
- An empty prompt raises ValueError.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

Model = Callable[
    [Int[Tensor, "batch time"], Int[Tensor, "batch time"], Any], tuple[Float[Tensor, "batch time vocab"], Any]
]


def next_probabilities(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Float[Tensor, "batch vocab"]:
    """How likely each token is to be drawn next."""
    raise NotImplementedError


def generate(
    model: Model,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    stop: Collection[int] = (),
    generator: torch.Generator | None = None,
) -> list[list[int]]:
    """Draw up to max_new_tokens tokens behind each prompt."""
    raise NotImplementedError
