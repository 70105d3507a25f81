"""A real Dask scheduler with real worker processes on loopback; each test finds them all alive."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader import sandbox
from grader.classroom.grading import grade
from grader.classroom.submissions.class_folder import Submission
from grader.core.errors import KataError
from grader.core.packed import packed
from grader.course import paths, variant_table
from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.protocol import transcript
from grader.protocol.check import Finding
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import Ended, Transcript

pytest.importorskip("distributed", reason="Dask is an optional extra: torchkata[class]")

from grader.classroom.cluster import facts, member, parent, plain, replies, roster, worker
from tests.grader.support.misbehaving import Touching, answer_with_an_object
from tests.grader.support.timeless import records_of

pytestmark = pytest.mark.slow

EXERCISES = (load().exercise("merge_heads"),)
SOLUTION = EXERCISES[0].file("solutions").read_text("utf-8")
ODD = {
    "bob": SOLUTION.replace("side_by_side.reshape", "side_by_side.clone().reshape"),
    "eve": "import os\nos._exit(0)\n",
    "fay": "def merge_heads(x:\n",
    "gus": SOLUTION + "\nimport torch\ntorch.equal = torch.allclose = lambda *a, **k: True\n",
}
CLASS = [
    Submission(name, {"merge_heads": text.encode()})
    for name, text in {**{f"s{n:02d}": f"{SOLUTION}\n# {n}, å\n" for n in range(20)}, **ODD}.items()
]
CONFINED = sandbox.unavailable() is None
OTHER_TORCH = """
import importlib.metadata as installed
def version(name, real=installed.version):
    return "2.0.1" if name == "torch" else real(name)
installed.version = version
"""


class Processes:
    """A scheduler, two workers, and a worker that claims another torch."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}
        (folder / "other").mkdir()
        (folder / "other" / "sitecustomize.py").write_text(OTHER_TORCH)

    @property
    def address(self):
        return json.loads((self.folder / "scheduler.json").read_text())["address"]

    def complete(self):
        """Start whatever does not run."""
        file = self.folder / "scheduler.json"
        if self._start("scheduler", "--port", "0", "--scheduler-file", str(file)):
            for name in ("first", "second", "other"):
                self.kill(name)
            while not (file.exists() and file.stat().st_size):
                assert self.running["scheduler"].poll() is None
                time.sleep(0.05)
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)]
        for name in ("first", "second"):
            self._start("worker", self.address, "--name", name, *options, name=name)
        self._start("worker", self.address, "--name", "other", *options, name="other")
        while not all(
            "Registered to" in self._log(name).read_text() for name in ("first", "second", "other")
        ):
            assert all(process.poll() is None for process in self.running.values())
            time.sleep(0.05)
        return self

    def _log(self, name):
        return self.folder / f"{name}.log"

    def _start(self, kind, *options, name=None):
        process = self.running.get(name or kind)
        if process is not None and process.poll() is None:
            return False
        (self.folder / "scheduler.json").unlink(missing_ok=True) if kind == "scheduler" else None
        command = [sys.executable, "-m", "dask", kind, "--host", "127.0.0.1", "--no-dashboard", *options]
        places = [str(self.folder / "other")] if name == "other" else []
        with self._log(name or kind).open("w") as log:
            self.running[name or kind] = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([*places, str(paths.ROOT)])},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return True

    def kill(self, name):
        process = self.running.pop(name, None)
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    try:
        yield processes
    finally:
        for name in list(processes.running):
            processes.kill(name)


@pytest.fixture
def cluster(processes):
    return processes.complete()


@pytest.fixture(scope="module")
def engine():
    with Pool(EXERCISES, jobs=2, confined=CONFINED) as pool:
        yield pool


@pytest.fixture
def warm(engine, monkeypatch):
    """Spare this test a start of the parent's own engine."""
    kept = SimpleNamespace(inventory=engine.inventory, reference=engine.reference, close=lambda: None)
    kept.__enter__ = lambda: kept
    monkeypatch.setattr(roster, "Pool", lambda *arguments, **options: kept)


def judge_at(address, tell):
    return lambda exercises: parent.Cluster(roster.ClusterRoster(address, exercises, 1, CONFINED, tell))


