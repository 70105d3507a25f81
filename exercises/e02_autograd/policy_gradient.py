"""REINFORCE: learn from draws that brought a reward.

A policy gives each action a logit. One is drawn, and a draw has no slope; but its log-probability has one. Weighted with
the reward that followed, it makes good actions likelier. (Williams 1992; Sutton and Barto, section 13.4.)

    return[t] = reward[t] + gamma * reward[t + 1] + gamma² * reward[t + 2] + …
    loss = -(logprob[t] * (return[t] - baseline[t])), summed over t

    choose(torch.tensor([[1.0986, 0.0]]))     # 3 times in 4 ([0], [-0.2877]), else ([1], [-1.3863])
    logprobs, rewards = torch.tensor([-1.0, -2.0, -0.5]), torch.tensor([1.0, 0.0, 4.0])
    reinforce_loss(logprobs, rewards, gamma=0.5)                 # returns [2, 2, 4]: 2 + 4 + 2 = 8
    reinforce_loss(logprobs, rewards, gamma=0.5, baseline=torch.tensor([1.0, 2.0, 3.0]))      # 1 + 0 + 0.5 = 1.5

- Each row draws an action of its own, with the probabilities softmax(logits).
- Log-probabilities are natural ones, and gradients flow through them to the logits.
- Gradients of the loss flow to logprobs alone: the baseline may come from a network, and is taken as it is.

Fine print:
- The draws come from torch's global random stream: `torch.manual_seed` repeats them.
- Actions are int64, (batch,); logprobs have the dtype of logits, float32 or float64.
- An action whose logit is -inf, or 1000 below another, is never drawn; no gradient is NaN on its account.
- No loop over rows. One over time is welcome.
- The arguments stay as they are. The loss of tensors on another device copies nothing to or from the CPU.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def choose(logits: Float[Tensor, "batch actions"]) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
    """An action for each row, drawn at random, and the log-probability that it had."""
    raise NotImplementedError


def reinforce_loss(
    logprobs: Float[Tensor, "steps"],
    rewards: Float[Tensor, "steps"],
    gamma: float = 0.99,
    baseline: Float[Tensor, "steps"] | None = None,
) -> Float[Tensor, ""]:
    """The loss of one episode, whose gradient is that of REINFORCE."""
    raise NotImplementedError
