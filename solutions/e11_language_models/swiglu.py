from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int | None = None, *, multiple_of: int = 256) -> None:
        super().__init__()
        if hidden is None:
            hidden = -(-(8 * dim // 3) // multiple_of) * multiple_of
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        features = F.silu(self.gate_proj(x)) * self.up_proj(x)  # (*shape, hidden)
        return self.down_proj(features)  # (*shape, dim)
