r"""Changes what the grader compares with.
deserves = ["tampered"]
[each]
checks_that_accept = 'import grader.checks.values as v; v.expect_close = v.expect_equal = lambda *a, **k: None'
code_swapped_inside_a_check = 'from grader.checks import values; values.explain.__code__ = (lambda *a, **k: None).__code__'
"""
EACH
