"""The worked example of export_program."""

import torch
from torch import nn

from grader.checks import expect_close, expect_that


def test_worked_example(answer, tmp_path):
    """The worked example of the statement comes out."""
    model, path = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5)), tmp_path / "model.pt2"
    nn.init.constant_(model[0].weight, 2.0)
    nn.init.constant_(model[0].bias, 1.0)
    answer.export_program(model, torch.tensor([[7.0], [8.0]]), path)
    expect_that(path.is_file(), "export_program(model, example, path) writes no file")
    program, x = answer.load_program(path), torch.tensor([[1.0], [2.0], [3.0]])
    try:
        yours = program(x)
    except AssertionError as error:
        what = "the program does not take three rows, exported with an example of two"
        expect_that(False, what, yours=str(error).strip()[:100], likely="dynamic_shapes is missing")
    wanted = torch.tensor([[3.0], [5.0], [7.0]])
    dropped = {
        "the dropout is on in the program: call model.eval() before you export": lambda: torch.where(
            yours == 0, 0.0, 2 * wanted
        )
    }
    expect_close(yours.detach(), wanted, "load_program(path)(x)", suspects=dropped)
