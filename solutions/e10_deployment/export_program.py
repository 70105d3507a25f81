from collections.abc import Callable
from pathlib import Path

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def export_program(model: nn.Module, example: Shaped[Tensor, "rows *features"], path: str | Path) -> None:
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
    program = torch.export.load(path).module()
    return torch.no_grad()(program)
