"""Two answers to the examples of grader.checks: one that is right, and one that each of them tells apart."""
