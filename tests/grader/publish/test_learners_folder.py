"""What `kata init` writes, and where it does not."""

import shutil

import pytest

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import digest
from grader.course.rows import read
from grader.publish import learners_folder, update
from grader.records import progress, progress_file
from tests.grader.support.clone import SOLUTION, Clone


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A course of one exercise that the package came with."""
    clone = Clone(tmp_path / "clone")
    clone.add("double")
    (clone.root / "README.md").write_text(
        "# Kata\n\n## Start\n\nclone\n\n## Learn\n\nwrite\n\n## Teach\n\ngrade\n"
    )
    monkeypatch.setattr(paths, "SOURCE", clone.root)
    return clone.root


def test_all_that_a_learner_uses_and_no_more(tmp_path):
    target = tmp_path / "a" / "kata"
    assert learners_folder.write(target) == len(load().exercises) == len(read(target / "exercises").exercises)
    for tree in ("exercises", "solutions", "public", "hidden"):
        files = [exercise.file(tree) for exercise in load().exercises if tree in exercise.trees]
        assert all((target / f.relative_to(paths.ROOT)).read_bytes() == f.read_bytes() for f in files)
    assert {p.name for p in target.iterdir()} == {
        *("exercises", "solutions", "tests", "docs"),
        *("conftest.py", "pyproject.toml", "README.md", ".gitignore"),
    }
    assert {p.name for p in (target / "tests").iterdir()} == {"__init__.py", "public", "hidden"}
    assert not [*target.rglob("__pycache__")]
    assert [*target.glob("exercises/*/steps/steps.toml")]


def test_its_own_settings_and_pages(source, tmp_path):
    (tmp_path / "kata").mkdir()
    learners_folder.write(tmp_path / "kata")
    settings = (tmp_path / "kata" / "pyproject.toml").read_text("utf-8")
    assert settings.startswith("[tool.pytest.ini_options]\n") and settings.count("\n[") == 0
    assert (tmp_path / "kata" / "README.md").read_text("utf-8") == "# Kata\n\n## Learn\n\nwrite\n\n"


def test_an_update_takes_what_comes_with_the_package(source, tmp_path, monkeypatch):
    kata = tmp_path / "kata"
    learners_folder.write(kata)
    monkeypatch.setattr(paths, "ROOT", kata)
    monkeypatch.setattr(progress_file, "FILE", kata / ".kata" / "progress.json")
    place, catalog = "exercises/e01_tensors/double.py", "exercises/e01_tensors/section.toml"
    (kata / place).write_text(SOLUTION)
    assert update.run(None) == ["the torchkata that is installed holds nothing new"]
    assert progress.lost() == ""
    stub = (source / place).read_text().replace("Double a tensor.", "Twice as much.")
    old = read(kata / "exercises").exercises[0].start
    (source / place).write_text(stub)
    (source / catalog).write_text((source / catalog).read_text().replace(old, digest(stub.encode())))
    lines = update.run(None)
    assert lines[1] == "1 answer of yours stayed, 1 of them under a new statement"
    assert (kata / place).read_text() == SOLUTION.replace("Double a tensor.", "Twice as much.")
    assert progress.lost() == "the course was updated"
    monkeypatch.setattr(paths, "ROOT", tmp_path / "elsewhere")
    with pytest.raises(KataError, match="no exercises of yours here"):
        update.run(None)


def test_not_over_what_is_there(source, tmp_path):
    mine = tmp_path / "kata" / "mine.py"
    mine.parent.mkdir()
    mine.write_text("mine")
    for place in (mine.parent, mine):
        with pytest.raises(KataError, match="not empty; name a new folder"):
            learners_folder.write(place)
    assert [p.name for p in mine.parent.iterdir()] == ["mine.py"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), shutil.Error([("a", "b", "c")])])
def test_nothing_is_there_by_half(source, tmp_path, monkeypatch, error):
    def full(*_arguments, **_options):
        raise error

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(KataError, match=r"(No space left on device|cannot be copied); choose another folder"):
        learners_folder.write(tmp_path / "kata")
    assert not [*(tmp_path / "kata").iterdir()]


def test_a_solved_exercise_is_not_written(source, tmp_path):
    (source / "exercises/e01_tensors/double.py").write_text(SOLUTION)
    with pytest.raises(KataError, match=r"1 exercise.* not at their start .*double"):
        learners_folder.write(tmp_path / "kata")
    assert not (tmp_path / "kata").exists()
