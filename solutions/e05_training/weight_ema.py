from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

HALF = (torch.float16, torch.bfloat16)


class WeightEMA:
    def __init__(self, model: nn.Module, decay: float = 0.999) -> None:
        self.model, self.decay, self.updates = model, decay, 0
        self.averages = {
            name: t.detach().to(torch.float32 if t.dtype in HALF else t.dtype, copy=True)
            for name, t in self._own().items()
        }

    def update(self) -> None:
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                average = self.averages[name]
                average.lerp_(p.to(average.dtype), 1 - d)
            for name, buffer in self.model.named_buffers():
                self.averages[name].copy_(buffer)

    @contextmanager
    def swapped(self) -> Iterator[None]:
        kept = {name: t.detach().clone() for name, t in self._own().items()}
        self._write(self.averages)
        try:
            yield
        finally:
            self._write(kept)

    def state_dict(self) -> dict[str, Any]:
        return {"updates": self.updates, "averages": self.averages}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.updates = state["updates"]
        for name, average in self.averages.items():
            average.copy_(state["averages"][name])

    def _own(self) -> dict[str, Tensor]:
        return {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}

    @torch.no_grad()
    def _write(self, values: Mapping[str, Tensor]) -> None:
        for name, t in self._own().items():
            t.copy_(values[name])
