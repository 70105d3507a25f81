"""Draw the rare ones more often: `WeightedRandomSampler`.

Few photos show a fox. Return a loader of batches of four that draws as many photos in an epoch as dataset has, each by
its number in `weights`: one with 3.0 comes three times as often as one with 1.0.

    dataset = TensorDataset(torch.arange(8))
    weights = torch.tensor([0.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    [x.tolist() for (x,) in weighted_loader(dataset, weights)]
    # for instance [[1, 1, 4, 1], [1, 4, 1, 1]]

New here: `WeightedRandomSampler(weights, 100)` draws 100 places by weight. `DataLoader(…, sampler=…)` takes it, in
place of `shuffle`.
"""

from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def weighted_loader(
    dataset: TensorDataset, weights: Float[Tensor, "photos"]
) -> DataLoader[tuple[Tensor, ...]]:
    raise NotImplementedError
