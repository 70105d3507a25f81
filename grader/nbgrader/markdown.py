"""Where `c.HTMLExporter` of older configurations finds its filter."""

from grader.classroom.nbgrader.markdown import shown

__all__ = ["shown"]
