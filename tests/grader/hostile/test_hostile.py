"""Every attack, handed in by a class of its own next to honest work, graded once in the real sandbox."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import paths
from grader.course.catalog import load
from tests.grader.hostile.answers import Hostile
from tests.grader.hostile.comparisons import COMPARISONS
from tests.grader.hostile.forbidden import FORBIDDEN
from tests.grader.hostile.honest import HONEST
from tests.grader.hostile.leaving import LEAVING
from tests.grader.hostile.outcomes import OUTCOMES
from tests.grader.hostile.output import OUTPUT
from tests.grader.hostile.outside import OUTSIDE
from tests.grader.hostile.resources import RESOURCES
from tests.grader.hostile.stealing import LOOT, STEALING

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]

FAMILIES = {
    "leaving": LEAVING,
    "outcomes": OUTCOMES,
    "comparisons": COMPARISONS,
    "stealing": STEALING,
    "resources": RESOURCES,
    "outside": OUTSIDE,
    "forbidden": FORBIDDEN,
    "output": OUTPUT,
    "honest": HONEST,
}
ATTACKS = [
    pytest.param(f"{family}{number:02}", attack, id=f"{family}: {attack.about}")
    for family, attacks in FAMILIES.items()
    for number, attack in enumerate(attacks)
    if isinstance(attack, Hostile)
]


class Graded:
    def __init__(self, folder: Path) -> None:
        self.work, self.out = folder / "work", folder / "out"
        for family, attacks in FAMILIES.items():
            for number, attack in enumerate(attacks):
                text = attack.text.replace("{root}", str(paths.ROOT)).replace("{work}", str(self.work))
                self.hand_in(f"{family}{number:02}", attack.slug, text.replace("{out}", str(self.out)))
        for slug in ("merge_heads", "stable_softmax"):
            solution = load().exercise(slug).file("solutions").read_text("utf-8")
            self.hand_in("neighbour", slug, f"{solution}\n# {LOOT} by a classmate\n")
        (folder / "gradebook.db").write_text(LOOT)
        self.before = self.outside()
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "grader",
                "grade",
                str(self.work),
                "--out",
                str(self.out),
                "--only",
                "e01",
            ],
            cwd=paths.ROOT,
            env={**os.environ, "KATA_SECRET": LOOT},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.shown = done.stdout
        self.records = {f.stem: json.loads(f.read_text()) for f in self.out.glob("*.json")}

    def hand_in(self, student: str, slug: str, text: str) -> None:
        file = self.work / student / load().exercise(slug).relative
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))

    def outside(self) -> dict[str, str]:
        """What lies outside the sandbox and must stay as it is."""
        files = [p for p in self.work.rglob("*.py")] + [paths.ROOT / "README.md", Path(os.__file__)]
        return {str(p): f"{p.stat().st_size} {p.stat().st_mtime_ns}" for p in files}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return Graded(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize(("student", "attack"), ATTACKS)
def test_an_attack_does_not_pay_and_is_told(graded, student, attack):
    record = graded.records[student]["exercises"][attack.slug]
    text = json.dumps(record, ensure_ascii=False)
    most = attack.most * record["points"]
    assert record["score"] <= most, f"earned {record['score']}: {text[:600]}"
    assert record["status"] in attack.statuses, f"{record['status']} {record['flags']}: {text[:600]}"
    assert attack.says in text, text[:1500]
    assert LOOT not in text


@pytest.mark.parametrize("number", range(len(HONEST)), ids=[h.about for h in HONEST])
def test_an_honest_answer_loses_nothing(graded, number):
    record = graded.records[f"honest{number:02}"]["exercises"][HONEST[number].slug]
    assert record["status"] == "passed", json.dumps(record)[:1500]
    assert record["score"] == record["points"] and not record["flags"]


def test_there_are_enough_of_both():
    assert len(ATTACKS) >= 60 and len(HONEST) >= 15


def test_neighbours_get_their_marks(graded):
    found = graded.records["neighbour"]["exercises"]
    assert [found[slug]["status"] for slug in ("merge_heads", "stable_softmax")] == ["passed"] * 2


def test_every_student_has_a_record(graded):
    assert set(graded.records) == {folder.name for folder in graded.work.iterdir()}


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
    bad = {c for text in texts for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0}
    assert not bad
    for record in graded.records.values():
        for exercise in record["exercises"].values():
            for check in exercise["checks"]:
                message = check["message"]
                assert len(message.splitlines()) <= 15 and len(message) <= 4000
                assert not {c for c in message if (ord(c) < 32 and c != "\n") or c in "\u202e\u2066\ud800"}
