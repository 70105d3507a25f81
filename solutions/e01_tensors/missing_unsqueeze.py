from jaxtyping import Float
from torch import Tensor


def weighted_mse(
    predictions: Float[Tensor, "batch 1"], targets: Float[Tensor, "batch"], weights: Float[Tensor, "batch"]
) -> Float[Tensor, ""]:
    batch = len(targets) if targets.ndim == 1 else None
    if batch is None or weights.shape != (batch,) or predictions.shape != (batch, 1):
        shapes = ", ".join(str(tuple(x.shape)) for x in (predictions, targets, weights))
        raise ValueError(f"want (batch, 1), (batch,) and (batch,), got {shapes}")
    errors = predictions.squeeze(1) - targets  # (batch,)
    return (weights * errors**2).sum() / weights.sum()
