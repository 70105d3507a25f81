"""The loss of Q-learning: the prediction moves towards the target, and the target stands still.

A network estimates what each action is worth in a state. Its estimate for the action taken is to come closer to the
reward plus gamma times the worth of the best action in the next state, as a second network (or the same one) sees it.
Where the episode is over, the reward alone counts.

    w = torch.tensor([[1.0, 3.0]], requires_grad=True)      # one number in, the worth of two actions out
    net = lambda states: states @ w
    states, next_states = torch.tensor([[1.0]]), torch.tensor([[2.0]])
    actions, rewards, done = torch.tensor([0]), torch.tensor([1.0]), torch.tensor([False])
    loss = td_loss(net, net, states, actions, rewards, next_states, done, gamma=0.5)
    # prediction 1 · 1 = 1, target 1 + 0.5 · max(2, 6) = 4, loss (1 - 4)² = 9
    loss.backward()
    # w.grad is 2 · (1 - 4) · 1 = -6 for action 0, and 0 for action 1

The code below finds the same loss, but w.grad is [-6, 6]: it makes the next state look worse, where it should only make
this one look better.

- The loss is the mean of (prediction - target)² over the batch.
- Gradients flow through the prediction; through the target nothing learns.

Fine print:
- Where done is True, next_states may hold anything, even NaN and inf: neither the loss nor a gradient sees it.
- Networks may mark impossible actions with -inf: what net says of an action that was not taken has no influence.
- rewards and next_states may require gradients: they get none through the target. States do.
- Nothing changes for the caller: no `.grad`, no `requires_grad`, no training mode, nor whether gradients are recorded.
- float64 stays float64; on another device everything stays there.
"""

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
    """The mean squared difference between estimates and targets, 0-d."""
    predictions = net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    best = target_net(next_states).amax(dim=1)
    targets = rewards + gamma * best.masked_fill(done, 0.0)
    return (predictions - targets).square().mean()
