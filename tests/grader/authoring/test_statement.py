"""What the audit says of a step's statement."""

from grader.authoring import statement
from grader.course.catalog import load
from grader.course.statement import Statement


def test_a_line_of_a_steps_example_that_no_screen_holds_is_told():
    job = "A word.\n\n    {}\n\nNew here: `f`."
    wide, whole = (Statement("T", job.format("x" * count), None, "") for count in (75, 74))
    (told,) = statement._step_problems(wide, 5)
    assert "a line of 79 columns, and 78 fit" in told
    assert not list(statement._step_problems(whole, 5))


def test_every_step_has_an_example_that_fits():
    steps = [e for e in load().exercises if e.is_step]
    assert not [(e.slug, told) for e in steps for told in statement.problems(e)]
