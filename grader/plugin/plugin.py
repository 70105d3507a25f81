"""The pytest face: `--answers`, the fixtures of suites, markers, todo and feedback."""

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest
import torch

from grader.checks import devices, rng
from grader.core.errors import KataError
from grader.core.output_encoding import replace_what_lacks
from grader.core.timeout import within
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.plugin import failure_report, gpu_process, load_answer, process_state, reports
from grader.plugin.answers_option import no_garbage_collected
from grader.plugin.markers import MARKERS, is_fine, lacking, needs_device, needs_ranks, seconds_for, title_of
from grader.plugin.reports import CheckReport
from grader.plugin.selection import exercise_of, is_left_out, named
from grader.protocol.check import Finding
from grader.protocol.feedback import Feedback
from grader.records import capstones

pytest_plugins = [
    f"grader.plugin.{name}" for name in ("contracts", "reports", "summary", "gpu_process", "leftovers")
]


@dataclass
class Judged:
    """What this run judges: where the answers are, with which seed, and those loaded so far.

    `seconds` is the limit for one check, where it is not the exercise's own. `left` says what settings were
    left behind, by whom, since somebody last told of it.
    """

    answers: load_answer.Answers
    seed: int
    seconds: float | None = None
    loaded: dict[str, ModuleType | BaseException] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def module(self, exercise: Exercise) -> ModuleType:
        """The answer to `exercise`, imported once; an answer that does not import raises each time."""
        if exercise.slug not in self.loaded:
            file = self.answers.path(exercise)
            if file is None:
                raise failure_report.NoAnswer(f"{exercise.relative} is not there")
            with process_state.kept(lambda left: self.left.append(f"importing {exercise.slug} left {left}")):
                try:
                    self.loaded[exercise.slug] = load_answer.load(file, exercise)
                except (Exception, SystemExit) as broken:
                    self.loaded[exercise.slug] = broken
        found = self.loaded[exercise.slug]
        if isinstance(found, BaseException):
            raise load_answer.DoesNotImport(found)
        return found


