"""The pytest face, run as a learner runs it."""

import hashlib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from grader.course import paths
from grader.course.catalog import load
from tests.grader.support.clone import HIDDEN, STUB, Clone
from tests.grader.support.clone import SOLUTION as DOUBLE

pytestmark = pytest.mark.slow

MERGE = load().exercise("merge_heads")
BUILD = next(e for e in load().exercises if e.kind == "build")
SOLUTION = MERGE.file("solutions").read_text("utf-8")
WRONG = SOLUTION.replace("x.transpose(1, 2)", "x")


def suites(exercise):
    return [str(exercise.file(tree)) for tree in exercise.suites]


def written(folder, text, name=None):
    file = folder / f"{name or MERGE.slug}.py"
    file.write_text(text, "utf-8")
    return file


def test_an_unwritten_stub_is_todo_and_no_failure(run_pytest):
    code, told = run_pytest("--answers", str(paths.EXERCISES), *suites(BUILD))
    assert code == 0
    assert "todo" in told
    assert "failed" not in told
    assert f"next: {BUILD.slug}" in told
    assert f"kata hint {BUILD.slug}" in told


def test_a_right_answer_passes_and_the_section_says_so(run_pytest):
    code, told = run_pytest("--answers", "solutions", *suites(MERGE))
    assert code == 0
    assert "1/1" in told


def test_one_file_is_judged_alone(run_pytest, tmp_path):
    code, told = run_pytest("--answers", str(written(tmp_path, SOLUTION)))
    assert code == 0
    assert "deselected" in told
    assert "1/1" in told


def test_a_file_named_by_its_slug_is_judged(run_pytest, tmp_path):
    assert run_pytest("--answers", str(written(tmp_path, SOLUTION, "merge_heads")), *suites(MERGE))[0] == 0


@pytest.mark.parametrize(
    ("name", "words"), [("nothing.py", "no exercise has this name"), (None, "no such file or folder")]
)
def test_bad_answers_get_one_line(run_pytest, tmp_path, name, words):
    place = tmp_path / "absent" if name is None else written(tmp_path, SOLUTION, name.removesuffix(".py"))
    code, told = run_pytest("--answers", str(place), *suites(MERGE))
    assert code == 4
    assert words in told
    assert "Traceback" not in told


def test_a_missing_file_in_a_folder_is_todo(run_pytest, tmp_path):
    code, told = run_pytest("--answers", str(tmp_path), *suites(MERGE))
    assert code == 0
    assert "todo" in told


