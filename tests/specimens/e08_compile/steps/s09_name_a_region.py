"""Answers to name_a_region."""

from grader.authoring.specimen import Right, Wrong

BODY = "    with torch.profiler.record_function(name):\n        return fn()\n"

SPECIMENS = [
    Wrong("no region", edits=[(BODY, "    return fn()\n")], rung="job", check="test_region", says="no entry"),
    Wrong(
        "an empty region",
        edits=[(BODY, "    with torch.profiler.record_function(name):\n        pass\n    return fn()\n")],
        rung="job",
        check="test_region",
        says="inside the region",
    ),
    Wrong(
        "always the same name",
        edits=[("record_function(name)", 'record_function("loss")')],
        rung="job",
        check="test_region",
        says="no entry 'attention'",
    ),
    Wrong("returns nothing", edits=[("return fn()", "fn()")], rung="job", check="test_worked_example"),
    Wrong("returns the function", edits=[("return fn()", "return fn")], rung="job", check="test_values"),
    Right(
        "the result has a name",
        edits=[
            (
                BODY,
                "    with torch.profiler.record_function(name):\n        result = fn()\n    return result\n",
            )
        ],
    ),
    Right(
        "as a decorator",
        edits=[(BODY, "    return torch.profiler.record_function(name)(fn)()\n")],
    ),
]
