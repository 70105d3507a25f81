"""Answers to compile_it."""

from grader.authoring.specimen import Right, Wrong

COMPILE = "torch.compile(fn, fullgraph=True, backend=backend)"

SPECIMENS = [
    Wrong(
        "no fullgraph",
        edits=[("fullgraph=True, ", "")],
        rung="job",
        check="test_full_graph",
        says="fullgraph=True",
    ),
    Wrong(
        "not compiled",
        edits=[(COMPILE, "fn")],
        rung="job",
        check="test_compiled",
        says="not compiled",
    ),
    Wrong(
        "the eager backend, whatever is asked for",
        edits=[("backend=backend)", 'backend="eager")')],
        rung="job",
        check="test_compiled",
        says="the given backend",
    ),
    Wrong(
        "the default backend",
        edits=[(", backend=backend)", ")")],
        rung="job",
        check="test_worked_example",
        says="hand the backend on",
    ),
    Wrong(
        "calls it",
        edits=[(COMPILE, "torch.compile(fn, fullgraph=True, backend=backend)(torch.ones(2))")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "as a decorator",
        edits=[
            (
                f"    return {COMPILE}",
                "    @torch.compile(fullgraph=True, backend=backend)\n    def fast(x):\n        return fn(x)\n\n    return fast",
            )
        ],
    ),
    Right("static shapes", edits=[("fullgraph=True, ", "fullgraph=True, dynamic=False, ")]),
]
