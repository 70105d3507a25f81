"""The examples of the reference are true: each passes on a right answer, and fails on a wrong one."""

import re
from itertools import groupby
from pathlib import Path

import pytest

from grader.authoring import reference

ANSWERS = Path(__file__).parent / "examples"
HELPERS = sorted(reference.helpers(), key=lambda helper: helper.home)
CONFTEST = """
import importlib.util, sys
import pytest

pytest_plugins = ["grader.plugin.plugin"]

@pytest.fixture(scope="session")
def answer():
    spec = importlib.util.spec_from_file_location("judged", {answer!r})
    module = sys.modules["judged"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""
NEEDED = """
import asyncio
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader
"""


def outcomes(answer, folder, run_pytest):
    """What becomes of the tests of the examples of each module, which stand in one file, in their order."""
    (folder / "conftest.py").write_text(CONFTEST.format(answer=str(ANSWERS / answer)))
    imports = "".join(f"from {module} import *\n" for module in {helper.module for helper in HELPERS})
    for home, found in groupby(HELPERS, key=lambda helper: helper.home):
        code = "\n\n".join(helper.example for helper in found)
        (folder / f"test_{home.replace('.', '_')}.py").write_text(NEEDED + imports + code)
    _, told = run_pytest("-v", "--tb=short", f"--rootdir={folder}", str(folder), folder=folder)
    print(told)
    return {name: how for name, how in re.findall(r"^(\S+::\w+) ([A-Z]+)", told, re.M)}


def beginning(helper):
    """How the tests of an example begin: it has one, or a contract that makes some."""
    test, contract = re.search(r"^def (test_\w+)|^(\w+) = Contract\(", helper.example, re.M).groups()
    name = test or ("test_" if contract == "contract" else f"test_{contract}_")
    return f"test_{helper.home.replace('.', '_')}.py::{name}"


@pytest.mark.parametrize(("answer", "wanted"), [("right.py", {"PASSED"}), ("wrong.py", {"FAILED"})])
def test_examples(answer, wanted, tmp_path, run_pytest):
    found = outcomes(answer, tmp_path, run_pytest)
    for helper in HELPERS:
        hows = [how for name, how in found.items() if name.startswith(beginning(helper))]
        # a contract makes what it is about last: its other checks may pass on the wrong answer as well
        about = hows if wanted == {"PASSED"} else hows[-1:]
        assert set(about) == wanted, f"{helper.home}.{helper.name}"
