"""Whatever tests do in honest courses, a right hand-in passes them, and nothing is held against it."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CONFTEST = """
import numpy as np
import pytest
import torch

pytest_plugins = ["tests.more_fixtures"]
SEEN = []


def pytest_addoption(parser):
    parser.addoption("--exact", action="store_true")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes its time")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "last" in item.name)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    SEEN.append(torch.rand(()))


@pytest.fixture(scope="session")
def exact(request):
    return request.config.getoption("--exact")


@pytest.fixture(params=[1, 2])
def size(request):
    return request.param


@pytest.fixture
def snapshot(request, tmp_path):
    def check(found):
        np.savez(tmp_path / request.node.name, found=found.numpy())
        with np.load(tmp_path / f"{request.node.name}.npz") as kept:
            np.testing.assert_array_equal(kept["found"], found.numpy())

    return check
"""
MORE = """
import pytest


@pytest.fixture
def more():
    yield 3
"""
KINDS = """
import os
import random
import unittest
from unittest import mock

import pytest
import torch

from .adapters import area, length


def setup_module():
    global STARTED
    STARTED = True


class TestShape:
    sides = None

    def setup_method(self):
        self.sides = (2, 3)

    def test_area(self):
        assert area(*self.sides) == 6

    @pytest.mark.parametrize("side", [1, 2])
    def test_squares(self, side):
        assert area(side, side) == side**2


class TestOld(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = "abc"

    def setUp(self):
        self.wanted = 3

    def test_length(self):
        self.assertEqual(length(self.text), self.wanted)

    @mock.patch("os.getcwd", lambda: "/nowhere")
    def test_patched(self):
        assert length(os.getcwd()) == 8


def test_replaced(monkeypatch):
    monkeypatch.setattr(torch, "softmax", lambda x, dim: x)
    monkeypatch.setenv("HOME", "/nowhere")
    assert length(torch.softmax("ab", 0)) == 2


def test_fixtures(size, exact, more, snapshot):
    assert not exact and STARTED
    snapshot(torch.full((size,), area(size, more)))


def test_what_is_printed(capsys, caplog):
    print("a" * length("aaa"))
    assert capsys.readouterr().out == "aaa\\n"


def test_an_error():
    with pytest.raises(TypeError, match="len"), pytest.warns(UserWarning):
        import warnings

        warnings.warn("old")
        length(3)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_random():
    assert length("." * random.randint(1, 9)) > 0


def test_last(request):
    assert request.node.name == "test_last"
"""
NESTED = """
from ..adapters import length


def test_deep(deep):
    assert length(deep) == 4
"""
RIGHT = """
import cProfile
import dataclasses
import functools
import logging
import warnings

import numpy as np
import torch
from jaxtyping import Float, jaxtyped
from torch import nn

logging.basicConfig(level=logging.DEBUG)
warnings.filterwarnings("ignore", category=DeprecationWarning)
torch.set_printoptions(precision=3)
np.random.seed(1)


class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data -= group["lr"] * p.grad


class Area(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))
        self.register_buffer("one", torch.ones(()))

    def __repr__(self):
        return "Area()"

    def forward(self, width: Float[torch.Tensor, ""], height: Float[torch.Tensor, ""]):
        return self.factor * width * height


@jaxtyped(typechecker=None)
def times(a: Float[torch.Tensor, ""], b: Float[torch.Tensor, ""]) -> Float[torch.Tensor, ""]:
    return Area()(a, b)


@functools.cache
def length(text):
    with cProfile.Profile():
        return len(text)


def area(width, height):
    model = Area()
    descent = Descent(model.parameters(), lr=0.0)
    torch.nn.functional.mse_loss(model(torch.tensor(1.0), torch.tensor(2.0)), torch.tensor(0.0)).backward()
    descent.step()
    return int(times(torch.tensor(float(width)), torch.tensor(float(height))).item())
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    home = tmp_path_factory.mktemp("kinds")
    tests, hand_in = home / "geometry/tests", home / "class/ada/tests"
    (tests / "deep").mkdir(parents=True)
    hand_in.mkdir(parents=True)
    for folder in (tests, tests / "deep"):
        (folder / "__init__.py").touch()
    (home / "geometry/pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--exact -x'\n")
    (tests / "adapters.py").write_text("def length(text): ...\n\n\ndef area(width, height): ...\n")
    (tests / "conftest.py").write_text(CONFTEST)
    (tests / "more_fixtures.py").write_text(MORE)
    (tests / "test_kinds.py").write_text(KINDS)
    (tests / "deep/conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef deep():\n    return 'deep'\n"
    )
    (tests / "deep/test_deep.py").write_text(NESTED)
    (hand_in / "adapters.py").write_text(RIGHT)
    command = [sys.executable, "-m", "grader", "grade-suite", tests, home / "class"]
    command += ["--adapter", tests / "adapters.py", "--out", home / "out", "--sandbox", "off"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((home / "out/ada.json").read_text())


def test_a_right_hand_in_passes(record):
    checks = [check for e in record["exercises"].values() for check in e["checks"]]
    assert [check for check in checks if check["outcome"] != "passed"] == []
    assert record["score"] == record["points"] == len(checks) == 13


def test_nothing_is_held_against_it(record):
    assert {slug: e["flags"] for slug, e in record["exercises"].items()} == {"kinds": [], "deep": []}
