"""nbgrader's course, gradebook and formgrader."""
