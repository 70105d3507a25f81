"""A recompile storm: every step and every new length costs another compilation.

`RecencyBias` makes attention prefer what is near: it lowers the score of query i for key j by |i - j| times a slope,
which each head learns. It is faded in over `warmup` training steps:

    bias = RecencyBias(heads=2, warmup=4)      # slopes 0.5 and 0.25
    fast = torch.compile(bias, fullgraph=True)
    fast(torch.zeros(1, 2, 3, 3))[0, 0]        # first step, a quarter of it for head 0:
    # [[0., -0.125, -0.25], [-0.125, 0., -0.125], [-0.25, -0.125, 0.]]
    fast(torch.zeros(1, 2, 2, 2))[0, 1]        # second step, half of it for head 1:
    # [[0., -0.125], [-0.125, 0.]]

The code below is right, but slow when compiled: each step compiles anew, for one of two reasons. Run it to read them.

- Under the compiler's default settings one graph serves the first length, and one more all others.
- Compiled or not, the k-th training call has strength min(1, k / warmup).
- A call in evaluation mode does not count: it has the strength of the last training call, or 0.

Fine print:
- A module that loads the state_dict of another goes on from there. `slopes` stays the only parameter.
- Cast to bfloat16, which has no 257, the module counts on, and measures distances, beyond 256.
- There is no longest length.
- The result has the dtype of scores. Scores stay as they are.
- The module moves to a device, counts there, and the host reads no number from it.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RecencyBias(nn.Module):
    """Lowers scores by distance, more with each training step; `slopes` (heads,) is its parameter."""

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


if __name__ == "__main__":
    torch._logging.set_logs(recompiles=True)  # or TORCH_LOGS=recompiles in the environment
    fast = torch.compile(RecencyBias(2, 4), fullgraph=True, backend="eager")
    for length in (3, 3, 4, 5):
        fast(torch.zeros(1, 2, length, length))
