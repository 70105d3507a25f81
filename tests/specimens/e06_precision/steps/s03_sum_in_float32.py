"""Answers to sum_in_float32."""

from grader.authoring.specimen import Right, Wrong

SUM = "x.sum(dtype=torch.float32)"
LOOP = "total = torch.zeros((), dtype={dtype})\n    for number in x:\n        total = total + number\n    return {result}"


def loop(dtype, result="total"):
    return [(f"return {SUM}", LOOP.format(dtype=dtype, result=result))]


SPECIMENS = [
    Wrong(
        "cast at the end",
        edits=loop("x.dtype", "total.float()"),
        rung="job",
        check="test_worked_example",
        says="added up in bfloat16",
    ),
    Wrong(
        "summed, then cast",
        edits=[(SUM, "x.sum().float()")],
        rung="job",
        check="test_values",
        says="rounded to bfloat16",
    ),
    Wrong(
        "as it was",
        edits=loop("x.dtype"),
        rung="job",
        check="test_worked_example",
        says="added up in bfloat16",
    ),
    Wrong(
        "PyTorch's sum as it is",
        edits=[(SUM, "x.sum()")],
        rung="job",
        check="test_values",
        says="return float32",
    ),
    Wrong(
        "cast back",
        edits=[(SUM, "x.float().sum().to(x.dtype)")],
        rung="job",
        check="test_values",
        says="return float32",
    ),
    Right("widened first", edits=[(SUM, "x.float().sum()")]),
    Right("the loop, in float32", edits=loop("torch.float32")),
    Right("in float64", edits=[(SUM, "x.double().sum().float()")]),
]
