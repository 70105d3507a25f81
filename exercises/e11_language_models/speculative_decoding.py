"""Speculative decoding: a small model proposes tokens, and the large one checks them all at once.

A draft proposes `gamma` tokens, one call of the target judges them, and the text is distributed as if drawn by the
target alone. q[i] is the draft's distribution for proposal i, p[i] the target's; p has a row more.

    q = torch.tensor([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    p = torch.tensor([[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]])
    accept(torch.tensor([0, 0]), q, p, torch.tensor([0.8, 0.7]))   # 1, [0, 0.6667, 0.3333]: 0.3 / 0.6 is below 0.7
    accept(torch.tensor([0, 0]), q, p, torch.tensor([0.8, 0.4]))   # 2, [0.1, 0.2, 0.7]

- Token x at place i is refused where uniforms[i] > p[i, x] / q[i, x], and so is all behind it.
- The next token then has max(0, p - q) of that place, divided by its sum; p's last row if all stay.
- speculate adds max_new_tokens: in each round what stays, and the next.
- A round calls draft gamma times and target once, on ids (1, time).

Fine print:
- This is Algorithm 1 of Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding".
- Logits are (1, time, vocab). The prompt comes back in front; what the last round has too many is cut off.
- All randomness comes from `generator`; PyTorch's global stream is left alone.
- With max_new_tokens=0 no model is called. No call keeps a graph.
- All arguments stay as they are. accept keeps the dtype of p.
"""

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
    """How many of the proposed tokens, (gamma,), stay, and the next one's distribution, (vocab,)."""
    raise NotImplementedError


def speculate(
    target: Model,
    draft: Model,
    prompt: Int64[Tensor, "prompt"],
    max_new_tokens: int,
    gamma: int,
    generator: torch.Generator,
) -> Int64[Tensor, "time"]:
    """The prompt, (prompt,), and max_new_tokens more, drawn as the target would."""
    raise NotImplementedError
