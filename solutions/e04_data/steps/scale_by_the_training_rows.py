from jaxtyping import Float
from torch import Tensor


def scale_by_the_training_rows(
    train: Float[Tensor, "rows columns"], test: Float[Tensor, "others columns"]
) -> tuple[Float[Tensor, "rows columns"], Float[Tensor, "others columns"]]:
    mean, std = train.mean(dim=0), train.std(dim=0)  # (columns,)
    return (train - mean) / std, (test - mean) / std
