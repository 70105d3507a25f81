"""`check("merge_heads")` in Jupyter and Colab: the same feedback, shown with pictures."""

import atexit
import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from grader import cells
from grader.catalog import load
from grader.drawing import split_map, squares
from grader.findings import Request
from grader.judges import Judge, judge
from grader.lesson import Lesson, learn

MOST_PRINTED = 20
_STYLE = "font-family:monospace;white-space:pre-wrap;margin:0.2em 0"


def check(slug: str, namespace: Mapping[str, Any]) -> "Verdict":
    """Judge what `namespace` defines for an exercise."""
    exercise = load().exercise(slug)
    request = Request(exercise, cells.answer(exercise, namespace).encode(), seed=0, mode="check")
    findings = _pool().judge_one(request)
    return Verdict(learn(exercise, _pool().inventory.get(slug, []), findings))


@cache
def _pool() -> Judge:
    """One warm engine for as long as the notebook runs."""
    pool = judge(load().exercises, jobs=1).__enter__()
    atexit.register(pool.close)
    return pool


@dataclass(frozen=True)
class Verdict:
    """What is shown for one answer: as text, or as HTML where a notebook asks for it."""

    lesson: Lesson

    def __repr__(self) -> str:
        found = self.lesson
        if found.trouble:
            return f"✗ {found.exercise.slug}\n{found.trouble}{_printed(found)}"
        if found.state == "todo":
            return f"· {found.exercise.slug} is still to do"
        lines = [f"✗ {failure.message}" for failure in found.failures[:1]]
        lines += [f"✗ {title}" for title in _others(found)]
        lines += [f"✓ {title}" for title in found.passed]
        if found.state == "done":
            lines.append(f"read {found.exercise.reading}")
        return "\n".join(lines) + _printed(found)

    def _repr_html_(self) -> str:
        found = self.lesson
        parts = [_headline(found)]
        if found.trouble:
            parts.append(_text(found.trouble))
        parts += [_failure(failure.message) for failure in found.failures[:1]]
        parts += [_line("✗", title, "#d9534f") for title in _others(found)]
        parts += [_line("✓", title, "#2e7d32") for title in found.passed]
        if found.state == "done":
            link = html.escape(found.exercise.reading, quote=True)
            parts.append(f'<div>read <a href="{link}">{link}</a></div>')
        if found.printed:
            parts.append(_text(_printed(found)))
        return f"<div>{''.join(parts)}</div>"


def _others(found: Lesson) -> list[str]:
    """What else fails, each sentence once: a check that runs on several inputs says the same each time."""
    return [t for t in dict.fromkeys(f.title for f in found.failures[1:]) if t != found.failures[0].title]


def _printed(found: Lesson) -> str:
    lines = found.printed.splitlines()
    more = ["…"] if len(lines) > MOST_PRINTED else []
    return "\n".join(["\nprinted:", *lines[:MOST_PRINTED], *more]) if lines else ""


def _headline(found: Lesson) -> str:
    mark = {"done": "✓", "failing": "✗", "todo": "·"}[found.state]
    count = f"{len(found.passed)} passed, {len(found.failures)} failed"
    if found.state == "todo":
        count = "still to do"
    return f"<p><b>{mark} {html.escape(found.exercise.title)}</b> — {count}</p>"


def _line(mark: str, text: str, colour: str) -> str:
    return f'<div style="{_STYLE};color:{colour}">{mark} {html.escape(text)}</div>'


def _text(text: str) -> str:
    return f'<div style="{_STYLE}">{html.escape(text)}</div>'


def _failure(message: str) -> str:
    """The feedback, with its map of where the tensors differ drawn as squares."""
    before, rows, after = split_map(message.splitlines())
    drawing = [squares(rows)] if rows else []
    return "".join([_text("\n".join(before)), *drawing, _text("\n".join(after)) if after else ""])
