import torch

from .model import LanguageModel


@torch.no_grad()
def write(
    model: LanguageModel,
    letters: str,
    start: str,
    length: int,
    generator: torch.Generator,
    *,
    temperature: float = 1.0,
) -> str:
    if not start:
        raise ValueError("an empty start has no last character")
    ids = [letters.index(letter) for letter in start]
    for _ in range(length):
        logits = model(torch.tensor([ids[-48:]]))[0, -1]  # (vocab,)
        chances = (logits / temperature).softmax(-1)
        ids.append(int(torch.multinomial(chances, 1, generator=generator)))
    return "".join(letters[i] for i in ids)
