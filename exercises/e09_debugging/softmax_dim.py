"""A classifier that is right in batches, and always sure of class 0 when it is asked alone.

Reviews come as token vectors, with a mask that is False for padding. Each token has a weight in the mean that is
classified. Batches look fair. One review at a time, every class gets a probability of 1.0, and a word's own
classes change when the review gets longer.

    # with score.weight [[1, 0]], head.weight the identity, and no biases
    tokens = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, False]])
    model.token_weights(tokens, mask)        # [[0.75, 0.25, 0.0]]; as it stands [[1.0, 1.0, nan]]
    model(tokens, mask).exp()                # [[0.6951, 0.3049]]: softmax of the mean, [0.8240, 0.0]
    model.token_classes(tokens)              # [[[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]]]

Repair it: what sums to 1 in each result?

- token_weights: the softmax of a review's scores over its own tokens. Padding gets 0.
- forward: the log-probabilities of a review's classes. token_classes: the probabilities for each token.
- A result depends on the review's own tokens alone, not on other reviews or padding.

Fine print:
- Scores and logits may be as large as 1e4: nothing becomes NaN, and no log-probability -inf.
- float64 stays float64. No loop over the reviews.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


class ReviewClassifier(nn.Module):
    """Classifies the weighted mean of a review's tokens."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, classes)

    def token_weights(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time"]:
        """How much each token counts in its review."""
        scores = self.score(tokens).squeeze(-1)
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=0)

    def forward(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        """The log-probabilities of the classes of each review."""
        weights = self.token_weights(tokens, mask)
        mean = torch.einsum("bt,btd->bd", weights, tokens)
        return F.log_softmax(self.head(mean), dim=0)

    def token_classes(self, tokens: Float[Tensor, "batch time dim"]) -> Float[Tensor, "batch time classes"]:
        """The probabilities of the classes of each token by itself."""
        return F.softmax(self.head(tokens), dim=1)
