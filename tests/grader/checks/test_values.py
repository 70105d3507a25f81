"""What is said where containers differ."""

import pytest
import torch

from grader.checks import CheckFailure, expect_equal


@pytest.mark.parametrize(
    ("yours", "wanted", "says"),
    [
        ([1, 3], [1, 2, 3], "differ  from item 1 on: int 3, wanted int 2"),
        ([True], (1,), "wrong type"),
        ((1.0, 2.0), (1.0,), "extra   item 1: float 2.0"),
        ([], ["a", "b", "c"], "lacks   item 0: str 'a' and 2 more"),
        ([[1], [2, 3]], [[1], [2]], r"wrong length of f\(x\)\[1\]"),
        ([torch.ones(2)], [torch.zeros(2), torch.ones(2)], r"from item 0 on: another float32\[2\]"),
        ([torch.ones(2)], [torch.ones(2)] * 2, r"lacks   item 1: float32\[2\]"),
    ],
)
def test_lists_of_unequal_length(yours, wanted, says):
    with pytest.raises(CheckFailure, match=says):
        expect_equal(yours, wanted, "f(x)")


@pytest.mark.parametrize(
    ("yours", "wanted", "call", "says"),
    [
        ({"a": 1}, {"a": 2}, "f(x, …)", "wrong result from f(x, …)['a']\n  yours   int 1\n"),
        ({"a": 1}, {"a": 2}, "f(x) with k=0", "wrong result from f(x) with k=0, at ['a']\n  yours   int 1\n"),
        (True, False, "whether x is a view", "wrong answer to whether x is a view\n"),
        ([[3, 4], [7]], [[3, 4], [9]], "the rows of f(x)", "wrong rows of f(x), at [1]\n  yours   [7]\n"),
        ((True, False), (True, True), "f(x)", "yours   (True, False)\n  wanted  (True, True)"),
        ((0, 1.0), (0, 1), "f(x)", "yours   (0, 1.0)\n  wanted  (0, 1)"),
        ((), torch.Size([1, 4]), "the shape of f(x)", "wrong shape of f(x)\n  yours   ()\n  wanted  (1, 4)"),
        ([0.1] * 40, [0.1] * 39 + [0.2], "f(x)", "wrong result from f(x)[39]\n  yours   float 0.1"),
        ([torch.zeros(2)], [torch.ones(2)], "f(x) of y", "wrong values from f(x) of y, at [0]\n"),
    ],
)
def test_the_item_that_differs_is_named_apart_from_the_call(yours, wanted, call, says):
    with pytest.raises(CheckFailure) as failure:
        expect_equal(yours, wanted, call)
    assert says in str(failure.value)


def test_counts_are_told_as_multiples():
    with pytest.raises(CheckFailure, match="  likely  twice what is wanted") as told:
        expect_equal(2022040, 1011020, "training_memory(model)['gradients']")
    assert not told.value.feedback.names_cause  # a check that knows where it comes from is told first
    with pytest.raises(CheckFailure, match="  likely  what is wanted is 3 times as much"):
        expect_equal(400, 1200, "the bytes of f(x)")
    for yours, wanted in ((2, 4), (401, 1200), (True, 4), (400.0, 1200)):
        with pytest.raises(CheckFailure) as told:
            expect_equal(yours, wanted, "f(x)")
        assert "likely" not in str(told.value)


def test_what_a_mistake_makes_need_not_be_a_tensor():
    suspects = {"a sum for a mean": lambda: 12.0}
    with pytest.raises(CheckFailure, match="  likely  a sum for a mean"):
        expect_equal(12.0, 3.0, "f(x)", suspects=suspects)
    with pytest.raises(CheckFailure) as told:
        expect_equal(11.0, 3.0, "f(x)", suspects=suspects)
    assert "likely" not in str(told.value)


def test_a_mistake_may_make_a_list_or_a_dict():
    suspects = {"in the order of the alphabet": lambda: {"names": ["a", "b"], "sizes": (torch.ones(2), 3)}}
    yours = {"names": ["a", "b"], "sizes": (torch.ones(2), 3)}
    wanted = {"names": ["b", "a"], "sizes": (torch.ones(2), 3)}
    with pytest.raises(CheckFailure, match="  likely  in the order of the alphabet"):
        expect_equal(yours, wanted, "f(x)", suspects=suspects)
    with pytest.raises(CheckFailure) as told:
        expect_equal({**yours, "sizes": (torch.zeros(2), 3)}, wanted, "f(x)", suspects=suspects)
    assert "alphabet" not in str(told.value)


def test_a_mistake_in_a_list_is_a_cause_where_a_pattern_was_seen():
    wanted = torch.tensor([1.1, -2.3, 3.7, 4.9, -5.3, 6.1])
    lost = {"keyword arguments are lost": lambda: [wanted / 4]}
    with pytest.raises(CheckFailure) as told:
        expect_equal([wanted / 4], [wanted], "f(x)", suspects=lost)
    assert told.value.feedback.names_cause
