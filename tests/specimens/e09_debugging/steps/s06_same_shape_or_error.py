"""Answers to same_shape_or_error."""

from grader.authoring.specimen import Right, Wrong

IF = "if predicted.shape != target.shape:"
CHECK = f"""    {IF}
        raise ValueError(f"predictions {{tuple(predicted.shape)}}, but targets {{tuple(target.shape)}}")
"""

SPECIMENS = [
    Wrong("no check", edits=[(CHECK, "")], rung="job", check="test_different_shapes", says="broadcasting"),
    Wrong(
        "counts the numbers",
        edits=[(IF, "if predicted.numel() != target.numel():")],
        rung="job",
        check="test_different_shapes",
        says="(4, 1)",
    ),
    Wrong(
        "counts the rows",
        edits=[(IF, "if len(predicted) != len(target):")],
        rung="job",
        check="test_different_shapes",
    ),
    Wrong(
        "asserts",
        edits=[(CHECK, "    assert predicted.shape == target.shape\n")],
        rung="job",
        check="test_different_shapes",
        says="ValueError",
    ),
    Wrong("the sum", edits=[(".mean()", ".sum()")], rung="job", check="test_values", says="not the mean"),
    Wrong("no square", edits=[(" ** 2", "")], rung="job", check="test_values", says="not squared"),
    Right(
        "PyTorch's own loss behind the check",
        edits=[
            ("((predicted - target) ** 2).mean()", "F.mse_loss(predicted, target)"),
            ("from torch import Tensor", "from torch import Tensor\nfrom torch.nn import functional as F"),
        ],
    ),
    Right("compares the sizes as lists", edits=[(IF, "if list(predicted.size()) != list(target.size()):")]),
]
