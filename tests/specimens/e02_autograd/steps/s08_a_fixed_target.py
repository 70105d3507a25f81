"""Answers to a_fixed_target."""

from grader.authoring.specimen import Right, Wrong

TARGET, PREDICTION = "target.detach()", "(prediction -"

SPECIMENS = [
    Wrong(
        "not detached",
        edits=[(TARGET, "target")],
        rung="job",
        check="test_target_is_fixed",
        says="through the target as well",
    ),
    Wrong(
        "the wrong one",
        edits=[(TARGET, "target"), (PREDICTION, "(prediction.detach() -")],
        rung="job",
        check="test_target_is_fixed",
        says="the prediction was detached",
    ),
    Wrong(
        "all of the loss",
        edits=[(".mean()", ".mean().detach()")],
        rung="job",
        check="test_gradients",
        says="no gradient flows",
    ),
    Wrong(
        "the sum", edits=[(".mean()", ".sum()")], rung="job", check="test_values", says="sum of the squares"
    ),
    Wrong("the difference", edits=[(" ** 2", "")], rung="job", check="test_worked_example"),
    Right(
        "no_grad",
        edits=[
            ("    return", "    with torch.no_grad():\n        fixed = target * 1\n    return"),
            (TARGET, "fixed"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right(
        "mse_loss",
        edits=[
            (
                "((prediction - target.detach()) ** 2).mean()",
                "torch.nn.functional.mse_loss(prediction, target.detach())",
            ),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
