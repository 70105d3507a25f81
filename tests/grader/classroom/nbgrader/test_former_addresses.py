"""Configurations of courses that were made when the classroom was no package find what they name."""

import pytest

pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

from nbconvert.exporters import HTMLExporter, NotebookExporter
from traitlets.config import Config

from grader.classroom.nbgrader.autograder import EnterScores, JudgeAnswers
from grader.classroom.nbgrader.markdown import shown


@pytest.mark.parametrize("step", [JudgeAnswers, EnterScores])
def test_a_step_of_the_autograder(step):
    asked = {"JudgeAnswers": {"sandbox": "off", "enabled": True}, "EnterScores": {"enabled": True}}
    exporter = NotebookExporter(config=Config(asked))
    exporter.register_preprocessor(f"grader.nbgrader.autograder.{step.__name__}")
    made = exporter._preprocessors[-1]
    assert type(made) is step and made.enabled and getattr(made, "sandbox", "off") == "off"


def test_the_filter_of_pages():
    filters = {"markdown2html": "grader.nbgrader.markdown.shown"}
    assert HTMLExporter(filters=filters).environment.filters["markdown2html"] is shown
