from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

Network = Callable[[Float[Tensor, "batch *state"]], Float[Tensor, "batch actions"]]


def td_loss(
    net: Network,
    target_net: Network,
    states: Float[Tensor, "batch *state"],
    actions: Int64[Tensor, "batch"],
    rewards: Float[Tensor, "batch"],
    next_states: Float[Tensor, "batch *state"],
    done: Bool[Tensor, "batch"],
    gamma: float = 0.99,
) -> Float[Tensor, ""]:
    predictions = net(states).gather(1, actions.unsqueeze(1)).squeeze(1)  # (batch,)
    with torch.no_grad():  # a target is a number: nothing learns through it
        best = target_net(next_states).amax(dim=1)  # (batch,)
        targets = rewards + gamma * best.masked_fill(done, 0.0)  # (batch,)
    return (predictions - targets).square().mean()  # ()
