"""Answers to weights_to_a_file."""

from grader.authoring.specimen import Right, Wrong

LOAD = 'model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))'

SPECIMENS = [
    Wrong(
        "no map_location",
        edits=[(' map_location="cpu",', "")],
        rung="job",
        check="test_values",
        says="from a machine with a GPU",
    ),
    Wrong(
        "the whole model",
        edits=[("torch.save(model.state_dict(), path)", "torch.save(model, path)")],
        rung="job",
        check="test_values",
        says="save model.state_dict()",
    ),
    Wrong(
        "loaded, and left there",
        edits=[(LOAD, 'model = torch.load(path, map_location="cpu", weights_only=True)')],
        rung="job",
        check="test_values",
        says="still has its own weights",
    ),
    Right(
        "a device, and a file",
        edits=[
            (
                LOAD,
                'with open(path, "rb") as file:\n        state = torch.load(file, torch.device("cpu"))\n    model.load_state_dict(state)',
            )
        ],
    ),
    Right(
        "weight by weight",
        edits=[
            (
                LOAD,
                'state = torch.load(path, map_location="cpu")\n    with torch.no_grad():\n        for name, p in model.named_parameters():\n            p.copy_(state[name])',
            )
        ],
    ),
]
