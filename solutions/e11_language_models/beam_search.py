from collections.abc import Callable

import torch
from jaxtyping import Float, Int64
from torch import Tensor


@torch.no_grad()
def beam_search(
    model: Callable[[Int64[Tensor, "sequences time"]], Float[Tensor, "sequences time vocab"]],
    prompt: Int64[Tensor, "prompt"],
    width: int,
    max_new_tokens: int,
    end: int,
    alpha: float = 0.6,
) -> list[tuple[Int64[Tensor, "time"], float]]:
    live = prompt.unsqueeze(0).clone()  # (live, time)
    sums = torch.zeros(1, device=prompt.device)  # (live,)
    finished = []
    for n in range(1, max_new_tokens + 1):
        logits = model(live)[:, -1]  # (live, vocab)
        exact = logits if logits.dtype == torch.float64 else logits.float()
        totals = sums.unsqueeze(-1) + exact.log_softmax(-1)  # (live, vocab)
        vocab = totals.shape[-1]
        sums, places = totals.flatten().topk(min(width, totals.numel()))
        sums, places = sums[sums > -torch.inf], places[sums > -torch.inf]
        parents, tokens = places // vocab, places % vocab
        live = torch.cat([live[parents], tokens.unsqueeze(-1)], -1)
        ended = (tokens == end) | (n == max_new_tokens)
        penalty = ((5 + n) / 6) ** alpha
        finished += zip(live[ended], (sums[ended] / penalty).tolist(), strict=True)
        live, sums = live[~ended], sums[~ended]
        if not len(live):
            break
    if not max_new_tokens:
        return [(prompt.clone(), 0.0)]
    return sorted(finished, key=lambda found: -found[1])[:width]
