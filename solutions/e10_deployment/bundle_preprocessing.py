from collections.abc import Sequence

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn


class _Labels(nn.Module):
    def __init__(self, values: Sequence[str]) -> None:
        super().__init__()
        self.values = tuple(values)

    def get_extra_state(self) -> list[str]:
        return list(self.values)

    def set_extra_state(self, state: list[str]) -> None:
        self.values = tuple(state)


class Bundle(nn.Module):
    def __init__(
        self,
        network: nn.Module,
        mean: Sequence[float] | Float[Tensor, " channels"],
        std: Sequence[float] | Float[Tensor, " channels"],
        labels: Sequence[str],
    ) -> None:
        super().__init__()
        mean, std = (torch.as_tensor(x, dtype=torch.float32).detach().clone() for x in (mean, std))
        if mean.shape != std.shape or not bool((std > 0).all()):
            raise ValueError(f"mean {mean.tolist()} and std {std.tolist()} do not fit")
        self.network = network
        self.register_buffer("mean", mean.view(-1, 1, 1))  # (channels, 1, 1)
        self.register_buffer("std", std.view(-1, 1, 1))
        self._labels = _Labels(labels)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels.values

    def forward(
        self, pixels: Shaped[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        if pixels.dtype != torch.uint8 and not pixels.is_floating_point():
            raise TypeError(f"pixels are uint8 or floating, not {pixels.dtype}")
        if pixels.dim() != 4 or pixels.shape[1] != len(self.mean):
            raise ValueError(f"not (batch, {len(self.mean)}, height, width): {tuple(pixels.shape)}")
        x = pixels.to(self.mean.dtype)
        if pixels.dtype == torch.uint8:
            x = x / 255
        return self.network((x - self.mean) / self.std)  # (batch, classes)

    def classify(self, pixels: Shaped[Tensor, "batch channels height width"]) -> list[str]:
        logits = self(pixels)
        if logits.shape[1] != len(self.labels):
            raise ValueError(f"{logits.shape[1]} logits for {len(self.labels)} labels")
        return [self.labels[number] for number in logits.argmax(1).tolist()]
