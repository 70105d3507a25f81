"""New text, a letter at a time."""

import torch
from torch import Tensor, nn


@torch.no_grad()
def generate(
    model: nn.Module, ids: Tensor, number: int, gen: torch.Generator, temperature: float = 1.0
) -> Tensor:
    """The texts in `ids` (size, time), each with `number` more letters, drawn one after the other."""
    for _ in range(number):
        logits = model(ids[:, -model.block :])[:, -1]  # (size, letters)
        chances = (logits / temperature).softmax(dim=-1)  # (size, letters)
        ids = torch.cat([ids, torch.multinomial(chances, 1, generator=gen)], dim=1)  # (size, time + 1)
    return ids  # (size, time + number)
