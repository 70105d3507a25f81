"""Answers to use_a_linear."""

from grader.authoring.specimen import Right, Wrong

LAYER = "nn.Linear(x.shape[1], outputs)"
RETURN = "return layer(x), layer.weight.shape, layer.bias.shape"

SPECIMENS = [
    Wrong(
        "the sizes the other way round",
        edits=[(LAYER, "nn.Linear(outputs, x.shape[1])")],
        rung="job",
        check="test_worked_example",
        says="goes the wrong way",
    ),
    Wrong(
        "from the number of rows",
        edits=[(LAYER, "nn.Linear(x.shape[0], outputs)")],
        rung="job",
        check="test_values",
        says="not the number of rows",
    ),
    Wrong(
        "bias before weight",
        edits=[(RETURN, "return layer(x), layer.bias.shape, layer.weight.shape")],
        rung="job",
        check="test_worked_example",
        says="change places",
    ),
    Wrong("the example's sizes", edits=[(LAYER, "nn.Linear(3, 2)")], rung="job", check="test_values"),
    Right("lists", edits=[(RETURN, "return layer(x), list(layer.weight.shape), list(layer.bias.shape)")]),
    Right(
        "by size() and state_dict()",
        edits=[
            (LAYER, "nn.Linear(in_features=x.size(-1), out_features=outputs)"),
            (
                RETURN,
                "state = layer.state_dict()\n    y = layer(x)\n    return y, state['weight'].size(), state['bias'].size()",
            ),
        ],
    ),
]