def test_xdist_tells_the_same(tmp_path):
    wrong = written(tmp_path, WRONG)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "--answers", str(wrong)]
    done = subprocess.run([*command, *suites(MERGE)], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "permute" in done.stdout
    assert "1 failing" in done.stdout


def test_junit_xml_holds_the_feedback(run_pytest, tmp_path):
    report = tmp_path / "report.xml"
    run_pytest(f"--junit-xml={report}", "--answers", str(written(tmp_path, WRONG)), *suites(MERGE))
    failures = ElementTree.parse(report).findall(".//failure")
    assert failures
    assert all("kata hint merge_heads" in failure.text for failure in failures)
    assert not any("Traceback" in failure.text for failure in failures)


def test_a_mistake_is_told_once_and_who_else_sees_it_by_title(run_pytest, tmp_path):
    text = SOLUTION.replace("return side", 'raise RuntimeError(f"at {x.shape}")\n    return side')
    arguments = ["--answers", str(written(tmp_path, text)), *suites(MERGE)]
    code, told = run_pytest(*arguments)
    assert code == 1
    assert told.count("your code raised RuntimeError: at torch.Size(") == 1
    assert told.count("    Every dtype comes out as it went in.\n") == 1
    (count,) = re.findall(r"(\d+) failed", told)
    (same,) = re.findall(r"  the same in (\d+) more checks:\n", told)
    assert 0 < int(same) < int(count) - 1 and told.count("  and of the fine print:\n") == 1
    assert run_pytest("-v", *arguments)[1].count("your code raised RuntimeError: at ") == int(count)


def test_what_is_half_written_names_the_function_that_is_not(run_pytest, tmp_path):
    exercise = load().exercise("stable_softmax")
    text = exercise.file("solutions").read_text("utf-8")
    assert text.count("powers, peak = _shifted_exp(x, dim)") == 1
    text = text.replace("powers, peak = _shifted_exp(x, dim)", "raise NotImplementedError")
    code, told = run_pytest("--answers", str(written(tmp_path, text, exercise.slug)), *suites(exercise))
    assert code == 0
    assert re.search(r"stable_softmax: \d+ of \d+ checks pass; still to write: logsumexp\n", told)


def test_warnings_of_libraries_are_left_out(run_pytest, tmp_path):
    text = SOLUTION.replace(
        "return side_by_side", 'import warnings; warnings.warn("old")\n    return side_by_side'
    )
    arguments = ["--answers", str(written(tmp_path, text)), *suites(MERGE)]
    assert "UserWarning: old" not in run_pytest(*arguments)[1]
    assert "UserWarning: old" in run_pytest("-v", *arguments)[1]


def test_the_first_failure_ends_the_run_where_that_is_asked_for(run_pytest, tmp_path):
    code, told = run_pytest("-x", "--answers", str(written(tmp_path, WRONG)), *suites(MERGE))
    assert code == 1
    assert "1 failed" in told
    assert "next: merge_heads" in told


def test_another_seed_draws_other_inputs_and_judges_alike(run_pytest):
    for seed in ("1", "2"):
        assert run_pytest("--answers", "solutions", "--seed", seed, *suites(MERGE))[0] == 0


def test_markers_are_known(run_pytest):
    code, told = run_pytest("--markers")
    assert code == 0
    for marker in ("gpu", "mps", "multi_gpu", "multi_process", "slow"):
        assert f"@pytest.mark.{marker}:" in told


ADAPTER = """
import json, os

found = {}

def tell(**line):
    with open(os.environ["TOLD"], "a") as stream:
        stream.write(json.dumps(line) + "\\n")

def pytest_collection_finish(session):
    for item in session.items:
        doc = item.function.__doc__
        root = str(session.config.rootpath)
        tell(id=item.nodeid, path=str(item.path), line=item.location[1], doc=doc, root=root)

def pytest_report_teststatus(report, config):
    if report.when == "call":
        tell(ran=report.nodeid, outcome=report.outcome)

def pytest_exception_interact(node, call, report):
    tell(failed=node.nodeid, message=report.longreprtext, error=repr(call.excinfo.value))
"""


def test_an_editor_that_lists_and_runs_single_checks(run_pytest, tmp_path, monkeypatch):
    """What the test explorers of editors do: collect with a plugin of their own, then run by node id."""
    (tmp_path / "editor_adapter.py").write_text(ADAPTER)
    told = tmp_path / "told.jsonl"
    script = "import os, sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    environment = {"PYTHONPATH": str(tmp_path), "TOLD": str(told), "PATH": "/usr/bin:/bin"}

    def explore(*arguments):
        command = [
            sys.executable,
            "-c",
            script,
            "-p",
            "editor_adapter",
            f"--rootdir={paths.ROOT}",
            *arguments,
        ]
        subprocess.run(command, cwd=paths.ROOT, env=environment, capture_output=True, check=False)
        lines = [json.loads(line) for line in told.read_text().splitlines()]
        told.unlink()
        return lines

    items = explore("--collect-only", *suites(MERGE))
    ids = [item["id"] for item in items]
    assert len(ids) == len(set(ids))
    assert {item["path"] for item in items} == set(suites(MERGE))
    assert all(item["doc"] and item["line"] > 0 and item["root"] == str(paths.ROOT) for item in items)
    chosen = next(i for i in ids if "worked_example" in i)
    lines = explore("--answers", str(written(tmp_path, WRONG)), chosen)
    assert [line["ran"] for line in lines if "ran" in line] == [chosen]
    (failure,) = [line for line in lines if "failed" in line]
    assert failure["failed"] == chosen
    assert "wrong values from merge_heads(x)" in failure["message"]


SLUGS = ("double", "twice", "thrice")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    for slug in SLUGS:
        clone.add(slug)
    return clone


def answered(clone, *texts):
    for slug, text in zip(SLUGS, texts, strict=True):
        (clone.root / "exercises" / "e01_tensors" / f"{slug}.py").write_text(text)


def seen(clone):
    file = clone.root / ".kata" / "progress.json"
    states = json.loads(file.read_text())["states"] if file.exists() else {}
    file.unlink(missing_ok=True)
    return {slug: state for slug, (state, _) in states.items()}


TRIPLE = DOUBLE.replace("2.0", "3.0")


def test_many_failures_are_told_by_the_first_of_each_exercise(run_pytest, clone):
    answered(clone, TRIPLE, DOUBLE.replace("x * 2.0", "x.mul_(2.0)"), DOUBLE)
    code, told = run_pytest(folder=clone.root)
    assert code == 1
    assert "3 failed, 6 passed" in told
    assert "1 more check fails: pytest -k double" in told
    assert told.count("wrong values from double(x)") == 1
    assert "changes its input x" in told
    assert "next: double   exercises/e01_tensors/double.py   (kata hint double)" in told
    assert run_pytest("-v", folder=clone.root)[1].count("wrong values from double(x)") == 2


FINE = HIDDEN.replace("def test_input", "@pytest.mark.fine\ndef test_input").replace(
    "import", "import pytest\nimport", 1
)


@pytest.fixture
def rungs(clone):
    """Two exercises of the clone with fine print: that x stays as it is."""
    files = [clone.root / f"tests/hidden/e01_tensors/test_{slug}.py" for slug in SLUGS[:2]]
    for file in files:
        file.write_text(FINE)
    yield clone
    for file in files:
        file.write_text(HIDDEN)


IN_PLACE = DOUBLE.replace("x * 2.0", "x.mul_(2.0)")
DOES_JOB = "+ double: it does its job, 2 of 2; fine print 0 of 1"


def test_who_does_the_job_is_told_so_and_what_the_fine_print_wants(run_pytest, rungs):
    answered(rungs, IN_PLACE, DOUBLE, DOUBLE)
    seen(rungs)
    code, told = run_pytest("-k", "double", folder=rungs.root)
    assert code == 1 and DOES_JOB in told and "changes its input x" in told
    assert "1 works" in told and "failing" not in told and "next: twice" in told
    assert seen(rungs) == {"double": "works"}
    code, told = run_pytest("-k", "double and test_input", folder=rungs.root)
    assert code == 1 and "its job" not in told and "changes its input x" in told and not seen(rungs)


def test_among_others_who_does_the_job_is_told_in_a_line(run_pytest, rungs):
    answered(rungs, IN_PLACE, TRIPLE, IN_PLACE)
    code, told = run_pytest(folder=rungs.root)
    assert code == 1 and DOES_JOB in told and "4 failed, 5 passed" in told
    assert told.count("changes its input x") == 1  # of thrice, which has no fine print
    assert "wrong values from double(x)" in told and "next: twice" in told
    assert run_pytest("-v", folder=rungs.root)[1].count("changes its input x") == 2


def test_while_the_job_fails_the_fine_print_is_told_by_title(run_pytest, rungs):
    answered(rungs, DOUBLE.replace("x * 2.0", "x.mul_(3.0)"), DOUBLE, DOUBLE)
    code, told = run_pytest("-k", "double", folder=rungs.root)
    assert code == 1 and "3 failed" in told and "1 failing" in told
    assert "changes its input x" not in told and "its job" not in told
    assert "  and of the fine print:\n    x stays as it is.\n" in told


def test_what_was_judged_whole_is_remembered(run_pytest, clone):
    answered(clone, DOUBLE, TRIPLE, DOUBLE)
    seen(clone)
    _, told = run_pytest("-k", "double", folder=clone.root)
    assert "next: twice" in told
    assert seen(clone) == {"double": "done"}
    run_pytest(folder=clone.root)
    assert seen(clone) == {"double": "done", "twice": "failing", "thrice": "done"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["tests/public"],
        ["-k", "test_example"],
        ["tests/hidden/e01_tensors/test_double.py::test_values", "tests/public"],
        ["-x"],
    ],
    ids=" ".join,
)
def test_a_part_that_passes_proves_nothing(run_pytest, clone, arguments):
    answered(clone, DOUBLE, TRIPLE, DOUBLE)
    seen(clone)
    run_pytest(*arguments, folder=clone.root)
    assert "done" not in seen(clone).values()


