"""Record the screens that the README shows, from the real program: `python docs/record.py`.

A wrong and a right answer to `merge_heads` go through the real engine; what `kata watch` would draw
for them is drawn here, and saved as SVG.
"""

import io
from pathlib import Path

from rich.console import Console

from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.learner.outcome import learn
from grader.learner.watch import screen
from grader.learner.watch.window import Window
from grader.protocol.job import Job
from grader.records.route import Route

HERE = Path(__file__).parent
WRONG = ("x.transpose(1, 2)", "x")
SCREENS = {"wrong": True, "right": False}


def main() -> None:
    catalog = load()
    exercise = catalog.exercise("merge_heads")
    section = catalog.section(exercise)
    following = catalog.exercises[catalog.exercises.index(exercise) + 1]
    solution = exercise.file("solutions").read_text("utf-8")
    before = {e.slug: "done" for e in section.exercises if e.order < exercise.order}
    with Pool([exercise], jobs=1, confined=False) as pool:
        for name, is_wrong in SCREENS.items():
            answer = solution.replace(*WRONG) if is_wrong else solution
            transcript = pool.judge_one(Job(exercise, answer.encode(), seed=0, mode="check"))
            found = learn(exercise, pool.inventory[exercise.slug], transcript)
            console = Console(record=True, width=100, height=40, file=io.StringIO(), force_terminal=True)
            states = {**before, exercise.slug: found.state}
            Window(console, catalog, Route("core"), "").draw(
                screen.lesson(found, following), exercise, states
            )
            console.save_svg(str(HERE / f"watch_{name}.svg"), title="kata watch", unique_id=f"kata-{name}")


if __name__ == "__main__":
    main()
