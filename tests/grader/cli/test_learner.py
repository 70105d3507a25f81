"""The verbs, run in a small clone: what they do, and one line for bad input."""

import hashlib
import json
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from grader import cli
from grader.course.exercise import digest
from tests.grader.support.clone import SOLUTION, STUB, Clone

pytestmark = pytest.mark.slow

VERBS = {
    "status",
    "list",
    "find",
    "read",
    "watch",
    "see",
    "again",
    "path",
    "hint",
    "reset",
    "capstone",
    "solution",
    "update",
    "init",
    "release",
    "notebooks",
    "grade",
    "grade-suite",
    "export",
    "report",
    "roster",
    "similar",
    "similar-suite",
    "audit",
    "new",
}


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path)
    clone.add("double", hints='["First.", "Second."]')
    clone.add("twice")
    return clone


def test_the_verbs_are_frozen():
    assert {*get_command(cli.app).list_commands(None)} == VERBS


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_explains_itself(verb):
    result = CliRunner().invoke(cli.app, [verb, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_status_is_the_default(clone):
    code, lines = clone.kata()
    assert code == 0
    assert (code, lines) == clone.kata("status")
    assert "0/2 ··" in lines[0]
    assert "next: double" in lines[-1]


def test_the_map_has_sections_that_are_to_come(clone):
    section = clone.catalog.parent.with_name("e02_autograd")
    section.mkdir()
    (section / clone.catalog.name).write_text('title = "Gradients"\n')
    code, lines = clone.kata()
    assert code == 0
    assert lines[1].split() == ["e02_autograd", "Gradients", "to", "come"]


def test_the_legend_explains_what_the_map_shows(clone):
    assert "further" not in clone.kata()[1][-2]
    rows = clone.catalog.read_text().rpartition('path = "core"')
    clone.catalog.write_text('path = "further"'.join(rows[::2]))
    code, lines = clone.kata()
    assert code == 0
    assert lines[0].rstrip().endswith("· | ·")
    assert "core | further" in lines[-2]


def remember(clone, state, text):
    """Write an answer, and what was seen of it."""
    file = clone.root / "exercises" / "e01_tensors" / "double.py"
    file.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    (clone.root / ".kata").mkdir(exist_ok=True)
    seen = {"states": {"double": [state, digest]}}
    (clone.root / ".kata" / "progress.json").write_text(json.dumps(seen))
    return file


def test_a_state_counts_for_the_file_that_was_judged(clone):
    file = remember(clone, "done", SOLUTION)
    assert "1/2 ✓·" in clone.kata()[1][0]
    file.write_text(STUB)
    assert "0/2 ··" in clone.kata()[1][0]


def test_what_is_damaged_is_set_aside_and_found_anew(clone):
    remember(clone, "done", SOLUTION)
    file = clone.root / ".kata" / "progress.json"
    file.write_text("{")
    assert clone.kata("hint", "double")[1][0].startswith("hint 1/2")
    code, lines = clone.kata()
    assert code == 0 and "1/2 ✓·" in lines[0]
    (aside,) = file.parent.glob("progress.damaged-*")
    told = f".kata/progress.json was damaged, and is kept as {aside.name}; judging 1 answer anew, once"
    assert told in lines and aside.read_text() == "{"
    assert clone.kata("hint", "double")[1][0].startswith("hint 2/2")
    assert not any("damaged" in line for line in clone.kata()[1])


def test_a_renamed_answer_is_named(clone):
    folder = clone.root / "exercises" / "e01_tensors"
    (folder / "double.py").rename(folder / "mine.py")
    (folder / "notes.py").write_text("def helper():\n    pass\n")
    told = "exercises/e01_tensors/double.py is not there, but exercises/e01_tensors/mine.py holds double"
    assert f"{told}: give it that name" in clone.kata()[1]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "double"], cwd=clone.root, capture_output=True, text=True
    )
    assert told in done.stdout
    (folder / "mine.py").unlink()
    assert not any("is not there" in line for line in clone.kata()[1])


def test_an_update_brings_statements_and_judges_answers_anew(clone, tmp_path_factory):
    clone.commit()
    mine = Clone.__new__(Clone)
    mine.root = tmp_path_factory.mktemp("mine") / "clone"
    subprocess.run(["git", "clone", "-q", str(clone.root), str(mine.root)], check=True)
    place = "exercises/e01_tensors/double.py"
    (mine.root / place).write_text(SOLUTION)
    stub = STUB.replace("Double a tensor.", "Twice as much.")
    (clone.root / place).write_text(stub)
    text = clone.catalog.read_text()
    clone.catalog.write_text(text.replace(digest(STUB.encode()), digest(stub.encode()), 1))
    clone.commit("a new statement")
    code, lines = mine.kata("update")
    assert code == 0 and "0 new exercises, 1 with a new statement or start" in lines[0]
    assert lines[1] == "1 answer of yours stayed, 1 of them under a new statement"
    assert (mine.root / place).read_text() == SOLUTION.replace("Double a tensor.", "Twice as much.")
    code, lines = mine.kata()
    assert "1/2 ✓·" in lines[0] and "the course was updated; judging 1 answer anew, once" in lines
    assert "holds nothing new" in mine.kata("update")[1][0]
    assert mine.kata("update", "--from", "nowhere")[0] == 2


