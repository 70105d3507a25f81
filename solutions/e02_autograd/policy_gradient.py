import torch
from jaxtyping import Float, Int64
from torch import Tensor


def choose(logits: Float[Tensor, "batch actions"]) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
    logprobs = logits.log_softmax(1)  # (batch, actions)
    actions = torch.multinomial(logprobs.detach().exp(), 1)  # (batch, 1)
    return actions.squeeze(1), logprobs.gather(1, actions).squeeze(1)


def reinforce_loss(
    logprobs: Float[Tensor, "steps"],
    rewards: Float[Tensor, "steps"],
    gamma: float = 0.99,
    baseline: Float[Tensor, "steps"] | None = None,
) -> Float[Tensor, ""]:
    with torch.no_grad():
        ahead, returns = torch.zeros_like(rewards[0]), []
        for reward in rewards.flip(0):  # from the last step to the first
            ahead = reward + gamma * ahead
            returns.append(ahead)
        weights = torch.stack(returns[::-1])  # (steps,)
        if baseline is not None:
            weights = weights - baseline
    return -(logprobs * weights).sum()
