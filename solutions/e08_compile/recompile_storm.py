import torch
from jaxtyping import Float
from torch import Tensor, nn


class RecencyBias(nn.Module):
    """Lowers scores by distance, more with each training step; `slopes` (heads,) is its parameter."""

    def __init__(self, heads: int, warmup: int) -> None:
        super().__init__()
        self.warmup = warmup
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))  # whole: no cast rounds it

    def forward(
        self, scores: Float[Tensor, "batch heads time time"]
    ) -> Float[Tensor, "batch heads time time"]:
        """Scores (batch, heads, queries, keys) with the bias, in their own dtype."""
        if self.training:
            self.steps += 1
        strength = (self.steps / self.warmup).clamp(max=1.0)  # (): data, which no guard looks at
        position = torch.arange(scores.shape[-1], device=scores.device)  # (time,)
        distance = (position[:, None] - position).abs()  # (time, time)
        bias = strength * self.slopes[:, None, None] * distance  # (heads, time, time)
        return scores - bias.to(scores.dtype)


if __name__ == "__main__":
    torch._logging.set_logs(recompiles=True)  # or TORCH_LOGS=recompiles in the environment
    fast = torch.compile(RecencyBias(2, 4), fullgraph=True, backend="eager")
    for length in (3, 3, 4, 5):
        fast(torch.zeros(1, 2, length, length))
