"""A learner's progress outlives damage to the file that it is kept in."""

import json

import pytest

from grader.records import progress, progress_file

DAMAGED = (b"", b"{", b"[]", b"\xff\xfe{}", b'{"states": 3, "hints": []}', b"[" * 100_000, b"null")


@pytest.fixture
def file(tmp_path, monkeypatch):
    file = tmp_path / ".kata" / "progress.json"
    monkeypatch.setattr(progress_file, "FILE", file)
    return file


@pytest.mark.parametrize("damaged", DAMAGED)
def test_what_is_damaged_is_set_aside_and_what_was_written_before_is_read(file, damaged):
    for slug in ("first", "second", "third"):
        progress.reveal(slug)
    file.write_bytes(damaged)
    assert progress.revealed() == {"first", "second"}
    why = progress.lost()
    (aside,) = file.parent.glob("progress.damaged-*")
    assert aside.read_bytes() == damaged and aside.name in why and "\n" not in why
    progress.reveal("fourth")
    progress.found()
    assert progress.revealed() == {"first", "second", "fourth"} and progress.lost() == ""
    assert aside.read_bytes() == damaged


@pytest.mark.parametrize("before", [None, b"", b"[]"])
def test_without_what_was_written_before_all_begins_anew(file, before):
    file.parent.mkdir()
    file.write_bytes(b"{")
    if before is not None:
        file.with_suffix(".before.json").write_bytes(before)
    assert progress.revealed() == frozenset() and "damaged" in progress.lost()


def test_damage_never_takes_the_place_of_the_write_before(file):
    for slug in ("first", "second"):
        progress.reveal(slug)
    held = progress_file.read()
    file.write_bytes(b"{")  # between a read and a write
    progress_file.write(held)
    before = json.loads(file.with_suffix(".before.json").read_text())
    assert before["revealed"].keys() == {"first"} and progress.lost() == ""


def test_no_file_is_no_damage(file):
    assert progress.lost() == "" and progress.part("states") == {} and not file.parent.exists()
