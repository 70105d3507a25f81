"""Files that are saved are told of, also where the system does not."""

from queue import SimpleQueue

import pytest
import watchfiles

from grader.course import sources
from grader.learner.watch import events
from grader.learner.watch.events import Polls, Saved, saves


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "each", lambda tree: [tmp_path, tmp_path / "not there"])
    monkeypatch.setattr(events, "POLL", 0.01)
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "a.py").write_text("1")
    return tmp_path


def raises_at_once(*folders, **options):
    raise OSError("OS file watch limit reached")


def raises_later(*folders, **options):
    yield {(watchfiles.Change.modified, str(folders[0] / "first.py"))}
    raise FileNotFoundError


@pytest.mark.parametrize(
    ("watch", "why"),
    [(raises_at_once, "OS file watch limit reached"), (raises_later, "FileNotFoundError")],
)
def test_a_watcher_that_raises_gives_way_to_polling(folder, monkeypatch, watch, why):
    monkeypatch.setattr(watchfiles, "watch", watch)
    told = SimpleQueue()
    with saves(told):
        if watch is raises_later:
            assert told.get(timeout=30) == Saved(frozenset({folder / "first.py"}))
        assert told.get(timeout=30) == Polls(why)
        file, new = folder / "steps" / "a.py", folder / "b.py"
        for change in (
            lambda: file.write_text("12"),
            lambda: new.write_text("1"),
            lambda: new.replace(file),  # as many editors save
            lambda: file.unlink(),
        ):
            is_replaced = new.exists()
            change()
            seen = told.get(timeout=30).files
            while is_replaced and seen < {file, new}:  # the look may come in between
                seen |= told.get(timeout=30).files
            assert seen <= {file, new} and seen
