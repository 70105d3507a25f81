"""Answers to batch_to_the_device."""

from grader.authoring.specimen import Right, Wrong

DEVICE, RETURN = "next(model.parameters()).device", "return features.to(device), labels.to(device)"

SPECIMENS = [
    Wrong(
        "what .to returns is lost",
        edits=[(RETURN, "features.to(device)\n    labels.to(device)\n    return features, labels")],
        rung="job",
        check="test_on_the_device",
        says="leaves features where they are",
    ),
    Wrong(
        "only the features",
        edits=[("labels.to(device)", "labels")],
        rung="job",
        check="test_on_the_device",
        says="labels have to be moved",
    ),
    Wrong(
        "the model's own device",
        edits=[(DEVICE, "model.device")],
        rung="job",
        check="test_values",
        says="no device of its own",
    ),
    Wrong(
        "the CPU", edits=[(DEVICE, '"cpu"')], rung="job", check="test_on_the_device", says="not on the device"
    ),
    Wrong(
        "swapped",
        edits=[(RETURN, "return labels.to(device), features.to(device)")],
        rung="job",
        check="test_values",
        says="labels come second",
    ),
    Right("the first weight", edits=[(DEVICE, "list(model.parameters())[0].device")]),
    Right("to a tensor's place", edits=[(DEVICE, "next(iter(model.state_dict().values()))")]),
]
