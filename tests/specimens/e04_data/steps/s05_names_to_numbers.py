"""Answers to names_to_numbers."""

from grader.authoring.specimen import Right, Wrong

CLASSES, INDEX = "sorted(set(names))", "classes.index(name) for"

SPECIMENS = [
    Wrong(
        "from 1",
        edits=[(INDEX, "classes.index(name) + 1 for")],
        rung="job",
        check="test_worked_example",
        says="start at 1",
    ),
    Wrong(
        "as they come",
        edits=[(CLASSES, "list(dict.fromkeys(names))")],
        rung="job",
        check="test_values",
        says="as they come",
    ),
    Wrong(
        "with repeats",
        edits=[(CLASSES, "sorted(names)")],
        rung="job",
        check="test_values",
        says="list every name once",
    ),
    Wrong(
        "among all names",
        edits=[(CLASSES, "names")],
        rung="job",
        check="test_values",
        says="list every name once",
    ),
    Right(
        "a dict",
        edits=[
            (CLASSES, "{name: place for place, name in enumerate(sorted(set(names)))}"),
            (INDEX, "classes[name] for"),
        ],
    ),
    Right(
        "a loop",
        edits=[
            (
                CLASSES,
                "[]\n    for name in names:\n        if name not in classes:\n            classes.append(name)\n    classes.sort()",
            )
        ],
    ),
]
