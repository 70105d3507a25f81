"""The command line: `kata VERB`, or `python -m grader VERB`.

Verbs import what they need themselves, so that `kata hint` does not wait for torch.
"""

from grader.cli import learner_verbs, instructor_verbs, author_verbs  # isort: skip  # as --help lists them
from grader.cli.program import app, main

__all__ = ["app", "author_verbs", "instructor_verbs", "learner_verbs", "main"]
