import torch
from jaxtyping import Float
from torch import Tensor


def leaky_traces(
    x: Float[Tensor, "time *features"], decay: Float[Tensor, "..."], initial: Float[Tensor, "*features"]
) -> Float[Tensor, "time *features"]:
    if initial.shape != x.shape[1:]:
        raise ValueError(
            f"initial has shape {tuple(initial.shape)}, but one step of x has {tuple(x.shape[1:])}"
        )
    trace = initial
    traces = []
    for step in x:
        trace = decay * trace + step  # (*features), a new tensor: the product keeps the old one for backward
        traces.append(trace)
    return torch.stack(traces) if traces else x.clone()  # (time, *features)
