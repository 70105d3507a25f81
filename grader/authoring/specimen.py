"""What the files under `tests/specimens/` are written with."""

from grader.course.specimen import Right, Specimen, Works, Wrong, read

__all__ = ["Right", "Specimen", "Works", "Wrong", "read"]
