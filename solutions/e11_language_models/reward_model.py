import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class RewardModel(nn.Module):
    def __init__(self, backbone: nn.Module, dim: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(dim, 1, bias=False)

    def forward(
        self, ids: Int64[Tensor, "batch time"], mask: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch"]:
        features = self.backbone(ids, mask)  # (batch, time, dim)
        rewards = self.head(features).squeeze(-1)  # (batch, time)
        place = torch.arange(ids.shape[1], device=ids.device)
        last = (place * mask).argmax(1, keepdim=True)  # (batch, 1)
        return rewards.gather(1, last).squeeze(1)


def pairwise_loss(
    chosen: Float[Tensor, "pairs"],
    rejected: Float[Tensor, "pairs"],
    margin: float | Float[Tensor, "pairs"] = 0.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    loss = -F.logsigmoid(chosen - rejected - margin).mean()
    right = (chosen > rejected).to(loss.dtype).mean()
    return loss, right
