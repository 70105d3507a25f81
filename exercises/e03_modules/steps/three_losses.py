"""Three losses, one for each kind of target.

Return three losses: of `scores` against the true `classes`; of guessed against real `prices`; of `spam`
scores against 1 (spam) or 0 (none).

    three_losses(
        scores=torch.tensor([[2.0, 0.0]]), classes=torch.tensor([0]),
        guesses=torch.tensor([3.0]), prices=torch.tensor([5.0]),
        spam=torch.tensor([0.0]), is_spam=torch.tensor([1.0]),
    )       # (tensor(0.1269), tensor(4.), tensor(0.6931))

New here: `F.cross_entropy(scores, classes)`, `F.mse_loss(guesses, prices)` and
`F.binary_cross_entropy_with_logits(spam, is_spam)`. The first and last want raw scores (logits): they take
softmax and sigmoid themselves.
"""

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
    raise NotImplementedError
