"""A moment as people and platforms write it: ISO 8601, `Nov 20, 2026 at 11:59pm`, `20/11/2026 23:59`.

Canvas's pages and API, Moodle, GitHub Classroom, Gradescope and Google's API write times in these forms. None
is guessed at: what can be read in two ways, or lacks its year or hour, is told in a line.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone, tzinfo

from grader.core.errors import KataError

_IN_NUMBERS = re.compile(r"\b(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}\b")
_EXAMPLE = "2026-11-20 23:59:00+01:00"
_UNSAID = (datetime(2000, 1, 1), datetime(2001, 2, 2, 1, 1))
"""Two moments that share nothing: where they show through, a part of a time is missing."""


def read(cells: Mapping[str, str]) -> dict[str, datetime]:
    """The moments in the cells of one column, each under the place where it stands.

    Whether a date in numbers begins with its day or its month, any of them may tell: `20/11/2026` does.

    Raises:
        KataError: a cell holds no moment, or may mean two.
    """
    is_day_first = _is_day_first(cells)
    return {place: _moment(text, place, is_day_first) for place, text in cells.items()}


def _is_day_first(cells: Mapping[str, str]) -> bool:
    dates = {place: date for place, text in cells.items() if (date := _IN_NUMBERS.search(text))}
    parts = {place: (int(date[1]), int(date[2])) for place, date in dates.items()}
    days = [place for place, (first, _) in parts.items() if first > 12]
    months = [place for place, (_, second) in parts.items() if second > 12]
    if days and months:
        raise KataError(f"{days[0]} has the day first, and {months[0]} the month; write both as {_EXAMPLE}")
    for place, (first, second) in parts.items():
        if first != second and not days and not months:
            raise KataError(
                f"{place}: no row tells whether {dates[place][0]!r} has the day or the month first; "
                f"write {_EXAMPLE}"
            )
    return bool(days)


def _moment(text: str, place: str, is_day_first: bool) -> datetime:
    with suppress(ValueError):
        return datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))
    try:
        from dateutil import parser
    except ImportError as missing:
        raise KataError(f"times need dateutil ({missing}): pip install 'torchkata[class]'") from None

    def zone(name: str | None, seconds: int | None) -> tzinfo | None:
        if seconds is None and name:
            raise KataError(f"{place}: {name!r} is not everybody's name for one zone; write {_EXAMPLE}")
        return None if seconds is None else timezone(timedelta(seconds=seconds))

    day_first = is_day_first and _IN_NUMBERS.search(text) is not None
    found: set[datetime] = set()
    with suppress(ValueError, OverflowError):
        found = {parser.parse(text, default=d, dayfirst=day_first, tzinfos=zone) for d in _UNSAID}
    if len(found) != 1 or str((moment := found.pop()).year) not in text:
        raise KataError(f"{place}: {text[:60]!r} is no time that is known; write {_EXAMPLE}")
    return moment
