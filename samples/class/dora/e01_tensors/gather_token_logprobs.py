"""The log-probability that a language model gave to each token: `gather` along the vocabulary.

Scoring answers, distillation and reinforcement learning all need log p(token) of the tokens that
occurred, out of the logits over the whole vocabulary:

    logits = torch.tensor([[[1.0, 1.0], [0.0, math.log(3.0)]]])   # (batch=1, time=2, vocab=2)
    targets = torch.tensor([[0, 1]])                              # (batch=1, time=2)
    token_logprobs(logits, targets)                               # [[log 1/2, log 3/4]]

Position t of targets goes with position t of logits: they are aligned already, shift nothing.

Rules:
- float16 and bfloat16 logits are turned into float32 before anything is computed, and the result is
  float32. float32 and float64 logits are computed and returned in their own dtype.
- Large logits (say 10000) give finite results, right up to the rounding of such numbers. A token far
  less likely than another, by 300 or so, has a log-probability of about -300, not -inf.
- A logit of -inf means "this token is not allowed": the others still get their right, finite values
  and gradients, and a target that is not allowed gets -inf. One logit at least of each position is
  finite; none is +inf or NaN.
- Gradients flow to logits. logits and targets are not changed. The result is on their device, and on
  the way no number is copied to the host: no `.item()`, no `if` that asks for values.
- Any sizes: sizes of 1 stay as dimensions; no sequences, or no positions, give an empty result.
- No Python loop over batch, time or vocabulary. Any function of PyTorch is welcome.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def token_logprobs(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"]
) -> Float[Tensor, "batch time"]:
    """Take log softmax(logits) at each target.

    Args:
        logits: scores of all tokens at each position, (batch, time, vocab).
        targets: the token at each position, (batch, time), int64 from 0 to vocab - 1.

    Returns:
        Natural log-probabilities, (batch, time); float32 for half-precision logits, else their dtype.
    """
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)
    picked = logprobs.gather(-1, targets.unsqueeze(-1))  # (batch, time, 1)
    return picked.squeeze()  # (batch, time)
