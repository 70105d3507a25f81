"""Every attack gets what it deserves, next to honest work, in the real sandbox and in one warm engine."""

import json
import os
import socket
from pathlib import Path

import pytest

from grader.authoring import attack
from grader.classroom.cli import class_table
from grader.course import paths
from grader.course.catalog import load
from grader.program import app
from grader.records.records import StudentRecord, exercise_to_json

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]

FOLDER = paths.ROOT / "tests" / "attacks"
LOOT = f"STOLEN-{os.getpid()}"
"""Every secret that is planted outside contains this word, and no record may."""

NAMES = [one.name for one in attack.read(FOLDER)]


class Tried:
    def __init__(self, folder: Path) -> None:
        work, out = folder / "work", folder / "out"
        for file in ("work/neighbour/e01_tensors/merge_heads.py", "out/neighbour.json", "gradebook.db"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(f"# {LOOT}\n")
        self.kept = [*folder.rglob("*.*"), paths.ROOT / "README.md", Path(os.__file__)]
        before = self.outside()
        name = f"kata-{os.getpid()}"
        # Where those of D-Bus and of containers are, if there may be one.
        real = (Path("/run") if os.access("/run", os.W_OK) else folder) / f"{name}.sock"
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as abstract:
            listening.bind(str(real))
            abstract.bind(f"\0{name}")
            listening.listen(), abstract.listen()
            fill = {"{root}": str(paths.ROOT), "{work}": str(work), "{out}": str(out)}
            fill |= {"SOCKET": str(real), "NAME": name}
            self.found = {
                one.name: (one, record) for one, record in attack.tried(attack.read(FOLDER, fill), seconds=1)
            }
        real.unlink()
        self.changed = self.outside() != before

    def outside(self) -> dict[str, str]:
        """What lies outside the sandbox and must stay as it is."""
        return {str(p): f"{p.stat().st_size} {p.stat().st_mtime_ns}" for p in self.kept}


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patches:
        patches.setenv("KATA_SECRET", LOOT)
        yield Tried(tmp_path_factory.mktemp("attacks"))


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_gets_what_it_deserves(tried, name):
    one, record = tried.found[name]
    text = json.dumps(exercise_to_json(record), ensure_ascii=False)
    assert not one.amiss(record), f"{one.amiss(record)}: {text[:1500]}"
    assert LOOT not in text


def test_nothing_outside_has_changed_or_keeps_running(tried):
    assert not tried.changed
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            assert LOOT.encode() not in (folder / "environ").read_bytes(), (folder / "cmdline").read_text()[
                :200
            ]
        except OSError:
            continue


def test_what_is_shown_is_text_and_no_more(tried):
    students = [StudentRecord(name, 0, {a.exercise.slug: r}) for name, (a, r) in tried.found.items()]
    with app.out.capture() as shown:
        class_table.show(students, FOLDER, app.out, load())
    texts = [
        shown.get(),
        *(json.dumps(exercise_to_json(r), ensure_ascii=False) for _, r in tried.found.values()),
    ]
    bad = {c for text in texts for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0}
    assert not bad
    for message in (check.message for _, record in tried.found.values() for check in record.checks):
        assert len(message.splitlines()) <= 15 and len(message) <= 4000
        assert not {c for c in message if (ord(c) < 32 and c != "\n") or c in "\u202e\u2066\ud800"}


def test_a_file_that_does_not_say_what_it_deserves_is_told(tmp_path):
    file = tmp_path / "attack.py"
    file.write_text('"""Nothing.\ndeserve = ["failed"]\n"""\n')
    with pytest.raises(attack.KataError, match=r"README\.md tells: .*deserve"):
        attack.read(file)
