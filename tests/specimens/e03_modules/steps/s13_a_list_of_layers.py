"""Answers to a_list_of_layers."""

from grader.authoring.specimen import Right, Wrong

LIST = "[nn.Linear(features, features) for _ in range(depth)]"
KEEP = f"self.layers = nn.ModuleList({LIST})"

SPECIMENS = [
    Wrong(
        "a plain list",
        edits=[(KEEP, f"self.layers = {LIST}")],
        rung="job",
        check="test_all_layers_are_found",
        says="nn.ModuleList",
    ),
    Wrong(
        "one layer several times",
        edits=[(LIST, "[nn.Linear(features, features)] * depth")],
        rung="job",
        check="test_all_layers_are_found",
        says="one layer stands in all places",
    ),
    Wrong(
        "no ReLU",
        edits=[("layer(x).relu()", "layer(x)")],
        rung="job",
        check="test_values",
        says="ReLU after each layer is missing",
    ),
    Wrong(
        "x itself for each layer",
        edits=[("x = layer(x).relu()\n        return x", "y = layer(x).relu()\n        return y")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "the example's depth",
        edits=[("range(depth)", "range(3)")],
        rung="job",
        check="test_values",
    ),
    Right(
        "append in a loop",
        edits=[
            (
                KEEP,
                "self.layers = nn.ModuleList()\n        for i in range(depth):\n            self.layers.append(nn.Linear(features, features))",
            )
        ],
    ),
    Right(
        "a Sequential",
        edits=[
            (
                KEEP,
                "parts = []\n        for _ in range(depth):\n            parts += [nn.Linear(features, features), nn.ReLU()]\n        self.layers = nn.Sequential(*parts)",
            ),
            (
                "for layer in self.layers:\n            x = layer(x).relu()\n        return x",
                "return self.layers(x)",
            ),
        ],
    ),
]
