"""Answers to keep_the_best."""

from grader.authoring.specimen import Right, Wrong

COPY = "copy.deepcopy(model.state_dict())"
LOOP, TRAIN = "    for _ in range(epochs):\n", "        loss = train()\n"

SPECIMENS = [
    Wrong(
        "no copy",
        edits=[(COPY, "model.state_dict()")],
        rung="job",
        check="test_worked_example",
        says="deep copy",
    ),
    Wrong(
        "a copy of the dict alone",
        edits=[(COPY, "dict(model.state_dict())")],
        rung="job",
        check="test_worked_example",
        says="deep copy",
    ),
    Wrong(
        "the highest",
        edits=[("loss < lowest", "loss > -lowest"), ("lowest = loss", "lowest = -loss")],
        rung="job",
        check="test_worked_example",
        says="highest loss",
    ),
    Wrong("the last", edits=[("            lowest = loss\n", "")], rung="job", check="test_worked_example"),
    Wrong(
        "weights of before",
        edits=[
            (COPY, "before"),
            (TRAIN, "        before = copy.deepcopy(model.state_dict())\n" + TRAIN),
        ],
        rung="job",
        check="test_worked_example",
        says="the weights before it",
    ),
    Right(
        "clones",
        edits=[(COPY, "{name: weight.clone() for name, weight in model.state_dict().items()}")],
    ),
    Right(
        "all epochs kept",
        edits=[
            ('    lowest = float("inf")\n', "    losses, states = [], []\n"),
            (
                TRAIN,
                "        losses.append(train())\n        states.append(copy.deepcopy(model.state_dict()))\n    return states[losses.index(min(losses))]\n",
            ),
            (
                "        if loss < lowest:\n            lowest = loss\n            best = copy.deepcopy(model.state_dict())\n    return best\n",
                "",
            ),
        ],
    ),
]
