from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op


@custom_op("kata::scan", mutates_args=())
def scan(x: Tensor, decay: Tensor) -> Tensor:  # plain types: custom_op reads them
    _check(x, decay)
    states = x.new_empty(x.shape)  # (..., time), contiguous
    state = x.new_zeros(x.shape[:-1])
    for t in range(x.shape[-1]):
        state = decay[..., t] * state + x[..., t]
        states[..., t] = state
    return states


@scan.register_fake
def _fake(x: Tensor, decay: Tensor) -> Tensor:
    _check(x, decay)
    return x.new_empty(x.shape)  # (..., time): sizes may be symbols


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(inputs[1], output)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    decay, states = ctx.saved_tensors
    zero = torch.zeros_like(decay[..., :1])  # (..., 1), or no step where there is none
    later = torch.cat([decay[..., 1:], zero], dim=-1)  # (..., time)
    before = torch.cat([zero, states[..., :-1]], dim=-1)  # (..., time)
    for_x = scan(grad.flip(-1), later.flip(-1)).flip(-1)  # (..., time)
    return for_x, for_x * before


scan.register_autograd(_backward, setup_context=_keep)


def _check(x: Tensor, decay: Tensor) -> None:
    if x.shape != decay.shape:
        raise ValueError(f"x and decay must have one shape, but are {x.shape} and {decay.shape}")
