import math
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
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    logits, order = (logits / temperature).sort(-1, descending=True)
    if top_k is not None:
        logits[:, top_k:] = -math.inf
    probabilities = logits.softmax(-1)  # (batch, vocab), the largest first
    dropped = torch.zeros_like(order, dtype=torch.bool)
    if top_p is not None:
        dropped |= probabilities.cumsum(-1) - probabilities >= top_p
    if min_p is not None:
        dropped |= probabilities < min_p * probabilities[:, :1]
    dropped[:, 0] = False
    kept = logits.masked_fill(dropped, -math.inf).softmax(-1)
    return torch.zeros_like(kept).scatter(-1, order, kept)


@torch.no_grad()
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
    if not all(prompts):
        raise ValueError("an empty prompt has no last token")
    new: list[list[int]] = [[] for _ in prompts]
    running = set(range(len(prompts)))
    time = max(map(len, prompts), default=0)
    ids = torch.tensor([[0] * (time - len(prompt)) + list(prompt) for prompt in prompts])  # (batch, time)
    padding = torch.tensor([[time - len(prompt)] for prompt in prompts])  # (batch, 1)
    positions = torch.arange(time) - padding if prompts else ids
    cache = None
    for _ in range(max_new_tokens):
        if not running:
            break
        logits, cache = model(ids, positions, cache)
        chances = next_probabilities(logits[:, -1], temperature, top_k, top_p, min_p)
        ids = torch.multinomial(chances, 1, generator=generator)  # (batch, 1)
        positions = positions[:, -1:] + 1
        for row in list(running):
            new[row].append(int(ids[row]))
            if new[row][-1] in stop:
                running.remove(row)
    return new
