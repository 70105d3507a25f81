"""Answers to who_made_the_nan."""

from grader.authoring.specimen import Right, Wrong

BODY = """    with torch.autograd.detect_anomaly():
        fn(x).backward()
    return x.grad
"""

SPECIMENS = [
    Wrong(
        "no detection",
        edits=[(BODY, "    fn(x).backward()\n    return x.grad\n")],
        rung="job",
        check="test_error",
        says="no error",
    ),
    Wrong(
        "the forward runs before",
        edits=[
            (
                BODY,
                "    loss = fn(x)\n    with torch.autograd.detect_anomaly():\n        loss.backward()\n    return x.grad\n",
            )
        ],
        rung="job",
        check="test_forward_line",
        says="inside the `with` block",
    ),
    Wrong(
        "catches the error",
        edits=[
            (
                BODY,
                """    try:
        with torch.autograd.detect_anomaly():
            fn(x).backward()
    except RuntimeError as error:
        print(error)
    return x.grad
""",
            )
        ],
        rung="job",
        check="test_error",
        says="no error",
    ),
    Wrong(
        "returns the loss",
        edits=[
            (
                "        fn(x).backward()\n    return x.grad\n",
                "        loss = fn(x)\n        loss.backward()\n    return loss\n",
            )
        ],
        rung="job",
        check="test_values",
    ),
    Right("set_detect_anomaly", edits=[("detect_anomaly()", "set_detect_anomaly(True)")]),
    Right(
        "autograd.grad",
        edits=[
            (
                BODY,
                """    with torch.autograd.detect_anomaly():
        loss = fn(x)
        (gradient,) = torch.autograd.grad(loss, x)
    return gradient
""",
            )
        ],
    ),
]
