"""The loss that will not fall: probabilities where the loss wants logits.

A support desk sorts its tickets: by topic, and by whether they are urgent. At two in the morning the loss
has stood at 1.1 for three hours, whatever the learning rate. The dashboard is never sure: with three topics,
none gets more than 58 %.

The model is right about all of them and cannot say so. Somewhere a score is squeezed between 0 and 1, and
whoever gets it takes it for a raw score and squeezes it once more. For a model that is certain and right

    cross_entropy([1, 0, 0], 0)                     is log(e + 2) - 1 = 0.5514, and never 0
    binary_cross_entropy_with_logits(1.0, 1.0)      is log(1 + 1/e)   = 0.3133, and 0.6931 for (0.0, 0.0)

Repair it, so that each score is squeezed once and in one place:

    model = lambda x: (torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([1.0]))     # raw scores of one ticket
    training_loss(model, x, torch.tensor([0]), torch.tensor([1.0]))   # 0.2395 + 0.3133 = 0.5528
    predict(model, x)                     # ([[0.7870, 0.1065, 0.1065]], [0.7311])
    predict(model, x, temperature=2.0)    # ([[0.5761, 0.2119, 0.2119]], [0.6225])

Rules:
- TicketModel returns raw scores, as its linear layers `topic` and `urgent` give them: (batch, topics) and
  (batch,), for batches of 0 and of 1 too. Its parameters keep their names, so old checkpoints load.
- training_loss and predict take any model that returns such a pair, and run it once, in the mode that the
  caller has chosen. They leave its scores as they are. What predict returns requires no gradient.
- training_loss is right to rounding for scores of any size: a model that is certain and wrong, 500 against
  -500, has a loss of 1000, and its gradient does not vanish.
- predict divides the raw scores by the temperature. It returns the probabilities of the topics, which sum to
  1 for each ticket, and that of being urgent.
- The dtype of the scores is the dtype of the results.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class TicketModel(nn.Module):
    """Scores the topics of a ticket, and its urgency.

    Args:
        features: the number of features of a ticket.
        hidden: the width of the hidden layer.
        topics: the number of topics.
    """

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
    """What to minimise.

    Args:
        model: maps x to the raw scores of topics and urgency.
        x: the features of tickets.
        topic: the number of each ticket's topic.
        urgent: 1.0 for an urgent ticket, else 0.0, in the dtype of the scores.
        urgent_weight: how much urgency counts beside the topic.

    Returns:
        The mean cross-entropy of the topics + urgent_weight × the mean binary cross-entropy of urgency.
    """
    topic_scores, urgent_scores = model(x)
    topic_loss = F.cross_entropy(topic_scores, topic)
    urgent_loss = F.binary_cross_entropy_with_logits(torch.sigmoid(urgent_scores), urgent)
    return topic_loss + urgent_weight * urgent_loss


@torch.no_grad()
def predict(
    model: nn.Module, x: Float[Tensor, "batch features"], temperature: float = 1.0
) -> tuple[Float[Tensor, "batch topics"], Float[Tensor, " batch"]]:
    """What the dashboard shows.

    Args:
        model: maps x to the raw scores of topics and urgency.
        x: the features of tickets.
        temperature: above 1 makes the model less sure, below 1 more.

    Returns:
        The probability of each topic, and that of being urgent.
    """
    topic_scores, urgent_scores = model(x)
    return torch.softmax(topic_scores / temperature, dim=-1), torch.sigmoid(urgent_scores / temperature)
