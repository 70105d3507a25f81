"""Workers that get their dataset by pickle, without a fresh interpreter."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks.workers import PICKLED


class Squares(Dataset):
    def __init__(self, extra=None):
        self.extra = extra

    def __len__(self):
        return 5

    def __getitem__(self, index):
        if index == self.extra:
            raise IndexError("no such square")
        return index, torch.tensor(index**2)


@pytest.mark.parametrize("persistent", [False, True])
def test_epochs(persistent):
    loader = DataLoader(
        Squares(), num_workers=2, multiprocessing_context=PICKLED, persistent_workers=persistent
    )
    for _ in range(2):
        assert [int(square) for _, square in loader] == [0, 1, 4, 9, 16]


def test_errors_come_back():
    with pytest.raises(IndexError, match="no such square"):
        list(DataLoader(Squares(3), num_workers=1, multiprocessing_context=PICKLED))


def test_what_no_pickle_holds():
    with pytest.raises(Exception, match="pickle"):
        list(DataLoader(Squares(lambda: 1), num_workers=1, multiprocessing_context=PICKLED))


def test_what_is_closed_before_the_worker_starts():
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(DataLoader(Squares(torch.Generator()), num_workers=1, multiprocessing_context=PICKLED))
