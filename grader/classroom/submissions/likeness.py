"""What a file means that is called nearly as it should be: a bare slug, a copy, a final version."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from grader.course.catalog import Catalog, unnumbered
from grader.course.exercise import Exercise

_ENDING = re.compile(r"\.py(\.txt)?$", re.IGNORECASE)
_NOISE = re.compile(
    r"(?:_(?:copy|copie|kopie|copia)\d*|_?\(\d+\)|_(?:my|final|fixed|last|new|solution|done|v?\d+))+$"
)
"""What systems and people add behind a name."""


def meant(name: str, catalog: Catalog) -> Exercise | None:
    """The exercise that a file's name means, whatever its number, case, spaces and additions."""
    slugs = {e.slug: e for e in catalog.exercises}
    return next((slugs[bare] for plain in spellings(name) if (bare := unnumbered(plain)) in slugs), None)


def spellings(name: str) -> Iterator[str]:
    """What a module's name may stand for, with ever fewer additions: `hw_1_final`, `hw_1`, `hw`."""
    if not _ENDING.search(name):
        return
    plain, shorter = "", re.sub(r"[\s-]+", "_", _ENDING.sub("", PurePath(name).name).casefold())
    while shorter and shorter != plain:
        yield shorter
        plain, shorter = shorter, _NOISE.sub("", shorter)
