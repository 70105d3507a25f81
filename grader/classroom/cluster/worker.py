"""What runs on a Dask worker: text in, text out, and a warm engine in between.

The engine is the one of a local run: answers are forked children in its sandbox. Nothing of the
instructor's machine is needed here but the answers: no solutions, no results, no gradebook.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.protocol.job import Job, from_told
from grader.protocol.transcript import Transcript, to_json

IDLE = 120.0
"""Seconds that an engine without work stays warm."""

LOOK_EVERY = 1.0


def introduce(slugs: str) -> str:
    """What this worker has of what judging these exercises depends on.

    A new process looks: this one may have lived for days, and its clone or torch may be others by now.
    """

    def look() -> dict[str, Any]:
        command = [sys.executable, "-m", "grader.classroom.cluster.facts"]
        done = subprocess.run(
            command, input=slugs, capture_output=True, text=True, cwd=paths.ROOT, check=False
        )
        if done.returncode:
            raise KataError((done.stderr.strip().splitlines() or ["its torchkata does not start"])[-1])
        return {"facts": json.loads(done.stdout)}

    return _told(look)


def start(settings: str) -> str:
    """Warm an engine up; the checks that it knows, and what this machine lacks for each."""

    def inventory() -> dict[str, Any]:
        with _engine(settings) as pool:
            checks = {slug: [asdict(check) for check in found] for slug, found in pool.inventory.items()}
        return {"checks": checks}

    return _told(inventory)


def judge(settings: str, batch: str) -> str:
    """Judge a batch of answers: the transcript of each, as text, in the same order."""

    def transcripts() -> dict[str, Any]:
        jobs = [_job(**told) for told in json.loads(batch)]
        places = {id(job): place for place, job in enumerate(jobs)}
        found = [Transcript()] * len(jobs)
        with _engine(settings) as pool:
            for job, one in pool.judge(jobs):
                found[places[id(job)]] = one
                if one.ended.lost:
                    _retire(settings, pool)
        return {"transcripts": [to_json(one) for one in found]}

    return _told(transcripts)


def _job(answer: str, **told: Any) -> Job:
    return replace(from_told(**told), answer=answer.encode("utf-8", "surrogateescape"))


def _told(reply: Callable[[], dict[str, Any]]) -> str:
    """The reply as text, and errors likewise: an exception would be pickled."""
    try:
        return json.dumps(reply())
    except Exception as error:
        told = str(error) if isinstance(error, KataError) else f"{type(error).__name__}: {error}"
        return json.dumps({"fault": told})


class _Warm:
    """An engine that outlasts batches, and who uses it now.

    A thread of its own holds it: bubblewrap ends with the thread that started it, and a Dask worker's
    threads come and go.
    """

    def __init__(self, settings: str) -> None:
        self.opened: Future[Pool] = Future()
        self.users = 0
        self.last_used = time.monotonic()
        self._settings = settings
        threading.Thread(target=self._hold, name="kata engine", daemon=True).start()

    def _hold(self) -> None:
        told = json.loads(self._settings)
        try:
            exercises = [load().exercise(slug) for slug in told["slugs"]]
            with Pool(exercises, jobs=told["jobs"], confined=told["confined"]) as pool:
                self.opened.set_result(pool)
                while self._is_wanted():
                    time.sleep(LOOK_EVERY)
        except Exception as error:
            if not self.opened.done():
                self.opened.set_exception(error)

    def _is_wanted(self) -> bool:
        with _lock:
            current = _engines.get(self._settings) is self
            if self.users or (current and time.monotonic() - self.last_used < IDLE):
                return True
            if current:
                del _engines[self._settings]
            return False


_engines: dict[str, _Warm] = {}
_lock = threading.Lock()


@contextmanager
def _engine(settings: str) -> Iterator[Pool]:
    """The warm engine for these settings, started where there is none."""
    with _lock:
        warm = _engines.get(settings)
        if warm is None:
            warm = _engines[settings] = _Warm(settings)
        warm.users += 1
    try:
        yield warm.opened.result()
    finally:
        with _lock:
            warm.users -= 1
            warm.last_used = time.monotonic()
            if warm.opened.done() and warm.opened.exception() and _engines.get(settings) is warm:
                del _engines[settings]


def _retire(settings: str, pool: Pool) -> None:
    """Have the next batch start a new engine: this one has lost an answer."""
    with _lock:
        warm = _engines.get(settings)
        if warm is not None and warm.opened.result() is pool:
            del _engines[settings]
