"""Pictures: made, split, normalised, shifted, and handed out in batches."""

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

CLASSES = ("bar", "post", "cross", "box")


def make(count, seed):
    """`count` noisy pictures of (1, 8, 8) and their labels; one in six is a copy of an earlier one."""
    gen = torch.Generator().manual_seed(seed)
    shapes = torch.zeros(4, 8, 8)
    shapes[0, 3:5, 1:7] = shapes[1, 1:7, 3:5] = 1
    shapes[2] = torch.maximum(shapes[0], shapes[1])
    shapes[3, 2:6, 2:6] = 1
    shapes[3, 3:5, 3:5] = 0
    labels = torch.randint(4, (count,), generator=gen)
    pictures = 3 + shapes[labels] + 0.5 * torch.randn(count, 8, 8, generator=gen)
    copies = torch.randperm(count, generator=gen)[: count // 6]
    earlier = (copies * torch.rand(len(copies), generator=gen)).long()
    pictures[copies], labels[copies] = pictures[earlier], labels[earlier]
    return pictures.unsqueeze(1), labels  # (count, 1, 8, 8), (count,)


def split(pictures, labels, seed):
    """Three pairs of pictures and labels, in a drawn order: about 60 % to train, 20 % valid, 20 % test."""
    gen = torch.Generator().manual_seed(seed)
    group = torch.unique(pictures.flatten(1), dim=0, return_inverse=True)[1]  # (count,), equal ones have one
    groups = int(group.max()) + 1
    order = torch.randperm(len(labels), generator=gen)
    part = torch.arange(groups) * 5 // groups  # 0, 1, 2 train; 3 valid; 4 test
    part = part[torch.randperm(groups, generator=gen)][group]  # (count,)
    kept = []
    for low, high in ((0, 2), (3, 3), (4, 4)):
        inside = (part >= low) & (part <= high)
        rows = order[inside[order]]
        kept.append((pictures[rows], labels[inside]))
    return kept


def normalised(parts):
    """The parts, of which the first is to train: pictures less a mean, by a standard deviation."""
    seen = parts[0][0]
    mean, std = seen.mean(), seen.std()
    return [((pictures - mean) / std, labels) for pictures, labels in parts]


class Shifted(Dataset):
    """Pictures that are moved by up to one pixel each way, anew each time that one is taken."""

    def __init__(self, pictures, labels, seed):
        self.pictures, self.labels = pictures, labels
        self.gen = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        gen = self.gen
        down, right = torch.randint(3, (2,), generator=gen).tolist()
        wide = F.pad(self.pictures[index], (1, 1, 1, 1), mode="replicate")  # (1, 10, 10)
        return wide[:, down : down + 8, right : right + 8], self.labels[index]


def loaders(parts, size, seed):
    """Batches of `size` rows to train, and of the parts that are measured."""
    train, valid, test = parts
    gen = torch.Generator().manual_seed(seed)
    return {
        "train": DataLoader(Shifted(*train, seed), size, shuffle=True, drop_last=True, generator=gen),
        "valid": DataLoader(TensorDataset(*valid), size),
        "test": DataLoader(TensorDataset(*test), size),
    }
