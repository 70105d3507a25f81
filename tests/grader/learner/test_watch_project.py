"""`kata watch` on an answer that is a folder."""

import pytest

from grader.course.exercise import FOLDERS, digest
from grader.learner.watch import terminal
from grader.learner.watch.events import Saved
from grader.records import progress_file
from tests.grader.learner.test_watch_loop import PASSED, SLUGS, Loop, iter_queue
from tests.grader.support.clone import ROW, STUB
from tests.grader.support.project import START, content, write

PROJECT = ROW.replace('kind = "build"', 'kind = "project"')


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """The second exercise is a project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FOLDERS, "exercises", tmp_path)
    monkeypatch.setattr(terminal, "here", lambda: "a terminal")
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    rows = [
        row.format(slug=slug, order=order, needs="[]", hints="[]", start=digest(STUB.encode()))
        for order, (slug, row) in enumerate(zip(SLUGS, (ROW, PROJECT), strict=False), start=1)
    ]
    write(tmp_path / "e01_tensors", {"section.toml": 'title = "Tensors"\n' + "".join(rows)})
    write(tmp_path / "e01_tensors", {"double.py": STUB})
    write(tmp_path / "e01_tensors/twice", START)
    loop = Loop(tmp_path)
    yield loop
    for _, box, answered in [*loop.open, *iter_queue(loop.judge.asked)]:
        box.append(PASSED)
        answered.set()


def test_a_save_of_any_file_judges_the_whole(loop):
    folder = loop.folder / "e01_tensors/twice"
    write(folder, {"parts/layer.py": "x = 1\n"})
    loop.watcher.handle(Saved(frozenset({folder / "parts/layer.py", folder / "model.py"})))
    assert loop.watcher.walk.focus.slug == "twice"
    loop.answer(PASSED)
    assert "✓ twice" in loop.shown()
    assert not loop.open and loop.judge.asked.empty(), "one run is enough for what is saved at once"


def test_what_is_judged_is_the_folder(loop):
    folder = loop.folder / "e01_tensors/twice"
    loop.watcher.handle(Saved(frozenset({folder / "model.py"})))
    asked, box, answered = loop.judge.asked.get(timeout=30)
    loop.open.append((asked, box, answered))
    assert asked.answer == content(START)
    loop.answer(PASSED)


def test_a_folder_that_is_gone_is_told(loop):
    folder = loop.folder / "e01_tensors/twice"
    loop.watcher.handle(Saved(frozenset({folder / "model.py"})))
    loop.answer(PASSED)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    loop.watcher.handle(Saved(frozenset({folder / "model.py"})))
    assert "is gone; r puts its start back" in loop.shown()
