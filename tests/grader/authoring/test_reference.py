"""docs/checks.md, made of the docstrings."""

import pytest

from grader.authoring import reference


def test_the_page_is_up_to_date() -> None:
    written = reference.PAGE.read_text("utf-8")
    assert written == reference.page(), "write it anew: python -m grader.authoring.reference"


@pytest.mark.parametrize("helper", reference.helpers(), ids=lambda helper: helper.name)
def test_every_helper_is_told_with_an_example(helper: reference.Helper) -> None:
    assert helper.doc and helper.example, f"{helper.home}.{helper.name} lacks a docstring, or its Example:"
    assert f"### `{helper.name}`" in reference.page(), f"no group of reference.GROUPS has {helper.home}"
