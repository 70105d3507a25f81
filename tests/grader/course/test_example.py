"""What is read of worked examples: calls, what goes in, and what comes of it."""

import math

import pytest

from grader.course.arrays import Array
from grader.course.example import call_of
from grader.course.statement import Statement

START = """
def f(model: nn.Module, x: Float[Tensor, "n"], n: int = 1) -> Float[Tensor, "n"]: ...

def pair(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], int]: ...

class Layer(nn.Module):
    def __init__(self, size: int) -> None: ...

    def forward(self, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]: ...
"""


def read(*lines):
    call = call_of(Statement("", "\n".join(f"    {line}" for line in lines), None, START))
    return call and tuple([(name, _nested(a)) for name, a in some] for some in (call.given, call.gives))


def _nested(array):
    return array.numbers if len(array.shape) == 1 and array.numbers else array


@pytest.mark.parametrize(
    ("lines", "given", "gives"),
    [
        (["f(model, torch.tensor([1, 2]))  # tensor([2, 4])"], [("x", (1, 2))], [("", (2, 4))]),
        (["x = torch.arange(2)", "f(model, x)", "# [1, 2]: one more"], [("x", (0, 1))], [("", (1, 2))]),
        (["f(model, torch.tensor([1]))  # now [2]; then [3]"], [("x", (1,))], [("", (2,))]),
        (["y = f(model, torch.ones(2))", "y  # [3., 4.]"], [("x", (1.0, 1.0))], [("y", (3.0, 4.0))]),
        (["w = torch.ones(2)", "f(model, w)", "w  # [2., 2.]"], [("w", (1.0, 1.0))], [("w", (2.0, 2.0))]),
        (["g(4, 2)  # [1, 2]"], [], [("", (1, 2))]),
        (["layer = Layer(2)", "layer(torch.tensor([3]))  # [1 + 2] = [3]"], [("x", (3,))], [("", (3,))]),
        (["f(model, torch.tensor([1, 1]))  # (1 + 3) / 2 = 2"], [("x", (1, 1))], [("", Array((), (2.0,)))]),
    ],
)
def test_a_call_and_what_comes_of_it(lines, given, gives):
    assert read(*lines) == (given, gives)


def test_shapes_alone_are_read_too():
    assert read("Layer(2)(torch.zeros(2, 9000)).shape  # torch.Size([5, 3])") == (
        [("", Array((2, 9000)))],
        [("", Array((5, 3)))],
    )
    assert read("f(model, torch.randn(8, 50))  # (8, 3): of any size")[1] == [("", Array((8, 3)))]
    assert read("pair(torch.tensor([1, 2]))  # (tensor([5, 3]), 7)")[1] == [
        ("", (5, 3)),
        ("", Array((), (7,))),
    ]


def test_what_ranks_hold_stands_in_a_remark_above():
    assert read("# x is tensor([3]) on rank 0, and tensor([5]) on rank 1", "f(model, x)  # [8] on both") == (
        [("x on rank 0", (3,)), ("on rank 1", (5,))],
        [("", (8,))],
    )


def test_calls_that_differ_in_one_argument_are_drawn_together():
    lines = [f"list(Sampler(3, rank={rank}))   # [{rank}, 2]" for rank in (0, 1)]
    assert read(*lines) == ([], [("rank=0", (0, 2)), ("rank=1", (1, 2))])


@pytest.mark.parametrize(
    "line",
    [
        "f(model, x)   # [2]",  # nobody knows x
        "f(model, torch.tensor([1]))   # [a, b]",
        "f(model, torch.tensor([1]))   # [1, -2] · 0.5",
        "f(model, torch.tensor([1]))   # 2.5 below; perfect",
        "f(model, torch.tensor([[1], [2, 3]]))   # [2]",
        "model = nn.Linear(1, 2)   # say [[1], [2]]",
        "f(model, torch.tensor(1.0))   # 3.0",  # nothing has a shape
        "f(model, torch.tensor([1]))   # " + "[" * 3000,
    ],
)
def test_what_is_not_written_out_is_not_read(line):
    assert read(line) is None


def test_two_columns_and_formulas_stop_nothing():
    told = read(
        "f(1)         f(2)", "# [1]        # [2]", "", "a ² b", "f(model, torch.tensor([1]))  # [-inf]"
    )
    assert told == ([("x", (1,))], [("", (-math.inf,))])
