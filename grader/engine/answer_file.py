"""The file that a child imports its answer from."""

import os
from pathlib import Path

from grader.course.catalog import Exercise


def written(exercise: Exercise, answer: int) -> Path:
    """Write what the descriptor `answer` holds to the path that the learner knows, below the current folder.

    Feedback points there.
    """
    with os.fdopen(answer, "rb") as source:
        text = source.read()
    file = Path.cwd() / "exercises" / exercise.relative
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    return file