@pytest.mark.parametrize("text", ['{"states": {"double": "done"}}', '{"hints": {"double": "many"}}'])
def test_a_row_that_says_nothing_is_none(clone, text):
    (clone.root / ".kata").mkdir()
    (clone.root / ".kata" / "progress.json").write_text(text)
    assert "0/2 ··" in clone.kata()[1][0]
    assert clone.kata("hint", "double")[1][0].startswith("hint 1/2")


def test_hints_come_one_at_a_time_and_the_last_one_is_called_so(clone):
    first, second, after = (clone.kata("hint", "double")[1] for _ in range(3))
    assert first == ["hint 1/2  First."] and second == ["hint 2/2 (the last one)  Second."]
    assert after[:2] == ["hint 1/2  First.", "hint 2/2  Second."]
    assert after[2].startswith("there are no more hints: `kata solution double --reveal` shows the solution")


def test_after_the_last_hint_the_solution_can_be_revealed_which_is_noted(clone):
    clone.kata("hint", "double")
    assert clone.kata("solution", "double", "--reveal")[0] == 2  # there is a hint left
    clone.kata("hint", "double")
    code, lines = clone.kata("solution", "double")
    assert code == 2 and "`kata solution double --reveal` shows it" in lines[0]
    assert not any("revealed" in line for line in clone.kata()[1])
    code, lines = clone.kata("solution", "double", "--reveal")
    assert code == 0 and "+    return x * 2.0" in lines
    assert "solution revealed: double" in clone.kata()[1]
    assert clone.kata("solution", "double")[0] == 0  # once seen, it is seen
    assert clone.kata("hint", "double")[1][-1] == "there are no more hints"
    clone.commit()
    (clone.root / "exercises" / "e01_tensors" / "double.py").write_text(SOLUTION)
    clone.kata("reset", "double", "--yes")
    assert "solution revealed: double" in clone.kata()[1]
    assert clone.kata("hint", "double")[1] == ["hint 1/2  First."]


def test_a_learners_verbs_find_an_exercise_by_its_file(clone):
    file = "exercises/e01_tensors/double.py"
    assert "First." in clone.kata("hint", file)[1][0]
    assert "already" in clone.kata("reset", file, "--yes")[1][0]
    assert "double is not solved yet" in clone.kata("solution", file)[1][0]


def test_reset_puts_the_start_back_and_keeps_a_backup(clone):
    clone.commit()
    file = clone.root / "exercises" / "e01_tensors" / "double.py"
    file.write_text("my work")
    code, lines = clone.kata("reset", "double", "--yes")
    assert code == 0
    assert file.read_text() == STUB
    (kept,) = (clone.root / ".kata" / "backups").iterdir()
    assert kept.read_text() == "my work"
    assert kept.name in lines[0]
    assert "already" in clone.kata("reset", "double", "--yes")[1][0]


def test_reset_asks_first(clone):
    clone.commit()
    file = clone.root / "exercises" / "e01_tensors" / "double.py"
    file.write_text("my work")
    assert clone.kata("reset", "double", answer="n\n")[0] == 1
    assert file.read_text() == "my work"


def test_the_solution_is_shown_once_the_exercise_passes(clone):
    code, lines = clone.kata("solution", "double")
    assert code == 2
    assert "not solved yet" in lines[0]
    remember(clone, "done", SOLUTION.replace("x * 2.0", "x + x"))
    code, lines = clone.kata("solution", "double")
    assert code == 0
    assert "-    return x + x" in lines
    assert "+    return x * 2.0" in lines


def test_what_works_shows_the_solution_and_what_the_fine_print_adds(clone):
    plain = "works: in place\n- x * 2.0\n+ x.mul_(2.0)\n"
    clone.add("thrice", specimens=(plain,))
    text = SOLUTION.replace("x * 2.0", "x + x")
    for state, code in (("failing", 2), ("works", 0)):
        remember(clone, state, text)
        assert clone.kata("solution", "double")[0] == code
    assert "1/3 +··" in clone.kata()[1][0]
    assert not any("fine print adds" in line for line in clone.kata("solution", "double")[1])
    file = clone.root / "exercises" / "e01_tensors" / "thrice.py"
    file.write_text(text)
    seen = {"states": {"thrice": ["works", hashlib.sha256(text.encode()).hexdigest()[:16]]}}
    (clone.root / ".kata" / "progress.json").write_text(json.dumps(seen))
    lines = clone.kata("solution", "thrice")[1]
    place = lines.index("what the fine print adds to a plain answer, which does the job (in place):")
    assert "-    return x + x" in lines[:place] and "-    return x.mul_(2.0)" in lines[place:]


def test_a_second_round_needs_something_that_works(clone):
    code, lines = clone.kata("watch", "--fine")
    assert (code, len(lines)) == (2, 1) and "no fine print is left of what works; `kata watch`" in lines[0]


