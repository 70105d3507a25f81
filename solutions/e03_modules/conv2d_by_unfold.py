from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def conv2d(
    x: Float[Tensor, "batch channels height width"],
    weight: Float[Tensor, "filters channels/groups kernel_height kernel_width"],
    bias: Float[Tensor, "filters"] | None = None,
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
) -> Float[Tensor, "batch filters high wide"]:
    filters, fewer, *kernel = weight.shape
    if x.shape[1] != groups * fewer or filters % groups:
        raise ValueError(f"{groups=} do not fit {x.shape[1]} channels and a weight of {tuple(weight.shape)}")
    windows = F.unfold(x, kernel, padding=padding, stride=stride)  # (batch, channels * numbers, places)
    columns = windows.unflatten(1, (groups, weight[0].numel()))  # (batch, groups, numbers, places)
    rows = weight.reshape(groups, filters // groups, -1)  # (groups, filters of a group, numbers)
    result = (rows @ columns).flatten(1, 2)  # (batch, filters, places)
    if bias is not None:
        result = result + bias[:, None]
    high, wide = ((size + 2 * padding - k) // stride + 1 for size, k in zip(x.shape[2:], kernel, strict=True))
    return result.unflatten(2, (high, wide))
