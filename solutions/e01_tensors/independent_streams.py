import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor


class Streams:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.generators: dict[str, torch.Generator] = {}

    def generator(self, name: str) -> torch.Generator:
        if name not in self.generators:
            text = f"{self.seed}/{name}"  # no number has a slash: no two pairs make one text
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
            self.generators[name] = torch.Generator().manual_seed(int.from_bytes(digest[:4], "big"))
        return self.generators[name]

    def normal(
        self,
        name: str,
        shape: Sequence[int],
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> Tensor:
        drawn = torch.randn(tuple(shape), generator=self.generator(name), dtype=torch.float32)
        return drawn.to(device=device, dtype=dtype)
