"""The verb of those who write exercises: `audit`."""

from rich.console import Console

from grader.core.progress_bar import bar
from grader.course import paths, starts
from grader.course.catalog import load
from grader.course.exercise import Exercise


def audit(
    only: list[str] | None, as_json: bool, out: Console, err: Console, *, write_starts: bool = False
) -> bool:
    """Run the audit with a progress bar, print each problem; True where there is none.

    With `write_starts` the files in `exercises/` are noted as starts before.
    """
    from grader.authoring.audit import audit as run

    if write_starts:
        starts.write(_chosen(only))
        load.cache_clear()
    catalog, exercises = load(), _chosen(only)
    with bar(err, "trying answers") as progress:
        found = run(catalog, exercises, progress)
    if as_json:
        problems = [{"where": problem.where, "what": problem.what} for problem in found]
        out.print_json(data={"exercises": [e.slug for e in exercises], "problems": problems})
        return not found
    for problem in found:
        out.print(f"{problem.where}: {problem.what}", markup=False)
    count = f"{len(found)} problem{'s' if len(found) != 1 else ''}" if found else "no problems"
    out.print(f"audit: {len(exercises)} exercises, {count}")
    return not found


def _chosen(only: list[str] | None) -> tuple[Exercise, ...]:
    """What was named, else all that this course has of its own: its sources look after theirs."""
    chosen = load().select(only)
    return chosen if only else tuple(e for e in chosen if e.root == paths.ROOT)


def redundant(only: list[str] | None, as_json: bool, out: Console, err: Console) -> None:
    """Print wrong specimens that tell the suites no more than another."""
    from grader.authoring.redundant import groups

    with bar(err, "trying answers") as progress:
        found = list(groups(_chosen(only), progress))
    if as_json:
        out.print_json(data=[{"where": group.where, "about": list(group.about)} for group in found])
        return
    for group in found:
        out.print(str(group), markup=False)
    spare = sum(len(group.about) - 1 for group in found)
    what = "wrong specimen fails" if spare == 1 else "wrong specimens fail"
    out.print(f"{spare or 'no'} {what} as another does")
