"""Moments as people and platforms write them."""

from datetime import datetime, timedelta, timezone

import pytest

from grader.classroom.submissions import moments
from grader.core.errors import KataError

LATE = datetime(2026, 11, 20, 23, 59)
UTC = LATE.replace(tzinfo=timezone.utc)


def one(text: str) -> datetime:
    return moments.read({"line 2": text})["line 2"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20T23:59:00Z", UTC),
        ("2026-11-20T23:59:00.000000000Z", UTC),
        ("2026-11-20 23:59:00 UTC", UTC),
        ("2026-11-20 15:59:00 -0800", UTC),
        ("2026-11-21 00:59+01:00", UTC),
        ("Nov 20, 2026 at 11:59pm", LATE),
        ("November 20, 2026, 11:59 PM", LATE),
        ("Friday, 20 November 2026, 11:59 PM", LATE),
        ("11/20/2026 23:59", LATE),
        ("11/20/2026 11:59:00 PM", LATE),
        ("20/11/2026 23:59", LATE),
        ("20.11.2026 23:59", LATE),
        ("2026/11/20 23:59", LATE),
        ("11/11/2026 23:59", LATE.replace(day=11)),
    ],
)
def test_what_means_one_moment_is_read(text, moment):
    assert one(text) == moment
    assert (one(text).tzinfo is None) == (moment.tzinfo is None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("yesterday", "line 2: 'yesterday' is no time that is known; write 2026-11-20 23:59:00"),
        ("Nov 20 at 11:59pm", "'Nov 20 at 11:59pm' is no time that is known"),
        ("11/20/26 23:59", "'11/20/26 23:59' is no time that is known"),
        ("11/20/2026", "'11/20/2026' is no time that is known"),
        ("20 Nov 2026 25:00", "is no time that is known"),
        ("1795219140", "is no time that is known"),
        ("Nov 20, 2026 11:59pm CET", "line 2: 'CET' is not everybody's name for one zone; write 2026-"),
        ("11/12/2026 9:00", "line 2: no row tells whether '11/12/2026' has the day or the month first"),
    ],
)
def test_what_may_mean_another_one_is_told_in_a_line(text, told):
    with pytest.raises(KataError) as failed:
        one(text)
    assert told in str(failed.value) and "\n" not in str(failed.value)


@pytest.mark.parametrize(("other", "month"), [("20/11/2026 9:00", 12), ("11/20/2026 9:00", 11)])
def test_another_row_tells_which_comes_first(other, month):
    found = moments.read({"line 2": "11/12/2026 9:00", "line 3": other, "line 4": "2026-11-12 9:00 +0100"})
    assert found["line 2"].month == month
    hour = timezone(timedelta(hours=1))
    assert found["line 4"] == datetime(2026, 11, 12, 9, tzinfo=hour)


def test_rows_that_say_both_are_told():
    with pytest.raises(KataError, match="line 2 has the day first, and line 3 the month; write both as"):
        moments.read({"line 2": "20/11/2026 9:00", "line 3": "11/20/2026 9:00"})