def run(out, address, told=None, progress=lambda done, total: None):
    def tell(line):
        print(line)  # for the report of a failure
        (told if told is not None else []).append(line)

    return judged_by(judge_at(address, tell), out, progress)


def judged_by(judges, out, progress=lambda done, total: None):
    grade.grade(CLASS, EXERCISES, grade.GradingSettings(out, 7, 2, CONFINED, judges), progress)
    return records_of(out)


@pytest.fixture(scope="module")
def local(engine, tmp_path_factory):
    return judged_by(lambda exercises: nullcontext(engine), tmp_path_factory.mktemp("local"))


def test_results_are_those_of_a_local_run_and_an_odd_worker_is_refused(cluster, local, tmp_path):
    told, seen = [], []
    assert run(tmp_path, cluster.address, told, lambda *counts: seen.append(counts)) == local
    assert seen == [(n, len(CLASS)) for n in range(1, len(CLASS) + 1)]
    (line,) = [line for line in told if "waiting" not in line]
    assert line.startswith("worker tcp://127.0.0.1:")
    assert "judges nothing: it has torch 2.0.1, and this machine" in line
    assert line.endswith("there") and "install torch==" in line


LOOKING_AROUND = """
import glob, os, socket

def reaches(host, port):
    try:
        socket.create_connection((host, port), timeout=1)
    except OSError:
        return False
    return True

reached = [file for file in FILES if os.path.exists(file)]
reached += [port for port in PORTS if reaches("127.0.0.1", port)]
reached += [file for file in glob.glob("/proc/[0-9]*/cmdline") if b"dask" in open(file, "rb").read()]
reached += [name for name in os.environ if "DASK" in name]
raise RuntimeError(f"reached {reached or 'nothing'}")
"""


def test_an_answer_reaches_nothing_of_dask(confines, cluster, warm, tmp_path):
    ports = re.findall(
        r"tcp://127.0.0.1:(\d+)", "".join(log.read_text() for log in cluster.folder.glob("*.log"))
    )
    files = [cluster.folder, *cluster.folder.rglob("*")]
    tried = f"FILES = {[*map(str, files)]}\nPORTS = {[*map(int, {*ports})]}\n{LOOKING_AROUND}"
    eve = [Submission("eve", {"merge_heads": tried.encode()})]
    judges = judge_at(cluster.address, print)
    grade.grade(
        eve, EXERCISES, grade.GradingSettings(tmp_path, 7, 2, CONFINED, judges), lambda done, total: None
    )
    record = records_of(tmp_path)["eve"]["exercises"]["merge_heads"]
    assert record["status"] == "broken"
    assert record["flags"] == ["RuntimeError: reached nothing"]


def test_a_step_is_judged_there_by_its_one_suite(cluster, tmp_path):
    step = load().exercise("shares_of_a_row")
    right = step.file("solutions").read_bytes()
    work = [
        Submission("ada", {step.slug: right}),
        Submission("bob", {step.slug: right.replace(b", keepdim=True", b"")}),
    ]
    judges = judge_at(cluster.address, print)
    found = grade.grade(work, [step], grade.GradingSettings(tmp_path, 7, 2, CONFINED, judges))
    assert [record.exercises[step.slug].status for record in found] == ["passed", "failed"]
    assert "keepdim" in found[1].exercises[step.slug].checks[0].message


def test_each_is_judged_by_their_own_variant_of_a_capstone(cluster, tmp_path):
    sample, capstone = paths.SOURCE / "samples/capstone", load().exercise("broken_gpt")
    table = variant_table.read(sample / "variants.csv", load())
    work = [
        Submission(place.name, {capstone.slug: capstone.read(place / capstone.relative)})
        for place in sorted((sample / "submissions").iterdir())
    ]
    judges = judge_at(cluster.address, print)
    settings = grade.GradingSettings(tmp_path / "there", 7, 2, CONFINED, judges, variants=table)
    there = grade.grade(work, [capstone], settings)
    grade.grade(work, [capstone], replace(settings, out=tmp_path / "here", cluster=None))
    assert records_of(tmp_path / "there") == records_of(tmp_path / "here")
    found = [record.exercises[capstone.slug] for record in there]
    assert [(one.status, one.variant, sum(one.bugs.values()), len(one.flags)) for one in found] == [
        ("passed", 1, 5, 0),
        ("partial", 2, 2, 0),
        ("todo", 3, 0, 0),
        ("partial", 4, 5, 1),
    ]


