"""The messages that chapters explain are those of PyTorch, and are found however they were printed."""

import re

import pytest
import torch
import torch.distributed as dist

from grader.course import chapter
from grader.course.catalog import load
from grader.course.lookup.finding import Lookup
from tests.grader.book.provoked import BY_SECTION, NEEDS_ANOTHER_MACHINE, Provoke

ROWS = {s.name: list(chapter.messages(chapter.text_of(s.name))) for s in load().sections}
TRIED = [(section, words) for section, provoked in BY_SECTION.items() for words in provoked]
LOOKUP = Lookup(load())


@pytest.fixture(autouse=True)
def by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the loopback, as if started by hand."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


def printed(provoke: Provoke) -> str:
    """What Python prints of it."""
    with torch.random.fork_rng(devices=[]), pytest.raises((Exception, Warning)) as raised:
        provoke()
    assert not dist.is_initialized()
    return f"{type(raised.value).__name__}: {raised.value}"


def plain(message: str) -> str:
    """With the numbers of the day taken out."""
    return re.sub(r"\d+", "0", message)


@pytest.mark.parametrize("section, words", TRIED)
def test_a_message_is_what_pytorch_says_and_is_found_by_it(section: str, words: str) -> None:
    (row,) = [row for row in ROWS[section] if row.name.startswith(words)]
    said = printed(BY_SECTION[section][words])
    assert plain(row.name) in plain(said)
    assert row.name in [entry.name for entry in LOOKUP.find(said).entries[:3]]


def test_every_message_is_tried_and_there_are_a_hundred() -> None:
    named = [(section, row.name) for section, rows in ROWS.items() for row in rows]
    untried = [
        name for section, name in named if not name.startswith((*BY_SECTION[section], *NEEDS_ANOTHER_MACHINE))
    ]
    assert untried == [] and len(TRIED) >= 100


def test_each_row_names_steps_or_exercises() -> None:
    known = {e.slug for e in load().exercises}
    assert all(row.slugs and set(row.slugs) <= known for rows in ROWS.values() for row in rows)
