"""The worked example of broadcast_shape."""

from grader.checks import expect_raises
from grader.checks.contract import Contract, given

contract = Contract(
    "broadcast_shape(shapes)",
    example=[
        (given([(8, 1, 6), (7, 1)]), (8, 7, 6)),
        (given([(3,), (4, 1), ()]), (4, 3)),
    ],
    use=lambda answer, shapes: tuple(answer.broadcast_shape(shapes)),
)


def test_shapes_of_the_example_that_do_not_fit(answer):
    """(3, 2) and (3,) raise an error: they are compared from the right."""
    call = "broadcast_shape([(3, 2), (3,)])"
    expect_raises((ValueError, RuntimeError), lambda: answer.broadcast_shape([(3, 2), (3,)]), call)
