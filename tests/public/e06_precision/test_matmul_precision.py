"""The worked example of matmul_precision."""

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """Within the block it is "high", and afterwards "highest" again."""
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        with answer.matmul_precision("high"):
            expect_equal(torch.get_float32_matmul_precision(), "high", "the precision within the block")
        expect_equal(torch.get_float32_matmul_precision(), "highest", "the precision after the block")
    finally:
        torch.set_float32_matmul_precision(before)
