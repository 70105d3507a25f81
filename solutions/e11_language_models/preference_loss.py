import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional as F


def answer_logprobs(
    logits: Float[Tensor, "batch time vocab"],
    ids: Int64[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch"]:
    wide = torch.promote_types(logits.dtype, torch.float32)
    logprobs = F.log_softmax(logits[:, :-1].to(wide), -1)  # (batch, time - 1, vocab)
    told = logprobs.gather(-1, ids[:, 1:, None]).squeeze(-1)  # (batch, time - 1)
    return (told * mask[:, 1:]).sum(-1)


def preference_loss(
    policy_chosen: Float[Tensor, "pairs"],
    policy_rejected: Float[Tensor, "pairs"],
    reference_chosen: Float[Tensor, "pairs"],
    reference_rejected: Float[Tensor, "pairs"],
    beta: float = 0.1,
) -> tuple[Float[Tensor, ""], Float[Tensor, "pairs"], Float[Tensor, "pairs"]]:
    chosen = beta * (policy_chosen - reference_chosen.detach())  # (pairs,)
    rejected = beta * (policy_rejected - reference_rejected.detach())
    loss = -F.logsigmoid(chosen - rejected).mean()
    return loss, chosen.detach(), rejected.detach()
