import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


@torch.no_grad()
def perplexity(
    model: Callable[[Tensor], Tensor], ids: Int64[Tensor, "1 time"], context: int, stride: int
) -> float:
    time = ids.shape[1]
    if stride >= context or time < 2:
        raise ValueError(f"stride {stride} for a context of {context} and {time} tokens")
    total, done = 0.0, 1  # the first token has none before it
    for begin in range(0, time, stride):
        end = min(begin + context, time)
        logits = model(ids[:, begin:end])[0]  # (end - begin, vocab)
        about = logits[done - begin - 1 : -1]  # the logits of tokens done to end
        total += F.cross_entropy(about.float(), ids[0, done:end], reduction="sum").item()
        done = end
        if end == time:
            break
    return math.exp(total / (time - 1))


def keep(
    keys: Float[Tensor, "batch heads time dim"],
    values: Float[Tensor, "batch heads time dim"],
    sinks: int,
    window: int,
) -> tuple[
    Float[Tensor, "batch heads kept dim"], Float[Tensor, "batch heads kept dim"], Int64[Tensor, "kept"]
]:
    rest = max(keys.shape[2] - window, sinks)  # where the last ones begin, behind the sinks
    keys, values = (torch.cat([x[:, :, :sinks], x[:, :, rest:]], 2) for x in (keys, values))
    return keys, values, torch.arange(keys.shape[2], device=keys.device)
