"""The report of slow_cache."""

from grader.checks import expect_equal

WANTED = {
    "tokens as without a cache, of 24": 24,
    "tokens read for the 24th": 1,
    "places held in the end": 12,
    "tokens as alone, of 96 in a batch": 96,
    "rows that end where they should, of 4": 4,
    "tokens of a second reply, of 24": 24,
    "beams with the right score, of 4": 4,
}


def test_worked_example(answer):
    """The report shows what README.md promises."""
    found = answer.report.measure()
    for what, number in WANTED.items():
        expect_equal(found.get(what), number, f"{what}: what the report prints")
