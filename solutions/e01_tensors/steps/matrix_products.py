from jaxtyping import Float
from torch import Tensor


def one_shop(
    baskets: Float[Tensor, "people fruits"], prices: Float[Tensor, " fruits"]
) -> Float[Tensor, " people"]:
    return baskets @ prices


def shops(
    baskets: Float[Tensor, "people fruits"], prices: Float[Tensor, "fruits shops"]
) -> Float[Tensor, "people shops"]:
    return baskets @ prices


def weeks(
    baskets: Float[Tensor, "weeks people fruits"], prices: Float[Tensor, "fruits shops"]
) -> Float[Tensor, "weeks people shops"]:
    return baskets @ prices
