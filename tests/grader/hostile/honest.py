"""Honest answers that do unusual things; each must get full marks."""

from tests.grader.hostile.answers import RIGHT, Honest

HONEST = [
    Honest("plain", RIGHT),
    Honest(
        "prints at import and at every call",
        "print('hello')\ndef merge_heads(x):\n    print(x.shape)\n    return x.transpose(1, 2).flatten(2)\n",
    ),
    Honest(
        "writes to stderr",
        "import sys\n" + RIGHT.replace("    return", "    print('!', file=sys.stderr)\n    return"),
    ),
    Honest(
        "warns",
        "import warnings\nwarnings.warn('careful')\n"
        + RIGHT.replace("    return", "    warnings.warn('again')\n    return"),
    ),
    Honest(
        "logs",
        "import logging\nlogging.basicConfig(level=logging.DEBUG)\nlog = logging.getLogger(__name__)\n"
        + RIGHT.replace("    return", "    log.info('%s', x.shape)\n    return"),
    ),
    Honest(
        "starts and joins a thread",
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n" + RIGHT,
    ),
    Honest(
        "works in a thread pool",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as pool:\n    squares = list(pool.map(lambda n: n * n, range(8)))\n"
        + RIGHT,
    ),
    Honest("uses getattr", "def merge_heads(x):\n    return getattr(x, 'transpose')(1, 2).flatten(2)\n"),
    Honest(
        "defines classes",
        "from dataclasses import dataclass\n@dataclass\nclass Heads:\n    start: int = 2\nH = Heads()\n"
        "def merge_heads(x):\n    return x.transpose(1, 2).flatten(H.start)\n",
    ),
    Honest(
        "seeds the generators",
        "import random, numpy, torch\ntorch.manual_seed(3)\nrandom.seed(3)\nnumpy.random.seed(3)\n" + RIGHT,
    ),
    Honest("is slow, but in time", "import time\ntime.sleep(1)\n" + RIGHT),
    Honest("asserts", RIGHT.replace("    return", "    assert x.dim() == 4, x.shape\n    return")),
    Honest(
        "has a main block with tests of its own",
        RIGHT + "if __name__ == '__main__':\n    import torch\n    merge_heads(torch.ones(1, 2, 3, 4))\n",
    ),
    Honest(
        "tries itself at import",
        "import torch\n" + RIGHT + "assert merge_heads(torch.ones(1, 2, 3, 4)).shape == (1, 3, 8)\n",
    ),
    Honest(
        "imports much",
        "import collections, functools, inspect, itertools, math, operator, os, sys, types, typing\nimport torch.nn.functional as F\nfrom torch import nn\n"
        + RIGHT,
    ),
    Honest(
        "is cached",
        "import functools\n@functools.lru_cache\ndef order(n):\n    return (0, 2, 1, *range(3, n))\ndef merge_heads(x):\n    return x.permute(order(x.dim())).flatten(2)\n",
    ),
    Honest(
        "reads its own file",
        "from pathlib import Path\nlines = Path(__file__).read_text().count('\\n')\n" + RIGHT,
    ),
    Honest(
        "writes a file of its own",
        "import tempfile\nwith tempfile.NamedTemporaryFile() as f:\n    f.write(b'note')\n" + RIGHT,
    ),
    Honest(
        "compiles another function",
        "import torch\nother = torch.compile(lambda y: y + 1, backend='eager')\nother(torch.ones(2))\n"
        + RIGHT,
    ),
    Honest(
        "uses an optimizer",
        "import torch\np = torch.nn.Parameter(torch.ones(2))\ntorch.optim.AdamW([p]).step()\n" + RIGHT,
    ),
    Honest(
        "profiles and traces itself",
        "import cProfile, sys\nimport torch\n"
        + RIGHT.replace(
            "    return",
            "    before = sys.gettrace()\n    sys.settrace(lambda *a: None)\n    sys.settrace(before)\n    return",
        )
        + "with cProfile.Profile():\n    merge_heads(torch.ones(1, 2, 3, 4))\n"
        + "with torch.profiler.profile(with_stack=True):\n    merge_heads(torch.ones(1, 2, 3, 4))\n",
    ),
    Honest("turns warnings into errors", "import warnings\nwarnings.simplefilter('error')\n" + RIGHT),
    Honest(
        "spells its name in another script",
        "# Löst die Aufgabe — 完成\ndef merge_heads(x):\n    köpfe = x.transpose(1, 2)\n    return köpfe.flatten(2)\n",
    ),
    Honest("has Windows line ends", RIGHT.replace("\n", "\r\n")),
    Honest("takes several threads", "import torch\ntorch.set_num_threads(4)\n" + RIGHT),
    Honest("sets a default dtype", "import torch\ntorch.set_default_dtype(torch.float64)\n" + RIGHT),
    Honest(
        "shows tensors with their shapes",
        "import torch\nshown = torch.Tensor.__repr__\n"
        "torch.Tensor.__repr__ = torch.Tensor.__str__ = lambda x: f'{tuple(x.shape)} {shown(x)}'\n" + RIGHT,
    ),
    Honest(
        "sets up its output",
        "import faulthandler, sys\nsys.stdout.reconfigure(line_buffering=True)\nfaulthandler.enable()\n"
        "sys.stdout.buffer.write(b'ready')\n" + RIGHT,
    ),
]
