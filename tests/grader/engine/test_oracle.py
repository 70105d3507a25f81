"""The oracle apart from its suite: what it needs comes along, and nothing else."""

import re
import sys
import types

import pytest
import torch

from grader.checks.contract import Contract
from grader.core.errors import KataError
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
def suite(tmp_path):
    file = tmp_path / "test_made_up.py"
    file.write_text(SUITE)
    return file


def test_it_works_as_in_the_suite(suite):
    answer = types.SimpleNamespace(f=lambda x: x + 1)
    assert oracle.apart(suite).oracle(answer, 3) == {"value": 2.0}


def test_it_has_what_it_mentions_and_nothing_else(suite):
    names = {name for name in vars(oracle.apart(suite)) if not name.startswith("__")}
    assert names == {
        "annotations",
        "math",
        "Ordered",
        "HALF",
        "LIMITS",
        "scaled",
        "Scale",
        "oracle",
        "fine_oracle",
        "example_oracle",
    }


CONTRACT = """
import math
import torch
from grader.checks.contract import Contract, untouched, values


def slow(x):
    return math.prod([x, 2])


def more(gen):
    return [SCALE * torch.rand(3, generator=gen)]


SCALE, SECRET = 3.0, 42
contract = Contract(
    "f(x)",
    reference=slow,
    example=([1.0], [SECRET]),
    inputs=more,
    gradient="x",
    suspects={"it is cubed": lambda x: slow(x) ** 3},
    job=[values(name="again", suspects={"": slow})],
    fine=[untouched(inputs=lambda gen: [SECRET])],
    fine_inputs=lambda gen: {"half precision": torch.rand(3, generator=gen).half()},
)
"""


@pytest.fixture
def with_contract(suite):
    suite.write_text(CONTRACT)
    return suite


def test_a_contract_makes_an_oracle(with_contract):
    answer = types.SimpleNamespace(f=lambda x: 2 * x)
    found = oracle.apart(with_contract).oracle(answer, torch.Generator())
    assert list(found) == ["shape (3,)", "the gradient"]
    assert list(oracle.apart(with_contract).fine_oracle(answer, torch.Generator())) == ["half precision"]


def test_a_case_that_raises_fails_by_itself():
    def cases(answer, gen):
        return {
            "two": 2,
            "by zero": lambda gen: answer.f(torch.rand((), generator=gen).item(), 0),
            "later": lambda divisor=1: answer.f(3, divisor),
            "drawn": lambda gen: answer.f(torch.rand((), generator=gen).item() + torch.rand(()).item(), 1),
            "no data": object(),
        }

    def given(f):
        told = {}
        oracle.put(cases, "oracle", types.SimpleNamespace(f=f), 7, "slug", told.update)
        assert told["oracle_cases"] == ["two", "by zero", "later", "drawn", "no data"]
        return told["oracle"]

    found = given(lambda x, y: x / y)
    assert [kind for kind, _ in found] == ["i", "e", "f", "f", "e"]
    assert found[1][1] == "ZeroDivisionError: float division by zero"
    assert given(lambda x, y: x / y if y else torch.rand(3).tolist())[3] == found[3]


def test_an_answer_finds_no_case_by_its_name_up_the_stack(with_contract):
    """Where it did, it could do one thing for "bad input" and another for "three rows"."""
    seen = []

    def f(x):
        frame = sys._getframe()
        while frame := frame.f_back:
            seen.extend(repr(value) for value in frame.f_locals.values())
        return 2 * x

    oracle.put(oracle.apart(with_contract).oracle, "oracle", types.SimpleNamespace(f=f), 0, "slug", dict)
    assert seen and not [text for text in seen if "shape (3,)" in text]


def test_an_example_comes_without_its_result(with_contract):
    """So it is asked for where the oracle is; what it should be, only the statement says there."""
    apart = oracle.apart(with_contract)
    answer = types.SimpleNamespace(f=lambda x: 2 * x)
    assert [result for _, result in apart.contract.examples] == [None]
    assert {name: case() for name, case in apart.example_oracle(answer, None).items()} == {
        "f": [torch.tensor([2.0])]
    }


def test_a_suite_without_an_oracle_is_a_fault(suite):
    suite.write_text("def test_values(answer): ...\n")
    with pytest.raises(KataError, match="defines no oracle"):
        oracle.apart(suite)


def test_a_contract_apart_has_no_reference(with_contract):
    apart = oracle.apart(with_contract)
    names = {name for name in vars(apart) if not name.startswith("__")}
    assert not names & {"slow", "math"} and {"more", "contract", "oracle"} <= names
    kept = apart.contract
    assert not (kept.reference or kept.suspects or kept.job or kept.fine)


def test_no_oracle_of_ours_has_a_check_or_a_reference_with_it():
    files = sorted(paths.HIDDEN.rglob("test_*.py"))
    assert files
    for file in files:
        names = vars(oracle.apart(file))
        assert not [name for name in names if re.match(r"test_|(.*_)?reference", name)], file.name
        kept = [value for value in names.values() if isinstance(value, Contract)]
        assert not any(contract.reference or contract.fine for contract in kept), file.name
