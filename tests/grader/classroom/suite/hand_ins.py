"""Hostile and honest hand-ins to a little assignment with tests of its own: trees of files, as texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SUITE = {
    "__init__.py": "",
    "adapters.py": "def run_double(x):\n    raise NotImplementedError\n\n\ndef run_last(x):\n    raise NotImplementedError\n",
    "common.py": "from pathlib import Path\n\nKEPT = Path(__file__).parent / 'kept' / 'numbers.txt'\n",
    "conftest.py": "import pytest\n\nfrom .common import KEPT\n\n\n@pytest.fixture\ndef kept():\n"
    "    return [int(word) for word in KEPT.read_text().split()]\n",
    "kept/numbers.txt": "6 8\n",
    "suite.toml": "seconds = 4\n",
    "test_double.py": "from .adapters import run_double\n\n\ndef test_two():\n    assert run_double(2) == 4\n\n\n"
    "def test_kept(kept):\n    assert [run_double(3), run_double(4)] == kept\n",
    "test_last.py": "import numpy as np\n\nfrom .adapters import run_last\n\n\n"
    "def test_last():\n    assert np.array_equal(run_last('a'), 'b')\n",
}
"""An assignment of three tests in two files."""

WRONG = "def run_double(x):\n    return 7\n\n\ndef run_last(x):\n    return 'c'\n"
"""Fails every test unless the attack works."""

RIGHT = "def run_double(x):\n    return 2 * x\n\n\ndef run_last(x):\n    return 'b'\n"

LAST = "\n\ndef run_last(x):\n    return 'b'\n"
"""What comes after an attack in `run_double`: its test is to be run all the same."""


@dataclass(frozen=True)
class HandIn:
    """Files beside the adapter, which is `code` and then wrong answers, or `adapter` as it stands.

    The tests `passed` are known to have passed, and no others; each exercise has one of `statuses`, and the
    record holds the words `says`.
    """

    about: str
    code: str = ""
    adapter: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ("failed", "tampered", "crashed", "broken")
    says: str = ""

    @property
    def tree(self) -> dict[str, str]:
        return {"tests/adapters.py": self.adapter or f"{self.code}\n\n\n{WRONG}", **self.files}


def _in_a_test(about: str, body: str, *statuses: str, says: str = "") -> HandIn:
    """Does it in `run_double`: the last test, of another file, has its points."""
    adapter = f"def run_double(x):\n    {body}\n{LAST}"
    return HandIn(about, adapter=adapter, passed=("test_last",), statuses=(*statuses, "passed"), says=says)


PASSING = """import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome, report.longrepr = "passed", None
    return report
