"""Mistakes that a check knows by name are told where an answer made them, and nowhere else."""

import pytest
import torch

from grader.checks import CheckFailure, expect_close, expect_equal, expect_number
from grader.checks.gradients import expect_gradient
from tests.grader.support.telling import numbers, told

X = numbers(4, 6)
SUSPECTS = {
    "rows for columns": lambda: X.softmax(0),
    "not normalised": lambda: X.exp(),
}


def test_the_one_that_fits_is_told():
    message = told(X.exp(), X.softmax(1), suspects=SUSPECTS)
    assert message.splitlines()[-1] == "  likely  not normalised"


def test_rounding_does_not_matter():
    yours = (X.double().exp() * (1 + 1e-7)).float()
    assert "likely  not normalised" in told(yours, X.softmax(1), rtol=1e-5, suspects=SUSPECTS)


def test_a_suspect_comes_before_what_is_found_by_looking():
    suspects = {"the sum was forgotten": lambda: 2 * X}
    assert "twice" in told(2 * X, X)
    assert "likely  the sum was forgotten" in told(2 * X, X, suspects=suspects)


def test_one_that_does_not_fit_is_not_told():
    yours = X.softmax(0)
    yours[0, 0] += 0.5
    assert "rows for columns" not in told(yours, X.softmax(1), suspects=SUSPECTS)


def test_one_that_is_right_here_says_nothing():
    yours = X.clone()
    yours[1, 2] += 1e-3
    assert "likely" not in told(yours, X, atol=1e-2 / 11, suspects={"as it should be": lambda: X})


def test_few_small_numbers_prove_nothing():
    wanted, yours = torch.tensor([1, 0, 1]), torch.tensor([0, 1, 1])
    assert "chance" not in told(yours, wanted, suspects={"chance": lambda: yours})


def test_a_wrong_shape_can_be_told():
    message = told(X.exp(), X.exp().sum(1), suspects=SUSPECTS)
    assert message.splitlines()[0].startswith("wrong shape")
    assert "likely  not normalised" in message


def test_wrong_dtype_and_values():
    assert "likely  not normalised" in told(X.exp().double(), X.softmax(1), suspects=SUSPECTS)


def test_one_that_cannot_be_made_is_left_out():
    suspects = {"spoiled": lambda: X @ X, **SUSPECTS}
    assert "likely  not normalised" in told(X.exp(), X.softmax(1), suspects=suspects)


def test_nothing_is_made_for_a_right_answer():
    suspects = {"never": lambda: pytest.fail("made for a right answer")}
    expect_close(X.clone(), X, "f(x)", suspects=suspects)
    expect_close(X * (1 + 1e-7), X, "f(x)", suspects=suspects)
    expect_equal(X.clone(), X, "f(x)", suspects=suspects)


@pytest.mark.parametrize(
    "check",
    [
        lambda yours, **options: expect_close(yours, X, "f(x)", **options),
        lambda yours, **options: expect_equal(yours, X, "f(x)", **options),
        lambda yours, **options: expect_gradient(yours, X, "x", **options),
    ],
    ids=["close", "equal", "gradient"],
)
def test_checks_pass_them_on(check):
    with pytest.raises(CheckFailure, match="likely  each is squared and shifted"):
        check(X**2 + 3, suspects={"each is squared and shifted": lambda: X**2 + 3})


def test_a_suspect_needs_less_than_a_guess():
    yours, wanted = torch.tensor([[-9.3]]), torch.tensor([[0.7]])
    suspects = {"an old gradient counts": lambda: torch.tensor([[-9.3]])}
    assert "likely  an old gradient counts" in told(yours, wanted, suspects=suspects)


def test_one_number_may_have_lost_the_digits_that_cancelled():
    suspects = {"the mean is squared": lambda: torch.tensor(7.3171e-05)}
    assert "likely  the mean is squared" in told(
        torch.tensor(7.3173e-05), torch.tensor(0.2), suspects=suspects
    )


def test_numbers_have_suspects_too():
    suspects = {"a mistake that raises": lambda: [][0], "a sum for a mean": lambda: 4 * 1.75}
    expect_number(1.75, 1.75, "loss from f(x)", suspects=suspects)
    with pytest.raises(CheckFailure) as told_why:
        expect_number(7.0, 1.75, "loss from f(x)", suspects=suspects)
    assert str(told_why.value) == (
        "wrong loss from f(x)\n  yours   7\n  wanted  1.75\n  likely  a sum for a mean"
    )
    with pytest.raises(CheckFailure) as other:
        expect_number(7.5, 1.75, "loss from f(x)", suspects=suspects)
    assert "likely" not in str(other.value)
    with pytest.raises(CheckFailure, match="wrong type from loss"):
        expect_number(torch.tensor(1.75), 1.75, "loss from f(x)")


def test_a_wrong_dtype_has_suspects_too():
    """Of few small numbers, which prove nothing, and where the mistake has this dtype."""
    zeros = torch.zeros(2, dtype=torch.int64)
    suspects = {"a bool": lambda: torch.zeros(2, dtype=torch.bool), "decimal": lambda: torch.zeros(2)}
    assert "likely  decimal" in told(torch.zeros(2), zeros, suspects=suspects)
    assert "likely" not in told(torch.zeros(2, dtype=torch.int32), zeros, suspects=suspects)
    swapped = {"the places come first": lambda: torch.tensor([1, 0])}
    assert "likely  the places" in told(torch.tensor([1, 0]), torch.tensor([0.7, 0.9]), suspects=swapped)


def test_a_wrong_shape_speaks_for_a_suspect():
    suspects = {"rows and columns are swapped": lambda: torch.zeros(3, 2)}
    assert "likely  rows and columns" in told(torch.zeros(3, 2), torch.zeros(2, 3), suspects=suspects)
    assert "likely  rows and columns" not in told(torch.zeros(3, 3), torch.zeros(2, 3), suspects=suspects)


@pytest.mark.parametrize(("wanted", "how"), [(1.75, ".item()"), (2, ".item()"), ([1.75], ".tolist()")])
def test_a_tensor_for_plain_data_is_told(wanted, how):
    expect = expect_number if type(wanted) is float else expect_equal
    with pytest.raises(CheckFailure) as told_why:
        expect(torch.tensor(wanted), wanted, "f(x)")
    assert how in told_why.value.feedback.likely


def test_nothing_at_all_can_be_told():
    suspects = {"it raises": lambda: 1 // 0, "rows": lambda: X.softmax(0), "never returned": lambda: None}
    assert told(None, X, suspects=suspects).splitlines()[-1] == "  likely  never returned"
    assert "`return`" in told(None, X, suspects=SUSPECTS)
