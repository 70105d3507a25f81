from jaxtyping import Float, Shaped
from torch import Tensor


def share(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    return prompt.expand(beams, *prompt.shape)  # stride 0 along beams


def own(prompt: Shaped[Tensor, "*shape"], beams: int) -> Shaped[Tensor, "beams *shape"]:
    return prompt.expand(beams, *prompt.shape).clone()  # (beams, *shape)


def add_positions(
    x: Float[Tensor, "*batch time dim"], table: Float[Tensor, "longest dim"]
) -> Float[Tensor, "*batch time dim"]:
    time = x.shape[-2]
    return x + table[:time]  # (*batch, time, dim) + (time, dim)
