"""Answers to how_long."""

from grader.authoring.specimen import Right, Wrong

START = "    fn()\n    start = clock()\n"
END = "    return clock() - start\n"

SPECIMENS = [
    Wrong(
        "no warm-up",
        edits=[(START, "    start = clock()\n")],
        rung="job",
        check="test_worked_example",
        says="the time of the first call",
    ),
    Wrong(
        "times the warm-up too",
        edits=[(START, "    start = clock()\n    fn()\n")],
        rung="job",
        check="test_worked_example",
        says="first call is timed as well",
    ),
    Wrong(
        "a moment", edits=[(END, "    return clock()\n")], rung="job", check="test_values", says="subtract"
    ),
    Wrong(
        "the wrong way round",
        edits=[(END, "    return start - clock()\n")],
        rung="job",
        check="test_values",
        says="subtracted from",
    ),
    Wrong(
        "its clock cannot be read without being given",
        edits=[("= time.perf_counter) ->", "= None) ->"), ("import time\n", "")],
        rung="job",
        check="test_default_clock",
    ),
    Right(
        "the best of three",
        edits=[
            (
                START + "    fn()\n" + END,
                """    fn()
    times = []
    for _ in range(3):
        before = clock()
        fn()
        times.append(clock() - before)
    return min(times)
""",
            )
        ],
    ),
    Right("two names", edits=[(END, "    end = clock()\n    return end - start\n")]),
]
