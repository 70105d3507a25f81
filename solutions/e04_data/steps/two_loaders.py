from torch.utils.data import DataLoader, Dataset


def two_loaders(train: Dataset, test: Dataset, batch_size: int) -> tuple[DataLoader, DataLoader]:
    to_train = DataLoader(train, batch_size=batch_size, shuffle=True, drop_last=True)
    to_test = DataLoader(test, batch_size=batch_size)
    return to_train, to_test
