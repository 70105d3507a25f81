"""DPO: learn which of two answers people prefer, without a reward model.

To each prompt there are two answers, and somebody has chosen one. The model that learns, the policy, is to make it
more likely than it was, compared with the rejected one. How likely it was, a frozen copy knows, the reference.
(Rafailov et al. 2023, "Direct Preference Optimization", equation 7.) With log-probabilities of whole answers:

    reward = beta * (policy's log-probability - reference's)
    loss = -log(sigmoid(reward of the chosen answer - reward of the rejected one))

    logits = torch.tensor([[[1.0, 3.0], [1.0, 1.0], [4.0, 1.0]]]).log()
    ids, mask = torch.tensor([[0, 1, 0]]), torch.tensor([[False, True, True]])
    answer_logprobs(logits, ids, mask)     # [-0.9808]: log(3 / 4) + log(1 / 2), of tokens 1 and 0
    preference_loss(*torch.tensor([[-2.0], [-5.0], [-4.0], [-3.0]]), beta=0.5)     # (0.1269, [1.0], [-1.0])

- `answer_logprobs` adds up log-probabilities of the tokens whose mask is True: the answer's.
- Logits at position t are about the token at t + 1.
- `preference_loss` returns the mean of the losses of all pairs, and the rewards of both answers of each.
- Gradients flow to logits and to the policy's log-probabilities.

Fine print:
- The reference's log-probabilities get no gradient, also where they require one; rewards carry no graph.
- The first token does not count, whatever its mask says: no logits are about it.
- Rewards that differ by 1000 give a finite loss, and right gradients.
- Logits in half precision become float32 before anything is computed, and so are the sums; float64 stays float64.
- Any strides; the arguments stay as they are. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Bool, Float, Int64
from torch import Tensor


def answer_logprobs(
    logits: Float[Tensor, "batch time vocab"],
    ids: Int64[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch"]:
    """The log-probability of each row's answer: the tokens of ids, (batch, time), whose mask is True."""
    raise NotImplementedError


def preference_loss(
    policy_chosen: Float[Tensor, "pairs"],
    policy_rejected: Float[Tensor, "pairs"],
    reference_chosen: Float[Tensor, "pairs"],
    reference_rejected: Float[Tensor, "pairs"],
    beta: float = 0.1,
) -> tuple[Float[Tensor, ""], Float[Tensor, "pairs"], Float[Tensor, "pairs"]]:
    """The mean loss, 0-d, and the rewards of chosen and of rejected answers, from their log-probabilities."""
    raise NotImplementedError
