"""Pages that verbs write: plain HTML with its style inside, and all that is put into it escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from grader.core.sanitize import plain

_SHARED = Path(__file__).parent / "templates"
"""What the pages of all verbs are made from, beside templates of their own."""


def render(folder: Path, template: str, **values: Any) -> str:
    """A page from a template of this folder."""
    return str(_environment(folder).get_template(template).render(style=_style(), **values))


@cache
def _environment(folder: Path) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, _SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """Texts without control characters and without what makes others run backwards; markup is ours."""
    return plain(value) if type(value) is str else value


@cache
def _style() -> Any:
    from markupsafe import Markup

    return Markup((_SHARED / "style.css").read_text("utf-8"))
