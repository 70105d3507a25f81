"""Leaky traces, and a saved value that is overwritten.

A recurrent layer keeps a trace of what it saw: at each step the trace fades by `decay`, and the step's
input is added. Step 0 builds on `initial`.

    x = torch.tensor([[1., 10.], [2., 20.], [4., 40.]])     # three steps of two features
    leaky_traces(x, decay=torch.tensor(0.5), initial=torch.tensor([8., 0.]))
    # [[5., 10.], [4.5, 25.], [6.25, 52.5]]: 0.5 * 8 + 1, then 0.5 * 5 + 2, then 0.5 * 4.5 + 4

The code below works in place to save memory. Since the decay is learned, backward raises "one of the
variables needed for gradient computation has been modified by an inplace operation". And whoever starts two
sequences from one `initial` gets a wrong second one.

- Gradients flow to x, decay and initial, through all steps.
- x, decay and initial stay as they are. decay is one number, or one for each feature.

Fine print:
- No steps give an empty result, of shape (0, *features).
- Callers go on in place (`leaky_traces(...).relu_()`): backward works all the same, and no input changes.
- `initial` of another shape than one step of x raises ValueError, even if it would broadcast.
- Decays of exactly 0 and 1 are decays like others.
- The result has the dtype of x.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def leaky_traces(
    x: Float[Tensor, "time *features"], decay: Float[Tensor, "..."], initial: Float[Tensor, "*features"]
) -> Float[Tensor, "time *features"]:
    """The trace after each step, in the shape of x."""
    trace = initial
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace[...] = decay * trace + x[t]
        traces[t] = trace
    return traces
