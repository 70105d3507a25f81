"""The suite of export_once."""

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def run(answer, weight, x):
    """What a program that was exported on the first of two batches makes of the second."""
    layer = nn.Linear(*weight.shape[::-1])
    layer.weight, layer.bias = nn.Parameter(weight.clone()), nn.Parameter(torch.full_like(weight[:, 0], 1.5))
    program = answer.export_once(nn.Sequential(nn.Dropout(1.0), layer).train(), x[0])
    is_one = isinstance(program, torch.export.ExportedProgram)
    expect_that(is_one, "export_once(model, x) returns no exported program", yours=program)
    result = answer.run_again(program, x[1])
    return result.detach() if isinstance(result, torch.Tensor) else result


def draw(gen):
    return {
        f"{rows} rows of {n} features": given(
            torch.randn(outputs, n, generator=gen), torch.randn(2, rows, n, generator=gen)
        )
        for rows, n, outputs in [(1, 2, 3), (4, 3, 1), (5, 1, 2)]
    }


def no_tuple(_weight, x):
    torch.export.export(nn.Linear(1, 1), x[0])


contract = Contract(
    "run_again(program, other)",
    reference=lambda weight, x: x[1] @ weight.T + 1.5,
    example=(given(torch.tensor([[2.0]]), torch.tensor([[[7.0]], [[3.0]]])), [[7.5]]),
    inputs=draw,
    suspects={
        "the dropout is on in the program: call model.eval() before you export": (
            lambda weight, x: 0 * (x[1] @ weight.T) + 1.5
        ),
        "the inputs are to be a tuple: `(x,)`, and not `x` or `(x)`": no_tuple,
        "this is what the program makes of the example, and not of the other batch": (
            lambda weight, x: x[0] @ weight.T + 1.5
        ),
    },
    use=run,
)
