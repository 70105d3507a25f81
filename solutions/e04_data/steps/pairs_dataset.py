from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset


class Pairs(Dataset):
    def __init__(self, features: Float[Tensor, "rows columns"], labels: Int[Tensor, "rows"]) -> None:
        self.features = features
        self.labels = labels

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, i: int) -> tuple[Float[Tensor, "columns"], Int[Tensor, ""]]:
        return self.features[i], self.labels[i]  # (columns,), ()
