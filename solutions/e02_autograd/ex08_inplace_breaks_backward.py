"""Leaky traces, and a saved value that is overwritten.

A recurrent layer keeps a trace of what it saw: at each step the trace fades by `decay`, and the step's
input is added.

    x = torch.tensor([[1., 10.], [2., 20.], [4., 40.]])     # three steps of two features
    leaky_traces(x, decay=torch.tensor(0.5), initial=torch.tensor([8., 0.]))
    # [[5., 10.], [4.5, 25.], [6.25, 52.5]]: 0.5 * 8 + 1, then 0.5 * 5 + 2, then 0.5 * 4.5 + 4

The first version works in place to save memory. It went well while the decay was fixed. Since the decay is
a learnable parameter, backward raises "one of the variables needed for gradient computation has been
modified by an inplace operation". And whoever starts two sequences from one `initial` gets a wrong second
one.

Rules:
- Step t is decay times step t - 1 plus x[t]; step 0 builds on `initial`.
- x, decay and initial are floats of one dtype, which is that of the result. None of them is changed.
- Gradients flow to x, decay and initial: through all steps, of first and second order.
- Callers go on in place (`leaky_traces(...).relu_()`): backward works all the same, and no input changes.
- No steps give an empty result, of shape (0, *features). Decays of exactly 0 and 1 are decays like others
  (but for gradients of second order, which do not matter there).
- `initial` has the shape of one step of x. Any other shape gets a ValueError, also one that would broadcast.
  So far, some raise a RuntimeError and some pass.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def leaky_traces(
    x: Float[Tensor, "time *features"], decay: Float[Tensor, "..."], initial: Float[Tensor, "*features"]
) -> Float[Tensor, "time *features"]:
    """The trace after each step.

    Args:
        x: what is added at each step.
        decay: what remains of a trace after a step, from 0 to 1: of shape (), or (*features) for one each.
        initial: the trace before the first step.

    Returns:
        The traces, in the shape and dtype of x.

    Raises:
        ValueError: initial is not of the shape of one step of x.
    """
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
