"""Answers to names_in_the_profile."""

from grader.authoring.specimen import Right, Wrong

BLOCK = "    with torch.profiler.profile() as profile:\n        fn()\n"
NAMES = "{entry.key for entry in profile.key_averages()}"

SPECIMENS = [
    Wrong(
        "runs fn before",
        edits=[(BLOCK, "    fn()\n    with torch.profiler.profile() as profile:\n        pass\n")],
        rung="job",
        check="test_worked_example",
        says="inside the `with` block",
    ),
    Wrong(
        "runs fn behind the block",
        edits=[(BLOCK, "    with torch.profiler.profile() as profile:\n        pass\n    fn()\n")],
        rung="job",
        check="test_values",
        says="inside the `with` block",
    ),
    Wrong(
        "the entries themselves",
        edits=[(NAMES, "set(profile.key_averages())")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "the first one", edits=[(NAMES, "{profile.key_averages()[0].key}")], rung="job", check="test_values"
    ),
    Right(
        "a loop",
        edits=[
            (
                f"    return {NAMES}",
                "    names = set()\n    for entry in profile.key_averages():\n        names.add(entry.key)\n    return names",
            )
        ],
    ),
    Right("all events", edits=[(NAMES, "{event.name for event in profile.events()}")]),
]
