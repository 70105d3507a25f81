"""Answers to copy_the_weights."""

from grader.authoring.specimen import Right, Wrong

LOAD = "b.load_state_dict(state)"

SPECIMENS = [
    Wrong(
        "b becomes a name for a",
        edits=[(LOAD, "b = a")],
        rung="job",
        check="test_values",
        says="b is as it was before",
    ),
    Wrong(
        "shared parameters",
        edits=[
            (
                LOAD,
                "for name, t in list(a.named_parameters()) + list(a.named_buffers()):\n        inner, _, last = name.rpartition('.')\n        setattr(b.get_submodule(inner), last, t)",
            )
        ],
        rung="job",
        check="test_values",
        says="share their weights",
    ),
    Wrong(
        "parameters only",
        edits=[
            (
                LOAD,
                "for p, q in zip(a.parameters(), b.parameters()):\n        q.data.copy_(p.data)",
            )
        ],
        rung="job",
        check="test_values",
        says="buffers are not copied",
    ),
    Wrong(
        "the state dict itself",
        edits=[("list(state)", "state")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "into a",
        edits=[(LOAD, "a.load_state_dict(b.state_dict())")],
        rung="job",
        check="test_values",
        says="b is as it was before",
    ),
    Right(
        "a deep copy first",
        edits=[
            ("state = a.state_dict()", "state = copy.deepcopy(a.state_dict())"),
            ("list(state)", "[name for name in state]"),
            ("from torch import nn", "import copy\n\nfrom torch import nn"),
        ],
    ),
    Right(
        "tensor by tensor",
        edits=[
            (LOAD, "mine = b.state_dict()\n    for name, t in state.items():\n        mine[name].copy_(t)"),
            ("list(state)", "list(mine.keys())"),
        ],
    ),
]
