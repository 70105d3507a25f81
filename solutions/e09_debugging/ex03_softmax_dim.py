"""A classifier that is right in batches, and always sure of class 0 when it is asked alone.

Reviews come as token vectors with a mask. A weight for each token says how much it counts in the mean that
is classified. Validation, in batches of 256, looked fair. In production, one review at a time, `predict`
says class 0 with a confidence of 1.0 to everything, and the same review gets another answer in other
company. In the view that colours each word by its own classes, a word changes its colour when the review
gets longer.

With score.weight [[1, 0]], head.weight the identity and no biases, one review should give

    tokens = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, False]])
    model.token_weights(tokens, mask)                # [[0.75, 0.25, 0.0]]; as it stands [[1.0, 1.0, nan]]
    model(tokens, mask).exp()                        # [[0.6951, 0.3049]]: of the mean [0.8240, 0.0]
    model.token_classes(tokens)                      # [[[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]]]
    predict(model, tokens, mask)                     # labels [0], confidence [0.6951]

Rules:
- token_weights: (batch, time). For each review, the softmax of its scores over its own tokens; padding,
  where mask is False, gets exactly 0. Each review has a token at least; tokens and padding may alternate.
- forward: (batch, classes), the log-probabilities of each review's classes, from the weighted sum of its
  tokens.
- token_classes: (batch, time, classes), the probabilities of the classes that each token, taken for itself,
  is given by the head. Padding is a token like others here.
- predict: the likeliest class of each review as int64, and its probability, both (batch,) and without a
  graph.
- What comes out for a review depends on its tokens alone: not on other reviews, on their order or number
  (one, or none at all), on the numbers in the padding (finite ones) or the amount of it. Gradients likewise:
  exactly 0 for the tokens of other reviews, and for padding through token_weights and forward.
- Scores and logits may be as large as 1e4 either way; nothing becomes NaN, and no log-probability -inf.
- The model computes in its own dtype, float32 or float64, in whatever mode it is; `predict` leaves the mode.
  The parameters keep their names, since checkpoints exist. Inputs are not changed. No Python loop.
"""

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class ReviewClassifier(nn.Module):
    """Classifies the weighted mean of a review's tokens.

    Args:
        dim: the size of a token's vector.
        classes: how many classes there are.
    """

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, classes)

    def token_weights(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time"]:
        """How much each token counts in its review."""
        scores = self.score(tokens).squeeze(-1)  # (batch, time)
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=1)

    def forward(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        """The log-probabilities of the classes of each review."""
        weights = self.token_weights(tokens, mask)
        mean = torch.einsum("bt,btd->bd", weights, tokens)
        return F.log_softmax(self.head(mean), dim=1)

    def token_classes(self, tokens: Float[Tensor, "batch time dim"]) -> Float[Tensor, "batch time classes"]:
        """The probabilities of the classes of each token by itself."""
        return F.softmax(self.head(tokens), dim=2)


def predict(
    model: ReviewClassifier, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
    """The likeliest class of each review.

    Args:
        model: the classifier.
        tokens: token vectors, (batch, time, dim).
        mask: True for tokens, False for padding.

    Returns:
        The classes and their probabilities.
    """
    with torch.no_grad():
        confidence, labels = model(tokens, mask).exp().max(dim=1)
    return labels, confidence
