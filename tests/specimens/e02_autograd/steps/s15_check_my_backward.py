"""Answers to check_my_backward."""

from grader.authoring.specimen import Right, Wrong

DOUBLE, CALL = "x.double().requires_grad_()", "gradcheck(f, (x,), raise_exception=False)"

SPECIMENS = [
    Wrong(
        "float32",
        edits=[(DOUBLE, "x.requires_grad_()")],
        rung="job",
        check="test_worked_example",
        says="mostly rounding",
    ),
    Wrong(
        "raises",
        edits=[(CALL, "gradcheck(f, (x,))")],
        rung="job",
        check="test_values",
        says="raise_exception=False",
    ),
    Wrong(
        "no gradient required",
        edits=[(DOUBLE, "x.double()")],
        rung="job",
        check="test_worked_example",
        says="require gradient",
    ),
    Wrong("always", edits=[(CALL, "True")], rung="job", check="test_values"),
    Right(
        "the error is caught",
        edits=[
            (
                "    return " + CALL,
                "    try:\n        return gradcheck(f, x)\n    except RuntimeError:\n        return False",
            )
        ],
    ),
    Right(
        "to(torch.float64)",
        edits=[
            (DOUBLE, "x.to(torch.float64)\n    x.requires_grad = True"),
            ("from torch.autograd", "import torch\nfrom torch.autograd"),
        ],
    ),
]
