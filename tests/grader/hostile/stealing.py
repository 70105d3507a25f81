"""Attempts to read what is not theirs: solutions, suites, classmates, the gradebook, the machine.

Each writes what it finds into its result's error message, where the record would show it.
"""

from tests.grader.hostile.answers import Hostile

LOOT = "STOLEN"
"""Every secret that is planted outside contains this word, and no record may."""


def _reading(about: str, path: str) -> Hostile:
    return Hostile(
        f"reads {about}",
        "import glob\n"
        f"found = [open(p, errors='replace').read() for p in glob.glob({path!r}, recursive=True)]\n"
        "raise RuntimeError(f'{len(found)} files: ' + ' '.join(found)[:2000])",
        statuses=("broken",),
        says="0 files",
    )


def _looking(about: str, where: str) -> Hostile:
    """Has the suite's own slow reference do the work, if it is anywhere in sight of the oracle."""
    return Hostile(
        f"looks for the suite's reference {about}",
        instead="import gc, inspect, sys, types\n\n"
        "def coordinate_grid(height, width, *, align_corners=False, dtype=None, device=None):\n"
        f"    for names in {where}:\n"
        "        for value in list(names.values()):\n"
        "            if isinstance(value, types.FunctionType) and value.__name__ == 'reference':\n"
        "                return value(height, width, align_corners).to(dtype=dtype, device=device)\n"
        "    raise RuntimeError('found nothing')\n",
        statuses=("failed",),
        says="found nothing",
        slug="coordinate_grid",
    )


STEALING = [
    _reading("the solutions", "{root}/solutions/**/*.py"),
    _reading("the hidden suites", "{root}/tests/hidden/**/*.py"),
    _reading("the suites of steps, which have the oracle", "{root}/tests/public/**/*.py"),
    _reading("the specimens", "{root}/tests/specimens/**/*.py"),
    _reading("classmates' work", "{work}/**/*.py"),
    _reading("classmates' results", "{out}/**/*.json"),
    _reading("the gradebook", "{out}/../*.db"),
    _reading("the git history", "{root}/.git/**/*"),
    _reading("the home folder", "/root/**/.bash*"),
    _reading("passwords", "/etc/passwd"),
    _looking("up the stack", "[n for i in inspect.stack(0) for n in (i.frame.f_globals, i.frame.f_locals)]"),
    _looking("in all modules", "[vars(m) for n, m in list(sys.modules.items()) if 'test_ex' in n]"),
    _looking("among all objects", "[gc.unfreeze() or dict(enumerate(gc.get_objects()))]"),
    Hostile(
        "looks for the reference of a step's one suite among all objects",
        instead="import gc, types\n\n"
        "def shares_of_a_row(sold):\n"
        "    gc.unfreeze()\n"
        "    for value in gc.get_objects():\n"
        "        if isinstance(value, types.FunctionType) and 'test_s26' in value.__code__.co_filename:\n"
        "            if value.__code__.co_varnames[:1] == ('sold',) and 'stack' in value.__code__.co_names:\n"
        "                return value(sold)\n"
        "    raise RuntimeError('found nothing')\n",
        statuses=("failed",),
        says="found nothing",
        slug="shares_of_a_row",
    ),
    Hostile(
        "reads the environment",
        "import os\nraise RuntimeError('found ' + os.environ.get('KATA_SECRET', 'nothing'))",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "reads other processes' environment",
        "import glob\ntexts = []\n"
        "for p in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try:\n        texts.append(open(p).read())\n    except OSError:\n        pass\n"
        "raise RuntimeError('found ' + ('it' if any('KATA_SECRET' in t for t in texts) else 'nothing'))",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "reads the engine's memory",
        "import os\n"
        "try:\n    open(f'/proc/{os.getppid()}/mem', 'rb').read(1)\n    what = 'memory'\n"
        "except OSError as e:\n    what = 'nothing'\n"
        "raise RuntimeError('found ' + what)",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "imports the reference",
        "try:\n    from solutions.e01_tensors.ex12_merge_heads import merge_heads as theirs\n    what = 'it'\n"
        "except ImportError:\n    what = 'nothing'\n"
        "raise RuntimeError('found ' + what)",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "looks for a classmate's answer in the worker's memory",
        "import gc\n"
        "found = [o for o in gc.get_objects() if isinstance(o, (bytes, str)) and 'classmate' in repr(o)[:200]]\n"
        "raise RuntimeError('found ' + (str(len(found)) if found else 'nothing'))",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "looks for the reference among all functions",
        "import gc, types\n"
        "found = [f for f in gc.get_objects()\n"
        "         if isinstance(f, types.FunctionType) and 'solutions/' in f.__code__.co_filename]\n"
        "raise RuntimeError('found ' + (str(len(found)) if found else 'nothing'))",
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "follows a descriptor of the worker's",
        "import os\nfound = []\n"
        "for fd in range(3, 64):\n"
        "    try:\n        found.append(os.readlink(f'/proc/self/fd/{fd}'))\n    except OSError:\n        pass\n"
        'raise RuntimeError(f\'found {[f for f in found if not f.startswith(("socket:", "/proc"))] or "nothing"}\')',
        statuses=("broken",),
        says="found nothing",
    ),
    Hostile(
        "reads back what has been told about it",
        "import os\nfound = []\n"
        "for fd in range(3, 64):\n"
        "    try:\n        found.append(os.open(f'/proc/self/fd/{fd}', os.O_RDONLY | os.O_NONBLOCK))\n"
        "    except OSError:\n        pass\n"
        "raise RuntimeError(f'found {found or \"nothing\"}')",
        statuses=("broken",),
        says="found nothing",
    ),
]
