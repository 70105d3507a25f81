from jaxtyping import Float
from torch import Tensor

Column = Float[Tensor, "batch"] | Float[Tensor, "batch 1"]


def weighted_mse(predictions: Column, targets: Column, weights: Column | None = None) -> Float[Tensor, ""]:
    if weights is None:
        predictions, targets = _rows(predictions, targets)  # both (batch,)
        return (predictions - targets).square().mean()
    predictions, targets, weights = _rows(predictions, targets, weights)
    errors = (predictions - targets).square()  # (batch,)
    return (weights * errors).sum() / weights.sum()


def share_within(predictions: Column, targets: Column, tolerance: float = 0.1) -> float:
    predictions, targets = _rows(predictions, targets)
    close = (predictions - targets).abs() <= tolerance
    return close.double().mean().item()


def _rows(*columns: Tensor) -> list[Tensor]:
    """Each as (batch,), once it is certain that they are of the same batch."""
    for column in columns:
        if column.dim() not in (1, 2) or column.shape[1:] not in ((), (1,)):
            raise ValueError(f"expected (batch,) or (batch, 1), got {tuple(column.shape)}")
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"batches of different sizes: {[tuple(column.shape) for column in columns]}")
    return [column.reshape(-1) for column in columns]
