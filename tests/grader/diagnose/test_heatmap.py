"""Where two tensors differ: the slice, and the small map."""

import pytest
import torch

from grader.diagnose.heatmap import differs, draw
from tests.grader.support.telling import numbers, told


@pytest.mark.parametrize(
    "cells, words",
    [
        (lambda m: m[0, 2], ", all of them at head=0, time=2"),
        (lambda m: m[1:], ", every one but the first along head"),
        (lambda m: m[:, :-1], ", every one but the last along time"),
        (lambda m: m[:, 3:, 1:], ", only where time >= 3"),
        (lambda m: m[:, :, ::2], ", only at every second key, from 0 on"),
        (lambda m: m.diagonal(0, 1, 2), ", all of them on the diagonal"),
        (lambda m: m.diagonal(2, 1, 2)[:, :3], ", all of them above the diagonal"),
        (lambda m: m[1, 1, 1], ""),
        (lambda m: m[:], ""),
    ],
)
def test_where_the_errors_are(cells: object, words: str) -> None:
    wrong = torch.zeros(3, 5, 6, dtype=torch.bool)
    cells(wrong).fill_(True)  # type: ignore[operator]
    wanted = numbers(3, 5, 6)
    yours = torch.where(wrong, numbers(6, 3, 5).reshape(3, 5, 6).flip(0) + 3, wanted)
    line = told(yours, wanted, dims=("head", "time", "key")).splitlines()[1]
    assert line.endswith(f"wrong in float32[3, 5, 6]{words}")


def test_picture_shows_the_first_errors() -> None:
    wanted = numbers(40, 50)
    yours = wanted.clone()
    yours[30, 45] = yours[32, 46] = 7.0
    right = "·" * 32
    rows = ("·" * 27 + "×" + "·" * 4, right, "·" * 28 + "×" + "·" * 3, right)
    drawn = draw(differs(yours, wanted, 0.0, 0.0))
    assert drawn and drawn.rows == rows
    assert "(rows 30..33 of 40, columns 18..49 of 50)" in told(yours, wanted)
    nothing, everything = (draw(differs(yours, wanted, 0.0, 0.0)) for yours in (wanted, wanted + 1))
    assert nothing is everything is None
    some = draw(differs(torch.tensor([1.0, 2.01]), torch.tensor([1.2, 2.0]), 0.01, 0.0))
    assert some and some.rows == ("×·",)
