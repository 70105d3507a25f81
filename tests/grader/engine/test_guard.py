"""A known name that stands for another object is seen; what torch does by itself is not."""

import json
import subprocess
import sys

import pytest
import torch
import torch._dynamo

from grader import checks
from grader.checks import side_effects, values
from grader.checks.devices.traffic import Traffic
from grader.course import paths
from grader.engine import _compat, child, collection, telling
from grader.engine.integrity import lookout
from grader.engine.integrity.guard import Guard
from grader.engine.integrity.spaces import Look, Space
from grader.engine.integrity.words import Words
from grader.protocol.check import Finding

SLUG = "merge_heads"


@pytest.fixture(params=["by memory", "by names"])
def guard(request, monkeypatch):
    if request.param == "by names":  # as where nobody knows how the interpreter lays out its objects
        monkeypatch.setattr(_compat, "KNOWN", False)
    # The first compilation replaces a few of torch's own functions; the engine does one to get warm.
    torch.compile(torch.sin, backend="eager")(torch.ones(1))
    return Guard({SLUG: [sys.modules[__name__]]})


def helper():
    """Stands for a suite's own function."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (torch, "allclose"),
        (torch, "isfinite"),
        (torch, "randn"),
        (torch.Tensor, "__eq__"),
        (torch.Tensor, "backward"),
        (torch.Tensor, "grad_fn"),
        (torch.testing, "assert_close"),
        (torch.nn.Module, "__call__"),
        (torch.nn.functional, "softmax"),
        (checks, "expect_close"),
        (values, "explain"),
        (side_effects, "unchanged"),
        (sys.modules[__name__], "helper"),
        (checks.CheckFailure, "__init__"),
        (Finding, "__init__"),
        (child.Child, "_tell_check"),
        (telling, "json"),
        (sys.modules[__name__], "torch"),
        (collection, "_FIXTURES"),
        (Traffic, "to_host"),
        (Guard, "broken"),
        (Space, "broken"),
        (Look, "broken"),
        (Words, "hold"),
        (pytest.CallInfo, "from_call"),
        (pytest.Function, "obj"),
        (json.JSONEncoder, "encode"),
    ],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_a_replaced_name_is_seen(guard, monkeypatch, owner, name):
    assert guard.broken(SLUG) is None
    looks = [lookout.remember(guard.looks(SLUG), [], strict=strict) for strict in (True, False)]
    with monkeypatch.context() as patch:  # before pytest goes on: it takes some of them itself
        patch.setattr(owner, name, lambda *a, **k: True, raising=False)
        found = [changed() for changed in looks]
    assert all(name in each for each in found), found


def test_a_replaced_builtin_is_seen(guard, monkeypatch):
    monkeypatch.setattr("builtins.isinstance", isinstance)
    assert guard.broken(SLUG) is None
    original = abs
    monkeypatch.setattr("builtins.abs", lambda x: original(x))
    assert "abs" in guard.broken(SLUG)


def test_replaced_code_is_seen(guard, monkeypatch):
    monkeypatch.setattr(values.tolerance, "__code__", (lambda *a, **k: (1e9, 1e9)).__code__)
    assert "tolerance" in guard.broken(SLUG)


def test_a_replaced_default_is_seen(guard, monkeypatch):
    monkeypatch.setattr(values.tolerance, "__kwdefaults__", {"ulps": 1e9, "scale": None, "dtype": None})
    assert "tolerance" in guard.broken(SLUG)


def test_a_removed_name_is_seen(guard, monkeypatch):
    monkeypatch.delattr(torch, "allclose")
    assert "allclose" in guard.broken(SLUG)


def test_a_name_that_hides_another_is_seen_where_classes_have_grown(guard, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "a_backend_s_own", 1, raising=False)
    assert guard.broken(SLUG) is None
    monkeypatch.setattr(torch.Tensor, "add", lambda *a: a[0], raising=False)
    assert "add" in guard.broken(SLUG)


def test_honest_use_of_torch_is_not_seen(guard):
    x = torch.randn(3, requires_grad=True)
    torch.nn.Linear(3, 2)(x).sum().backward()
    torch.set_grad_enabled(True)
    torch.manual_seed(0)
    torch.optim.AdamW([x]).step()
    torch.compile(lambda y: y + 1, backend="eager")(x)
    torch.utils.data.DataLoader([1, 2])
    assert guard.broken(SLUG) is None


@pytest.mark.parametrize("name", ["__repr__", "__str__", "__format__"])
def test_how_a_tensor_is_shown_is_free(guard, monkeypatch, name):
    monkeypatch.setattr(torch.Tensor, name, lambda *a: "a tensor", raising=False)
    assert guard.broken(SLUG) is None


FIRST_COMPILE = """
import torch
from grader.engine.integrity.guard import Guard
guard = Guard({})
torch.compile(torch.nn.Linear(4, 2), backend="eager")(torch.ones(3, 4))
assert guard.broken("merge_heads") is None, guard.broken("merge_heads")
torch.allclose = None
assert guard.broken("merge_heads") == "torch.allclose"
"""


@pytest.mark.slow
def test_an_answer_may_be_the_first_to_compile():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_COMPILE], cwd=paths.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
