"""A file that serves the model without the code of the model, for batches of any size.

    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Dropout(0.5))     # weight 2, bias 1
    export_program(model, torch.tensor([[7.0]]), "model.pt2")                     # an example of one row

    # on a machine that has torch, and none of our code
    serve = load_program("model.pt2")
    serve(torch.tensor([[1.0], [2.0], [3.0]]))                                    # tensor([[3.], [5.], [7.]])

`torch.export` runs the model once on an example, and writes down the operations: the graph, with the weights.
What was a number in that run stays a number, unless it is told to be a variable.

Rules:
- The file is one that `torch.export.save` writes: `torch.export.load(path).module()` gives what the model
  gives in evaluation mode, for every number of rows from 1 up, whatever the number of rows in the example;
  also where that is 1 (torch takes the sizes 0 and 1 for constants). All other sizes are those of the
  example.
- The model is any module that torch can export, called with one tensor, whatever its forward calls that.
  Dtypes are those of model and example: float64, or int64 tokens.
- Where the model cannot be exported, the error that torch raises comes through: where it branches on values,
  and also where it works for the number of rows in the example alone. A file that only takes that many rows
  is never written. No file is then left at path, but an older one is still there as it was.
- When export_program returns or raises, each layer of the model has the mode that it had before. Neither the
  model's state nor the example has changed.
- What load_program returns takes a tensor and gives the result, which requires no gradient and which later
  calls leave as it is. Who records graphs elsewhere still does, and who does not, does not. All that it
  needs is the file. FileNotFoundError if there is none.
"""

from collections.abc import Callable
from pathlib import Path

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def export_program(model: nn.Module, example: Shaped[Tensor, "rows *features"], path: str | Path) -> None:
    """Write the model, in evaluation mode, to a file that needs none of its code.

    Args:
        model: maps (rows, *features) to (rows, *outputs).
        example: an input, with at least one row.
        path: the file to make or to replace; its name ends in .pt2.
    """
    if len(example) == 1:
        example = torch.cat([example, example])  # a size of 1 would be taken for a constant
    modes = [(layer, layer.training) for layer in model.modules()]
    try:
        model.eval()
        # with a name of its own, the number of rows is a variable, or else an error
        program = torch.export.export(model, (example,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    finally:
        for layer, training in modes:
            layer.training = training
    torch.export.save(program, path)


def load_program(path: str | Path) -> Callable[[Tensor], Tensor]:
    """The function in a file that `export_program` has written.

    Args:
        path: the file.

    Raises:
        FileNotFoundError: there is no such file.
    """
    program = torch.export.load(path).module()
    return torch.no_grad()(program)
