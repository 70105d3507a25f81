from jaxtyping import Float
from torch import Tensor, nn


class FineTuned(nn.Module):
    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head
        own = set(head.parameters())
        self.stopped = [p for p in backbone.parameters() if p.requires_grad and p not in own]
        for p in self.stopped:
            p.requires_grad_(False)
        self.frozen = True
        self.train(self.training)

    def forward(self, x: Float[Tensor, "batch *shape"]) -> Float[Tensor, "batch outputs"]:
        return self.head(self.backbone(x))

    def train(self, mode: bool = True) -> "FineTuned":
        super().train(mode)
        if self.frozen:
            self.backbone.eval()
        return self

    def trainable_parameters(self) -> list[nn.Parameter]:
        return [p for p in self.parameters() if p.requires_grad]

    def unfreeze(self) -> None:
        self.frozen = False
        for p in self.stopped:
            p.requires_grad_(True)
        self.train(self.training)
