"""A module-level `Contract` of a suite is collected as its checks.

Contracts of one function, the worked example's and the hidden one, share their suspects: each mistake is
declared once, where its author finds it easiest.
"""

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from grader.checks.contract.contract import Contract
from grader.checks.contract.trial import Function
from grader.course.exercise import Exercise
from grader.plugin.selection import exercise_of


class ContractCheck(pytest.Function):
    """A check that a contract makes. It lies where its suite declares the contract, and not in the grader."""

    def reportinfo(self) -> tuple[object, int, str]:  # type: ignore[override]
        return self.path, self.stash[_LINE], self.name


_LINE = pytest.StashKey[int]()
_DECLARED = pytest.StashKey[tuple[str, Contract]]()
"""Under which name the suite holds the contract, and that one."""


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    if type(obj) is not Contract:
        return None
    text = collector.path.read_text("utf-8")
    declared = re.search(rf"^{name} = ", text, re.MULTILINE)
    found: list[pytest.Item] = []
    for check in obj.checks(name):
        function = pytest.mark.of(obj.signature.name)(check.function)
        function = pytest.mark.refuses(*check.refuses)(function)
        function = pytest.mark.fine(function) if check.fine else function
        item = ContractCheck.from_parent(collector, name=check.name, callobj=function)
        item.stash[_DECLARED] = name, obj
        item.stash[_LINE] = text.count("\n", 0, declared.start() if declared else 0)
        found.append(item)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each contract the suspects of those beside it."""
    checks = [item for item in items if isinstance(item, ContractCheck)]
    known: defaultdict[tuple[Exercise | None, str], dict[str, Function]] = defaultdict(dict)
    for item in checks:
        known[_about(item)].update(item.stash[_DECLARED][1].suspects or {})
    for item in checks:
        name, contract = item.stash[_DECLARED]
        own = contract.suspects or {}
        if known[_about(item)].keys() - own.keys():
            sharing = replace(contract, suspects={**own, **known[_about(item)]})
            item.obj = next(check.function for check in sharing.checks(name) if check.name == item.name)


def _about(item: ContractCheck) -> tuple[Exercise | None, str]:
    """The exercise, and the function of the answer."""
    return exercise_of(item.path), item.stash[_DECLARED][1].signature.name
