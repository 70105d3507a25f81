"""Answers to pinned_and_ready."""

from grader.authoring.specimen import Right, Wrong

PIN = 'device.type == "cuda"'

SPECIMENS = [
    Wrong("never", edits=[(", pin_memory=" + PIN, "")], rung="job", check="test_worked_example"),
    Wrong("always", edits=[(PIN, "True")], rung="job", check="test_worked_example", says="device.type"),
    Wrong(
        "without a number",
        edits=[(PIN, 'device == torch.device("cuda")')],
        rung="job",
        check="test_worked_example",
        says="device.type",
    ),
    Wrong(
        "wherever it is not the CPU",
        edits=[(PIN, 'device.type != "cpu"')],
        rung="job",
        check="test_values",
        says="device.type",
    ),
    Wrong(
        "batches of one",
        edits=[("batch_size=batch_size, ", "")],
        rung="job",
        check="test_worked_example",
        says="not handed on",
    ),
    Right("by its name", edits=[(PIN, 'str(device).startswith("cuda")')]),
    Right(
        "an if",
        edits=[
            (
                "    return DataLoader(dataset, batch_size=batch_size, pin_memory=" + PIN,
                '    if device.type == "cuda":\n        return DataLoader(dataset, batch_size, pin_memory=True)\n    return DataLoader(dataset, batch_size',
            )
        ],
    ),
]
