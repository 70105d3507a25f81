"""Answers to save_and_go_on."""

from grader.authoring.specimen import Right, Wrong

LOAD = '    optimizer.load_state_dict(checkpoint["optimizer"])\n'
SAVE = '    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}\n    torch.save(states | {"epoch": epoch}, path)\n'

SPECIMENS = [
    Wrong(
        "no velocities", edits=[(LOAD, "")], rung="job", check="test_values", says="load its state as well"
    ),
    Wrong(
        "the whole model",
        edits=[('"model": model.state_dict()', '"model": model')],
        rung="job",
        check="test_values",
        says="save its state_dict()",
    ),
    Wrong(
        "weights that nobody loads",
        edits=[('model.load_state_dict(checkpoint["model"])', 'model = checkpoint["model"]')],
        rung="job",
        check="test_values",
        says="the weights are not loaded",
    ),
    Wrong("no epoch back", edits=[('    return checkpoint["epoch"]\n', "")], rung="job", check="test_values"),
    Right(
        "a tuple",
        edits=[
            (SAVE, "    torch.save((model.state_dict(), optimizer.state_dict(), epoch), path)\n"),
            ("checkpoint = ", "weights, velocities, epoch = "),
            ('checkpoint["model"]', "weights"),
            ('checkpoint["optimizer"]', "velocities"),
            ('checkpoint["epoch"]', "epoch"),
        ],
    ),
    Right(
        "an open file",
        edits=[
            (
                "    checkpoint = torch.load(path)\n",
                '    with open(path, "rb") as file:\n        checkpoint = torch.load(file, weights_only=True)\n',
            ),
        ],
    ),
]
