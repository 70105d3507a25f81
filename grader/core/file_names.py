"""Names that a file or folder can have on any machine, since courses and results are copied to others."""

import re

_MOST_BYTES = 160
_UNFIT = re.compile(r'[/\\:*?"<>|]|^\.|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)


def is_portable(name: str) -> bool:
    """Whether every system takes the name, and shows it as it is."""
    return name.isprintable() and 0 < len(name.encode()) <= _MOST_BYTES and not _UNFIT.search(name)
