"""Which two experts: `topk`, then softmax.

In a mixture of experts each token goes to two small networks of many. A router gives each token a score for each
expert. Return two tensors: the shares of the two best experts, and their numbers, the best first.

    which_two_experts(torch.tensor([[1.0, 3.0, 3.5], [2.0, 0.0, 1.0]]))
    # (tensor([[0.6225, 0.3775], [0.7311, 0.2689]]), tensor([[2, 1], [0, 2]]))

- The shares of the two add up to 1: they are the softmax of their scores.

New here: no new function. A softmax of two numbers knows nothing of the others.
"""

from jaxtyping import Float, Int
from torch import Tensor


def which_two_experts(
    scores: Float[Tensor, "tokens experts"],
) -> tuple[Float[Tensor, "tokens 2"], Int[Tensor, "tokens 2"]]:
    raise NotImplementedError
