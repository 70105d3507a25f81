"""Fresh noise in every worker: a dataset that augments as it is read.

A speech model shall not learn the recordings by heart, so each reading adds fresh noise to one:

    dataset = NoisyRecordings(torch.zeros(4, 2), noise=1.0, seed=0)
    dataset[3]                                          # such as [1.5410, -0.2934]: noise on a recording of 0
    dataset[3]                                          # such as [-2.1788, 0.5684]: other noise
    for batch in DataLoader(dataset, num_workers=2):    # four readings, and no noise is the other's
        ...

With the code below it is. The loader copies the dataset, and the generator in it, into each worker: both
workers make the same noise, so every two recordings share theirs. When the workers are started again for the
next epoch they get the same copies: all epochs are alike. Only without workers all is well.

Rules:
- No two readings have the same noise: of one recording or of several, in one worker or in two, in one epoch
  or in two, whether workers stay alive (`persistent_workers`) or not, also where some were read before in the
  process that starts the workers. (What they are then may depend on how many those were.)
- Runs repeat: a new dataset of the same seed in a new loader of the same settings gives the same numbers,
  bit for bit, if torch's global seed and the seed of the loader's own generator are the same. So does the
  same program when it is started again.
- Two datasets with different seeds never have the same noise, in no worker of either. (Workers have
  consecutive seeds: seed 0 plus that of worker 1 is seed 1 plus that of worker 0.) Each dataset has its own
  noise stream: reading one does not change what another one gives, not even one of the same seed.
- The global random streams of torch, NumPy and Python are neither drawn from nor seeded, in no process: the
  model's dropout does not depend on how many recordings were read.
- It works with a plain `DataLoader(dataset, num_workers=...)`, without a `worker_init_fn`, and with workers
  that are forked or spawned, whether the dataset was read before or not. (A spawned worker gets the dataset
  by pickle, and dies of a torch.Generator in it: the pickle must hold none.)
- A reading is the recording plus `noise` times independent standard normal numbers, one for each sample, as a
  new tensor of the shape and dtype of the recording. The recordings are not changed. With noise 0 it is the
  recording. There may be 0 recordings. An index past either end raises IndexError, in the caller of a
  loader too.
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
        """Keep the clean recordings.

        Args:
            recordings: (recordings, samples), any floating dtype.
            noise: the standard deviation of the noise.
            seed: where the noise starts, from 0 to 2**32 - 1.
        """
        self.recordings = recordings
        self.noise = noise
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        """The number of recordings."""
        return len(self.recordings)

    def __getitem__(self, index: int) -> Float[Tensor, "samples"]:
        """Read one recording, with fresh noise.

        Args:
            index: which one; negative indices count from the end.

        Raises:
            IndexError: there is no such recording.
        """
        clean = self.recordings[index]
        return clean + self.noise * torch.randn(clean.shape, generator=self.generator, dtype=clean.dtype)
