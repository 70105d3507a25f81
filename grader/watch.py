"""Watch `exercises/` and judge each file as it is saved."""

import subprocess
import sys
from pathlib import Path

import watchfiles
from rich.console import Console

from grader import paths
from grader.catalog import load


def run(out: Console) -> None:
    """Judge every saved exercise until interrupted."""
    out.print(f"watching {paths.shown(paths.EXERCISES)}: save an exercise to have it judged, Ctrl-C to leave")
    try:
        for changes in watchfiles.watch(paths.EXERCISES, raise_interrupt=True):
            for file in sorted({Path(name) for _, name in changes}):
                if file.suffix == ".py" and file.is_file():
                    _judge(file, out)
    except KeyboardInterrupt:
        out.print("left")


def _judge(file: Path, out: Console) -> None:
    exercise = load().of_stem(file.stem)
    if exercise is None:
        return
    out.print(f"checking {exercise.slug} …", markup=False)
    suites = [str(exercise.file(tree)) for tree in ("public", "hidden") if exercise.file(tree).exists()]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *suites], cwd=paths.ROOT, check=False)
