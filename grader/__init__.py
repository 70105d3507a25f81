"""The package behind torchkata: it judges answers, tells what is wrong with them, grades classes."""

import sys

__all__ = ["check", "score"]


def check(slug: str) -> object:
    """Judge, in a notebook, what its cells define for the exercise `slug`.

    Returns:
        The verdict. A notebook shows it with pictures; `print` shows it as text.

    Raises:
        grader.core.errors.KataError: there is no such exercise, or no cell defines what it asks for.
    """
    from grader.learner import jupyter

    return jupyter.check(slug, sys._getframe(1).f_globals)


def score(slug: str) -> float:
    """Judge, in an instructor's notebook, what its cells define for `slug`; returns the points it earns.

    Raises:
        grader.core.errors.KataError: there is no such exercise, no answer to it, or no hidden suite here.
    """
    from grader.learner import jupyter

    return jupyter.score(slug, sys._getframe(1).f_globals)
