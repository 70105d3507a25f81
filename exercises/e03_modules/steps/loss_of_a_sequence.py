"""The loss of a sequence: flatten, then cross-entropy.

A language model gives, at each time step of each text, a score for each word (*token*) that it knows. `ids`
names the true token there. Return the mean cross-entropy of all tokens.

    logits = torch.tensor([[[2.0, 0.0], [2.0, 0.0]]])
    # 1 text, 2 time steps, 2 tokens
    loss_of_a_sequence(logits, torch.tensor([[0, 1]]))
    # (0.1269 + 2.1269) / 2 = tensor(1.1269)

New here: `F.cross_entropy` looks for the classes in dim 1; the classes are in dim 2 here.
`logits.flatten(0, 1)` makes one long list of rows, of shape (batch · time, vocab); `ids.flatten()` goes with
it.
"""

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def loss_of_a_sequence(
    logits: Float[Tensor, "batch time vocab"], ids: Int64[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    raise NotImplementedError
