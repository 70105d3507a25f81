"""Which exercise a file means that is called nearly as it should be: a bare slug, a copy, a final version."""

import re
from pathlib import PurePath

from grader.course.catalog import Catalog, unnumbered
from grader.course.exercise import Exercise

_ENDING = re.compile(r"\.py(\.txt)?$", re.IGNORECASE)
_NOISE = re.compile(
    r"(?:_(?:copy|copie|kopie|copia)(?:_?\d+)?|_?\(\d+\)|_(?:my|final|fixed|last|new|solution|done|v?\d+))+$"
)
"""What systems and people add behind a name."""


def meant(name: str, catalog: Catalog) -> Exercise | None:
    """The exercise that a file's name means, whatever its number, case, spaces and additions."""
    if not _ENDING.search(name):
        return None
    plain = re.sub(r"[\s-]+", "_", _ENDING.sub("", PurePath(name).name).casefold())
    slugs = {e.slug: e for e in catalog.exercises}
    while plain:
        bare = unnumbered(plain)
        if bare in slugs:
            return slugs[bare]
        shorter = _NOISE.sub("", plain)
        if shorter == plain:
            return None
        plain = shorter
    return None