def test_what_failed_last_is_run_first(run_pytest, clone):
    answered(clone, DOUBLE, TRIPLE, DOUBLE)
    run_pytest("--lf", folder=clone.root)
    code, told = run_pytest("--lf", folder=clone.root)
    assert code == 1
    assert "2 failed" in told
    assert "passed" not in told


def test_a_state_is_kept_with_the_file(run_pytest, clone):
    answered(clone, DOUBLE, DOUBLE, DOUBLE)
    run_pytest(folder=clone.root)
    states = json.loads((clone.root / ".kata" / "progress.json").read_text())["states"]
    assert states["double"] == ["done", hashlib.sha256(DOUBLE.encode()).hexdigest()[:16]]


@pytest.fixture(scope="module")
def ramp(tmp_path_factory):
    """A step, an exercise that needs it, and one that does not."""
    clone = Clone(tmp_path_factory.mktemp("ramp"))
    clone.add_step("half")
    clone.add("double", needs='["half"]')
    clone.add("twice")
    return clone


def go(clone, path, **texts):
    """Choose a path, and write these answers over the starts."""
    (clone.root / ".kata").mkdir(exist_ok=True)
    choice = {"path": {"name": path, "section": ""}}
    (clone.root / ".kata" / "progress.json").write_text(json.dumps(choice))
    places = {"half": "steps/half", "double": "double", "twice": "twice"}
    for slug, place in places.items():
        file = clone.root / "exercises" / "e01_tensors" / f"{place}.py"
        file.write_text(texts.get(slug, STUB))


