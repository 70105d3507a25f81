from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def three_losses(
    scores: Float[Tensor, "rows classes"],
    classes: Int64[Tensor, "rows"],
    guesses: Float[Tensor, "rows"],
    prices: Float[Tensor, "rows"],
    spam: Float[Tensor, "rows"],
    is_spam: Float[Tensor, "rows"],
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, ""]]:
    of_classes = F.cross_entropy(scores, classes)
    of_prices = F.mse_loss(guesses, prices)
    of_spam = F.binary_cross_entropy_with_logits(spam, is_spam)
    return of_classes, of_prices, of_spam
