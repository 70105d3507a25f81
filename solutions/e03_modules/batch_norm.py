import torch
from jaxtyping import Float
from torch import Tensor, nn


class BatchNorm(nn.Module):
    def __init__(self, features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps = eps
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(
        self, x: Float[Tensor, "batch features *positions"]
    ) -> Float[Tensor, "batch features *positions"]:
        features = len(self.weight)
        if x.dim() < 2 or x.shape[1] != features:
            raise ValueError(f"x must be (batch, {features}, ...), not {tuple(x.shape)}")
        exact = x if x.dtype == torch.float64 else x.float()
        if self.training:
            n = x.numel() // features
            if n < 2:
                raise ValueError(f"a batch needs two values per feature to train on, not {n}")
            dims = [0, *range(2, x.dim())]
            mean = exact.mean(dims)  # (features,)
            var = exact.var(dims, correction=0)  # (features,)
            with torch.no_grad():
                self.running_mean += self.momentum * (mean - self.running_mean)
                self.running_var += self.momentum * (var * (n / (n - 1)) - self.running_var)
        else:
            mean, var = self.running_mean, self.running_var
        column = (-1, *[1] * (x.dim() - 2))  # (features, 1, ...) meets (batch, features, *positions)
        scale = self.weight * (var + self.eps).rsqrt()  # (features,)
        result = (exact - mean.view(column)) * scale.view(column) + self.bias.view(column)
        return result.to(x.dtype)
