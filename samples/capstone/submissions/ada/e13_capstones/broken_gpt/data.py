"""The text: where it comes from, its letters as numbers, and pieces of it."""

import random

import torch
from torch import Tensor

LETTERS = "\n .abcdefghijklmnopqrstuvwxyz"


def corpus(sentences: int = 2000) -> str:
    """Sentences of a small grammar, one a line; always the same ones."""
    draw = random.Random(7)
    animals = ["fox", "hen", "dog", "goat", "owl", "hare", "duck", "crow"]
    ways = ["old", "small", "grey", "brave", "quick", "tired"]
    deeds = ["see", "follow", "hear", "like", "know", "call"]
    places = ["by the river", "in the barn", "on the hill", "at night", "near the mill"]
    lines = []
    for _ in range(sentences):
        one, other = draw.choice(["", "s"]), draw.choice(["", "s"])
        who = f"the {draw.choice(ways)} {draw.choice(animals)}{one}"
        whom = f"the {draw.choice(ways)} {draw.choice(animals)}{other}"
        lines.append(f"{who} {draw.choice(deeds)}{'' if one else 's'} {whom} {draw.choice(places)}.\n")
    return "".join(lines)


def encode(text: str) -> Tensor:
    """The number of each letter."""
    return torch.tensor([LETTERS.index(letter) for letter in text])  # (text,)


def decode(ids: Tensor) -> str:
    """The text that these numbers stand for."""
    return "".join(LETTERS[number] for number in ids.tolist())


def split(ids: Tensor, share: float = 0.9) -> tuple[Tensor, Tensor]:
    """What is trained on, and what is held out."""
    size = int(share * len(ids))
    return ids[:size], ids[size:]  # (train,), (held out,)


def windows(ids: Tensor, starts: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """The piece of `block` letters from each start on, and what comes next at each of its places."""
    places = starts.unsqueeze(1) + torch.arange(block)  # (starts, block)
    return ids[places], ids[places + 1]  # (starts, block) each


def batch(ids: Tensor, block: int, size: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    """Inputs and targets of `size` pieces from random places."""
    starts = torch.randint(len(ids) - block, (size,), generator=gen)  # (size,)
    return windows(ids, starts, block)
