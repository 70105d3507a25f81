"""A hand-in that attacks the grader, what it deserves, and what becomes of it.

`tests/attacks/README.md` tells how one is written.
"""

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.errors import KataError
from grader.core.toml import tomllib
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.records.records import ExerciseRecord
from grader.verdict.references import References

USUAL = ("failed", "tampered", "crashed", "broken")
"""What an attack deserves that says nothing else: it came to nothing, or was seen."""

EACH = "EACH"
"""In an answer, what stands for each of the texts that it is tried with."""


@dataclass(frozen=True)
class Attack:
    """An answer to an exercise. `deserves` holds the statuses that are fair, `earns` a share of the points.

    It may earn no more, and the record must hold the words `says`. Who deserves to pass gets full marks, and
    no flag.
    """

    name: str
    about: str
    exercise: Exercise
    answer: bytes
    deserves: tuple[str, ...] = USUAL
    earns: float = 0.0
    says: str = ""

    @property
    def is_honest(self) -> bool:
        return self.deserves == ("passed",)

    def amiss(self, record: ExerciseRecord) -> str:
        """What is not as the attack deserves; "" where all is."""
        if record.status not in self.deserves:
            return f"is {record.status}, and deserves {' or '.join(self.deserves)}"
        if self.is_honest:
            return "loses points, or is flagged" if record.score < record.points or record.flags else ""
        if record.score > self.earns * record.points:
            return f"earns {record.score:g} of {record.points:g}"
        told = " ".join((*record.flags, *(check.message for check in record.checks)))
        return "" if self.says in told else f"does not say {self.says!r}"


def read(file: Path, fill: Mapping[str, str] = {}) -> list[Attack]:
    """The attacks in a file, one for each text that it is tried with; of a folder, those in all of its files.

    `fill` has texts for other words that stand in answers.

    Raises:
        KataError: a file's docstring does not say what it deserves in words that are known.
    """
    if file.is_dir():
        files = sorted(each for each in file.rglob("*.py") if not each.name.startswith(("_", "test_")))
        return [attack for each in files for attack in read(each, fill)]
    source = file.read_text("utf-8")
    try:
        about, _, said = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
        settings = tomllib.loads(said)
        then = settings.pop("then", "" if "exercise" in settings else "_wrong.py")
        exercise = load().exercise(settings.pop("exercise", "merge_heads"))
        each = settings.pop("each", {"": ""})
        blank = Attack(f"{file.parent.name}/{file.stem}", about, exercise, b"", **settings)
        beside = (file.parent.parent / then).read_text("utf-8") if then else ""
        return [_with(blank, source, beside, {EACH: text, **fill}, kind) for kind, text in each.items()]
    except (SyntaxError, ValueError, TypeError, AttributeError, OSError) as error:
        raise KataError(f"{file}: its docstring is not as tests/attacks/README.md tells: {error}") from None


def _with(blank: Attack, source: str, beside: str, fill: Mapping[str, str], kind: str) -> Attack:
    """The attack with these texts, and what stands `beside`, where it has none of the functions of that."""
    for word, text in fill.items():
        source = source.replace(word, text)
    if not _functions(source) & _functions(beside):
        source = f"{source}\n{beside}"
    return replace(
        blank,
        name=f"{blank.name}/{kind}" if kind else blank.name,
        answer=source.encode("utf-8", "surrogatepass"),
        deserves=tuple(blank.deserves),
        says=blank.says.replace(EACH, fill[EACH]),
    )


def _functions(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def tried(
    attacks: Iterable[Attack], *, seconds: float, jobs: int = os.cpu_count() or 1
) -> Iterator[tuple[Attack, ExerciseRecord]]:
    """What becomes of each, side by side in the sandbox; who may run out of time has so many seconds.

    As in grading, what a neighbour may have caused is judged again, alone; not what is as it should be
    already, for most of that takes its time until somebody ends it.

    Raises:
        KataError: there is no sandbox here.
    """
    seed = 11
    asked = [(Job(_within(a, seconds), a.answer, seed), a) for a in attacks]
    with (
        Pool(tuple({a.exercise for _, a in asked}), jobs=jobs, confined=True) as pool,
        ThreadPoolExecutor(jobs) as threads,
    ):
        references = References(pool, seed)
        first = threads.map(pool.judge_one, [job for job, _ in asked])
        for (job, attack), found in zip(asked, first, strict=True):
            record = references.verdict(job, found)
            if attack.amiss(record) and pool.is_open(found):
                record = references.verdict(job, pool.judge_one(job, alone=True))
            yield attack, record


def _within(attack: Attack, seconds: float) -> Exercise:
    most = seconds if "timeout" in attack.deserves else attack.exercise.seconds
    return replace(attack.exercise, seconds=min(most, attack.exercise.seconds))