@pytest.fixture
def ramp(clone):
    """The clone with a step, which thrice needs."""
    clone.add_step("half")
    clone.add("thrice", needs='["half"]')
    return clone


def test_status_shows_steps_and_exercises_and_the_path(ramp):
    code, lines = ramp.kata()
    assert code == 0 and lines[0].split() == ["steps", "exercises"]
    assert lines[1].split() == ["e01_tensors", "The", "tensor", "0/1", "0/3", "···"]
    assert lines[-2].startswith("path first: section by section") and "next: half" in lines[-1]
    told = json.loads("".join(ramp.kata("status", "--json")[1]))
    (section,) = told["sections"]
    assert [e["slug"] for e in section["steps"]] == ["half"]
    assert [e["slug"] for e in section["exercises"]] == ["double", "twice", "thrice"]
    assert told["path"] == {"name": "first", "section": None} and told["next"] == "half"


def test_whoever_does_the_job_knows_its_steps(ramp):
    file = ramp.root / "exercises" / "e01_tensors" / "thrice.py"
    file.write_text(SOLUTION)
    seen = {"states": {"thrice": ["works", hashlib.sha256(SOLUTION.encode()).hexdigest()[:16]]}}
    (ramp.root / ".kata").mkdir()
    (ramp.root / ".kata" / "progress.json").write_text(json.dumps(seen))
    told = json.loads("".join(ramp.kata("status", "--json")[1]))
    assert told["sections"][0]["steps"][0]["state"] == "known" and told["path"]["name"] == "core"
    assert ramp.kata()[1][1].split()[3:5] == ["1/1", "1/3"]
    assert ramp.kata("solution", "half")[0] == 0


def test_a_path_is_shown_chosen_and_kept(ramp):
    code, lines = ramp.kata("path")
    assert code == 0 and lines[0].startswith("path first: ") and "half.py" in lines[1]
    code, lines = ramp.kata("path", "core")
    assert code == 0 and lines[0].startswith("path core: ") and "double.py" in lines[1]
    assert "next: double" in ramp.kata()[1][-1]
    assert "path section: the steps and easy" in ramp.kata("path", "section", "e01")[1][0]
    assert (
        ramp.kata("path")[1][0]
        == "path section: the steps and easy exercises of e01_tensors, then its others"
    )
    told = json.loads("".join(ramp.kata("status", "--json")[1]))
    assert told["path"] == {"name": "section", "section": "e01_tensors"}


def test_new_makes_an_exercise_that_the_audit_reads(clone):
    code, lines = clone.kata("new", "e01", "third_one")
    assert code == 0
    assert len(lines) == 7
    code, lines = clone.kata("audit", "--only", "third_one")
    assert code == 1
    assert any("here are 0" in line for line in lines)


def test_only_may_be_given_several_times(clone):
    clone.add("thrice")
    code, lines = clone.kata("audit", "--only", "twice", "--only", "double", "--only", "twice", "--json")
    assert code == 0
    assert json.loads("".join(lines))["exercises"] == ["double", "twice"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["hint", "dubble"], "did you mean 'double'?"),
        (["hint", "zzz"], "no exercise is called 'zzz'"),
        (["audit", "--only", "e99"], "no exercise is called"),
        (["audit", "--only", "dubble", "--only", "twice"], "did you mean 'double'?"),
        (["new", "e99", "x"], "no section is called"),
        (["new", "e01", "double"], "already"),
        (["new", "e01", "No-Slug"], "is no slug"),
        (["new", "e01", "third", "--kind", "odd"], "neither of build, fix, project"),
        (["reset", "dubble"], "did you mean 'double'?"),
        (["path", "frist"], "'frist' is no path: choose first, core, or section and one of e01_tensors"),
        (["path", "first", "e01"], "goes through all sections"),
        (["watch", "--path", "e99"], "'e99' is no path"),
        (["notebooks", "grader"], "not empty"),
        (["notebooks", "out", "--only", "dubble"], "did you mean 'double'?"),
        (["grade", "nowhere"], "nowhere"),
        (["export", "--results", "nowhere"], "nowhere"),
        (["report", "--results", "nowhere"], "nowhere"),
        (["similar", "nowhere"], "nowhere"),
        (["export", "--format", "xls"], "there is no such format"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_bad_input_gets_one_line(clone, arguments, words):
    code, lines = clone.kata(*arguments)
    assert code == 2
    assert len(lines) == 1
    assert lines[0].startswith("kata: ")
    assert words in lines[0]


def test_a_broken_catalog_is_told_in_one_line(clone):
    clone.catalog.write_text("title = [")
    code, lines = clone.kata("status")
    assert code == 2
    assert len(lines) == 1
    assert "section.toml cannot be read: Invalid value" in lines[0]
    clone.catalog.write_text("[exercise]")
    code, lines = clone.kata("status")
    assert (code, len(lines)) == (2, 1)
    assert "lacks the section's title" in lines[0]
