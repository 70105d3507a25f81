"""Private names of nbgrader, each under a name of ours. Tried with nbgrader 0.9.6."""

from typing import Any


def checked_penalty(rule: Any, notebook: Any, penalty: float) -> float:
    """The penalty that `AssignLatePenalties` makes of a plugin's: neither below 0 nor above the score."""
    return float(rule._check_late_penalty(notebook, penalty))
