"""The texts around a program that was brought, with `TODO: ` where an author is to write."""

STATEMENT = '''"""TODO: what the program is, and in how many places it is wrong, in a line.

TODO: the job, in 120 words at most: whose program it is, and what comes out instead of what is promised. From
`exercises/{section}`:

    python -m {slug}.{module}

- What README.md says is meant to be so.
- Names and signatures stay. Each part is judged alone.
"""
'''

PUBLIC = '''"""The run of {slug}, shortened."""


def test_worked_example(answer):
    """TODO: what comes out of a short run, in a sentence for a learner."""
    {run}  # TODO: run it, and say by expect_that what README.md promises
'''

HIDDEN = '''"""What grades {slug}: each part alone."""

{imports}
from grader.checks import expect_that
'''

CHECK = '''def test_{name}(answer, gen):
    """{title}."""
    expect_that(False, "the check of {name} is not written yet")
'''

ORACLE = """def oracle(answer, gen):
    # TODO: what parts of the program make of numbers drawn from gen, in three cases or more
    return {name: torch.randn(9, generator=gen) for name in ("one", "another", "a third")}
"""

BUG = 'bug {name} test_{name} "{words}": {about}\n{changes}'

ABOUT = "TODO: what is wrong, in a few words"

WORDS = "TODO: words of the symptom that its feedback says"

ROW = """
[exercise.{slug}]
kind = "project"
path = "further"
title = "{title}"
points = 3
difficulty = 3
minutes = 0
needs = []
concepts = []
hints = []
why = ""
reading = ""
start = "{start}"

[exercise.{slug}.bugs]
{hints}hides = []
"""

HINTS = '{name} = ["TODO: hints for {name}: its symptom", "the instrument that shows it", "the place"]\n'