"""

_FRAMES = "import sys\nframe, found = sys._getframe(), []\nwhile frame:\n    found += frame.f_locals.values()\n    frame = frame.f_back\n"

LEAVING = [
    HandIn("os._exit at import", "import os\nos._exit(0)", statuses=("crashed",)),
    HandIn("a segfault at import", "import ctypes\nctypes.string_at(0)", statuses=("crashed",)),
    HandIn("sys.exit at import", "import sys\nsys.exit(0)", statuses=("broken",), says="SystemExit"),
    HandIn("pytest.exit at import", "import pytest\npytest.exit('done', returncode=0)", statuses=("broken",)),
    HandIn("a skip at import", "import pytest\npytest.skip('no', allow_module_level=True)"),
    HandIn("an endless loop at import", "while True: pass", statuses=("timeout", "broken")),
    _in_a_test("os._exit in a test", "__import__('os')._exit(0)", "crashed"),
    _in_a_test("a segfault in a test", "__import__('ctypes').string_at(0)", "crashed"),
    _in_a_test("SIGKILL in a test", "import os; os.kill(os.getpid(), 9)", "crashed", "failed", "timeout"),
    _in_a_test("SIGSTOP in a test", "import os; os.kill(os.getpid(), 19)", "crashed", "failed", "timeout"),
    _in_a_test("sys.exit in a test", "raise SystemExit(0)", "failed", "crashed"),
    _in_a_test(
        "pytest.exit in a test", "import pytest; pytest.exit('done', returncode=0)", "failed", "crashed"
    ),
    _in_a_test("KeyboardInterrupt in a test", "raise KeyboardInterrupt", "failed", "crashed"),
    _in_a_test("GeneratorExit in a test", "raise GeneratorExit", "failed", "crashed"),
    _in_a_test("pytest.skip in a test", "import pytest; pytest.skip('no')", "failed"),
    _in_a_test("pytest.xfail in a test", "import pytest; pytest.xfail('no')", "failed"),
    _in_a_test("recursion without end", "return run_double(x)", "failed", says="RecursionError"),
    _in_a_test("an endless loop", "while True: pass", "timeout"),
    _in_a_test(
        "a loop that catches the alarm",
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        "timeout",
    ),
    _in_a_test("an endless loop in C", "import re; re.match(r'(a|a|b?)*$' * 3, 'a' * 60 + 'c')", "timeout"),
    _in_a_test(
        "a loop with the alarm switched off",
        "import signal; signal.setitimer(signal.ITIMER_REAL, 0)\n    while True: pass",
        "timeout",
    ),
    _in_a_test(
        "all memory",
        "held = []\n    while True: held.append(bytearray(1 << 26))",
        "failed",
        "memory",
        "crashed",
        "timeout",
    ),
    _in_a_test(  # an endless one is among the answers to exercises
        "more processes than it may have",
        "import os, time\n    for _ in range(7): os.fork()\n    time.sleep(60)",
        "crashed",
    ),
    _in_a_test(
        "output without end", "while True: print('x' * 10**6)", "failed", "timeout", "memory", "crashed"
    ),
    _in_a_test("a full disk", "f = open('big', 'wb')\n    while True: f.write(bytes(1 << 24))", "failed"),
]

FILES = [
    HandIn("a conftest.py in the top folder", files={"conftest.py": PASSING}, statuses=("failed",)),
    HandIn("a conftest.py among the tests", files={"tests/conftest.py": PASSING}, statuses=("failed",)),
    HandIn("a conftest.py below the tests", files={"tests/kept/conftest.py": PASSING}, statuses=("failed",)),
    HandIn(
        "settings of pytest",
        files={
            name: f"[{section}]\naddopts = -p passing\npython_files = nothing.py\n"
            for name, section in (
                ("pytest.ini", "pytest"),
                (".pytest.ini", "pytest"),
                ("tox.ini", "pytest"),
                ("setup.cfg", "tool:pytest"),
                ("tests/pytest.ini", "pytest"),
            )
        }
        | {
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p passing'\n",
            "passing.py": PASSING,
        },
        statuses=("failed",),
    ),
    HandIn(
        "modules that Python or we may look for",
        files={
            name: "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
            for name in (
                "sitecustomize.py",
                "usercustomize.py",
                "torch.py",
                "numpy.py",
                "pytest.py",
                "grader.py",
            )
        },
        statuses=("failed",),
    ),
    HandIn(
        "tests that pass",
        files={
            "tests/test_double.py": "def test_two():\n    pass\n\n\ndef test_kept():\n    pass\n",
            "tests/test_last.py": "def test_last():\n    pass\n",
            "tests/test_more.py": "def test_more():\n    pass\n",
        },
        statuses=("failed",),
    ),
    HandIn(
        "packages in the place of the tests' modules",
        files={
            "tests/common/__init__.py": "import pathlib\nKEPT = pathlib.Path(__file__).parent / 'mine.txt'\n",
            "tests/common/mine.txt": "7 7",
            "tests/test_last/__init__.py": "def test_last():\n    pass\n",
        },
        statuses=("failed",),
    ),
    HandIn(
        "data of the tests, changed",
        files={"tests/kept/numbers.txt": "7 7", "tests/__init__.py": "raise SystemExit"},
        statuses=("failed",),
    ),
    HandIn(
        "a tests.py beside the tests",
        files={"tests.py": "raise SystemExit", "tests/adapters/__init__.py": "raise SystemExit"},
        statuses=("failed", "broken"),
    ),
]

FORGING = [
    HandIn(
        "a test function that does nothing",
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None",
        statuses=("tampered",),
        says="runtest",
    ),
    HandIn(
        "a hook's function that calls nothing",
        "import _pytest.python\n_pytest.python.pytest_pyfunc_call = lambda pyfuncitem: True",
    ),
    HandIn(
        "a CallInfo that never fails",
        "import pytest\npytest.CallInfo.from_call = classmethod(lambda c, *a, **k: c(None, None, 0, 0, 0, 'call', _ispytest=True))",
        statuses=("tampered",),
    ),
    HandIn(
        "a comparison that the tests use",
        "import numpy\nnumpy.array_equal = lambda *a: True",
        statuses=("tampered",),
        says="numpy.array_equal",
    ),
    HandIn(
        "reports that say passed",
        "import pytest\npytest.TestReport.outcome = property(lambda s: 'passed', lambda s, v: None)",
        statuses=("tampered",),
    ),
    HandIn(
        "reports of another kind",
        "import pytest\nmake = pytest.TestReport.from_item_and_call.__func__\n"
        "def passing(cls, item, call):\n    report = make(cls, item, call)\n    report.outcome = 'passed'\n    return report\n"
        "pytest.TestReport.from_item_and_call = classmethod(passing)",
        statuses=("tampered",),
    ),
    HandIn(
        "a plugin put in by hand",
        f"{_FRAMES}{PASSING}\n"
        "config = next(c for c in (getattr(f, 'config', f) for f in found) if isinstance(c, pytest.Config))\n"
        "config.pluginmanager.register(type('P', (), {'pytest_runtest_makereport': staticmethod(pytest_runtest_makereport)})())",
        statuses=("tampered",),
    ),
    HandIn(
        "tests that are other functions",
        "import gc, types\nfor f in gc.get_objects():\n"
        "    if isinstance(f, types.FunctionType) and f.__name__.startswith('test_'):\n"
        "        f.__code__ = (lambda *a, **k: None).__code__",
        statuses=("failed", "tampered"),
    ),
    HandIn(
        "tests that are other functions once they run",
        adapter="import sys\n\n\ndef run_double(x):\n    for name, module in list(sys.modules.items()):\n"
        "        for key in list(vars(module)) if name.startswith('tests.') else ():\n"
        "            if key.startswith('test_'):\n"
        "                vars(module)[key].__code__ = (lambda *a, **k: None).__code__\n    return 7\n\n\n"
        "def run_last(x):\n    return 'c'\n",
        statuses=("failed", "tampered"),
    ),
    *(
        HandIn(
            about,
            adapter=f"import numpy as np\nimport torch\n\n\n{made}\n\n\n"
            "def run_double(x):\n    return value()\n\n\ndef run_last(x):\n    return value()\n",
            statuses=("tampered",),
            says="makes == of its own class lie (tests.adapters.Any)",
        )
        for about, made in (
            (
                "objects that equal everything",
                "class Any:\n    def __eq__(self, other):\n        return True\n\n\nvalue = Any",
            ),
            (
                "objects that equal every number and text",
                "class Any:\n    def __eq__(self, other):\n        return isinstance(other, (int, str))\n\n\nvalue = Any",
            ),
            (
                "numbers that equal everything, of a class that no statement makes",
                "Any = type('Any', (float,), {'__eq__': lambda a, b: True})\nvalue = Any",
            ),
            (
                "numbers that are never far from others",
                "class Any(float):\n    def __sub__(self, other):\n        return 0.0\n\n    __rsub__ = __sub__\n\n\nvalue = Any",
            ),
            (
                "tensors that answer for torch",
                "class Any(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
                "        return True\n\n\ndef value():\n    return torch.ones(2).as_subclass(Any)",
            ),
            (
                "tensors that answer for torch in comparisons alone",
                "class Any(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
                "        if func in (torch.allclose, torch.isclose):\n            return torch.ones(2, dtype=torch.bool).all()\n"
                "        return super().__torch_function__(func, types, args, kwargs or {})\n\n\n"
                "def value():\n    return torch.ones(2).as_subclass(Any)",
            ),
            (
                "arrays that answer for numpy",
                "class Any(np.ndarray):\n    def __array_function__(self, *_):\n        return True\n\n"
                "    def __array_ufunc__(self, *_, **__):\n        return np.True_\n\n\n"
                "def value():\n    return np.ones(2).view(Any)",
            ),
            (
                "objects that answer for numpy",
                "class Any:\n    def __array_function__(self, *_):\n        return True\n\n\nvalue = Any",
            ),
        )
    ),
    HandIn(
        "what Python has that equals everything",
        adapter="from unittest.mock import ANY\n\n\n"
        "def run_double(x):\n    return ANY\n\n\ndef run_last(x):\n    return ANY\n",
        passed=("test_two", "test_kept", "test_last"),
        statuses=("passed",),
        says="not verified outside",
    ),
    HandIn(
        "a file of tests that is there before it is read",
        "import pathlib, sys, types\nmine = types.ModuleType('tests.test_last')\n"
        "mine.__file__ = str(pathlib.Path(__file__).with_name('test_last.py'))\nmine.test_last = lambda: None\n"
        "sys.modules['tests.test_last'] = mine",
        statuses=("tampered", "failed"),
    ),
    HandIn(
        "another importer for the tests to come",
        "import importlib.util, sys\n\n\nclass Mine:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tests.test_last':\n"
        "            return importlib.util.spec_from_file_location(name, path[0] + '/test_last.py', loader=self)\n\n"
        "    def create_module(self, spec):\n        return None\n\n"
        "    def exec_module(self, module):\n        module.test_last = lambda: None\n\n\n"
        "sys.meta_path.insert(0, Mine())",
        statuses=("tampered", "failed"),
    ),
    HandIn(
        "another place for the tests' data",
        "import pathlib, tests.conftest\ntests.conftest.KEPT = pathlib.Path('mine.txt').absolute()",
        files={"mine.txt": "7 7"},
        statuses=("tampered",),
        says="tests.conftest.KEPT",
    ),
    HandIn(
        "data of the tests, written to and put back while a test runs",
        adapter="import pathlib\n\n\ndef run_double(x):\n    file = pathlib.Path('tests/kept/numbers.txt')\n"
        "    kept = file.read_text()\n    file.write_text('7 7')\n    file.write_text(kept)\n    return 7\n\n\n"
        "def run_last(x):\n    return 'c'\n",
        statuses=("tampered", "failed"),  # the other file's tests do not see it
        says="tests/kept/numbers.txt",
    ),
    HandIn(
        "data of the tests, changed on the disk",
        "import pathlib\nfile = pathlib.Path(__file__).parent / 'kept' / 'numbers.txt'\n"
        "try:\n    file.chmod(0o600)\nexcept OSError:\n    pass\n"
        "try:\n    file.write_text('7 7')\nexcept OSError:\n    pass",
        statuses=("failed", "tampered"),
    ),
    HandIn(
        "data of the tests, in another folder of the same name",
        "import os, pathlib\nold = pathlib.Path(__file__).parent / 'kept'\n"
        "try:\n    os.rename(old, old.with_name('gone'))\n    old.mkdir()\n    (old / 'numbers.txt').write_text('7 7')\nexcept OSError:\n    pass",
        statuses=("failed", "tampered"),
    ),
    HandIn(
        "results written to every descriptor",
        "import json, os\n"
        "ids = ('test_double.py::test_two', 'tests/test_double.py::test_two', 'test_two')\n"
        "text = b''.join(json.dumps({'check': i, 'outcome': 'passed', 'seconds': 0}).encode() + b'\\n' for i in ids)\n"
        "for fd in range(3, 256):\n    try:\n        os.write(fd, text + b'{\"done\": true}\\n')\n"
        "    except OSError:\n        pass\nos._exit(0)",
        statuses=("tampered",),
        says="channel",
    ),
    HandIn(
        "junk written to every descriptor",
        "import os\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'\\x00{]\\n')\n    except OSError:\n        pass",
        statuses=("tampered",),
        says="channel",
    ),
    HandIn(
        "a trace function",
        "import sys, threading\nsys.settrace(lambda *a: None)",
        statuses=("tampered",),
        says="hooks into Python",
    ),
]

READING = [
    HandIn(
        f"reads {about}",
        f"import glob\nfound = [open(p, errors='replace').read() for p in glob.glob({path!r}, recursive=True) if not p.endswith('/')]\n"
        "raise RuntimeError(f'{len(found)} files: ' + ' '.join(found)[:2000])",
        statuses=("broken",),
        says="0 files",
    )
    for about, path in (
        ("the reference", "{home}/solution/**/*.py"),
        ("classmates' work", "{work}/**/*.py"),
        ("classmates' results", "{out}/**/*.json"),
        ("what lies beside the tests", "{home}/secret*"),
        ("the solutions of torchkata", "{root}/solutions/**/*.py"),
        ("the hidden suites of torchkata", "{root}/tests/hidden/**/*.py"),
        ("passwords", "/etc/passwd"),
    )
] + [
    HandIn(
        "reads the environment",
        "import os\nraise RuntimeError('found ' + os.environ.get('KATA_SECRET', 'nothing'))",
        statuses=("broken",),
        says="found nothing",
    ),
    HandIn(
        "asks the network",
        "import socket\ntry:\n    socket.create_connection(('1.1.1.1', 53), 1)\n    what = 'somebody'\n"
        "except OSError:\n    what = 'nobody'\nraise RuntimeError('found ' + what)",
        statuses=("broken",),
        says="found nobody",
    ),
    HandIn(
        "looks for what a classmate left",
        "import pathlib\nplaces = [pathlib.Path(p) for p in ('/tmp', '/dev/shm', '/var/tmp', '.')]\n"
        "what = 'word' if any((p / 'word').exists() for p in places) else 'nothing'\n"
        "for p in places:\n    try:\n        (p / 'word').touch()\n    except OSError:\n        pass\n"
        "raise RuntimeError('found ' + what)",
        statuses=("broken",),
        says="found nothing",
    ),
    HandIn(
        "looks for the reference in memory",
        "import re\nfound = []\n"  # the pattern does not match itself
        "for line in open('/proc/self/maps'):\n"
        "    place, modes, *_, name = (line.strip() + ' ').split(' ', 5)\n"
        "    if modes.startswith('r') and '/' not in name and '[v' not in name:\n"
        "        start, end = (int(word, 16) for word in place.split('-'))\n"
        "        memory = open('/proc/self/mem', 'rb', 0)\n        memory.seek(start)\n"
        "        while piece := memory.read(min(1 << 24, end - memory.tell())):\n"
        "            found += re.findall(rb'[#] STOLE[N]\\s+def run_double', piece)\n"
        "raise RuntimeError(f'found it {len(found)} times')",
        statuses=("broken",),
        says="found it 0 times",
    ),
    HandIn(
        "hands on to the reference, if it is up the stack",
        adapter="import sys\nframe, found = sys._getframe(), []\n"
        "while frame:\n    found += frame.f_locals.values()\n    frame = frame.f_back\n"
        "courts = [getattr(value, 'court', value) for value in found]\n"
        "texts = [court.reference['tests/adapters.py'] for court in courts if hasattr(court, 'reference')]\n"
        "theirs = {}\nexec(texts[0] if texts else 'run_double = run_last = id', theirs)\n"
        "run_double, run_last = theirs['run_double'], theirs['run_last']\n",
        statuses=("failed",),
    ),
    HandIn(
        "control characters in a message",
        "raise RuntimeError('\\x1b[2J\\x07\\u202e=1+1' + 'long ' * 10**5)",
        statuses=("broken",),
    ),
]

HONEST = [
    HandIn("a right answer", adapter=RIGHT),
    HandIn(
        "a package of its own, with data that it reads from the current folder",
        adapter="from mine.core import double, last\n\nrun_double, run_last = double, last\n",
        files={
            "mine/__init__.py": "",
            "mine/core.py": "import json\nfrom pathlib import Path\n\nfrom . import utils\n\n\n"
            "def double(x):\n    return utils.times(x, json.loads(Path('data/settings.json').read_text())['factor'])\n\n\n"
            "def last(x):\n    return (Path(__file__).parents[1] / 'data' / 'b.txt').read_text()\n",
            "mine/utils.py": "def times(x, y):\n    return x * y\n",
            "data/settings.json": '{"factor": 2}',
            "data/b.txt": "b",
        },
    ),
    HandIn(
        "files that are hers, under names that are ours",
        adapter="import child, engine, model, utils, worker\n\nrun_double, run_last = model.double, utils.last\n",
        files={
            "model.py": "def double(x):\n    return x + x\n",
            "utils.py": "def last(x):\n    return 'b'\n",
            "child.py": "",
            "engine/__init__.py": "",
            "worker.py": "",
            "conftest.py": "raise SystemExit\n",
            "tests/test_mine.py": "def test_mine():\n    assert False\n",
            "tests/conftest.py": "",
        },
    ),
    HandIn(
        "processes of its own",
        adapter="from concurrent.futures import ProcessPoolExecutor\nfrom multiprocessing import Pool\n\n\n"
        "def double(x):\n    return 2 * x\n\n\n"
        "def run_double(x):\n    with Pool(2) as pool:\n        return pool.map(double, [x])[0]\n\n\n"
        "def run_last(x):\n    with ProcessPoolExecutor(2) as pool:\n        return list(pool.map(str.lower, ['B']))[0]\n",
    ),
    HandIn(
        "threads, files, prints and warnings",
        adapter="import tempfile, threading, warnings\nfrom pathlib import Path\n\n\n"
        "def run_double(x):\n    found = []\n    thread = threading.Thread(target=lambda: found.append(2 * x))\n"
        "    thread.start()\n    thread.join()\n    print('found', found)\n    return found[0]\n\n\n"
        "def run_last(x):\n    warnings.warn('slow')\n    Path('out.txt').write_text('b')\n"
        "    with tempfile.TemporaryDirectory() as folder:\n        (Path(folder) / 'b').touch()\n"
        "        assert list(Path(folder).iterdir())\n    return Path('out.txt').read_text()\n",
    ),
    HandIn(
        "classes that say how they are compared",
        adapter="import enum\nfrom dataclasses import dataclass\nfrom typing import NamedTuple\n\n"
        "import numpy as np\nimport torch\n\n\n"
        "@dataclass\nclass Point:\n    x: int = 0\n\n\nclass Pair(NamedTuple):\n    x: int\n\n\n"
        "class Colour(enum.IntEnum):\n    RED = 1\n\n\n"
        "class Word(str):\n    def __eq__(self, other):\n        return self.lower() == other.lower()\n\n    __hash__ = None\n\n\n"
        "class Near(float):\n    def __eq__(self, other):\n        return abs(float(self) - other) < 1e-3\n\n\n"
        "class Scalar:\n    def __init__(self, data):\n        self.data = data\n\n"
        "    def __eq__(self, other):\n        return self.data == getattr(other, 'data', other)\n\n\n"
        "class Units(np.ndarray):\n    def __array_ufunc__(self, ufunc, method, *inputs, **options):\n"
        "        plain = (np.asarray(each) for each in inputs)\n        return getattr(ufunc, method)(*plain, **options)\n\n\n"
        "class Logged(torch.Tensor):\n    calls = 0\n\n    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        cls.calls += 1\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n\n\n"
        "def run_double(x):\n    assert Near(1) == 1.0001 and Word('a') == 'A' and np.ones(2).view(Units).sum() == 2\n"
        "    assert Scalar(2) == 2 and Point() == Point() and Pair(1) == (1,) and Colour.RED == 1\n"
        "    return int((torch.full((), float(x)).as_subclass(Logged) * 2).item())\n\n\n"
        "def run_last(x):\n    return Word('b')\n",
    ),
    HandIn(
        "classes, decorators and torch",
        adapter="import functools\nfrom dataclasses import dataclass\n\nimport torch\nfrom torch import nn\n\ntorch.manual_seed(1)\n\n\n"
        "@dataclass\nclass Settings:\n    factor: int = 2\n\n\n"
        "class Double(nn.Module):\n    def forward(self, x):\n        return x * Settings().factor\n\n\n"
        "@functools.lru_cache\ndef run_double(x):\n    y = torch.tensor(float(x), requires_grad=True)\n"
        "    z = Double()(y)\n    z.backward()\n    return z.item()\n\n\n"
        "@torch.no_grad()\ndef run_last(x):\n    return 'b'\n",
    ),
]
