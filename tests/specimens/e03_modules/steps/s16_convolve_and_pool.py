"""Answers to convolve_and_pool."""

from grader.authoring.specimen import Right, Wrong

POOL = "nn.MaxPool2d(2)"

SPECIMENS = [
    Wrong(
        "no padding",
        edits=[(", padding=1", "")],
        rung="job",
        check="test_worked_example",
        says="padding=1 is missing",
    ),
    Wrong(
        "no ReLU",
        edits=[("nn.ReLU(), ", "")],
        rung="job",
        check="test_values",
        says="the ReLU is missing",
    ),
    Wrong(
        "no pooling",
        edits=[(", " + POOL, "")],
        rung="job",
        check="test_worked_example",
        says="the pooling is missing",
    ),
    Wrong(
        "the shape of the images",
        edits=[("model(images).shape", "images.shape")],
        rung="job",
        check="test_worked_example",
        says="shape of the images",
    ),
    Wrong(
        "the example's filters",
        edits=[("nn.Conv2d(3, filters,", "nn.Conv2d(3, 8,")],
        rung="job",
        check="test_values",
    ),
    Right(
        "pooled first",
        edits=[(f"nn.ReLU(), {POOL}", f"{POOL}, nn.ReLU()")],
    ),
    Right(
        "the shape by arithmetic",
        edits=[
            ("kernel_size=3, padding=1", '3, padding="same"'),
            (
                "return model, model(images).shape",
                "n, _, height, width = images.shape\n    return model, torch.Size([n, filters, height // 2, width // 2])",
            ),
        ],
    ),
]
