"""What formgrader and `nbgrader generate_feedback` show of Markdown: text, pictures, nothing that runs.

nbgrader's pages put in what a student wrote as it stands, into the instructor's Jupyter. What is no plain
markup is shown as text instead; `nbgrader_config.py` names `shown` for that.
"""

from typing import Any

import bleach
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter

_TAGS = frozenset(
    """
    a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s span
    strong sub summary sup table tbody td th thead tr u ul
    """.split()  # noqa: SIM905
)
_PROTOCOLS = frozenset({"http", "https", "mailto", "data"})


def _is_kept(tag: str, name: str, value: str) -> bool:
    """No `id`, and a `class` for colours of code alone: formgrader finds its own fields by both."""
    if name == "class":
        return tag == "span" or (tag == "div" and value == "highlight")
    if name == "src":
        return tag == "img" and value.startswith(("data:", "http"))
    return name in {"a": ("href", "title"), "img": ("alt", "title", "width", "height")}.get(tag, ())


@pass_context
def shown(context: Any, source: str) -> str:
    """A cell's Markdown as HTML that is safe to show."""
    untyped: Any = HTMLExporter
    html = untyped().markdown2html(context, source)
    return str(bleach.clean(html, tags=_TAGS, attributes=_is_kept, protocols=_PROTOCOLS))
