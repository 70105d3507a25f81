"""Export a program: a file that serves the model without the code of the model.

    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Dropout(0.5))     # weight 2, bias 1
    export_program(model, torch.tensor([[7.0], [8.0]]), "model.pt2")
    # on a machine that has torch, and none of our code
    serve = load_program("model.pt2")
    serve(torch.tensor([[1.0], [2.0], [3.0]]))                                    # tensor([[3.], [5.], [7.]])

`torch.export` runs the model once on an example, and writes down the operations: the graph, with the weights. What was
a number in that run stays a number, unless it is told to be a variable.

- The file is one that `torch.export.save` writes: what is loaded gives what the model gives in evaluation mode.
- It takes every number of rows from 1 up, whatever the number in the example; all other sizes are those of the example.
- The model is called with one tensor, whatever its forward calls that. Dtypes are those of model and example.

Fine print:
- The example may have one row: torch takes the sizes 0 and 1 for constants, so it needs a second one.
- Any number means any: no `max=` on the dimension.
- Afterwards, also after an error, each layer has the mode that it had before.
- If a model cannot be exported, the error of torch comes through, and a file that was at path stays. So it is with one
  that works for the example's number of rows alone: `Dim.AUTO` would overlook that.
- What load_program returns records no graph: its result requires no gradient.
"""

from collections.abc import Callable
from pathlib import Path

from jaxtyping import Shaped
from torch import Tensor, nn


def export_program(model: nn.Module, example: Shaped[Tensor, "rows *features"], path: str | Path) -> None:
    """Write the model, in evaluation mode, to a file that needs none of its code."""
    raise NotImplementedError


def load_program(path: str | Path) -> Callable[[Tensor], Tensor]:
    """The function in a file that `export_program` has written."""
    raise NotImplementedError
