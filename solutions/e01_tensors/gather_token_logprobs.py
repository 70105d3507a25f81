import torch
from jaxtyping import Float, Int64
from torch import Tensor


def token_logprobs(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"]
) -> Float[Tensor, "batch time"]:
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)
    picked = logprobs.gather(-1, targets.unsqueeze(-1))  # (batch, time, 1)
    return picked.squeeze(-1)  # (batch, time)
