import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


class ReviewClassifier(nn.Module):
    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, classes)

    def token_weights(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time"]:
        scores = self.score(tokens).squeeze(-1)  # (batch, time)
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=1)

    def forward(
        self, tokens: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        weights = self.token_weights(tokens, mask)
        mean = torch.einsum("bt,btd->bd", weights, tokens)  # (batch, dim)
        return F.log_softmax(self.head(mean), dim=1)

    def token_classes(self, tokens: Float[Tensor, "batch time dim"]) -> Float[Tensor, "batch time classes"]:
        return F.softmax(self.head(tokens), dim=2)
