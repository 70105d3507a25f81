"""A language model writes: `greedy_text(model, ids, n)`.

A language model reads the numbers (ids) of a text's tokens, words or parts of words, and gives after each a logit
for every token that it knows: (batch, time) ids make (batch, time, vocab) logits. Greedy means: always append the
likeliest token, and ask again, n times. Return the whole text.

    # a model in eval mode that always thinks the next number comes next
    greedy_text(model, torch.tensor([[3, 4]]), 3)
    # tensor([[3, 4, 5, 6, 7]])

New here: `model(ids)[:, -1]` is what the model says after the last token. `argmax(dim=-1, keepdim=True)`
makes (batch, 1) ids of it.
"""

import torch
from jaxtyping import Int
from torch import Tensor, nn


def greedy_text(model: nn.Module, ids: Int[Tensor, "batch time"], n: int) -> Int[Tensor, "batch longer"]:
    raise NotImplementedError
