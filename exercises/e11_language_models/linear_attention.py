"""Linear attention: what was read is kept in a matrix of fixed size.

Softmax attention compares each token with all before it. With a product of features in the place of exp(q · k), two sums
over the tokens so far are enough, and a new token always costs the same. (Katharopoulos et al. 2020, "Transformers are
RNNs", sections 3.2 to 3.4.) From S = 0 and z = 0, token by token, with phi(x) = elu(x) + 1:

    S = S + outer(phi(k), v)            # (dim, value_dim)
    z = z + phi(k)                      # (dim)
    y = phi(q) @ S / (phi(q) @ z)       # (value_dim)

    q, k = torch.tensor([[0., 1.], [1., 0.]]), torch.tensor([[1., 0.], [0., 2.]])   # phi: [[1, 2], [2, 1]], [[2, 1], [1, 3]]
    y, S, z = linear_attention(q, k, v=torch.tensor([[1.], [6.]]))   # [[1.], [3.5]], [[8.], [19.]], [3., 4.]

- `step` takes one token, (..., dim), and S and z so far.
- `linear_attention` takes (..., time, dim), `chunk` tokens at once; the last chunk may be shorter.
- Both return y, and the new S and z.
- Gradients flow to q, k and v.
- No matrix of (time, time).

Fine print:
- A chunk of any size takes the same number of operations: no loop over tokens in `linear_attention`.
- It holds a few tensors of the size of q, k and v, and what one chunk needs: no matrix for each token.
- float16 and bfloat16 are computed in float32: y is rounded once, at the end, S and z stay in float32.
- float64 is computed in float64.
- For x far below 0, where elu(x) + 1 is rounded to 0, phi(x) is exp(x): y is never NaN, nor a gradient.
- Any strides will do.
- Where time is 0, y is empty, and S and z are 0.
- The arguments stay as they are; on another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def step(
    q: Float[Tensor, "*batch dim"],
    k: Float[Tensor, "*batch dim"],
    v: Float[Tensor, "*batch value_dim"],
    S: Float[Tensor, "*batch dim value_dim"],
    z: Float[Tensor, "*batch dim"],
) -> tuple[
    Float[Tensor, "*batch value_dim"], Float[Tensor, "*batch dim value_dim"], Float[Tensor, "*batch dim"]
]:
    """Read one token: y, and the new S and z."""
    raise NotImplementedError


def linear_attention(
    q: Float[Tensor, "*batch time dim"],
    k: Float[Tensor, "*batch time dim"],
    v: Float[Tensor, "*batch time value_dim"],
    chunk: int = 64,
) -> tuple[
    Float[Tensor, "*batch time value_dim"], Float[Tensor, "*batch dim value_dim"], Float[Tensor, "*batch dim"]
]:
    """Read a sequence from its beginning: y of each token, and the last S and z."""
    raise NotImplementedError
