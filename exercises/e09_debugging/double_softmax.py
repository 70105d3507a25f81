"""The loss that will not fall: probabilities where the loss wants logits.

A support desk sorts its tickets by topic, and by whether they are urgent. The loss stands at 1.1, whatever the learning
rate. The dashboard is never sure: with three topics, none gets more than 58 %. Somewhere a score is squeezed between 0
and 1, and whoever gets it takes it for a raw score and squeezes it once more. Repair it.

    F.cross_entropy of [1, 0, 0] and class 0             # log(e + 2) - 1 = 0.5514: probabilities never come to 0
    model = lambda x: (torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([1.0]))     # raw scores of one ticket
    training_loss(model, x, torch.tensor([0]), torch.tensor([1.0]))   # 0.2395 + 0.3133 = 0.5528
    predict(model, x)                                    # ([[0.7870, 0.1065, 0.1065]], [0.7311])
    predict(model, x, temperature=2.0)                   # ([[0.5761, 0.2119, 0.2119]], [0.6225])

- TicketModel returns raw scores, also called logits: what its linear layers `topic` and `urgent` give.
- training_loss and predict take any model that returns such a pair.
- predict divides the raw scores by the temperature, and returns one softmax and one sigmoid of them.

Fine print:
- Scores of any size: a model that is certain and wrong, 500 against -500, has a loss of 1000, not inf.
- float64 stays float64.
- Modes and the model's scores stay as they are. What predict returns requires no gradient.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class TicketModel(nn.Module):
    """Scores the topics of a ticket, and its urgency."""

    def __init__(self, features: int, hidden: int, topics: int) -> None:
        super().__init__()
        self.body = nn.Linear(features, hidden)
        self.topic = nn.Linear(hidden, topics)
        self.urgent = nn.Linear(hidden, 1)

    def forward(
        self, x: Float[Tensor, "batch features"]
    ) -> tuple[Float[Tensor, "batch topics"], Float[Tensor, " batch"]]:
        """The raw scores of all topics, and of being urgent."""
        h = torch.tanh(self.body(x))
        return torch.softmax(self.topic(h), dim=-1), self.urgent(h).squeeze(-1)


def training_loss(
    model: nn.Module,
    x: Float[Tensor, "batch features"],
    topic: Int64[Tensor, " batch"],
    urgent: Float[Tensor, " batch"],
    urgent_weight: float = 1.0,
) -> Float[Tensor, ""]:
    """The mean cross-entropy of the topics + urgent_weight × the mean binary cross-entropy of urgency."""
    topic_scores, urgent_scores = model(x)
    topic_loss = F.cross_entropy(topic_scores, topic)
    urgent_loss = F.binary_cross_entropy_with_logits(torch.sigmoid(urgent_scores), urgent)
    return topic_loss + urgent_weight * urgent_loss


@torch.no_grad()
def predict(
    model: nn.Module, x: Float[Tensor, "batch features"], temperature: float = 1.0
) -> tuple[Float[Tensor, "batch topics"], Float[Tensor, " batch"]]:
    """The probability of each topic, and that of being urgent."""
    topic_scores, urgent_scores = model(x)
    return torch.softmax(topic_scores / temperature, dim=-1), torch.sigmoid(urgent_scores / temperature)
