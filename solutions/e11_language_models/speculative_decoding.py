from collections.abc import Callable

import torch
from jaxtyping import Float, Int64
from torch import Tensor

Model = Callable[[Int64[Tensor, "1 time"]], Float[Tensor, "1 time vocab"]]


def accept(
    proposed: Int64[Tensor, "gamma"],
    q: Float[Tensor, "gamma vocab"],
    p: Float[Tensor, "gamma+1 vocab"],
    uniforms: Float[Tensor, "gamma"],
) -> tuple[int, Float[Tensor, "vocab"]]:
    gamma = len(proposed)
    places = torch.arange(gamma, device=proposed.device)
    stays = uniforms <= p[places, proposed] / q[places, proposed]  # (gamma,)
    count = int(stays.long().cumprod(0).sum())
    if count == gamma:
        return count, p[gamma].clone()
    rest = (p[count] - q[count]).clamp(min=0)  # (vocab,)
    return count, rest / rest.sum()


@torch.no_grad()
def speculate(
    target: Model,
    draft: Model,
    prompt: Int64[Tensor, "prompt"],
    max_new_tokens: int,
    gamma: int,
    generator: torch.Generator,
) -> Int64[Tensor, "time"]:
    ids = prompt.clone()
    end = len(prompt) + max_new_tokens
    while len(ids) < end:
        start, rows = len(ids), []
        for _ in range(gamma):
            rows.append(draft(ids.unsqueeze(0))[0, -1].softmax(-1))  # (vocab,)
            ids = torch.cat([ids, torch.multinomial(rows[-1], 1, generator=generator)])
        p = target(ids.unsqueeze(0))[0, start - 1 :].softmax(-1)  # (gamma + 1, vocab)
        uniforms = torch.rand(gamma, generator=generator)
        count, rest = accept(ids[start:], torch.stack(rows), p, uniforms)
        ids = torch.cat([ids[: start + count], torch.multinomial(rest, 1, generator=generator)])
    return ids[:end]
