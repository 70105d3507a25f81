import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class TicketModel(nn.Module):
    def __init__(self, features: int, hidden: int, topics: int) -> None:
        super().__init__()
        self.body = nn.Linear(features, hidden)
        self.topic = nn.Linear(hidden, topics)
        self.urgent = nn.Linear(hidden, 1)

    def forward(
        self, x: Float[Tensor, "batch features"]
    ) -> tuple[Float[Tensor, "batch topics"], Float[Tensor, " batch"]]:
        h = torch.tanh(self.body(x))  # (batch, hidden)
        return self.topic(h), self.urgent(h).squeeze(-1)  # (batch, topics), (batch,): squeezed by the losses


def training_loss(
    model: nn.Module,
    x: Float[Tensor, "batch features"],
    topic: Int64[Tensor, " batch"],
    urgent: Float[Tensor, " batch"],
    urgent_weight: float = 1.0,
) -> Float[Tensor, ""]:
    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)
    topic_loss = F.cross_entropy(topic_scores, topic)  # (), softmax inside
    urgent_loss = F.binary_cross_entropy_with_logits(urgent_scores, urgent)  # (), sigmoid inside
    return topic_loss + urgent_weight * urgent_loss


@torch.no_grad()
def predict(
    model: nn.Module, x: Float[Tensor, "batch features"], temperature: float = 1.0
) -> tuple[Float[Tensor, "batch topics"], Float[Tensor, " batch"]]:
    topic_scores, urgent_scores = model(x)  # (batch, topics), (batch,)
    return torch.softmax(topic_scores / temperature, dim=-1), torch.sigmoid(urgent_scores / temperature)
