from jaxtyping import Shaped
from torch import Tensor


def windows(
    x: Shaped[Tensor, "*batch height width"], size: int, step: int
) -> Shaped[Tensor, "*batch rows columns size size"]:
    *batch, height, width = x.shape
    if min(size, step) < 1 or size > min(height, width):
        raise ValueError(f"no windows of {size=}, {step=} in an image of {height} times {width}")
    rows, columns = (height - size) // step + 1, (width - size) // step + 1
    *leading, down, right = x.stride()  # how far to step in memory for the next row, and the next column
    shape = (*batch, rows, columns, size, size)
    return x.as_strided(shape, (*leading, step * down, step * right, down, right))


def shares_storage(a: Tensor, b: Tensor) -> bool:
    start = a.untyped_storage().data_ptr()  # where the memory begins, not where the tensor does
    return start != 0 and start == b.untyped_storage().data_ptr()  # 0: there is none
