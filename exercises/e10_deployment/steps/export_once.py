"""A model without its code: `export_once(model, x)` and `run_again(program, other)`.

A server runs models without their classes. `export_once` makes a program of the model: its operations and
weights, noted down while it runs once on the example x. `run_again` gives what the program makes of another
batch of the same shape.

    # the model: a dropout, then weight 2 and bias 1.5
    program = export_once(model, torch.tensor([[7.0]]))
    run_again(program, torch.tensor([[3.0]]))       # tensor([[7.5]])

- Dropout must be off in the program.

New here: `torch.export.export(model, (x,))` returns the program. `program.module()` can be called as the
model can.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def export_once(model: nn.Module, x: Float[Tensor, "rows features"]) -> torch.export.ExportedProgram:
    raise NotImplementedError


def run_again(
    program: torch.export.ExportedProgram, other: Float[Tensor, "rows features"]
) -> Float[Tensor, "rows outputs"]:
    raise NotImplementedError
