from jaxtyping import Shaped
from torch import Tensor


def next_token_windows(
    tokens: Shaped[Tensor, "tokens"], block: int, stride: int | None = None, offset: int = 0
) -> tuple[Shaped[Tensor, "windows block"], Shaped[Tensor, "windows block"]]:
    stride = block if stride is None else stride
    if block < 1 or stride < 1 or offset < 0:
        raise ValueError(f"block {block} and stride {stride} must be 1 or more, offset {offset} 0 or more")
    rest = tokens[offset:]
    if len(rest) <= block:  # unfold refuses rows that are too short
        empty = rest[:0].view(0, 1).expand(0, block)
        return empty, empty
    windows = rest.unfold(0, block + 1, stride)  # (windows, block + 1)
    return windows[:, :-1], windows[:, 1:]
