"""A recompile storm: every step and every new length costs another compilation.

`RecencyBias` makes attention prefer what is near: it lowers the score of query i for key j by the distance
|i - j| times a slope, which each head learns. So that it can be put into a trained model it is faded in, over
the first `warmup` training steps:

    bias = RecencyBias(heads=2, warmup=4)      # slopes 0.5 and 0.25
    bias(torch.zeros(1, 2, 3, 3))[0, 0]        # first step, a quarter of it for head 0:
    # [[0., -0.125, -0.25], [-0.125, 0., -0.125], [-0.25, -0.125, 0.]]
    bias(torch.zeros(1, 2, 2, 2))[0, 1]        # second step, half of it for head 1:
    # [[0., -0.125], [-0.125, 0.]]

The code below computes this right. But compiled it is slower than before: `TORCH_LOGS=recompiles` shows a new
compilation in every step, for one of two reasons, until the compiler reaches its limit of eight and gives up.
And a run that continues from a checkpoint fades in from the start again.

Rules:
- The caller compiles, `torch.compile(bias, fullgraph=True)`, under PyTorch's default settings and with any
  backend. For one batch size, in training mode, there is one graph for the first length and one more for
  all others from 2 up, however many steps there are. In evaluation mode it is the same.
- Compiled or not, numbers and gradients, for scores and slopes, are the same. Several calls may come before
  one backward.
- The k-th call in training mode has strength min(1, k / warmup). A call in evaluation mode does not count: it
  has the strength of the last training call, and 0 if there was none.
- The state_dict tells how far it is: another module with the same heads and warmup that loads it goes on
  from there, whatever lengths the two have seen. Modules and their copies count each for itself.
- Cast to another dtype the module still counts right, to any number. The result has the dtype of scores,
  whatever the dtype of the slopes, and all digits of float64 where both are float64 (of a strength such as
  1/3, those of float32 are enough).
- Scores may be on any device, and the module moves there as modules do. The host reads no number off the
  device. Scores are not changed.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RecencyBias(nn.Module):
    """Lowers scores by distance, more with each training step.

    Args:
        heads: number of heads. The slope of the first is 0.5, that of each other half of the one before.
        warmup: the training step, at least 1, from which on the bias has its full strength.

    Attributes:
        slopes: the parameter (heads,).
    """

    def __init__(self, heads: int, warmup: int) -> None:
        super().__init__()
        self.warmup = warmup
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.steps = 0
        self.distances: dict[int, Tensor] = {}

    def forward(
        self, scores: Float[Tensor, "batch heads time time"]
    ) -> Float[Tensor, "batch heads time time"]:
        """Scores (batch, heads, queries, keys) with the bias, in their own dtype."""
        if self.training:
            self.steps += 1
        strength = min(1.0, self.steps / self.warmup)
        time = scores.shape[-1]
        if time not in self.distances:
            position = torch.arange(time, device=scores.device)
            self.distances[time] = (position[:, None] - position).abs()
        bias = strength * self.slopes[:, None, None] * self.distances[time]
        return scores - bias.to(scores.dtype)