def test_what_a_killed_worker_had_is_judged_elsewhere(cluster, local, warm, tmp_path):
    def kill(done, total):
        if done == 3:
            cluster.kill("first")

    assert run(tmp_path, cluster.address, progress=kill) == local


def test_a_lost_scheduler_is_one_line_and_the_run_resumes(cluster, local, warm, tmp_path):
    def kill(done, total):
        if done == 3:
            cluster.kill("scheduler")

    with pytest.raises(KataError, match=r"is gone \(.*\); what was judged is kept: start it and run") as lost:
        run(tmp_path, cluster.address, progress=kill)
    assert "\n" not in str(lost.value)
    kept = len(list(tmp_path.glob(".judged/*.json")))
    assert 3 <= kept < len(CLASS)
    left = []
    again = run(tmp_path, cluster.complete().address, progress=lambda done, total: left.append(total))
    assert again == local
    assert left[0] == len(CLASS) - kept


def test_where_no_worker_is_like_this_machine_grading_stops(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(roster, "facts", lambda slugs: {**facts.facts(slugs), "pytest": "0.1"})
    monkeypatch.setattr(roster, "SETTLE", 0.0)
    told = []
    with pytest.raises(KataError, match=r"no worker at tcp://.* can judge, for the reasons above"):
        run(tmp_path, cluster.address, told)
    assert any("install pytest==0.1 there" in line for line in told)


def test_a_worker_that_replies_an_object_is_refused(cluster, warm, tmp_path, monkeypatch):
    monkeypatch.setattr(parent.remote, "judge", answer_with_an_object)
    monkeypatch.setattr(roster, "RESTART", 0.0)
    monkeypatch.setenv("KATA_TOUCHED", str(tmp_path / "touched"))
    told = []
    with pytest.raises(KataError, match=r"no worker at tcp://.* can judge"):
        run(tmp_path / "out", cluster.address, told)
    assert sum("cannot be understood" in line for line in told) == 2
    assert not (tmp_path / "touched").exists()


EXITED = Transcript(ended=Ended(exit=3))


class Unlucky:
    """Stands in for a roster: its only worker is lost whenever it judges what `kills`."""

    def __init__(self, kills):
        self.kills = kills
        self.batches = []
        self.worker = member.ClusterWorker("tcp://x", 1, "{}")

    def ready(self):
        return [] if self.worker.tasks else [self.worker]

    def send(self, worker, function, settings, text, batch):
        self.batches.append([answer.job.answer for answer in batch])
        worker.tasks[text] = member.Task(batch, None)

    def look(self):
        batches = [task.batch for task in self.worker.tasks.values()]
        answers = [answer for batch in batches for answer in batch]
        is_lost = any(self.kills(answer.job) for answer in answers)
        self.judged = [] if is_lost else batches
        self.worker.tasks.clear()
        return answers if is_lost else []

    def replies(self):
        for batch in self.judged:
            yield self.worker, batch, {"transcripts": [transcript.to_json(EXITED)] * len(batch)}


def test_an_answer_of_any_bytes_arrives_as_it_is():
    job = Job(EXERCISES[0], packed({"model.py": "å = 1\n".encode(), "vocabulary.bin": bytes(range(256))}), 3)
    assert worker._job(**json.loads(json.dumps(parent._text(job)))) == job


def test_an_answer_that_takes_workers_along_is_judged_alone_and_left_to_a_person():
    workers = Unlucky(lambda job: job.answer == b"7")
    cluster = parent.Cluster(workers)
    jobs = [Job(EXERCISES[0], b"%d" % n, 0) for n in range(12)]
    found = {job.answer: one for job, one in cluster.judge(jobs)}
    assert found.pop(b"7").ended.lost
    assert all(one == EXITED for one in found.values()) and len(found) == 11
    with_it = [batch for batch in workers.batches if b"7" in batch]
    assert [len(batch) for batch in with_it] == [2, 1, 1]


@pytest.mark.parametrize("reply", [{}, {"transcripts": []}, {"transcripts": [1]}, {"transcripts": ["{}"]}])
def test_replies_without_transcripts_are_refused(reply):
    with pytest.raises(replies.WorkerRefused, match="cannot be understood"):
        parent._transcripts(reply, 1)


def test_no_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(roster, "CONNECT", 0.3)
    with pytest.raises(KataError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9 \(.*\); start one"):
        run(tmp_path, "tcp://127.0.0.1:9")


def test_without_dask_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(KataError, match=r"pip install 'torchkata\[class\]'"):
        run(tmp_path, "tcp://127.0.0.1:9")


def test_pickles_are_data_here(tmp_path, monkeypatch):
    monkeypatch.setenv("KATA_TOUCHED", str(tmp_path / "touched"))
    assert isinstance(plain.loads(pickle.dumps(Touching())), plain.Unread)
    assert isinstance(plain.loads(pickle.dumps(ValueError("no"))), plain.Unread)
    assert plain.loads(pickle.dumps([str, {"a": (1, b"b", None, 2.5)}])) == [str, {"a": (1, b"b", None, 2.5)}]
    assert not (tmp_path / "touched").exists()


def test_dask_unpickles_by_our_rules_while_a_cluster_is_in_use(tmp_path, monkeypatch):
    from distributed import client
    from distributed.protocol import deserialize, serialize

    monkeypatch.setenv("KATA_TOUCHED", str(tmp_path / "touched"))
    header, frames = serialize(Touching())
    category = pickle.dumps(Touching())
    with plain.plain_data_only():
        assert isinstance(deserialize(header, frames), plain.Unread)
        assert isinstance(client.pickle.loads(category), plain.Unread)
        assert client.Client._default_event_handlers == {}
    assert client.pickle is pickle
    assert not (tmp_path / "touched").exists()


WHOLE = Transcript(
    {"a": Finding("failed", Feedback("wrong"), seconds=0.5)}, [1], "done", ended=Ended(signal=9)
)


@pytest.mark.parametrize(
    "change",
    [
        {"ended": {**vars(Ended()), "exit": "0"}},
        {"ended": {**vars(Ended()), "exit": True}},
        {"ended": {}},
        {"checks": [1]},
        {"checks": {"a": {"outcome": "passed"}}},
        {"checks": {"a": {**vars(Finding("passed")), "outcome": "missing"}}},
        {"checks": {"a": {**vars(Finding("passed")), "feedback": 1}}},
        {"last_word": "fine"},
        {"forged": None},
        {"more": 1},
    ],
)
def test_malformed_transcripts_are_refused(change):
    assert transcript.from_json(transcript.to_json(WHOLE)) == WHOLE
    with pytest.raises(ValueError):
        transcript.from_json(json.dumps({**json.loads(transcript.to_json(WHOLE)), **change}))
    for text in ("", "[]", "{}", "null"):
        with pytest.raises(ValueError):
            transcript.from_json(text)


def test_what_is_nested_too_deeply_is_forged():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    told = "wrote to the channel that carries results"
    found = transcript.from_json(transcript.to_json(replace(WHOLE, oracle=deep)))
    assert (found.forged, found.oracle) == (told, None)
    text = transcript.to_json(WHOLE).replace("[1]", "[" * 100_000 + "]" * 100_000)
    assert transcript.from_json(text).forged == told


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ({}, None),
        ({"Python": "3.9"}, "it has Python 3.9, and this machine 3.11; install a Python 3.11 there"),
        ({"grader": "b"}, "another version of torchkata"),
        ({"suites of a": "", "suites of b": ""}, "other suites of a, b; copy tests/"),
    ],
)
def test_differences_are_told_with_what_to_do(theirs, words):
    ours = {"Python": "3.11", "torch": "2", "grader": "a", **{f"suites of {s}": "x" for s in "abcde"}}
    told = facts.difference({**ours, **theirs}, ours)
    assert (told is None) if words is None else (words in told)
