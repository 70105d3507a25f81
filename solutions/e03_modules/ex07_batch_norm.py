"""Batch normalisation by hand: statistics of the batch to train with, running ones to predict with.

A batch norm gives each feature mean 0 and variance 1 over the batch, then scales and shifts it. To predict
for a single row there is no batch, so while training the layer keeps running averages of what it saw.

    layer = BatchNorm(1, momentum=0.5)
    layer(torch.tensor([[1.0], [3.0]]))     # [[-1.0], [1.0]]: mean 2, variance (1 + 1) / 2 = 1
    # running_mean is 0.5 · 0 + 0.5 · 2 = 1, running_var is 0.5 · 1 + 0.5 · (1 + 1) / (2 - 1) = 1.5
    layer.eval()
    layer(torch.tensor([[3.0]]))            # [[1.633]]: (3 - 1) / sqrt(1.5)

Rules, for x of (batch, features) with any number of further dimensions behind, in any memory layout:
- State dicts go to and fro between this layer and `nn.BatchNorm1d`: parameters `weight` (ones) and `bias`
  (zeros), buffers `running_mean` (zeros), `running_var` (ones), all (features,), and `num_batches_tracked`,
  an int64 without dimensions (0). Nothing else is registered or saved.
- Training mode: each feature is normalised over all other dimensions, by (x - mean) / sqrt(var + eps), with
  the biased variance (divided by n). Then running = (1 - momentum) · running + momentum · new, where the new
  variance is the unbiased one (divided by n - 1), and num_batches_tracked goes up by one. With
  momentum=None the running statistics are the plain average of those of all batches: momentum is
  1 / num_batches_tracked, after counting. 0.0 and 1.0 are momenta like others.
- Evaluation mode: the running statistics normalise, nothing is updated, and a batch has any size, also 0.
- Buffers are updated in place, so that whoever holds them sees the new numbers, and carry no graph.
  Gradients flow to x, weight and bias; in training mode also through the batch's mean and variance.
- The result has the shape, dtype and device of x. float16 and bfloat16 are computed in float32 and rounded
  once at the end, where the layer is float32 and where it is cast as well (then the buffers have its
  dtype, and an update is computed in float32, too, and rounded at the end); float64 stays float64. A constant
  feature is no problem, nor is a mean of 10000 times the deviation.
- x is not changed. No Python loop over rows or features, and no number is copied between x's device and
  the CPU. Without PyTorch's own batch, instance, group and layer norm.

Bad input raises ValueError, before anything is updated: x with fewer than two dimensions, or another number
of features, in both modes; fewer than two values per feature in training mode.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """Normalises each feature over the batch.

    Args:
        features: how many features there are, 1 or more.
        eps: what is added to the variance.
        momentum: the weight of a new batch in the running statistics; None for a plain average.
    """

    def __init__(self, features: int, eps: float = 1e-5, momentum: float | None = 0.1) -> None:
        super().__init__()
        self.features = features
        self.eps = eps
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(
        self, x: Float[Tensor, "batch features *positions"]
    ) -> Float[Tensor, "batch features *positions"]:
        """Normalise, and in training mode update the running statistics.

        Args:
            x: the batch, (batch, features, *positions).

        Returns:
            The normalised batch, in the shape, dtype and device of `x`.

        Raises:
            ValueError: fewer than two dimensions, another number of features, or, in training mode,
                fewer than two values per feature.
        """
        if x.dim() < 2 or x.shape[1] != self.features:
            raise ValueError(f"x must be (batch, {self.features}, ...), not {tuple(x.shape)}")
        exact = x if x.dtype == torch.float64 else x.float()
        if self.training:
            n = x.numel() // self.features
            if n < 2:
                raise ValueError(f"a batch needs two values per feature to train on, not {n}")
            dims = [0, *range(2, x.dim())]
            mean = exact.mean(dims)  # (features,)
            var = exact.var(dims, correction=0)  # (features,)
            self._update(mean.detach(), var.detach() * (n / (n - 1)))
        else:
            mean, var = self.running_mean.to(exact.dtype), self.running_var.to(exact.dtype)
        column = (-1, *[1] * (x.dim() - 2))  # (features, 1, ...) meets (batch, features, *positions)
        scale = self.weight * (var + self.eps).rsqrt()  # (features,)
        result = (exact - mean.view(column)) * scale.view(column) + self.bias.view(column)
        return result.to(x.dtype)

    @torch.no_grad()
    def _update(self, mean: Tensor, var: Tensor) -> None:
        self.num_batches_tracked += 1
        # a tensor stays on its device, where a float would have to come from there
        momentum = 1 / self.num_batches_tracked.to(mean.dtype) if self.momentum is None else self.momentum
        self.running_mean += momentum * (mean - self.running_mean)
        self.running_var += momentum * (var - self.running_var)
