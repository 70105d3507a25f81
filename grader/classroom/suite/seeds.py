"""Random numbers that are the same for the whole class: they depend on a test's name, and on nothing else.

What Python's `random`, numpy and torch draw by themselves starts anew at each file of tests, at each fixture
that several tests share, and at each test: it makes no difference which of them run in one process.
"""

import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import numpy.random
import pytest
import torch

from grader.checks import rng
from grader.classroom.suite import _compat

_SEED = 0


def fix() -> None:
    """In the parent of all who run tests: what draws from the system else."""
    _compat.seed_generators(random.getrandbits)
    _compat.fix_examples(_SEED)


@contextmanager
def kept() -> Iterator[None]:
    """Leave the numbers to come as they are, whatever is drawn meanwhile."""
    states = random.getstate(), numpy.random.get_state(), torch.default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.default_generator.set_state(states[2])


class Seeds:
    """A plugin of pytest that has numbers start anew."""

    def __init__(self) -> None:
        self._test = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        _start(collector.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        self._test = item.nodeid
        _start(self._test)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        _start(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]")
        try:
            return (yield)
        finally:
            _start(self._test)


def _start(name: str) -> None:
    rng.set_globals(rng.derive(_SEED, name))
