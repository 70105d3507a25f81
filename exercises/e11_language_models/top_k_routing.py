"""A mixture of experts: each token goes to the k experts that the router rates highest.

Instead of one feed-forward block there are several, the experts, and a router gives each token a logit for each. The k with
the largest work on the token; the softmax over these k weighs what they return. (Jiang et al. 2024, "Mixtral of Experts",
section 2.1.)

    experts = [lambda rows: rows, lambda rows: 10 * rows, lambda rows: 100 * rows]
    logits = torch.tensor([[0., math.log(3), -1.], [-2., 0., math.log(4)]])
    mixture_of_experts(torch.tensor([[1.], [2.]]), logits, experts, k=2)
    # [[7.75], [164.]]: 0.25 * 1 + 0.75 * 10, and 0.2 * 20 + 0.8 * 200
    balance_loss(logits)    # 1.3085: shares 0, 0.5, 0.5, mean probabilities 0.1277, 0.4408, 0.4316

- An expert gets its own tokens alone.
- `balance_loss` is N * sum of f_i * P_i, for N experts (Fedus et al. 2021, "Switch Transformers", equations 4 to 6).
- f_i is the share of tokens with expert i as their best, P_i its mean probability, by a softmax over all.
- Gradients flow to x, logits and experts.

Fine print:
- An expert is called once at most, and not without tokens.
- With `capacity`, an expert takes that many tokens at most. First choices of all tokens come before second ones, and so
  on, each in the order of the tokens. What finds no room adds nothing, and the other weights stay as they are.
- The softmax is computed in float32 at least. The result has the dtype of x, whatever that of the logits is.
- k may be the number of experts, and there may be no tokens.
- x may have any strides, and the arguments stay as they are.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor


def mixture_of_experts(
    x: Float[Tensor, "tokens dim"],
    logits: Float[Tensor, "tokens experts"],
    experts: Sequence[Callable[[Tensor], Tensor]],
    k: int = 2,
    capacity: int | None = None,
) -> Float[Tensor, "tokens dim"]:
    """Send each row of x to its k experts, each of which maps (rows, dim) to (rows, dim)."""
    raise NotImplementedError


def balance_loss(logits: Float[Tensor, "tokens experts"]) -> Float[Tensor, ""]:
    """How unevenly the tokens are spread: 1 where they are spread evenly."""
    raise NotImplementedError
