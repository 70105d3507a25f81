"""PPO: how much better each step was than expected, and a loss that does not go too far.

A value says what is still to come. From rewards and values, generalized advantage estimation makes advantages (Schulman
et al. 2015, equation 16), and PPO a loss (Schulman et al. 2017, equations 7 and 9; values clipped as in its code).

    delta[t] = reward[t] + gamma * value[t + 1] - value[t]
    advantage[t] = delta[t] + gamma * lam * advantage[t + 1]
    return[t] = advantage[t] + value[t]

    # ratio = exp(logprob - old_logprob); near: value, at most clip away from old_value
    loss = -mean(min(ratio * advantage, clamp(ratio, 1 - clip, 1 + clip) * advantage))
           + value_coef * mean(max((value - return)², (near - return)²)) / 2
           - entropy_coef * mean(entropy)

    rewards, values = torch.tensor([[1.0, 4.0, 3.0]]), torch.tensor([[1.0, 2.0, 4.0, 8.0]])
    done = torch.tensor([[False, True, False]])
    gae(rewards, values, done, gamma=0.5, lam=0.8)     # advantages [[1.8, 2, 3]], returns [[2.8, 4, 7]]

- values has one step more: the value after the last one.
- Where done is True an episode ends with this step: value[t + 1] and advantage[t + 1] count as 0.
- No loop over rows. One over time is welcome.
- `ppo_loss` gets advantages as they are. Gradients flow to logprobs, values and entropy.

Fine print:
- What `gae` returns carries no graph, also where values require gradients.
- old_logprobs, old_values, advantages and returns get no gradient, also where they require one.
- float64 stays float64; any strides; the arguments stay as they are.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Bool, Float
from torch import Tensor


def gae(
    rewards: Float[Tensor, "batch time"],
    values: Float[Tensor, "batch time_and_one"],
    done: Bool[Tensor, "batch time"],
    gamma: float = 1.0,
    lam: float = 0.95,
) -> tuple[Float[Tensor, "batch time"], Float[Tensor, "batch time"]]:
    """The advantages and returns of all steps."""
    raise NotImplementedError


def ppo_loss(
    logprobs: Float[Tensor, "steps"],
    old_logprobs: Float[Tensor, "steps"],
    advantages: Float[Tensor, "steps"],
    values: Float[Tensor, "steps"],
    old_values: Float[Tensor, "steps"],
    returns: Float[Tensor, "steps"],
    entropy: Float[Tensor, "steps"],
    clip: float = 0.2,
    value_coef: float = 0.5,
    entropy_coef: float = 0.01,
) -> Float[Tensor, ""]:
    """The loss of policy and values over these steps, 0-d."""
    raise NotImplementedError
