"""Numbers that answers return: what is no float as well."""

import pytest
import torch

from grader.checks import CheckFailure, expect_number

SUSPECTS = {
    "not divided": lambda: 3,
    "one for each": lambda: torch.tensor([True, False]),
    "raises": lambda: 1 / 0,
}


@pytest.mark.parametrize(
    ("yours", "likely"),
    [
        (3, "not divided"),
        (torch.tensor([True, False]), "one for each"),
        (torch.tensor(0.75), "`.item()` makes a Python number"),
        (torch.tensor([True, True]), ""),
        (None, ""),
    ],
)
def test_a_known_mistake_is_named_where_no_float_came(yours, likely):
    with pytest.raises(CheckFailure) as failure:
        expect_number(yours, 0.75, "share(a, b)", suspects=SUSPECTS)
    told = str(failure.value)
    assert "wrong type from share(a, b)" in told and likely in told
    assert ("not divided" in told, "one for each" in told) == (
        likely == "not divided",
        likely == "one for each",
    )
