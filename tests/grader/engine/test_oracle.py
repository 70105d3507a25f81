"""The oracle apart from its suite: what it needs comes along, and nothing else."""

import types

import pytest

from grader.course import paths
from grader.engine import oracle

SUITE = """
from __future__ import annotations

import math
import os.path as places, sys
from collections import OrderedDict as Ordered

HALF = 0.5
LIMITS: dict[str, float] = {"low": HALF}
secret = 42


def reference(x):
    return x * secret


def scaled(x):
    return Scale().of(x) + math.floor(LIMITS["low"])


class Scale:
    def of(self, x):
        return x * HALF


def test_values(answer):
    assert answer.f(1) == reference(1)


@staticmethod
def oracle(answer, gen):
    return Ordered(value=scaled(answer.f(gen)))
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    file = tmp_path / "test_made_up.py"
    file.write_text(SUITE)
    module = types.ModuleType("tests.hidden.test_made_up")
    module.__file__ = str(file)
    return module


def test_it_works_as_in_the_suite(suite):
    answer = types.SimpleNamespace(f=lambda x: x + 1)
    assert oracle.apart(suite).oracle(answer, 3) == {"value": 2.0}


def test_it_has_what_it_mentions_and_nothing_else(suite):
    names = {name for name in vars(oracle.apart(suite)) if not name.startswith("__")}
    assert names == {"annotations", "math", "Ordered", "HALF", "LIMITS", "scaled", "Scale", "oracle"}


def test_no_oracle_of_ours_has_a_check_or_a_reference_with_it():
    for file in sorted(paths.HIDDEN.rglob("test_ex*.py")):
        suite = types.ModuleType(file.stem)
        suite.__file__ = str(file)
        names = vars(oracle.apart(suite))
        assert not [name for name in names if name.startswith("test_") or "reference" in name], file.name
