"""How much of the job an answer is known to do, and how much of the fine print: shares from 0 to 1."""

import re
from collections.abc import Iterable, Sequence

from grader.protocol.check import CheckSpec
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord

EXAMPLE = 0.1
"""What the worked example weighs beside the oracle's cases: the same for every seed, it proves little."""


def share(
    checks: Sequence[CheckRecord],
    cases: Sequence[CheckRecord],
    example: Sequence[CheckRecord] = (),
    *,
    fine: bool,
    start: frozenset[str] = frozenset(),
    lost: frozenset[str] = frozenset(),
) -> float:
    """The share of the checks that passed, or of the oracle's cases that agree, if that is less.

    Args:
        example: what the worked example gives, where that was asked for.
        start: the ids of those that pass in what students were given: they earn nothing, and are to be kept.
        lost: the ids of those that count as failed whatever they say.
    """

    def done(judged: Iterable[CheckRecord]) -> float | None:
        passed = {
            check.id: check.outcome == "passed" and check.id not in lost
            for check in judged
            if check.fine == fine and check.outcome != "not_graded"
        }
        kept = [yes for id, yes in passed.items() if id in start]
        new = [yes for id, yes in passed.items() if id not in start]
        return _mean(kept) * _mean(new) if passed else None

    of_checks, of_cases, of_example = done(checks), done(cases), done(example)
    if of_example is not None and not all(check.id in start for check in example):
        of_cases = (1 - EXAMPLE) * (1.0 if of_cases is None else of_cases) + EXAMPLE * of_example
    return min(1.0 if found is None else found for found in (of_checks, of_cases))


def _mean(passed: Sequence[bool]) -> float:
    return sum(passed) / len(passed) if passed else 1.0


def broken_rules(expected: Iterable[CheckSpec], transcript: Transcript) -> tuple[CheckSpec, ...]:
    """The checks of the job that an answer fails since it breaks a rule of the statement."""
    return tuple(spec for spec in expected if not spec.fine and transcript.of(spec).is_rule)


def concerned(
    broken: Sequence[CheckSpec], expected: Sequence[CheckSpec], cases: Iterable[str]
) -> frozenset[str]:
    """The ids of all checks and cases of those functions of which a rule is broken.

    A check says which function it is about, and a case names it. Where an exercise asks for one function, or
    the rule is about none in particular, everything is concerned.
    """
    if not broken:
        return frozenset()
    functions = {spec.of for spec in broken}
    if "" in functions or len({spec.of for spec in expected} - {""}) < 2:
        return frozenset([*(spec.id for spec in expected), *cases])
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(functions)))})\b")
    checks = [spec.id for spec in expected if spec.of in functions]
    return frozenset([*checks, *(case for case in cases if named.search(case))])
