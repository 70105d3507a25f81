"""Checks that load the answer again, in another process or as one would, on an answer of many files."""

import sys

import pytest
import torch

from grader.checks import distributed
from grader.checks.dataloader.workers import imported_anew
from grader.checks.distributed import RankFailure, run_ranks
from grader.checks.distributed.report import RankTodo
from grader.course.exercise import Exercise
from grader.plugin import load_answer
from tests.grader.support.project import write

FILES = {
    "__init__.py": "",
    "squares.py": "KEPT = []\n\n\nclass Squares:\n    def __getitem__(self, n):\n"
    "        KEPT.append(n)\n        return n * n\n",
    "reduce.py": "import torch.distributed as dist\n\nfrom . import squares\n\n\n"
    "def total(x):\n    dist.all_reduce(x)\n    return x\n\n\n"
    "def late(x):\n    raise NotImplementedError\n\n\n"
    "def wrong(x):\n    return x.nothing\n",
}


@pytest.fixture
def answer(tmp_path):
    exercise = Exercise("sum_up", "e01_one", 3, "", "project", "core", 4, 1, (), (), (), "", root=tmp_path)
    write(tmp_path / "answer", FILES)
    places = list(sys.path)
    yield load_answer.load(tmp_path / "answer", exercise)
    sys.path[:] = places
    load_answer.forget(exercise)


def test_imported_anew_its_files_have_kept_nothing(answer):
    assert answer.squares.Squares()[3] == 9
    anew, squares = imported_anew(answer, "dataset", answer.squares.Squares())
    assert squares[2] == 4
    assert anew.squares.KEPT == [2] and answer.squares.KEPT == [3]
    assert sys.modules["sum_up.squares"] is answer.squares


def step(rank, world_size, answer, name):
    return getattr(answer.reduce, name)(torch.ones(1))


ranks = [
    pytest.mark.slow,
    pytest.mark.multi_process,
    pytest.mark.skipif(distributed.is_available() is not None, reason=str(distributed.is_available())),
]


@pytest.mark.parametrize("name", [pytest.param("total", marks=ranks)])
def test_ranks_find_its_files(answer, name):
    assert [x.item() for x in run_ranks(2, step, name, answer=answer)] == [2.0, 2.0]


@pytest.mark.parametrize("name", [pytest.param("late", marks=ranks)])
def test_a_rank_in_a_stub_is_to_do(answer, name):
    with pytest.raises(RankTodo, match=r"reduce\.py is not written yet"):
        run_ranks(2, step, name, answer=answer, grace=0.5)


@pytest.mark.parametrize("name", [pytest.param("wrong", marks=ranks)])
def test_the_line_is_told_with_its_file(answer, name):
    with pytest.raises(RankFailure) as raised:
        run_ranks(2, step, name, answer=answer, grace=0.5)
    where = raised.value.feedback.where
    assert (where.file.rpartition("/")[2], where.line) == ("reduce.py", 16)
