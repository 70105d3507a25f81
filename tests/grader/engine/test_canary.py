"""Canaries sing while nothing is wrong, and only then."""

import torch
from torch.overrides import TorchFunctionMode

from grader.checks import values
from grader.engine.integrity import canary


class Agreeing(TorchFunctionMode):
    """Answers every question of the given name with yes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == self.name:
            return torch.ones(2, dtype=torch.bool) if self.name != "equal" else True
        return func(*args, **(kwargs or {}))


def test_silence_where_nothing_is_wrong():
    assert canary.broken() is None
    with torch.inference_mode():
        assert canary.broken() is None


def test_a_mode_that_agrees_is_seen():
    for name in ("equal", "isclose"):
        with Agreeing(name):
            assert name in (canary.broken() or "")


def test_a_check_that_passes_everything_is_seen(monkeypatch):
    monkeypatch.setattr(canary, "expect_that", lambda *a, **k: None)
    assert "must fail" in (canary.broken() or "")
    monkeypatch.undo()
    monkeypatch.setattr(values, "_same", lambda yours, wanted: True)
    assert "comparison" in (canary.broken() or "")
