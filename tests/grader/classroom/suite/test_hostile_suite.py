"""Hand-ins that attack how an assignment's tests are run, beside honest ones, in the real sandbox."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import paths
from tests.grader.classroom.suite.hand_ins import FILES, FORGING, HONEST, LEAVING, READING, RIGHT, SUITE

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]

LOOT = "STOLEN"
FAMILIES = {"leaving": LEAVING, "files": FILES, "forging": FORGING, "reading": READING}
ATTACKS = [
    pytest.param(f"{family}{number:02}", attack, id=f"{family}: {attack.about}")
    for family, attacks in FAMILIES.items()
    for number, attack in enumerate(attacks)
]
TESTS = ["test_kept", "test_last", "test_two"]


def lay(folder, tree):
    for name, text in tree.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


class Graded:
    def __init__(self, home: Path) -> None:
        self.suite, self.work, self.out = home / "handout" / "tests", home / "work", home / "out"
        lay(self.suite, SUITE)
        lay(home, {"solution/tests/adapters.py": f"# {LOOT}\n{RIGHT}", "secret.txt": LOOT})
        for family, attacks in {**FAMILIES, "honest": HONEST}.items():
            for number, attack in enumerate(attacks):
                places = {"{home}": home, "{work}": self.work, "{out}": self.out, "{root}": paths.SOURCE}
                tree = dict(attack.tree)
                for place, path in places.items():
                    tree = {name: text.replace(place, str(path)) for name, text in tree.items()}
                lay(self.work / f"{family}{number:02}", tree)
        lay(self.work / "neighbour", {"tests/adapters.py": f"# {LOOT}\n{RIGHT}"})
        lay(self.work / "link", {"tests/__init__.py": ""})
        (self.work / "link/tests/adapters.py").symlink_to(home / "solution/tests/adapters.py")
        self.before = self.outside()
        command = [sys.executable, "-m", "grader", "grade-suite", self.suite, self.work]
        command += ["--adapter", self.suite / "adapters.py", "--solution", home / "solution"]
        command += ["--out", self.out]
        done = subprocess.run(
            [*map(str, command)],
            env={**os.environ, "KATA_SECRET": LOOT},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.shown = done.stdout
        self.records = {file.stem: json.loads(file.read_text()) for file in self.out.glob("[!.]*.json")}

    def outside(self):
        files = [*self.work.rglob("*.py"), *self.suite.rglob("*")]
        return {str(p): f"{p.stat().st_size} {p.stat().st_mtime_ns}" for p in files}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return Graded(tmp_path_factory.mktemp("hostile"))


def passed(record):
    """The tests that are known to have passed; what is in status tampered scores nothing."""
    checks = [check for e in record["exercises"].values() for check in e["checks"]]
    return sorted(check["id"].split("::")[-1] for check in checks if check["outcome"] == "passed")


@pytest.mark.parametrize(("student", "attack"), ATTACKS)
def test_an_attack_does_not_pay_and_is_told(graded, student, attack):
    record = graded.records[student]
    text = json.dumps(record, ensure_ascii=False)
    assert record["score"] == len(attack.passed), text[:1500]
    statuses = {exercise["status"] for exercise in record["exercises"].values()}
    assert statuses <= set(attack.statuses), f"{statuses}: {text[:1500]}"
    if statuses != {"tampered"}:
        assert passed(record) == sorted(attack.passed), text[:1500]
    assert attack.says in text, text[:1500]
    assert LOOT not in text


@pytest.mark.parametrize("number", range(len(HONEST)), ids=[h.about for h in HONEST])
def test_an_honest_answer_loses_nothing(graded, number):
    record = graded.records[f"honest{number:02}"]
    assert passed(record) == TESTS, json.dumps(record)[:2000]
    assert record["score"] == record["points"]


def test_neighbours_get_their_marks(graded):
    assert passed(graded.records["neighbour"]) == TESTS


def test_a_link_to_the_reference_is_no_adapter(graded):
    record = graded.records["link"]
    assert {e["status"] for e in record["exercises"].values()} == {"not_graded"} and passed(record) == []
    assert "is a link, which is not followed" in graded.shown and LOOT not in json.dumps(record)


def test_every_student_has_a_record_of_the_same_tests(graded):
    assert graded.records.keys() == {folder.name for folder in graded.work.iterdir()}
    for record in graded.records.values():
        names = [c["id"].split("::")[-1] for e in record["exercises"].values() for c in e["checks"]]
        assert sorted(names) in (TESTS, []), record


def test_nothing_outside_has_changed(graded):
    assert graded.outside() == graded.before


def test_nothing_keeps_running(graded):
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if str(graded.out) in words:
            left.append(folder.name)
    assert not left


def test_what_is_shown_holds_no_control_characters(graded):
    texts = [graded.shown, *(json.dumps(r, ensure_ascii=False) for r in graded.records.values())]
    shown = {c for text in texts for c in text if c not in "\n\t"}
    assert not {c for c in shown if ord(c) < 32 or 0x7F <= ord(c) < 0xA0}
