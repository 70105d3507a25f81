"""New tokens behind prompts: the likeliest, drawn ones, or the best of several beams."""

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor, nn

from .cache import Cache

PIECE = 16  # so many tokens of a prompt are read at a time


def padded(prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Prompts of any lengths as ids (size, longest), with zeros on the left, and where they are real."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(p)) + list(p) for p in prompts])
    lengths = torch.tensor([len(p) for p in prompts])
    return ids, torch.arange(longest) >= longest - lengths[:, None]


def prefill(model: nn.Module, ids: Tensor, real: Tensor, cache: Cache) -> Tensor:
    """Read the prompts, in pieces; return the logits (size, vocab) behind their last tokens."""
    for some, kept in zip(ids.split(PIECE, dim=1), real.split(PIECE, dim=1), strict=True):
        logits = model(some, kept, cache)
    return logits[:, -1]


def pick(logits: Tensor, temperature: float, generator: Generator | None) -> Tensor:
    """The likeliest token of each row of logits (size, vocab), or one drawn at a temperature."""
    if temperature == 0:
        return logits.argmax(dim=1)
    return torch.multinomial((logits / temperature).softmax(dim=1), 1, generator=generator)[:, 0]


def generate(
    model: nn.Module,
    prompts: Sequence[Sequence[int]],
    count: int,
    *,
    temperature: float = 0.0,
    stop: int = -1,
    generator: Generator | None = None,
    cache: Cache | None = None,
) -> list[list[int]]:
    """`count` new tokens for each prompt, fewer where `stop` comes: it is then the last one."""
    cache = Cache(len(prompts)) if cache is None else cache
    ids, real = padded(prompts)
    logits = prefill(model, ids, real, cache)
    texts = logits.new_zeros(len(ids), 0, dtype=torch.int64)
    while True:
        tokens = pick(logits / (temperature or 1.0), temperature, generator)
        texts = torch.cat((texts, tokens[:, None]), dim=1)
        stopped = (texts == stop).any(dim=1)
        if texts.size(1) == count or stopped.all():
            break
        logits = model(torch.cat((ids, texts), dim=1), torch.cat((real, texts >= 0), dim=1))[:, -1]
    return [row[: row.index(stop) + 1] if stop in row else row for row in texts.tolist()]


@torch.no_grad()
def beams(model: nn.Module, prompt: Sequence[int], width: int, count: int) -> tuple[Tensor, Tensor]:
    """`width` texts (width, count) behind a prompt, the likeliest first, and their log-probabilities."""
    cache = Cache(width)
    logits = prefill(model, *padded([prompt] * width), cache)
    texts = torch.zeros(width, 0, dtype=torch.int64)
    scores = torch.tensor([0.0] + [-math.inf] * (width - 1))  # all rows are the same at first
    while True:
        total = scores[:, None] + logits.log_softmax(dim=1)  # (width, vocab)
        scores, best = total.flatten().topk(width)
        rows, tokens = best // total.size(1), best % total.size(1)
        texts = torch.cat((texts[rows], tokens[:, None]), dim=1)
        if texts.size(1) == count:
            return texts, scores
        cache.select(rows)
        logits = model(texts[:, -1:], cache=cache)[:, -1]
