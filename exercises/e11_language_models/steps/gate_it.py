"""Through a gate: `F.silu`.

In newer language models one layer makes values and another one a gate, which says how much of each value comes through.
Return silu of the gate, times the value.

    gate_it(torch.tensor([[0.0, 2.0]]), torch.tensor([[5.0, 3.0]]))
    # tensor([[0.0000, 5.2848]])

New here: `F.silu(x)` is x · sigmoid(x): nearly x where x is large, nearly 0 far below 0. `F` is
`torch.nn.functional`.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def gate_it(
    gate: Float[Tensor, "rows features"], value: Float[Tensor, "rows features"]
) -> Float[Tensor, "rows features"]:
    raise NotImplementedError
