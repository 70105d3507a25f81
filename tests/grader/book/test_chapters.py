"""Each section's README is a chapter: its table and snippets are run as they stand, top to bottom."""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from grader.course import catalog, chapter, paths
from grader.course.chapter import text_of

CHAPTERS = sorted(path.name for path in paths.EXERCISES.glob("e[0-9][0-9]_*"))
_SNIPPET = re.compile(r"```pycon\n(.*?)```", re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A folder of its own, and no process group left behind."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.chdir(tmp_path)
    with torch.random.fork_rng(devices=[]):
        yield
    if dist.is_initialized():
        dist.destroy_process_group()


def says(result: str) -> str | None:
    """What a row states of a value: `(2, 3)` is a shape, anything else in backticks its repr."""
    stated = re.match(r"`([^`]+)`", result)
    return stated[1] if stated else None


def wrong_rows(text: str, names: dict[str, object]) -> Iterator[str]:
    """Rows whose call breaks, or gives another shape or value than the row says."""
    for row in chapter.calls(text):
        call, said = row.name, says(row.tells)
        try:
            value = eval(call, names)
        except SyntaxError:
            exec(call, names)
            continue
        except Exception as error:
            yield f"{call}: {type(error).__name__}: {error}"
            continue
        got = str(tuple(value.shape)) if isinstance(value, torch.Tensor) else repr(value)
        if said is not None and got != said:
            yield f"{call} is {got}, not {said}"


def run(section: str) -> list[str]:
    """What the chapter gets wrong, in order: a table's rows see the names of the snippets above."""
    names: dict[str, object] = {}
    wrong: list[str] = []
    text = text_of(section)
    end = 0
    for snippet in _SNIPPET.finditer(text):
        wrong += wrong_rows(text[end : snippet.start()], names)
        end = snippet.end()
        line = text.count("\n", 0, snippet.start()) + 1
        test = doctest.DocTestParser().get_doctest(snippet[1], names, f"README line {line}", None, 0)
        runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
        runner.run(test, out=wrong.append, clear_globs=False)
        names.update(test.globs)
    return wrong + list(wrong_rows(text[end:], names))


@pytest.mark.parametrize("section", CHAPTERS)
def test_snippets_print_what_they_say_and_calls_give_what_the_table_says(section: str) -> None:
    assert not run(section), "\n".join(run(section))


@pytest.mark.parametrize("section", CHAPTERS)
def test_each_row_names_a_step_or_an_exercise(section: str) -> None:
    known = {exercise.slug for exercise in catalog.load().exercises}
    rows = list(chapter.calls(text_of(section)))
    assert len(rows) == text_of(section).count("\n| `")
    assert all(row.slugs and set(row.slugs) <= known for row in rows)
    assert len(rows) >= (30 if section == "e01_tensors" else 10)


@pytest.mark.parametrize("section", CHAPTERS)
def test_a_chapter_has_five_to_eight_snippets_of_at_most_eight_lines(section: str) -> None:
    snippets = _SNIPPET.findall(text_of(section).partition("\n## Snippets")[2])
    assert 5 <= len(snippets) <= 8
    assert all(len(code.splitlines()) <= 8 for code in snippets)


@pytest.mark.parametrize(
    "breakdown",
    [
        "NaN under mixed precision",
        "It hangs",
        "Out of memory: what to try, in order",
        "It is slow",
        "It does not learn",
        "Numbers differ after a resume",
    ],
)
def test_a_breakdown_has_a_path_a_symptom_and_a_snippet(breakdown: str) -> None:
    told = text_of("e09_debugging").partition(f"\n### {breakdown}\n")[2].partition("\n##")[0]
    assert len(re.findall(r"^\d\. ", told, re.MULTILINE)) >= 5
    assert len(_SNIPPET.findall(told)) == 1
    assert re.search(r"\]\(\.\./symptoms/\w+\.md#", told)


def test_the_first_chapter_begins_with_what_first_steps_need_and_its_calls_have_headings() -> None:
    text = text_of("e01_tensors")
    assert "torch.tensor(" in text.partition("\n## ")[0]
    calls = text.partition("\n## Calls\n")[2].partition("\n## ")[0]
    assert re.findall(r"^### (\w+)$", calls, re.MULTILINE) == [
        "Make",
        "Index",
        "Reshape",
        "Reduce",
        "Combine",
    ]
