"""`make book`: writes the pages and has Sphinx make a site of them, which opens from a folder as well."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog, load
from grader.publish.book import search
from grader.publish.book.pages import PageGroup, beside, pages, sidebar

PICTURES = paths.ROOT / "docs" / "pictures"

_HERE = Path(__file__).parent

_SETTINGS = {
    "project": "torchkata",
    "html_title": "torchkata",
    "extensions": ["myst_parser"],
    "html_theme": "furo",
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_static_path": ["_static"],
    "html_css_files": ["book.css"],
    "templates_path": [str(_HERE / "templates")],
    "myst_heading_anchors": 3,
    "suppress_warnings": ["myst.header"],
}


def write(catalog: Catalog, sources: Path) -> int:
    """Write the book's pages as Markdown into an empty folder; returns how many there are."""
    count = 0
    for page in pages(catalog):
        file = sources / f"{page.place}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.text, "utf-8")
        count += 1
    static = sources / "_static"
    shutil.copytree(_HERE / "static", static)
    (static / "lookup.js").write_text(search.script(catalog), "utf-8")
    if PICTURES.is_dir():
        shutil.copytree(PICTURES, sources / "pictures")
    return count


def build(target: Path) -> int:
    """Build the site into `target`, which it replaces; returns how many pages it has.

    Raises:
        KataError: Sphinx is missing, `target` is no site of ours, or a page refers to what is not there.
    """
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise KataError("the book needs Sphinx: pip install -e '.[book]'") from None
    if target.exists() and any(target.iterdir()) and not (target / "searchindex.js").is_file():
        raise KataError(f"{target} holds something else than a book; choose another folder")
    sources = target.with_name(f"{target.name}-pages")
    for folder in (sources, target):
        shutil.rmtree(folder, ignore_errors=True)
    sources.mkdir(parents=True)
    catalog = load()
    count = write(catalog, sources)
    doctrees = target.with_name(f"{target.name}-doctrees")
    app = Sphinx(
        str(sources),
        None,
        str(target),
        str(doctrees),
        "html",
        confoverrides=_SETTINGS,
        status=None,
        warning=sys.stderr,
        freshenv=True,
        warningiserror=True,
        parallel=2,
    )
    groups = sidebar(catalog)
    app.connect("html-page-context", lambda *told: _around(groups, told[1], told[3]))
    app.build()
    for folder in (sources, doctrees):
        shutil.rmtree(folder)
    if app.statuscode:
        raise KataError("warnings are told above: mend the chapters or statements that they name")
    return count


def _around(groups: Sequence[PageGroup], place: str, context: dict[str, Any]) -> None:
    """Tell a page's template what stands beside it, before it and after it."""
    context["beside"] = held = beside(groups, place)
    order = [pair for group in held for pair in group.pages.items()]
    at = next((number for number, (page, _) in enumerate(order) if page == place), None)
    if at is not None:
        for name, near in (("prev", order[at - 1 : at]), ("next", order[at + 1 : at + 2])):
            context[name] = next(
                ({"link": context["pathto"](page), "title": title} for page, title in near), None
            )


if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 else "build/book")
    try:
        print(f"{where / 'index.html'}: {build(where)} pages")
    except KataError as error:
        sys.exit(f"book: {error}")
