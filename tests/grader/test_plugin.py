"""The pytest face, run as a learner runs it."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from grader import paths
from grader.catalog import load

MERGE = load().exercise("merge_heads")
BUILD = next(e for e in load().exercises if e.kind == "build")
SOLUTION = MERGE.file("solutions").read_text("utf-8")


def run(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def suites(exercise):
    return [str(exercise.file(tree)) for tree in ("public", "hidden")]


def written(folder, text, name=None):
    file = folder / f"{name or MERGE.stem}.py"
    file.write_text(text, "utf-8")
    return file


def test_an_unwritten_stub_is_todo_and_no_failure(tmp_path):
    code, told = run("--answers", str(paths.EXERCISES), *suites(BUILD))
    assert code == 0
    assert "todo" in told
    assert "failed" not in told
    assert f"next: {BUILD.slug}" in told
    assert f"kata hint {BUILD.slug}" in told


def test_a_right_answer_passes_and_the_section_says_so():
    code, told = run("--answers", "solutions", *suites(MERGE))
    assert code == 0
    assert "1/1" in told


def test_one_file_is_judged_alone(tmp_path):
    code, told = run("--answers", str(written(tmp_path, SOLUTION)))
    assert code == 0
    assert "deselected" in told
    assert "1/1" in told


def test_a_file_named_by_its_slug_is_judged(tmp_path):
    code, _ = run("--answers", str(written(tmp_path, SOLUTION, "merge_heads")))
    assert code == 0


@pytest.mark.parametrize(
    ("name", "words"), [("ex99_nothing.py", "no exercise has this name"), (None, "no such file or folder")]
)
def test_bad_answers_get_one_line(tmp_path, name, words):
    place = tmp_path / "absent" if name is None else written(tmp_path, SOLUTION, name.removesuffix(".py"))
    code, told = run("--answers", str(place), *suites(MERGE))
    assert code == 4
    assert words in told
    assert "Traceback" not in told


def test_a_missing_file_in_a_folder_is_todo(tmp_path):
    code, told = run("--answers", str(tmp_path), *suites(MERGE))
    assert code == 0
    assert "todo" in told


def test_xdist_tells_the_same(tmp_path):
    wrong = written(tmp_path, SOLUTION.replace("x.transpose(1, 2)", "x"))
    code, told = run("-n", "2", "--answers", str(wrong), *suites(MERGE))
    assert code == 1
    assert "permute" in told
    assert "1 failing" in told


def test_junit_xml_holds_the_feedback(tmp_path):
    wrong = written(tmp_path, SOLUTION.replace("x.transpose(1, 2)", "x"))
    report = tmp_path / "report.xml"
    run(f"--junit-xml={report}", "--answers", str(wrong), *suites(MERGE))
    failures = ElementTree.parse(report).findall(".//failure")
    assert failures
    assert all("kata hint merge_heads" in failure.text for failure in failures)
    assert not any("Traceback" in failure.text for failure in failures)


def test_another_seed_draws_other_inputs_and_judges_alike():
    for seed in ("1", "2"):
        assert run("--answers", "solutions", "--seed", seed, *suites(MERGE))[0] == 0


def test_markers_are_known():
    code, told = run("--markers")
    assert code == 0
    for marker in ("gpu", "mps", "multi_gpu", "multi_process", "slow"):
        assert f"@pytest.mark.{marker}:" in told
