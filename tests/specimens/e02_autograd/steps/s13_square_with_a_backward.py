"""Answers to square_with_a_backward."""

from grader.authoring.specimen import Right, Wrong

SAVE, SLOPE = "ctx.save_for_backward(x)", "return grad * 2 * x"

SPECIMENS = [
    Wrong(
        "grad is left out",
        edits=[(SLOPE, "return 2 * x")],
        rung="job",
        check="test_worked_gradient",
        says="grad is left out",
    ),
    Wrong(
        "grad is handed on",
        edits=[(SLOPE, "return grad")],
        rung="job",
        check="test_gradient",
        says="2 * x is left out",
    ),
    Wrong(
        "the result is kept",
        edits=[(SAVE, "ctx.save_for_backward(x * x)")],
        rung="job",
        check="test_gradient",
        says="not the result",
    ),
    Wrong("forward doubles", edits=[("return x * x", "return 2 * x")], rung="job", check="test_values"),
    Wrong(
        "forward gives x back",
        edits=[("return x * x", "return x.clone()")],
        rung="job",
        check="test_worked_example",
    ),
    Right("kept on ctx", edits=[(SAVE, "ctx.x = x"), ("(x,) = ctx.saved_tensors", "x = ctx.x")]),
    Right("square", edits=[("return x * x", "return x.square()"), (SLOPE, "return (x + x).mul(grad)")]),
]
