"""Workers that get their dataset by pickle: without a fresh interpreter, and with one."""

import importlib.util
import multiprocessing
import os
import pickle
import sys
import time
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks import CheckFailure
from grader.checks.dataloader import workers
from grader.checks.dataloader.report import last_error
from grader.checks.dataloader.workers import PICKLED, imported_anew, signed, spawned_epochs

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


START = """
import os
from torch.utils.data import Dataset, get_worker_info

MARK = None

class Data(Dataset):
    def __init__(self, extra=None):
        self.extra = extra
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return self.give(index)
    def give(self, index):
        return index, os.getpid(), get_worker_info().id
"""


@pytest.fixture
def answer(tmp_path):
    """Loads an answer from a file that is not called as its module is."""

    def load(more=""):
        file = tmp_path / "handed_in.py"
        file.write_text(START + more)
        spec = importlib.util.spec_from_file_location("ex99_spawned", file)
        sys.modules["ex99_spawned"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    before = multiprocessing.active_children()
    yield load
    sys.modules.pop("ex99_spawned", None)
    assert not set(multiprocessing.active_children()) - set(before)


def told(answer, extra=None, **options):
    with pytest.raises(CheckFailure) as failure:
        spawned_epochs(answer, answer.Data(extra), num_workers=1, batch_size=None, **options)
    text = str(failure.value)
    assert "Traceback" not in text and len(text.splitlines()) <= 3
    return text


def test_spawned_workers_stay(answer):
    main, path, environment = sys.modules["__main__"], list(sys.path), dict(os.environ)
    module = answer()
    first, second = spawned_epochs(module, module.Data(), batch_size=None, collate_fn=signed)
    assert [index for _, (index, _, _) in first] == [0, 1, 2, 3]
    assert all(worker == number for worker, (_, _, number) in first)
    assert first == second and len({pid for _, (_, pid, _) in first} - {os.getpid()}) == 2
    assert (sys.modules["__main__"], sys.path, dict(os.environ)) == (main, path, environment)


@pytest.mark.parametrize(
    "extra,words",
    [
        (lambda: 1, ["dataset.extra cannot be pickled", "lambda"]),
        ({"a": [0, (i for i in "ab")]}, ["dataset.extra['a'][1] cannot", "generator"]),
        (type("Inner", (), {"__qualname__": "f.<locals>.Inner"})(), ["dataset.extra", "local object"]),
    ],
    ids=["lambda", "generator", "local class"],
)
def test_what_cannot_be_pickled_is_named(answer, extra, words):
    text = told(answer(), extra)
    assert all(word in text for word in words) and "likely" in text


def test_what_only_the_parent_has(answer):
    module = answer("    def give(self, index):\n        return MARK[index]\n")
    module.MARK = [1, 2, 3, 4]
    text = told(module)
    assert text.startswith("a spawned worker raises\n  yours   TypeError: 'NoneType'") and "anew" in text


def test_a_generator_in_the_dataset(answer):
    text = told(answer(), {"noise": torch.Generator()})
    assert text.startswith("a spawned worker dies as it starts")
    assert "dataset.extra['noise'] is a torch.Generator" in text


def test_an_answer_that_starts_workers_when_imported(answer):
    module = answer()
    more = "import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=print).start()\n"
    Path(module.__file__).write_text(START + more)
    text = told(module)
    assert "RuntimeError" in text and '`if __name__ == "__main__":`' in text


def test_a_batch_that_never_arrives(answer, monkeypatch):
    monkeypatch.setattr(workers, "SILENCE", 4.0)
    text = told(answer("    def give(self, index):\n        return lambda: index\n"))
    assert text.startswith("a spawned worker never gives its batch: it waits") and "lambda" in text


def test_a_worker_that_never_ends(answer, monkeypatch):
    monkeypatch.setattr(workers, "MOST_WORK", 3.0)
    module = answer("    def give(self, index):\n        while True:\n            pass\n")
    assert "endless loop" in told(module)


def test_workers_that_are_not_done_in_time(answer):
    assert told(answer(), seconds=0.2) == "spawned workers are not done after 0 s"


def test_last_error():
    trace = "Traceback (most recent call last):\n  File 'a', line 1\n    x\n"
    assert last_error(trace + "ValueError: first\n" + trace + "KeyError: 0\nnoise") == "KeyError: 0"
    assert last_error(trace + "RuntimeError: \n    more words\n    and more") == "RuntimeError: more words"
    assert last_error("nothing") == last_error(trace) == ""


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
