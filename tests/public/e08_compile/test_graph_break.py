"""The worked example of bounded_residual, and that it compiles."""

import math

import pytest
import torch

from grader.checks import expect_close
from grader.checks.compile.graphs import expect_compiles

X, UPDATE = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])
EXAMPLES = {
    "small enough": (UPDATE, 5.0, [[4.0, -1.0]], 3.0),
    "too large": (UPDATE, 1.0, [[2.0, 1.0]], 3.0),
    "infinite": (UPDATE / torch.zeros(2), 1.0, [[1.0, 2.0]], math.inf),
}


@pytest.mark.parametrize("case", EXAMPLES)
def test_worked_example(answer, case):
    """The worked examples of the statement come out: the sum, and the rms as a float32 tensor."""
    update, limit, wanted, wanted_rms = EXAMPLES[case]
    result, rms = answer.bounded_residual(X.clone(), update.clone(), limit)
    call = f"bounded_residual(x, update, {limit})"
    suspects = {"the update is added as it is": lambda: X + update, "the update is skipped": lambda: X}
    expect_close(result, torch.tensor(wanted), f"{call}[0]", dims="rows dim", suspects=suspects)
    expect_close(rms, torch.tensor(wanted_rms), f"{call}[1], the rms")


def test_one_graph(answer):
    """It compiles in one graph."""
    expect_compiles(answer.bounded_residual, [(X, UPDATE)], "bounded_residual(x, update)")
