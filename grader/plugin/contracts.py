"""A module-level `Contract` of a suite is collected as its checks."""

import pytest

from grader.checks.contract.contract import Contract


class ContractCheck(pytest.Function):
    """A check that a contract makes. It lies in its suite, whose line is not known, and not in the grader."""

    def reportinfo(self) -> tuple[object, int, str]:  # type: ignore[override]
        return self.path, 0, self.name


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    if type(obj) is not Contract:
        return None
    found: list[pytest.Item] = []
    for check in obj.checks(name):
        function = pytest.mark.fine(check.function) if check.fine else check.function
        found.append(ContractCheck.from_parent(collector, name=check.name, callobj=function))
    return found
