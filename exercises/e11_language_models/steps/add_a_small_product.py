"""Add a small product to a large matrix: LoRA.

To teach a large layer something new, its weight stays, and the product of two small matrices is added: b of shape
(out, rank), a of shape (rank, in). Return what the layer then gives: x times the transpose of weight + scale · b @ a.

    x, weight = torch.tensor([[1.0, 2.0]]), torch.eye(2)
    a, b = torch.ones(1, 2), torch.tensor([[0.0], [1.0]])
    add_a_small_product(x, weight, a, b, 2.0)       # tensor([[1., 8.]])

New here: `x @ weight.T` is what nn.Linear does: its weight has shape (out, in). `torch.eye(2)` has ones on
the diagonal.
"""

from jaxtyping import Float
from torch import Tensor


def add_a_small_product(
    x: Float[Tensor, "rows in"],
    weight: Float[Tensor, "out in"],
    a: Float[Tensor, "rank in"],
    b: Float[Tensor, "out rank"],
    scale: float,
) -> Float[Tensor, "rows out"]:
    raise NotImplementedError
