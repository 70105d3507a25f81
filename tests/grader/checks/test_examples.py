"""The examples of the reference are true: each passes on a right answer, and fails on a wrong one."""

import re
from itertools import groupby
from pathlib import Path

import pytest

from grader.authoring import reference

ANSWERS = Path(__file__).parent / "examples"
HELPERS = sorted((h for h in reference.helpers() if h.example), key=lambda helper: helper.home)
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
    """What becomes of the test of each example, by its name; those of one module stand in one file."""
    (folder / "conftest.py").write_text(CONFTEST.format(answer=str(ANSWERS / answer)))
    imports = "".join(f"from {module} import *\n" for module in {helper.module for helper in HELPERS})
    for home, found in groupby(HELPERS, key=lambda helper: helper.home):
        code = "\n\n".join(helper.example for helper in found)
        (folder / f"test_{home.replace('.', '_')}.py").write_text(NEEDED + imports + code)
    _, told = run_pytest("-rA", "--tb=short", f"--rootdir={folder}", str(folder), folder=folder)
    print(told)
    return {name: how for how, name in re.findall(r"^([A-Z]+) \S+::(\w+)", told, re.M)}


@pytest.mark.parametrize(("answer", "wanted"), [("right.py", "PASSED"), ("wrong.py", "FAILED")])
def test_examples(answer, wanted, tmp_path, run_pytest):
    named = re.findall(r"^def (test_\w+)", "\n".join(helper.example for helper in HELPERS), re.M)
    assert len(set(named)) == len(HELPERS), "each example has one test, with a name of its own"
    assert outcomes(answer, tmp_path, run_pytest) == dict.fromkeys(named, wanted)
