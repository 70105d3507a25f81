"""Any value in a few words, however it behaves."""

import collections
import itertools
import sys

import numpy as np
import pytest
import torch
from torch import Tensor

from grader.diagnose.describe import describe
from grader.diagnose.diff import explain
from tests.grader.support.telling import numbers, told


class Misbehaving:
    def __repr__(self) -> str:
        raise SystemExit

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return Tensor


class Unreadable(Tensor):
    @classmethod
    def __torch_function__(cls, *_: object, **__: object) -> object:
        raise RuntimeError("not for you")


class Sizeless(list[int]):
    def __len__(self) -> int:
        raise ValueError

    __iter__ = None  # type: ignore[assignment]


Pair = collections.namedtuple("Pair", "mean std")


@pytest.mark.parametrize(
    "value, words",
    [
        (None, "None"),
        (3, "int 3"),
        (True, "bool True"),
        (0.5, "float 0.5"),
        ("a\x1b[31m", "str 'a\\x1b[31m'"),
        (torch.zeros(2, 3, 1, requires_grad=True), "float32[2, 3, 1]"),
        (torch.zeros((), device="meta"), "float32[] on meta"),
        ([torch.zeros(2), torch.zeros(3)], "list of 2 (float32[2], float32[3])"),
        (Pair(torch.zeros(2), 1), "Pair of 2 (float32[2], int 1)"),
        ({"loss": 0.5}, "{'loss': 0.5}"),
        (("0", "Linear", [(8, 3)], None), "('0', 'Linear', [(8, 3)], None)"),
        ([0.1 + 0.2] * 4, "list of 4 (float 0.3, float 0.3, float 0.3, …)"),
        ((), "empty tuple"),
        (np.zeros((2, 3)), "numpy float64[2, 3]"),
        (torch.float16, "dtype torch.float16"),
        (torch.Size([2, 3]), "Size of 2 (int 2, int 3)"),
        ("x" * 999, "str '" + "x" * 54 + "…"),
        (10 ** sys.get_int_max_str_digits(), "int"),
        (object(), "<object object>"),
        (torch.nn.Sequential(torch.nn.ReLU()), "Sequential( (0): ReLU() )"),
        (Misbehaving(), "Misbehaving"),
        (Sizeless([1]), "Sizeless"),
        (torch.zeros(2).as_subclass(Unreadable), "float32[2]"),
    ],
    ids=itertools.repeat("value"),
)
def test_describe(value: object, words: str) -> None:
    same = describe(value) == words  # outside the assert: pytest would print the value
    assert same, words


@pytest.mark.parametrize(
    "value", [Misbehaving(), Sizeless([1]), "x", {1: {2: {3: {4: 5}}}}, object(), Tensor]
)
def test_anything_may_come_back(value: object) -> None:
    assert told(value, numbers(2, 3)).startswith("wrong type from f(x)\n  yours   ")


def test_a_subclass_of_tensor_is_read_all_the_same() -> None:
    wanted = numbers(2, 3)
    assert explain(wanted.as_subclass(Unreadable), wanted, call="f(x)") is None
    assert told((-wanted).as_subclass(Unreadable), wanted).endswith("likely  the sign is flipped")
