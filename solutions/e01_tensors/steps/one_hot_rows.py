from jaxtyping import Int, Num
from torch import Tensor
from torch.nn import functional as F


def one_hot_rows(labels: Int[Tensor, " n"], classes: int) -> Num[Tensor, "n classes"]:
    return F.one_hot(labels, num_classes=classes)
