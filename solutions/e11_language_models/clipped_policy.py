import torch
from jaxtyping import Bool, Float
from torch import Tensor


@torch.no_grad()
def gae(
    rewards: Float[Tensor, "batch time"],
    values: Float[Tensor, "batch time_and_one"],
    done: Bool[Tensor, "batch time"],
    gamma: float = 1.0,
    lam: float = 0.95,
) -> tuple[Float[Tensor, "batch time"], Float[Tensor, "batch time"]]:
    goes_on = (~done).to(rewards.dtype)  # 0.95 * a boolean tensor would be float32
    delta = rewards + gamma * values[:, 1:] * goes_on - values[:, :-1]  # (batch, time)
    advantages, later = torch.zeros_like(rewards), torch.zeros_like(rewards[:, 0])
    for t in reversed(range(rewards.shape[1])):
        later = delta[:, t] + gamma * lam * goes_on[:, t] * later  # (batch,)
        advantages[:, t] = later
    return advantages, advantages + values[:, :-1]


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
    old_logprobs, advantages = old_logprobs.detach(), advantages.detach()
    old_values, returns = old_values.detach(), returns.detach()
    ratio = (logprobs - old_logprobs).exp()  # (steps,)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    policy = -torch.minimum(ratio * advantages, clipped * advantages).mean()  # ()
    near = old_values + (values - old_values).clamp(-clip, clip)
    worse = torch.maximum((values - returns).square(), (near - returns).square())
    return policy + value_coef * worse.mean() / 2 - entropy_coef * entropy.mean()
