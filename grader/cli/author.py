"""The verb of those who write exercises: `audit`."""

from rich.console import Console

from grader.core.progress_bar import bar
from grader.course import paths, starts
from grader.course.catalog import load
from grader.course.exercise import Exercise


def audit(
    only: list[str] | None,
    as_json: bool,
    out: Console,
    err: Console,
    *,
    write_starts: bool = False,
    fresh: bool = False,
) -> bool:
    """Run the audit with a progress bar, print each problem; True where there is none.

    With `write_starts` the files in `exercises/` are noted as starts before; a `fresh` one takes nothing
    from audits before.
    """
    from grader.authoring import capstone
    from grader.authoring.audit import audit as run
    from grader.authoring.memory import Memory

    if write_starts:
        for exercise in _chosen(only):
            if exercise.is_capstone and exercise.file("exercises").is_file():
                capstone.write_start(exercise)
        starts.write(_chosen(only))
        load.cache_clear()
    catalog, exercises = load(), _chosen(only)
    with bar(err, "trying answers") as progress:
        found = run(catalog, exercises, progress, Memory(fresh=fresh))
    if as_json:
        problems = [{"where": problem.where, "what": problem.what} for problem in found]
        out.print_json(data={"exercises": [e.slug for e in exercises], "problems": problems})
        return not found
    for problem in found:
        out.print(f"{problem.where}: {problem.what}")
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
        out.print(str(group))
    spare = sum(len(group.about) - 1 for group in found)
    what = "wrong specimen fails" if spare == 1 else "wrong specimens fail"
    out.print(f"{spare or 'no'} {what} as another does")


def proportion(only: list[str] | None, as_json: bool, out: Console, err: Console) -> None:
    """Print wrong specimens that lose every case of the oracle by one mistake."""
    from grader.authoring.proportion import all_or_nothing

    with bar(err, "trying answers") as progress:
        found = list(all_or_nothing(_chosen(only), progress))
    if as_json:
        out.print_json(data=[vars(one) for one in found])
        return
    for one in found:
        out.print(str(one), markup=False, soft_wrap=True)
    out.print(f"{len(found) or 'no'} wrong specimens do much of the job and agree in no case")


def feedback(only: list[str] | None, as_json: bool, out: Console, err: Console) -> None:
    """Print the first messages that name no mistake, those of the worst section first; of `only`, all."""
    from grader.authoring.first_messages import first_messages, groups

    with bar(err, "trying answers") as progress:
        found = first_messages(_chosen(only), progress)
    if as_json:
        told = [
            {
                "where": m.exercise.slug,
                "about": m.about,
                "kind": m.kind,
                "message": m.lines,
                "untold": m.untold,
            }
            | {"refused": m.refused}
            for m in found
        ]
        out.print_json(data=told)
        return
    for group in groups(found):
        out.print(f"{group}\n")
        for message in group.messages:
            if only or not message.names_mistake:
                lines = [
                    f"{message.exercise.slug}: {message.about}",
                    *(f"    {line}" for line in message.lines),
                ]
                lines += [f"  {why}" for why in message.untold]
                out.print("\n".join([*lines, ""]), soft_wrap=True)
    if met := [message for message in found if message.refused]:
        out.print("The worked example lets through what most fresh inputs do not:\n")
        for message in met:
            line = f"{message.exercise.slug}: {message.about} ({message.refused} inputs)"
            out.print(line, soft_wrap=True)
        out.print()
    named = sum(message.names_mistake for message in found)
    share = f" ({named / len(found):.0%})" if found else ""
    out.print(f"feedback: {named} of {len(found)} first messages name the mistake{share}")
