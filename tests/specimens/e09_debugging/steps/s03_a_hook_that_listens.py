"""Answers to a_hook_that_listens."""

from grader.authoring.specimen import Right, Wrong

BODY = """    heard = []
    handle = layer.register_forward_hook(lambda module, inputs, output: heard.append(output))
    model(x)
    handle.remove()
    return heard[0]
"""

SPECIMENS = [
    Wrong(
        "the hook stays",
        edits=[("    handle.remove()\n", "")],
        rung="job",
        check="test_hook_is_removed",
        says="still listens",
    ),
    Wrong(
        "runs the layer alone",
        edits=[(BODY, "    return layer(x)\n")],
        rung="job",
        check="test_values",
        says="the layer got x itself",
    ),
    Wrong(
        "returns what the model returns",
        edits=[
            ("    model(x)\n", "    result = model(x)\n"),
            ("return heard[0]", "return result"),
        ],
        rung="job",
        check="test_values",
        says="output of the whole model",
    ),
    Wrong(
        "hears the inputs",
        edits=[("heard.append(output)", "heard.append(inputs[0])")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "a function with a name, and a dict",
        edits=[
            (
                BODY,
                """    heard = {}

    def hook(module, inputs, output):
        heard["it"] = output.detach().clone()

    handle = layer.register_forward_hook(hook)
    try:
        model(x)
    finally:
        handle.remove()
    return heard["it"]
""",
            )
        ],
    ),
    Right(
        "the hook removes itself",
        edits=[
            (
                BODY,
                """    seen = None

    def hook(module, inputs, output):
        nonlocal seen
        seen = output
        handle.remove()

    handle = layer.register_forward_hook(hook)
    model(x)
    return seen
""",
            )
        ],
    ),
]
