"""Fully sharded data parallel (FSDP2): each rank keeps its rows of every weight.

A model too large for one device is cut up. Before a block runs, the ranks put its weights together, and drop them
afterwards. `torch.distributed.fsdp.fully_shard` does this for one unit at a time. You decide on the units.

    # two ranks; a model with a parameter `scale` (4,) and `blocks`, a ModuleList of three nn.Linear(4, 6)
    fully_shard_model(model)           # four units: each of the three blocks, and the rest (the scale)
    model.blocks[0].weight.to_local()  # on rank 0 rows 0 to 2 of the weight, on rank 1 rows 3 to 5
    full_state_dict(model)             # on rank 0 the whole: "blocks.0.weight" is (6, 4); on rank 1 {}

- The model is on the CPU, in float32. Each block is a unit, the rest one more: a forward fetches each once.
- With reshard_after_forward, blocks are dropped then and fetched again in the backward; without, not.
- With a param_dtype all layers compute in it. Shares and their gradients stay in float32.
- full_state_dict, called on every rank, gives rank 0 what `state_dict()` of the whole model has, in plain tensors.

Fine print:
- The ranks' copies may differ. Those of rank 0 count: parameters and all buffers.
- With a param_dtype gradients are averaged in float32, and the model returns float32.
- full_state_dict keeps the order of the keys. Its tensors require no gradient and have memory of their own: what
  the model learns later does not change them. It works after a forward without a backward, too.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def fully_shard_model(
    model: nn.Module, param_dtype: torch.dtype | None = None, reshard_after_forward: bool = True
) -> nn.Module:
    """The model itself, with its parameters cut up over all ranks; param_dtype None is float32."""
    raise NotImplementedError


def full_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """The state dict of a sharded model in one piece, on rank 0; {} on the others."""
    raise NotImplementedError
