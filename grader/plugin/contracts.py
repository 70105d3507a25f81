"""A module-level `Contract` of a suite is collected as its checks."""

import re

import pytest

from grader.checks.contract.contract import Contract


class ContractCheck(pytest.Function):
    """A check that a contract makes. It lies where its suite declares the contract, and not in the grader."""

    def reportinfo(self) -> tuple[object, int, str]:  # type: ignore[override]
        return self.path, self.stash[_LINE], self.name


_LINE = pytest.StashKey[int]()


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    if type(obj) is not Contract:
        return None
    text = collector.path.read_text("utf-8")
    declared = re.search(rf"^{name} = ", text, re.MULTILINE)
    found: list[pytest.Item] = []
    for check in obj.checks(name):
        function = pytest.mark.fine(check.function) if check.fine else check.function
        item = ContractCheck.from_parent(collector, name=check.name, callobj=function)
        item.stash[_LINE] = text.count("\n", 0, declared.start() if declared else 0)
        found.append(item)
    return found
