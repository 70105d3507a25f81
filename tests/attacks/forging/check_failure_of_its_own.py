"""CheckFailure raised with the message of a pass.
deserves = ["failed"]
"""
from grader.checks import CheckFailure
def merge_heads(x):
    raise CheckFailure('passed')