JUDGED = pytest.StashKey[Judged]()
_WAITING = pytest.StashKey[frozenset[Exercise]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchkata")
    group.addoption(
        "--answers",
        metavar="PATH",
        default="exercises",
        help="judge the answers in this folder or file (default: exercises)",
    )
    group.addoption("--seed", metavar="N", type=int, default=0, help="draw the inputs from this seed")


def pytest_configure(config: pytest.Config) -> None:
    replace_what_lacks()  # pytest itself would print a line break as \\n beside a character that is lacking
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    # One thread: sums then come out the same on every machine, and a forked child cannot hang on
    # a thread pool that it did not inherit.
    torch.set_num_threads(1)
    chosen = Path(config.getoption("--answers"))
    try:
        load()  # or there is no course here
        judged = load_answer.Answers(paths.ROOT / chosen if not chosen.exists() else chosen.resolve())
    except KataError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[JUDGED] = Judged(judged, config.getoption("--seed"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from what is imported: it takes a third as long as importing torch."""
    with no_garbage_collected():
        try:
            return (yield)
        finally:
            gc.freeze()  # pytest collects garbage several times when it ends


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`pytest -k merge_heads` need not import the suites of all other exercises."""
    return True if is_left_out(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A single answer is judged alone: the other exercises are deselected."""
    judged = config.stash[JUDGED].answers
    if not judged.is_one:
        return
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        exercise = exercise_of(item.path)
        (dropped if exercise and not judged.path(exercise) else kept).append(item)
    if dropped and not any(exercise_of(item.path) for item in kept):
        name = judged.root.name
        raise pytest.UsageError(f"--answers {name}: no exercise has this name; call it like its stub")
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


def pytest_collection_finish(session: pytest.Session) -> None:
    is_controller = session.config.getoption("numprocesses", None) and not hasattr(
        session.config, "workerinput"
    )
    if not (is_controller or session.config.option.collectonly):
        items = [item for item in session.items if not _is_waiting(item)]
        gpu_process.part(items)
        prepare(items)


def _is_waiting(item: pytest.Item) -> bool:
    """Whether the exercise of this check waits for somebody to begin, so that it need not be run."""
    stash = item.config.stash
    if _WAITING not in stash:
        stash[_WAITING] = _waiting(item.session)
    return exercise_of(item.path) in stash[_WAITING]


def _waiting(session: pytest.Session) -> frozenset[Exercise]:
    """What nobody has touched. How a *fix* fails is seen by who names it: that is where it begins."""
    answers = session.config.stash[JUDGED].answers
    chosen = {e for item in session.items if (e := exercise_of(item.path))}
    about = chosen if len(chosen) == 1 else named(session.config)
    there = {e: place for e in chosen if (not e.is_to_mend or e not in about) and (place := answers.path(e))}
    return frozenset(e for e, place in there.items() if capstones.is_untouched(e, e.read(place)))


def prepare(items: list[pytest.Item]) -> None:
    """Start what suites need from a process that has run nothing yet.

    Ranks are forked from a launcher that never saw a backward; the simulated device must be known
    before the first backward. In this order, both hold.
    """
    if needs_ranks(items):
        from grader.checks import distributed  # imports torch.distributed, which most runs do not need

        if distributed.is_available() is None:
            distributed.prepare()
    if needs_device(items):
        devices.install()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if exercise_of(item.path) is None:
        return
    if _is_waiting(item):
        raise failure_report.Untouched
    if not gpu_process.is_apart(item) and (reason := lacking(item)):
        pytest.skip(f"not graded here: {reason}")


@pytest.fixture
def answer(request: pytest.FixtureRequest) -> ModuleType:
    """The module under judgement."""
    exercise = exercise_of(request.path)
    if exercise is None:
        name = paths.shown(request.path)
        pytest.fail(f"{name} mirrors no exercise, so it has no answer to judge", pytrace=False)
    return request.config.stash[JUDGED].module(exercise)


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Path:
    """The folder of data that a project brings along; it is only for reading."""
    exercise = exercise_of(request.path)
    if exercise is None or not exercise.data.is_dir():
        pytest.fail(f"{paths.shown(request.path)} belongs to no project with a folder `data`", pytrace=False)
    return exercise.data


@pytest.fixture
def gen(request: pytest.FixtureRequest) -> torch.Generator:
    """Random numbers from the run's seed and this test's id."""
    return rng.generator(request.config.stash[JUDGED].seed, request.node.nodeid)


@pytest.fixture
def device() -> torch.device:
    """The simulated device: another device than the CPU, on every machine."""
    return devices.install()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    if exercise_of(pyfuncitem.path):
        rng.seed_globals(pyfuncitem.config.stash[JUDGED].seed, pyfuncitem.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with time_limit(item):
        return (yield)


@contextmanager
def time_limit(item: pytest.Item) -> Iterator[None]:
    """Stop an answer that does not come back, at the line where it is."""
    exercise = exercise_of(item.path)
    if exercise is None or item.config.getoption("usepdb", False):
        yield
        return
    seconds = item.config.stash[JUDGED].seconds or exercise.seconds
    with within(seconds_for([item], seconds)):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    exercise = exercise_of(item.path)
    if exercise is None:
        return (yield)
    style = item.config.getoption("tbstyle", "auto")  # the engine has no terminal, which brings the option
    if call.excinfo is not None:
        # Our account replaces pytest's, which would parse every file on the way first.
        item.config.option.tbstyle = "value"
    try:
        report = yield
    finally:
        item.config.option.tbstyle = style
    if call.excinfo is not None:
        finding = failure_report.finding_of(call, item, exercise, item.config.stash[JUDGED].answers)
    elif report.outcome == "passed" and not hasattr(report, "wasxfail"):
        finding = Finding("passed")
    else:
        finding = Finding("failed", Feedback(str(report.longrepr or "the check was skipped")))
    check = CheckReport(exercise.slug, title_of(item), is_fine(item), finding)
    reports.attach(report, check)
    if finding.outcome == "todo":
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, check.feedback.text)
    elif check.failed and call.excinfo is not None:
        report.outcome = "failed"
        report.longrepr = check.text()
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    check = reports.check_of(report)
    if check and check.finding.outcome == "todo":
        return "todo", "-", "TODO"
    if check and check.finding.outcome == "not_graded":
        return "not graded here", "n", "NOT GRADED HERE"
    return None
