"""Answers to who_am_i."""

from grader.authoring.specimen import Right, Wrong

ALL = 'int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))'

SPECIMENS = [
    Wrong(
        "text",
        edits=[(ALL, 'os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")')],
        rung="job",
        check="test_worked_example",
        says="returns text",
    ),
    Wrong(
        "only under torchrun",
        edits=[(ALL, 'int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])')],
        rung="job",
        check="test_alone",
        says="KeyError",
    ),
    Wrong(
        "the rank on this machine",
        edits=[('"RANK"', '"LOCAL_RANK"')],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "always alone",
        edits=[(ALL, "0, 1")],
        rung="job",
        check="test_values",
    ),
    Right("getenv", edits=[(ALL, 'int(os.getenv("RANK", 0)), int(os.getenv("WORLD_SIZE", 1))')]),
    Right(
        "looks whether it is there",
        edits=[
            (
                f"    return {ALL}",
                '    if "RANK" in os.environ:\n'
                '        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])\n    return 0, 1',
            )
        ],
    ),
]
