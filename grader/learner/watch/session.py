"""A session of `kata watch`: where it begins and which way it goes, from warming up to the last line."""

import os
from datetime import date
from queue import SimpleQueue

from rich.console import Console

from grader.core.errors import KataError
from grader.course.catalog import Catalog, load
from grader.engine.backend import is_warm, judge
from grader.learner.watch import question
from grader.learner.watch.events import Event, saves
from grader.learner.watch.loop import Watcher
from grader.records import placement, practice, progress, route
from grader.records.route import Route


def run(out: Console, place: str = "", *, fine: bool = False, path: str = "", test_out: str = "") -> None:
    """Judge every exercise that is saved, until somebody quits.

    Args:
        place: an exercise to begin with, or a section to go through this once, as a person names them.
        fine: go through what works once more.
        path: another path than the one that is remembered, as a person names it.
        test_out: a section, to do the two exercises whose jobs take its steps.
    """
    catalog = load()
    states = progress.states(catalog)
    named = catalog.section_called(place.rstrip("/"))
    at = catalog.find(place) if place and named is None else None
    if fine and progress.following(catalog, states, fine=True) is None:
        end = progress.end_of(catalog, states, Route("core"), fine=True)
        raise KataError(f"{end}; `kata watch` goes through what is still to do")
    if test_out:
        way: Route | None = _out_of(catalog, test_out)
    elif path or named:
        here = progress.following(catalog, states) or catalog.exercises[0]
        way = Route("section", named.name) if named else route.named(catalog, path, "", here)
    else:
        way = question.path(out, catalog, states, may_ask=not (fine or at))
    if way is None:
        return
    told = "importing torch and the suites, once …" if is_warm() else "no fork here: each save takes seconds"
    jobs = (os.cpu_count() or 1) + 1  # one is left for what is saved while all are checked
    events: SimpleQueue[Event] = SimpleQueue()
    try:
        # What is saved meanwhile is judged once all is warm.
        with saves(events):
            out.print(f"warming up: {told}")
            with judge(catalog.exercises, jobs) as warm:
                Watcher(out, catalog, warm, jobs, events, way, fine, at).run()
    except KeyboardInterrupt:
        pass
    counts = practice.counts(date.today())
    out.print(f"{counts}; until next time" if counts else "until next time")


def _out_of(catalog: Catalog, name: str) -> Route:
    """The way out of a section's steps."""
    section = catalog.section_called(name)
    if section is None:
        raise KataError(f"{name!r} is no section; `kata` lists them")
    exercises = placement.offered(catalog, section)
    placement.offer(section, exercises)
    return Route("section", section.name, tuple(e.slug for e in exercises))
