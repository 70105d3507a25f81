from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def weighted_loader(
    dataset: TensorDataset, weights: Float[Tensor, "photos"]
) -> DataLoader[tuple[Tensor, ...]]:
    sampler = WeightedRandomSampler(weights, len(dataset))
    return DataLoader(dataset, batch_size=4, sampler=sampler)
