from jaxtyping import Bool, Float, Int
from torch import Tensor


def logprob_of_an_answer(
    logits: Float[Tensor, "batch time vocab"],
    ids: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch"]:
    logprobs = logits.log_softmax(dim=-1)  # (batch, time, vocab)
    of_tokens = logprobs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)  # (batch, time)
    return (of_tokens * mask).sum(dim=1)
