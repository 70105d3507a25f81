"""What the engine does before its first answer, so that no answer has to."""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import torch

from grader.checks import devices
from grader.course.exercise import Exercise
from grader.engine._compat import COMPILER
from grader.engine.quiet import quiet
from grader.plugin import load_answer


def warm_up(exercises: Sequence[Exercise]) -> None:
    """Pay once for what torch imports at first use.

    Without a single backward: a child that installs the simulated device must be the first to run one.
    """
    import torch.distributed
    import torch.func
    import torch.nn.parallel
    import torch.utils.data
    import torch.utils.flop_counter

    from grader.checks import distributed, expect_close, expect_flat_cost
    from grader.checks.devices.rehearsal import rehearse

    torch.set_num_threads(1)
    _count_gpus()
    devices.prepare()
    x = torch.randn(3, 4)
    torch.testing.assert_close(x, x.clone())
    expect_close(x * 2, x * 2, "x")
    expect_flat_cost(lambda n: lambda: x + n, "x")
    rehearse()
    import_stubs(exercises)
    distributed.is_available()
    repr(x)
    if any(_tells_of(e, b"grader.checks.compile", b"torch.compile(") for e in exercises):
        _compile_once()
    elif any(_tells_of(exercise, b"torch.optim") for exercise in exercises):
        import_module(COMPILER)  # the first optimizer would do so: half a second


def _count_gpus() -> None:
    """Have torch find that there are none, which it remembers.

    Where CUDA's torch is installed, the first backward counts, and warns that it cannot: an answer that turns
    warnings into errors would end by it.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES") != "":
        return  # to count what is there is to start CUDA, and no child could use it any more
    with quiet():
        torch.cuda.is_available()


def _compile_once() -> None:
    from grader.checks.compile import graphs

    graphs.warm_up()
    torch.compile(torch.nn.Linear(4, 2), backend="eager")(torch.ones(3, 4))
    torch.compiler.reset()


def _tells_of(exercise: Exercise, *names: bytes) -> bool:
    """Whether its stub or its suites mention one of these."""
    files = [exercise.file(tree) for tree in exercise.suites if exercise.file(tree).exists()]
    stub = [exercise.content("exercises")] if exercise.file("exercises").exists() else []
    return any(name in text for text in (*stub, *(file.read_bytes() for file in files)) for name in names)


def import_stubs(exercises: Iterable[Exercise]) -> None:
    """Stubs import what answers will, and jaxtyping builds each annotation once."""
    places = list(sys.path)
    for exercise in exercises:
        with contextlib.suppress(Exception):
            load_answer.load(exercise.place("exercises"), exercise)
        for file in exercise.place("exercises").glob("*.py") if exercise.is_project else ():
            with contextlib.suppress(Exception):
                import_module(f"{exercise.slug}.{file.stem}")
        load_answer.forget(exercise)
    sys.path[:] = places  # or a spawned worker would find the stub where it looks for the answer
