"""The command line: `kata VERB`, or `python -m grader VERB`.

Verbs import what they need themselves, so that `kata hint` does not wait for torch.
"""

from grader.cli import learner_verbs  # isort: skip
from grader.cli import capstone_verb  # isort: skip
from grader.cli import author_verbs  # isort: skip
from grader.program.app import app, main

__all__ = ["app", "author_verbs", "capstone_verb", "learner_verbs", "main"]
