import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import Dataset, get_worker_info


class NoisyRecordings(Dataset[Tensor]):
    def __init__(
        self, recordings: Float[Tensor, "recordings samples"], noise: float = 0.1, seed: int = 0
    ) -> None:
        self.recordings = recordings
        self.noise = noise
        self.seed = seed
        self._generator: torch.Generator | None = None
        self._worker_seed: int | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_generator": None}

    def __len__(self) -> int:
        return len(self.recordings)

    def __getitem__(self, index: int) -> Float[Tensor, "samples"]:
        clean = self.recordings[index]  # (samples,)
        return clean + self.noise * torch.randn(clean.shape, generator=self._stream(), dtype=clean.dtype)

    def _stream(self) -> torch.Generator:
        worker = get_worker_info()
        worker_seed = None if worker is None else worker.seed  # new in each worker and each time it starts
        if self._generator is None or worker_seed != self._worker_seed:
            parts = [self.seed] if worker_seed is None else [self.seed, worker_seed]
            mixed = np.random.SeedSequence(parts).generate_state(1, np.uint64)  # a sum would collide
            self._generator = torch.Generator().manual_seed(int(mixed[0]))
            self._worker_seed = worker_seed
        return self._generator
