"""Fresh noise in every worker: a dataset that augments as it is read.

A speech model is not to learn its recordings by heart, so each reading adds fresh noise to one:

    dataset = NoisyRecordings(torch.zeros(4, 2), noise=1.0, seed=0)
    dataset[3]                                          # such as [1.5410, -0.2934]
    dataset[3]                                          # such as [-2.1788, 0.5684]: other noise
    for batch in DataLoader(dataset, num_workers=2): ...

With the code below the loop meets each noise twice: the loader copies the dataset, and the generator in it, into each
worker, and in the next epoch again. Without workers all is well.

- No two readings have the same noise: in one worker or several, in one epoch or several.
- Runs repeat: after the same `torch.manual_seed`, a new dataset of the same seed gives the same numbers in a new loader.
- The noise is `noise` times standard normal numbers. The recordings stay as they are.

Fine print:
- All this holds where the dataset was read before the workers started, too, and in spawned workers, which get it by
  pickle (that a torch.Generator can be pickled does not make its noise fresh).
- Datasets of different seeds never have the same noise, in no worker of either. Workers have consecutive seeds: seed 0
  plus that of worker 1 is seed 1 plus that of worker 0.
- What a dataset gives does not depend on what was read from another.
- The global random streams of torch, NumPy and Python are neither drawn from nor seeded.
- A reading has the recordings' dtype, half precision too, and memory of its own.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import Dataset


class NoisyRecordings(Dataset[Tensor]):
    """Recordings that get fresh noise each time they are read."""

    def __init__(
        self, recordings: Float[Tensor, "recordings samples"], noise: float = 0.1, seed: int = 0
    ) -> None:
        """Keep the clean recordings; `noise` is a standard deviation, `seed` from 0 to 2**32 - 1."""
        self.recordings = recordings
        self.noise = noise
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        """The number of recordings."""
        return len(self.recordings)

    def __getitem__(self, index: int) -> Float[Tensor, "samples"]:
        """One recording, with fresh noise."""
        clean = self.recordings[index]
        return clean + self.noise * torch.randn(clean.shape, generator=self.generator, dtype=clean.dtype)
