"""Record the screens that the README shows, from the real program: `python docs/record.py`.

Wrong and right answers go through the real engine; what `kata watch` would draw for them is drawn here, and
saved as SVG. `watch_first.svg` shows the first minutes, one screen after another.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console, RenderableType

from grader.course.catalog import Catalog, load
from grader.course.exercise import Exercise
from grader.engine.pool import Pool
from grader.learner.outcome import learn
from grader.learner.watch import question, screen
from grader.learner.watch.window import Window
from grader.protocol.job import Job
from grader.protocol.statuses import State
from grader.records import progress
from grader.records.route import Route

HERE = Path(__file__).parent
TITLE = "kata watch"
SECONDS = 5
"""For which each screen of a recording stands."""

FRAMES = """<svg viewBox="{box}" xmlns="http://www.w3.org/2000/svg">
<style>
.frame {{ opacity: 0; animation: frame {whole}s step-end infinite; }}
.frame:first-of-type {{ opacity: 1; }}
@keyframes frame {{ 0% {{ opacity: 1; }} {share:g}% {{ opacity: 0; }} }}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} }}
</style>
{frames}
</svg>
"""


def main() -> None:
    merge_heads()
    first_minutes()


def merge_heads() -> None:
    """A wrong and a right answer to an exercise."""
    catalog, path = load(), Route("core")
    exercise = catalog.exercise("merge_heads")
    section = catalog.section(exercise).exercises
    before: dict[str, State] = {e.slug: "done" for e in section if not e.is_step and e.order < exercise.order}
    solution = exercise.file("solutions").read_text("utf-8")
    for name, text in (("wrong", solution.replace("x.transpose(1, 2)", "x")), ("right", solution)):
        console = _console(100, 40)
        _judged(console, catalog, path, exercise, text, before)
        console.save_svg(str(HERE / f"watch_{name}.svg"), title=TITLE, unique_id=f"kata-{name}")


def first_minutes() -> None:
    """The question, the first step, a wrong answer and a right one, and the step after it."""
    catalog, path = load(), Route("first")
    first, second = path.stretch(catalog)[:2]
    solution = first.file("solutions").read_text("utf-8")
    wrong = solution.replace("torch.tensor([first, second])", "torch.tensor(first + second)")
    screens = [_console(80, 24) for _ in range(5)]
    screens[0].print(question.how_far())
    _window(screens[1], catalog, path).draw(screen.asked(first), first, {})
    _judged(screens[2], catalog, path, first, wrong, {})
    _judged(screens[3], catalog, path, first, solution, {})
    _window(screens[4], catalog, path).draw(screen.asked(second), second, {first.slug: "done"})
    (HERE / "watch_first.svg").write_text(_animated(screens), "utf-8")


def _judged(
    console: Console, catalog: Catalog, path: Route, exercise: Exercise, text: str, seen: Mapping[str, State]
) -> None:
    """Draw the verdict on an answer, where so much was done before."""
    with Pool([exercise], jobs=1, confined=False) as pool:
        transcript = pool.judge_one(Job(exercise, text.encode(), seed=0, mode="check"))
        found = learn(exercise, pool.inventory[exercise.slug], transcript)
    todo: dict[str, State] = {e.slug: "todo" for e in catalog.exercises}
    states = {**todo, **seen, exercise.slug: found.state}
    following = progress.following(catalog, states, exercise, path=path)
    _window(console, catalog, path).draw(screen.lesson(found, following), exercise, states)


def _window(console: Console, catalog: Catalog, path: Route, body: RenderableType = "") -> Window:
    return Window(console, catalog, path, body)


def _console(width: int, height: int) -> Console:
    return Console(record=True, width=width, height=height, file=io.StringIO(), force_terminal=True)


def _animated(screens: Sequence[Console]) -> str:
    """All of them in one picture, each for some seconds; the first one where nothing moves."""
    frames = []
    for number, console in enumerate(screens):
        rows = len(console.export_text(clear=False).splitlines())
        console.print("\n" * (console.height - rows - 1))  # so that all are as high
        frame = console.export_svg(title=TITLE, unique_id=f"kata-{number}")
        delay = f'style="animation-delay: {number * SECONDS}s"'
        frames.append(f'<g class="frame" {delay}>{frame}</g>')
    box = frames[0].partition('viewBox="')[2].partition('"')[0]
    count = len(frames)
    return FRAMES.format(box=box, whole=count * SECONDS, share=100 / count, frames="\n".join(frames))


if __name__ == "__main__":
    main()