def test_the_end_of_a_run_follows_the_path(run_pytest, ramp):
    go(ramp, "first")
    told = run_pytest(folder=ramp.root)[1]
    assert "0/2   2 todo   steps 0/1" in told and "next: half" in told
    go(ramp, "core")
    told = run_pytest(folder=ramp.root)[1].partition(" torchkata ")[2]
    assert "0/2   2 todo\n" in told and "next: double" in told and "half" not in told
    told = run_pytest("-k", "half", folder=ramp.root)[1]
    assert "0/1   1 todo   (steps)" in told and "next: half" in told, "who asks for it is told of it"
    go(ramp, "core", half=TRIPLE)
    told = run_pytest(folder=ramp.root)[1]
    assert "0/2   2 todo   steps 0/1" in told and "next: half" in told, "it was begun"


def test_an_exercise_that_fails_names_the_step_before_it(run_pytest, ramp):
    go(ramp, "core", double=TRIPLE, twice=TRIPLE)
    told = run_pytest(folder=ramp.root)[1]
    named = "  the step before this: e01/half\n  hint: kata hint double\n"
    assert told.count(named) == told.count("the step before this") == 1
    assert run_pytest("-k", "double", folder=ramp.root)[1].count(named) == 1
    go(ramp, "core", double=TRIPLE, half=DOUBLE)
    assert "the step before this" not in run_pytest(folder=ramp.root)[1]
    assert "the step before this" not in run_pytest("-k", "double", folder=ramp.root)[1]


def test_who_does_the_job_has_no_step_left(run_pytest, ramp):
    go(ramp, "first", double=DOUBLE, twice=DOUBLE)
    told = run_pytest(folder=ramp.root)[1]
    assert "2/2   2 done   steps 1/1" in told and "next:" not in told
    assert seen(ramp) == {"half": "todo", "double": "done", "twice": "done"}
