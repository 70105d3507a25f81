"""The loss of Q-learning: the prediction moves towards the target, and the target stands still.

A network estimates what each action is worth in a state. The estimate for the action that was taken should
come closer to what was found out since: the reward, plus gamma times the worth of the best action in the next
state, as a second network (or the same one) sees it. Where the episode is over, the reward alone counts.

    w = torch.tensor([[1.0, 3.0]], requires_grad=True)      # one number in, the worth of two actions out
    net = lambda states: states @ w
    states, next_states = torch.tensor([[1.0]]), torch.tensor([[2.0]])
    actions, rewards, done = torch.tensor([0]), torch.tensor([1.0]), torch.tensor([False])
    loss = td_loss(net, net, states, actions, rewards, next_states, done, gamma=0.5)
    # prediction 1 · 1 = 1, target 1 + 0.5 · max(2, 6) = 4, loss (1 - 4)² = 9
    loss.backward()
    # w.grad is 2 · (1 - 4) · 1 = -6 for action 0, and 0 for action 1

The code below finds the same loss, but w.grad is [-6, 6]: it makes the next state look worse, where it should
only make this one look better. Trained this way, the estimates are too low.

Rules:
- The result is the mean over the batch of (prediction - target)². It has no dimensions and carries its graph.
- Gradients flow through the prediction only: to the parameters of net, and to states. The target is a number:
  through it nothing gets a gradient, whether net, target_net, rewards or next_states. They may share
  parameters, or come from one encoder, and be in the graph for other reasons.
- target_net, and it alone, tells what next states are worth. It may be net itself. Networks may mark actions
  that are not possible with -inf; what net says of an action that was not taken has no influence.
- Where done is True the next state may hold anything, even NaN and inf, and has no influence. NaN anywhere
  else comes through to the loss.
- Only the loss is computed: no backward. Networks run in the mode that they are in, and nothing changes for
  the caller, also where a network raises an error: neither `.grad` nor `requires_grad` of parameters, nor
  training modes, nor whether gradients are recorded, nor a tensor that comes in or that a network returns.
- The batch has one entry or more; all that is floating has one dtype, float32 or float64, and one device.
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
    """The mean squared difference between estimates and targets.

    Args:
        net: maps states to the worth of each action, (batch, actions).
        target_net: the same for next states.
        states: where the actions were taken, (batch, *state).
        actions: which ones, (batch,).
        rewards: what they gave, (batch,).
        next_states: where they led, (batch, *state).
        done: whether the episode ended with them, (batch,).
        gamma: what a later reward counts against one now.

    Returns:
        The loss, 0-d.
    """
    predictions = net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    best = target_net(next_states).amax(dim=1)
    targets = rewards + gamma * best.masked_fill(done, 0.0)
    return (predictions - targets).square().mean()
