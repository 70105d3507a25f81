"""What plain data has in common with what is wanted: facts, which need no proof."""

import numpy as np
import pytest
import torch

from grader.checks import CheckFailure, expect_equal, expect_gradients, expect_number
from grader.diagnose.causes import Pattern, cause_of_number, cause_of_plain

MANY = "many are True or False: `.all()` asks whether all are, `.any()` whether one is"


@pytest.mark.parametrize(
    "yours, wanted, likely",
    [
        ("torch.float32", torch.float32, "this is its text: return the thing itself, without `str()`"),
        ("cpu", torch.device("cpu"), "this is its text: return the thing itself, without `str()`"),
        ("cpu", "cuda", ""),
        (torch.device("cpu"), torch.device("meta"), "made on or moved to the CPU: device=x.device?"),
        (np.ones(2), [1.0, 1.0], "a NumPy array: `.tolist()` makes a Python list, of a tensor as well"),
        (torch.tensor([True, False]), False, MANY),
        (torch.ones(4, 3), 4, "many numbers, where their length is wanted: `len(…)` counts the rows"),
        (torch.ones(4), 4, "many numbers, where one is wanted: `.sum()` or `.mean()` makes one of them"),
        (torch.ones(2), 1.0, "many numbers, where one is wanted: `.sum()` or `.mean()` makes one of them"),
        ([4, 2], (4, 2), "a list, where a tuple is wanted: `tuple(…)`"),
        (torch.Size([4, 2]), [4, 2], "a tuple, where a list is wanted: `list(…)`"),
        ([4, 2, 7], (4, 2), ""),
        ([1, 2, 3], [3, 2, 1], "the right items, in reverse"),
        (["a", "b", "c"], ["b", "a", "c"], "the right items, in another order"),
        ([1, 2], [2, 1], ""),
        ([1, 2, 3], [1, 2, 4], ""),
        (True, 1, "the right number, where an int is wanted: `int(…)`"),
        (2, 2.0, "the right number, where a float is wanted: `float(…)`"),
        (3, 2.0, ""),
        (float("nan"), 2, ""),
        (None, 2, ""),
    ],
)
def test_what_is_so_of_plain_data(yours, wanted, likely):
    assert cause_of_plain(yours, wanted) == likely


def test_items_in_another_order_are_a_pattern():
    assert isinstance(cause_of_plain([1, 3, 2], [1, 2, 3]), Pattern)
    with pytest.raises(CheckFailure) as told:
        expect_equal([1, 3, 2], [1, 2, 3], "f(x)")
    assert (told.value.feedback.likely, told.value.feedback.kind) == (
        "the right items, in another order",
        "pattern",
    )


@pytest.mark.parametrize(
    "yours, wanted, likely",
    [
        (2 * 0.731, 0.731, "every value is twice the wanted one"),
        (-0.731, 0.731, "the sign is flipped"),
        (0.731**2, 0.731, "this is the square of the wanted values: a missing square root?"),
        (0.8, 0.731, None),
        (2.0, 1.0, None),  # any two small numbers are in such a relation
    ],
)
def test_a_number_alone_proves_something_where_it_has_many_digits(yours, wanted, likely):
    assert cause_of_number(yours, wanted) == likely
    with pytest.raises(CheckFailure) as told:
        expect_number(yours, wanted, "loss from f(x)")
    assert told.value.feedback.likely == (likely or "")


def test_keys_that_differ_are_named():
    with pytest.raises(CheckFailure) as told:
        expect_equal({"a": 1, "c": 2}, {"a": 1, "b": 2}, "f(x)")
    assert dict(told.value.feedback.facts) == {
        "yours": "['a', 'c']",
        "wanted": "['a', 'b']",
        "lacks": "'b'",
        "extra": "'c'",
    }


def test_a_wrong_gradient_of_right_values_is_cut_from_the_graph():
    x = torch.linspace(-1, 2, 12).reshape(3, 4)

    def compare(answer):
        with pytest.raises(CheckFailure) as told:
            expect_gradients(
                answer, [x], lambda x: x * x.mean(), gen=torch.Generator(), call="f(x)", names="x"
            )
        return told.value.feedback.likely

    assert compare(lambda x: x * x.mean().detach()).startswith(
        "right values, so a part is cut from the graph"
    )
    assert not compare(lambda x: x * x.mean() + 0.1 * x.square()).startswith("right values")
