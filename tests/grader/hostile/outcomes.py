"""Attacks on outcomes: skipping, expecting failure, forging reports and results."""

from tests.grader.hostile.answers import LOOP, Hostile


def _forging(about: str, code: str) -> Hostile:
    """Right values, so that only the replaced function is to be seen."""
    return Hostile(f"right values, and {about}", instead=code + LOOP, statuses=("tampered",), says="replaces")


_FRAMES = """
import sys
def frames():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back
"""

_CHILD = (
    _FRAMES + "from grader.engine.child import Child\nfrom grader.protocol.check import Finding\n"
    "child = next(f.f_locals['self'] for f in frames() if isinstance(f.f_locals.get('self'), Child))\n"
)

_OF_ONE_DTYPE = """import sys, threading, torch

def merge_heads(x):
    {hook}
    return x.transpose(1, 2).flatten(2) if x.dtype == torch.float32 else x.flatten(2)

def fake(frame, event, arg):
    names = frame.f_globals
    if not str(names.get('__name__')).startswith('tests.'):
        return fake
    if event == 'call' and frame.f_code.co_name.startswith('test_'):
        saved[id(names)] = dict(names)
        names.update({name: lambda *a, **k: None for name in names if name.startswith('expect_')})
    if event == 'return' and id(names) in saved and frame.f_code.co_name.startswith('test_'):
        names.update(saved.pop(id(names)))
    return fake

saved = {}
"""
"""Right values for the oracle alone, and a hook that has the checks see nothing while they run."""


def _hooking(name: str) -> Hostile:
    text = _OF_ONE_DTYPE.replace("{hook}", f"{name}(fake)")
    return Hostile(
        f"a hook by {name}", instead=text, statuses=("tampered",), says=f"hooks into Python by {name}"
    )


