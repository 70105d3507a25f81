"""Answers to shapes_layer_by_layer."""

from grader.authoring.specimen import Right, Wrong

BODY = """    shapes = []
    for layer in model:
        x = layer(x)  # (rows, features of this layer)
        shapes.append(tuple(x.shape))
    return shapes
"""

SPECIMENS = [
    Wrong(
        "every layer gets the input",
        edits=[(BODY, "    return [tuple(layer(x).shape) for layer in model]\n")],
        rung="job",
        check="test_worked_example",
        says="every layer gets x itself",
    ),
    Wrong(
        "the input's shape comes first",
        edits=[("shapes = []", "shapes = [tuple(x.shape)]")],
        rung="job",
        check="test_worked_example",
        says="wrong length",
    ),
    Wrong(
        "the last shape alone",
        edits=[(BODY, "    return [tuple(model(x).shape)]\n")],
        rung="job",
        check="test_values",
    ),
    Right(
        "torch.Size is a tuple",
        edits=[("tuple(x.shape)", "x.shape")],
    ),
    Right(
        "longer and longer beginnings of the model",
        edits=[(BODY, "    return [tuple(model[: n + 1](x).size()) for n in range(len(model))]\n")],
    ),
]
