from typing import Any

from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, vocab: int, width: int, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.hidden = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)
            )
            for _ in range(depth)
        )
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for block in self.hidden:
            x = x + block(x)
        return self.head(x)


def init_(model: nn.Module, base: int) -> None:
    nn.init.normal_(model.embedding.weight)
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            fan_in = layer.in_features  # width, or 4 * width
            std = base**0.5 / fan_in if layer is model.head else fan_in**-0.5
            nn.init.normal_(layer.weight, std=std)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def groups(model: nn.Module, lr: float, base: int) -> list[dict[str, Any]]:
    wide = [layer.weight for layer in model.modules() if isinstance(layer, nn.Linear)]
    known = {id(p) for p in wide}
    others = [p for p in model.parameters() if id(p) not in known]
    width = model.head.in_features
    return [{"params": others, "lr": lr}, {"params": wide, "lr": lr * base / width}]
