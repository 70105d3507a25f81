"""A process that has never seen the answer."""

import sys
from types import ModuleType

import pytest
import torch

from grader.checks import CheckFailure, distributed
from grader.checks.distributed.elsewhere import elsewhere

pytestmark = [
    pytest.mark.multi_process,
    pytest.mark.skipif(distributed.is_available() is not None, reason=str(distributed.is_available())),
]


def known(name):
    return name in sys.modules


def doubled(x):
    return {"twice": 2 * x}


def refuse():
    raise ValueError("no such file\nand more")


def test_what_was_imported_since_is_not_there():
    distributed.prepare()
    sys.modules["an_answer"] = ModuleType("an_answer")
    try:
        assert elsewhere(known, "torch", call="looking") is True
        assert elsewhere(known, "an_answer", call="looking") is False
    finally:
        del sys.modules["an_answer"]


def test_tensors_go_there_and_back():
    result = elsewhere(doubled, torch.arange(3), call="doubling")
    assert result["twice"].tolist() == [0, 2, 4]


def test_errors_are_told():
    with pytest.raises(CheckFailure, match=r"loading fails in a process .*\n.*ValueError: no such file$"):
        elsewhere(refuse, call="loading")
