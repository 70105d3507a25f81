"""Learn from a reward: sample, then `-log p * reward`.

Each of some slot machines has a score. Draw one, with the probabilities `softmax(scores)`; it pays
`rewards[machine]`. Return its number, a Python int, and the loss `-log(p) * reward`, where p is the
probability it had. Going down, this loss makes good machines likelier.

    learn_from_reward(torch.tensor([0.0, 0.0]), torch.tensor([5.0, 5.0]))
    # (0 or 1, tensor(3.4657)): 3.4657 is -log(0.5) * 5

New here: `torch.multinomial(probabilities, 1)` draws a place, without a gradient;
`torch.log_softmax(scores, dim=0)` gives log(p) for each machine, and lets a gradient through.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def learn_from_reward(
    scores: Float[Tensor, "machines"], rewards: Float[Tensor, "machines"]
) -> tuple[int, Float[Tensor, ""]]:
    raise NotImplementedError
