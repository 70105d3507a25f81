"""Workers that get their dataset by pickle, without a fresh interpreter."""

import importlib.util
import multiprocessing
import pickle
import sys
import time

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks import CheckFailure
from grader.checks.dataloader.workers import PICKLED, imported_anew

pytestmark = pytest.mark.slow


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


@pytest.mark.filterwarnings("ignore:Got pickle error")  # torch says so too, where we say what to do
def test_what_no_pickle_holds():
    with pytest.raises(Exception, match="pickle"):
        list(DataLoader(Squares(lambda: 1), num_workers=1, multiprocessing_context=PICKLED))


def test_what_is_closed_before_the_worker_starts():
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(DataLoader(Squares(torch.Generator()), num_workers=1, multiprocessing_context=PICKLED))


def test_worker_that_never_starts_ends_no_other_process():
    other = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,), daemon=True)
    other.start()
    try:
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(DataLoader(Squares(torch.Generator()), num_workers=1, multiprocessing_context=PICKLED))
        assert other.is_alive()
    finally:
        other.kill()
        other.join()


@pytest.mark.filterwarnings("ignore:Got pickle error")  # torch says so too, where we say what to do
def test_what_no_spawned_worker_gets():
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        list(DataLoader(Squares(lambda: 1), num_workers=1, multiprocessing_context="spawn"))


@pytest.mark.parametrize(
    "extra,words",
    [
        (lambda: 1, ["dataset.extra cannot be pickled", "lambda"]),
        ({"a": [0, (i for i in "ab")]}, ["dataset.extra['a'][1] cannot", "generator"]),
        (type("Inner", (), {"__qualname__": "f.<locals>.Inner"})(), ["dataset.extra", "local object"]),
    ],
    ids=["lambda", "generator", "local class"],
)
def test_what_cannot_be_pickled_is_named(extra, words):
    with pytest.raises(CheckFailure) as failure:
        imported_anew(sys.modules[__name__], "dataset", Squares(extra))
    text = str(failure.value)
    assert all(word in text for word in words) and "likely" in text


def test_what_a_module_holds_is_gone_where_it_is_imported_anew(tmp_path, monkeypatch):
    file = tmp_path / "kept.py"
    file.write_text("kept = []\n\nclass Length:\n    def __len__(self):\n        return len(kept)\n")
    spec = importlib.util.spec_from_file_location("kept", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "kept", module)
    spec.loader.exec_module(module)
    module.kept.append(1)
    anew, length = imported_anew(module, "length", module.Length())
    assert (len(module.Length()), len(length), type(length)) == (1, 0, anew.Length)
    assert sys.modules["kept"] is module
    with pytest.raises(CheckFailure, match="length"):
        imported_anew(module, "length", lambda: 1)
