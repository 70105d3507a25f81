import copy
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Int
from torch import Tensor, nn


@dataclass(frozen=True)
class BadId:
    layer: str
    id: int
    place: tuple[int, ...]


def find_bad_id(model: nn.Module, inputs: Int[Tensor, "..."]) -> BadId | None:
    copied = copy.deepcopy(model).cpu()
    found: list[BadId] = []

    def look(name: str, table: nn.Embedding, args: tuple[Tensor, ...]) -> None:
        ids = args[0]
        bad = ((ids < 0) | (ids >= table.num_embeddings)).nonzero()  # (wrong, dims)
        if len(bad) and not found:
            place = tuple(bad[0].tolist())
            found.append(BadId(name, int(ids[place]), place))

    for name, module in copied.named_modules():
        if isinstance(module, nn.Embedding):
            module.register_forward_pre_hook(partial(look, name))
    try:
        with torch.no_grad():
            copied(inputs.cpu())
    except IndexError:
        if not found:
            raise
    return found[0] if found else None
