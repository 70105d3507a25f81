"""Attacks on comparisons: patched functions, objects that agree, references that change."""

from tests.grader.hostile.answers import Hostile


def _patched(what: str) -> Hostile:
    return Hostile(
        f"patched {what}",
        f"import torch, operator, builtins\n{what} = lambda *a, **k: True",
        statuses=("tampered", "failed", "broken", "crashed"),
    )


COMPARISONS = [
    *map(
        _patched,
        (
            "torch.allclose",
            "torch.equal",
            "torch.isclose",
            "torch.Tensor.__eq__",
            "torch.Tensor.__ne__",
            "torch.Tensor.all",
            "torch.Tensor.any",
            "torch.Tensor.equal",
            "torch.Tensor.allclose",
            "torch.testing.assert_close",
            "torch._C._TensorBase.equal",
            "operator.eq",
            "builtins.isinstance",
            "builtins.all",
            "builtins.any",
            "builtins.type",
        ),
    ),
    Hostile(
        "a generator that draws zeros",
        "import torch\nreal = torch.randn\ntorch.randn = lambda *a, **k: real(*a, **k) * 0",
        statuses=("tampered",),
        says="randn",
    ),
    Hostile(
        "checks that accept",
        "import grader.checks.values as v\nv.expect_close = v.expect_equal = lambda *a, **k: None",
        statuses=("tampered",),
    ),
    Hostile(
        "a suite whose names lead elsewhere",
        instead="import sys\n\n"
        "def softmax(x, dim):\n"
        "    for name, module in list(sys.modules.items()):\n"
        "        for word in ('expect_close', 'expect_equal', 'expect_that', 'expect_gradients'):\n"
        "            if 'test_ex18' in name and hasattr(module, word):\n"
        "                setattr(module, word, lambda *a, **k: None)\n"
        "    return x\n"
        "logsumexp = softmax\n",
        statuses=("tampered",),
        says="expect_",
        slug="stable_softmax",
    ),
    Hostile(
        "code swapped inside a check",
        "from grader.checks import values\nvalues.explain.__code__ = (lambda *a, **k: None).__code__",
        statuses=("tampered",),
    ),
    Hostile(
        "a tensor subclass that always agrees",
        instead="""import torch

class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in ("equal", "allclose"):
            return True
        if name in ("isclose", "eq"):
            return torch.ones((), dtype=torch.bool)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

def merge_heads(x):
    return 2 * x.reshape(x.shape[0], x.shape[2], -1).as_subclass(Agreeable)
""",
    ),
    Hostile(
        "an object equal to everything",
        instead="""class Equal:
    shape = dtype = device = layout = None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter(())

def merge_heads(x):
    return Equal()
""",
    ),
    Hostile(
        "an object that claims to be a tensor",
        instead="""import torch

class Claims:
    @property
    def __class__(self): return torch.Tensor
    def __eq__(self, other): return True

def merge_heads(x):
    return Claims()
""",
    ),
    Hostile(
        "an input overwritten so that a late reference agrees",
        instead="def merge_heads(x):\n    with __import__('torch').no_grad():\n        x.zero_()\n    return x.reshape(x.shape[0], x.shape[2], -1)\n",
    ),
    Hostile(
        "an input's memory overwritten through .data",
        instead="def merge_heads(x):\n    x.data.fill_(1.0)\n    return x.reshape(x.shape[0], x.shape[2], -1)\n",
    ),
    Hostile(
        "an input resized to nothing",
        instead="def merge_heads(x):\n    x.data = x.data[:0]\n    return x.data\n",
    ),
    Hostile(
        "a thread that patches later",
        "import threading, time, torch\n"
        "def later():\n    time.sleep(0.02)\n    torch.equal = torch.allclose = lambda *a, **k: True\n"
        "threading.Thread(target=later, daemon=True).start()",
        statuses=("failed", "tampered"),
    ),
    Hostile(
        "an atexit hook that reports passes",
        "import atexit, os\natexit.register(lambda: os.write(1, b'passed'))",
        statuses=("failed",),
    ),
    Hostile(
        "a global torch function mode left on",
        """import torch
from torch.overrides import TorchFunctionMode

class Agree(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("equal", "allclose"):
            return True
        return func(*args, **(kwargs or {}))

mode = Agree()
mode.__enter__()
""",
        statuses=("tampered",),
        says="lie",
    ),
    Hostile(
        "a trace function that changes locals",
        "import sys\ndef trace(frame, event, arg):\n    if 'wanted' in frame.f_locals:\n        frame.f_locals['wanted'] = None\n    return trace\nsys.settrace(trace)",
    ),
    Hostile(
        "default dtype changed so that nothing is exact",
        "import torch\ntorch.set_default_dtype(torch.float16)",
    ),
    Hostile(
        "a changed method resolution: Tensor gets a hiding attribute",
        "import torch\ntorch.Tensor.shape = property(lambda s: torch.Size([]))",
        statuses=("tampered", "broken"),
    ),
]
