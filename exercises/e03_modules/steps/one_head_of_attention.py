"""One head of attention.

Each word of a text asks a question (a row of q), and each has a key and a value (rows of k and v). Return for
each word a mix of all values: those count most whose keys fit its question.

    softmax(q kᵀ / √d) v
    # d: the numbers in a row of q; the softmax is along each row

    q, k = torch.tensor([[0.0], [9.0]]), torch.tensor([[1.0], [-1.0]])
    one_head_of_attention(q, k, torch.tensor([[2.0], [4.0]]))
    # tensor([[3.], [2.]])

New here: no new function. The products are matrix products, `@`; `k.T` is kᵀ, `d ** 0.5` is √d,
`softmax(dim=1)` goes along each row.
"""

from jaxtyping import Float
from torch import Tensor


def one_head_of_attention(
    q: Float[Tensor, "time d"], k: Float[Tensor, "time d"], v: Float[Tensor, "time d"]
) -> Float[Tensor, "time d"]:
    raise NotImplementedError
