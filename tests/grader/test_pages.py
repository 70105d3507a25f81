"""What the pages name is there: files, headings, targets of make, checks that clauses make."""

import inspect
import re

import pytest

from grader.checks import contract
from grader.course.paths import ROOT

PAGES = ["CONTRIBUTING.md", "README.md", "SECURITY.md", "RELEASING.md", "grader/README.md"]
PAGES += sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))
OURS = ["CONTRIBUTING.md", "docs/exercise.md", "docs/step.md", "docs/grader.md"]


def text(page):
    return (ROOT / page).read_text("utf-8")


def headings(page):
    titles = re.findall(r"^#+ (.*)$", text(page), re.M)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|\w+@)([^)]+)\)", text(page)):
        file, _, anchor = target.partition("#")
        found = (ROOT / page).parent / file if file else ROOT / page
        assert found.exists(), target
        if anchor:
            assert anchor in headings(found), target


@pytest.mark.parametrize("page", OURS)
def test_files_are_where_contributors_are_told(page):
    named = re.findall(r"`((?:tests|grader|docs|benchmarks|exercises)/[\w/.]+\w)`", text(page))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_targets_of_make():
    made = re.findall(r"^([\w./-]+):", text("Makefile"), re.M)
    for page in OURS:
        for target in re.findall(r"make ((?!is\b)[\w./-]+)", text(page)):
            assert target in made, f"{page}: make {target}"


@pytest.mark.parametrize("clause", [name for name in contract.__all__ if name[0].islower()])
def test_checks_are_called_as_the_page_says(clause):
    name = inspect.signature(getattr(contract, clause)).parameters.get("name")
    if name is not None:
        assert re.search(rf"`{clause}` \| `test_{name.default}` \|", text("docs/exercise.md"))
