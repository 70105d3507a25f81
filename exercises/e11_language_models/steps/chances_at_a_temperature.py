"""Chances at a temperature: colder is surer.

Before a model's next token is drawn, its logits are divided by a temperature: above 1 all tokens come nearer to each
other, below 1 the likeliest gets even likelier. Return the chances: the softmax of each row, at this temperature.

    chances_at_a_temperature(torch.tensor([[0.0, 2.0]]), 2.0)
    # tensor([[0.2689, 0.7311]]); at temperature 1 it is [[0.1192, 0.8808]]

New here: no new function. Which comes first, the division or the softmax, makes a difference.
"""

from jaxtyping import Float
from torch import Tensor


def chances_at_a_temperature(
    logits: Float[Tensor, "batch vocab"], temperature: float
) -> Float[Tensor, "batch vocab"]:
    raise NotImplementedError
