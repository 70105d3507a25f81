import torch
from jaxtyping import Float
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, linear: nn.Linear, rank: int, alpha: float = 16.0) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        like = {"device": linear.weight.device, "dtype": linear.weight.dtype}
        self.lora_a = nn.Linear(linear.in_features, rank, bias=False, **like)
        self.lora_b = nn.Linear(rank, linear.out_features, bias=False, **like)
        nn.init.zeros_(self.lora_b.weight)
        self.scale, self.merged = alpha / rank, False

    def forward(self, x: Float[Tensor, "*shape inputs"]) -> Float[Tensor, "*shape outputs"]:
        if self.merged:
            return self.linear(x)
        return self.linear(x) + self.scale * self.lora_b(self.lora_a(x))  # (*shape, outputs)

    @torch.no_grad()
    def merge(self) -> None:
        if not self.merged:
            self.linear.weight += self._update()
        self.merged = True

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged:
            self.linear.weight -= self._update()
        self.merged = False

    def _update(self) -> Tensor:
        return self.scale * self.lora_b.weight @ self.lora_a.weight  # (outputs, inputs)


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    return {name: t for name, t in model.state_dict().items() if "lora_" in name}
