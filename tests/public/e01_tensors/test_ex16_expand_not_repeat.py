"""The contract of expand_not_repeat."""

import torch

from grader.checks import expect_copy, expect_equal, expect_view


def test_worked_example(answer):
    """The worked examples of the statement come out."""
    prompt = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    wanted = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]] * 3)
    expect_equal(answer.share(prompt.clone(), 3), wanted, "share(prompt, 3)", dims="beams time dim")
    expect_equal(answer.own(prompt.clone(), 3), wanted, "own(prompt, 3)", dims="beams time dim")
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    summed = answer.add_positions(torch.zeros(2, 2, 2), table)
    expect_equal(summed, wanted[:2], "add_positions(x, table)", dims="batch time dim")


def test_share_is_a_view_and_own_is_not(answer):
    """What is shared lies in the prompt's memory, what is owned does not."""
    prompt = torch.ones(2, 3)
    expect_view(answer.share(prompt, 4), prompt, "share(prompt, 4)")
    expect_copy(answer.own(prompt, 4), prompt, "own(prompt, 4)")
