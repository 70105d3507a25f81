from torch.utils.data import DataLoader, Dataset, DistributedSampler


def loader_for_ranks(dataset: Dataset, batch_size: int, epoch: int) -> DataLoader:
    sampler = DistributedSampler(dataset)
    sampler.set_epoch(epoch)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
