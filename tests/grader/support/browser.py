"""A headless Chromium to look at pages with, and what every page of ours must be.

`page` is a fresh page that fails its test on a console error, an exception or a request to anywhere but
files and this machine; `visit` makes such pages in other settings. A test that needs neither a browser
nor a server skips where there is no Chromium: `make test` installs one.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
_HERE = ("127.0.0.1", "localhost")


@dataclass
class Seen:
    """What a page did that it should not."""

    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


# No wider scope: while Playwright runs, its thread has a running event loop, and tests of other modules
# could not run theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for all tests of a module."""
    playwright = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    program = next(filter(None, map(shutil.which, (*_NAMES, _MAC))), None)
    if program is None:
        pytest.skip("no Chromium here: `make browser` installs one")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=["--disable-dev-shm-usage"])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Make pages: `visit(address, width=360, color_scheme="dark", ...)`, as `watched` takes them."""
    with ExitStack() as open_pages:

        def visit(address: str, **settings: Any) -> Any:
            page, _ = open_pages.enter_context(watched(browser, **settings))
            page.goto(address)
            return page

        yield visit


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page of a desktop's size."""
    with watched(browser) as (page, _):
        yield page


@contextmanager
def watched(
    browser: Any, *, width: int = 1280, height: int = 900, strict: bool = True, **settings: Any
) -> Iterator[tuple[Any, Seen]]:
    """A page of its own, and what it did wrong; `strict` fails on any of it in the end.

    No request leaves this machine. `settings` are those of Playwright's `new_context`, such as
    `color_scheme="dark"` or `java_script_enabled=False`.
    """
    seen = Seen()
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    context.set_default_timeout(20_000)

    def route(request: Any) -> None:
        address = urlsplit(request.request.url)
        if address.scheme in ("file", "data", "about", "blob") or address.hostname in _HERE:
            request.continue_()
        else:
            seen.elsewhere.append(request.request.url)
            request.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("dialog", lambda dialog: (seen.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield page, seen
        if strict:
            assert (seen.errors, seen.elsewhere) == ([], [])
    finally:
        context.close()


def sideways(page: Any) -> int:
    """By how many pixels the page itself scrolls sideways; boxes inside of it may."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def faint(page: Any) -> list[str]:
    """Texts that are seen with less contrast than WCAG 2.2 wants (1.4.3): 4.5, or 3 where large."""
    return list(page.evaluate(_FAINT))


def unlabelled(page: Any) -> list[str]:
    """What a screen reader would stumble over, as one line each; empty for a page that is sound."""
    return list(page.evaluate(_UNLABELLED))


def tabbed(page: Any, most: int = 500) -> list[str]:
    """The links and controls in the order in which the tabulator key reaches them, by their text."""
    reached: list[str] = []
    page.evaluate("document.activeElement.blur()")
    for _ in range(most):
        page.keyboard.press("Tab")
        told = page.evaluate(
            "() => { const e = document.activeElement; if (!e || e === document.body) return null;"
            " return (e.getAttribute('aria-label') || e.textContent || e.name || e.tagName).trim() }"
        )
        if told is None:
            break
        reached.append(told)
    return reached


_FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {  // the browser's own reading of any notation
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = c => {
    const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const scheme = getComputedStyle(document.documentElement).colorScheme;
    const canvasColour = dark && scheme.includes("dark") ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reduceRight((under, top) => over(top, under), canvasColour);
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    const style = getComputedStyle(element);
    const svg = element instanceof SVGElement;
    const under = ground(element);
    const colour = over(rgba(svg ? style.fill : style.color), under);
    const [a, b] = [light(colour), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize), bold = parseInt(style.fontWeight) >= 700;
    const large = size >= 24 || (bold && size >= 18.66);
    if (ratio < (large ? 3 : 4.5)) {
      found.add(`${ratio.toFixed(2)} ${element.tagName}.${element.getAttribute("class") || ""}`
        + ` ${text.slice(0, 40)}`);
    }
  }
  return [...found];
}"""

_UNLABELLED = """() => {
  const found = [];
  const all = query => [...document.querySelectorAll(query)];
  const name = e => (e.getAttribute("aria-label") || e.textContent || "").trim();
  const what = e => e.outerHTML.slice(0, 80);
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  if (all("main").length !== 1) found.push(`${all("main").length} main landmarks`);
  if (all("h1").length !== 1) found.push(`${all("h1").length} headings of the first level`);
  let last = 0;
  for (const h of all("h1, h2, h3, h4, h5, h6")) {
    const level = Number(h.tagName[1]);
    if (level > last + 1) found.push(`level ${level} after ${last}: ${what(h)}`);
    if (!name(h)) found.push(`empty heading: ${what(h)}`);
    last = level;
  }
  const first = document.querySelector("a[href], button, input, select, textarea, summary");
  if (!first || !first.hash || !document.querySelector(first.hash)) found.push("no skip link first");
  for (const t of all("table")) {
    if (!t.caption || !name(t.caption)) found.push(`no caption: ${what(t)}`);
    if (!t.querySelector("th")) found.push(`no header cells: ${what(t)}`);
  }
  for (const th of all("th:not([scope])")) found.push(`no scope: ${what(th)}`);
  for (const img of all("img:not([alt])")) found.push(`no alt: ${what(img)}`);
  for (const svg of all("svg:not([aria-hidden=true])"))
    if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label"))
      found.push(`no label: ${what(svg)}`);
  for (const a of all("a[href], button, summary")) if (!name(a)) found.push(`no name: ${what(a)}`);
  for (const box of all("input:not([type=hidden]), select, textarea"))
    if (!box.labels?.length && !box.getAttribute("aria-label")) found.push(`no label: ${what(box)}`);
  for (const box of all("*")) {
    const style = getComputedStyle(box);
    if (/auto|scroll/.test(style.overflowX) && box.scrollWidth > box.clientWidth && box.tabIndex < 0)
      found.push(`scrolls, but not by keyboard: ${what(box)}`);
  }
  const ids = all("[id]").map(e => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push(`id twice: ${id}`);
  for (const a of all('a[href^="#"]'))
    if (!document.getElementById(decodeURIComponent(a.hash.slice(1)))) found.push(`goes nowhere: ${what(a)}`);
  return found;
}"""