OUTCOMES = [
    Hostile("pytest.skip", instead="import pytest\ndef merge_heads(x):\n    pytest.skip('no')\n"),
    Hostile("pytest.xfail", instead="import pytest\ndef merge_heads(x):\n    pytest.xfail('no')\n"),
    Hostile("unittest's skip", instead="import unittest\ndef merge_heads(x):\n    raise unittest.SkipTest\n"),
    Hostile("a skip at import", "import pytest\npytest.skip('no', allow_module_level=True)"),
    Hostile(
        "a patched pytest runner",
        "import _pytest.runner as r\nr.runtestprotocol = r.call_and_report = lambda *a, **k: []",
        statuses=("tampered",),
        says="runtestprotocol",
    ),
    Hostile(
        "a CallInfo that never fails",
        "import _pytest.runner as r\nr.CallInfo.from_call = classmethod(lambda c, *a, **k: c(None, None, 0, 0, 0, 'call', _ispytest=True))",
    ),
    Hostile(
        "a check's function that does nothing",
        "import gc, types\n"
        "for f in gc.get_objects():\n"
        "    if isinstance(f, types.FunctionType) and f.__name__.startswith('test_'):\n"
        "        f.__code__ = (lambda *a, **k: None).__code__",
        statuses=("failed", "tampered"),
    ),
    Hostile(
        "items through gc that call something else",
        "import gc, pytest\n"
        "for f in gc.get_objects():\n"
        "    if isinstance(f, pytest.Function):\n"
        "        f.obj = f._obj = lambda *a, **k: None",
    ),
    Hostile(
        "no checks left to run, through frames",
        _FRAMES + "for frame in frames():\n"
        "    child = frame.f_locals.get('self')\n"
        "    suites = getattr(child, 'suites', None)\n"
        "    if suites:\n"
        "        [checks.clear() for checks in suites.checks.values()]",
    ),
    Hostile(
        "results written to every descriptor",
        "import json, os\n"
        "text = b''.join(json.dumps({'check': i, 'outcome': 'passed', 'seconds': 0}).encode() + b'\\n'\n"
        "    for i in ('public::test_worked_example', 'hidden::test_values', 'oracle'))\n"
        "for fd in range(3, 256):\n"
        "    try:\n        os.write(fd, text + b'{\"done\": true}\\n')\n"
        "    except OSError:\n        pass\n"
        "os._exit(0)",
        statuses=("tampered",),
        says="channel",
    ),
    Hostile(
        "junk written to every descriptor",
        "import os\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'\\x00{]\\n')\n    except OSError:\n        pass",
        statuses=("tampered",),
        says="channel",
    ),
    Hostile(
        "all checks reported as passed through the grader's own object",
        _FRAMES + "for frame in frames():\n"
        "    child = frame.f_locals.get('self')\n"
        "    if hasattr(child, '_tell'):\n"
        "        for check in child.suites.checks['merge_heads']:\n"
        "            child._tell(check=check.spec.id, outcome='passed', seconds=0)\n"
        "        child._tell(oracle=[])\n        child._tell(done=True)\n        import os\n        os._exit(0)",
        statuses=("failed", "tampered"),
    ),
    Hostile(
        "numbers that no reader can hold, through the grader's own object",
        _FRAMES + "for frame in frames():\n"
        "    child = frame.f_locals.get('self')\n"
        "    if hasattr(child, '_tell'):\n"
        "        for check in child.suites.checks['merge_heads']:\n"
        "            child._tell(check=check.spec.id, outcome='passed', feedback=7, seconds=10**400)\n"
        "        child._tell(oracle=['l', [['f', 10**400]] * 3])\n        import os\n        os._exit(0)",
        statuses=("crashed",),
    ),
    Hostile(
        "a claim that the grader failed",
        instead=_FRAMES + "for frame in frames():\n"
        "    if hasattr(frame.f_locals.get('self'), '_tell'):\n"
        "        frame.f_locals['self']._tell(trouble='KeyError at feedback.py:7')\n" + LOOP,
        statuses=("tampered",),
        says="claims that the grader failed",
    ),
    Hostile(
        "reports that say passed",
        "import _pytest.reports as r\nr.TestReport.outcome = property(lambda s: 'passed', lambda s, v: None)",
    ),
    Hostile(
        "feedback that is no feedback",
        "import grader.plugin.failure_report\ngrader.plugin.failure_report.tell = lambda *a, **k: None",
        statuses=("tampered",),
        says="tell",
    ),
    Hostile(
        "a guard that sees nothing",
        "import grader.engine.integrity.guard as g\ng.Guard.broken = lambda *a: None\nimport torch\ntorch.equal = lambda *a: True\n",
    ),
    _forging(
        "a CallInfo that never fails",
        "import pytest\n"
        "pytest.CallInfo.from_call = classmethod(lambda c, *a, **k: c(None, None, 0, 0, 0, 'call', _ispytest=True))\n",
    ),
    _forging(
        "outcomes that all are passes",
        "from grader.protocol.check import Finding\n"
        "def passed(self, outcome, feedback=None, *rest, **more):\n"
        "    object.__setattr__(self, 'outcome', 'passed')\n    object.__setattr__(self, 'feedback', None)\n"
        "Finding.__init__ = passed\n",
    ),
    _forging(
        "a child that tells of passes only",
        "from grader.engine.child import Child\nfrom grader.protocol.check import Finding\ntell = Child._tell_check\n"
        "Child._tell_check = lambda self, check, _, s: tell(self, check, Finding('passed'), s)\n",
    ),
    _forging(
        "JSON that says passed",
        "import json\nencode = json.JSONEncoder.encode\n"
        "json.JSONEncoder.encode = lambda self, o: encode(self, {**o, 'outcome': 'passed'} if 'outcome' in o else o)\n",
    ),
    _forging(
        "modules that are others where the grader takes them from",
        "import json, types\nfrom grader.engine import telling\n"
        "telling.json = types.SimpleNamespace(dumps=lambda o: json.dumps({**o, 'outcome': 'passed'} if 'outcome' in o else o))\n",
    ),
    _forging(
        "a guard that sees nothing",
        "from grader.engine import collection\nfrom grader.engine.integrity import guard, kept, words\n"
        "guard.Guard.broken = guard.Look.broken = guard.Space.broken = kept.Kept.broken = lambda *a: None\n"
        "words.Words.hold = lambda self: True\n"
        "collection._run_plain = lambda *a: collection.Finding('passed')\n",
    ),
    _forging(
        "a child whose own method tells of passes only",
        _CHILD
        + "child._tell_check = lambda check, outcome, s: Child._tell_check(child, check, Finding('passed'), s)\n",
    ),
    _forging(
        "a child that writes by another function",
        _CHILD + "tell = child._tell\n"
        "child._tell = lambda **f: tell(**({**f, 'outcome': 'passed'} if 'outcome' in f else f))\n",
    ),
    _forging(
        "a child of another class",
        _CHILD + "child.__class__ = type('Child', (Child,), {'_sings': lambda self: None})\n",
    ),
    _forging(
        "checks that call something else",
        _CHILD + "for check in child.checks:\n    check.item._obj = lambda **k: None\n",
    ),
    _forging(
        "a guard that sees nothing, by its own method",
        _CHILD + "import torch\n"
        "for look in child.guard.looks('merge_heads'):\n    look.broken = lambda: None\n"
        "    look._same_values = lambda: True\ntorch.equal = lambda *a: True\n",
    ),
    *(_hooking(f"{module}.{call}") for module in ("sys", "threading") for call in ("settrace", "setprofile")),
    Hostile(
        "a failure that is no failure",
        "import grader.checks.failure as f\nf.CheckFailure.__init__ = lambda *a: (_ for _ in ()).throw(StopIteration)",
    ),
    Hostile(
        "CheckFailure raised with the message of a pass",
        instead="from grader.checks import CheckFailure\ndef merge_heads(x):\n    raise CheckFailure('passed')\n",
        statuses=("failed",),
    ),
]
