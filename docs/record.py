"""Record the screens that the README shows, from the real program: `python docs/record.py`.

A wrong and a right answer to `merge_heads` go through the real engine; what `kata watch` would draw
for them is drawn here, and saved as SVG.
"""

import io
from pathlib import Path

from rich.console import Console

from grader import paths, screen
from grader.catalog import load
from grader.lesson import learn
from grader.pool import Pool, Request

HERE = Path(__file__).parent
WRONG = ("x.transpose(1, 2)", "x")
SCREENS = {"wrong": True, "right": False}


def main() -> None:
    catalog = load()
    exercise = catalog.exercise("merge_heads")
    section = next(s for s in catalog.sections if s.name == exercise.section)
    solution = exercise.file("solutions").read_text("utf-8")
    before = {e.slug: "done" for e in section.exercises if e.order < exercise.order}
    with Pool([exercise], jobs=1, confined=False) as pool:
        for name, is_wrong in SCREENS.items():
            answer = solution.replace(*WRONG) if is_wrong else solution
            findings = pool.judge_one(Request(exercise, answer.encode(), seed=0, mode="check"))
            found = learn(exercise, pool.inventory[exercise.slug], findings)
            console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
            console.print(screen.lesson(found, catalog))
            console.print()
            console.print(screen.bars(section, catalog, {**before, exercise.slug: found.state}))
            console.print(
                f"{paths.shown(exercise.file('exercises'))}   {screen.KEYS}", markup=False, style="dim"
            )
            console.save_svg(str(HERE / f"watch_{name}.svg"), title="kata watch", unique_id=f"kata-{name}")


if __name__ == "__main__":
    main()
