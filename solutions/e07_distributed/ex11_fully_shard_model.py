"""Fully sharded data parallel (FSDP2): a rank keeps its rows of each weight, and fetches the rest for use.

A model that is too large for one device is cut up: of each parameter, rank r keeps the r-th share of the
rows. Before a block runs, the ranks put its weights together, and afterwards drop what is not theirs; so too
in the backward, where gradients are averaged and cut up on the way. The optimizer sees shares only.
`torch.distributed.fsdp.fully_shard` does all this for one unit at a time; you decide on the units:

    # two ranks; a model with a parameter `scale` (4,) and `blocks`, a ModuleList of three nn.Linear(4, 6)
    fully_shard_model(model)           # four units: each of the three blocks, and the rest (the scale)
    model.blocks[0].weight.to_local()  # on rank 0 rows 0 to 2 of the weight, on rank 1 rows 3 to 5
    full_state_dict(model)             # on rank 0 the whole: "blocks.0.weight" is (6, 4); on rank 1 {}

Rules:
- The caller has joined the ranks to the default process group (gloo; any number of ranks, also one). The
  model is on the CPU, so the mesh is one of "cpu", of all ranks. It is in float32, has its blocks in the
  ModuleList `model.blocks` (one or more), and parameters outside of them. It is called as a whole.
- Each block is a unit, and so is what the model has outside of its blocks. A forward costs one all-gather
  for each unit.
- With reshard_after_forward the blocks' weights are dropped after the forward and fetched again in the
  backward: one all-gather for each block, and at most one for the rest. Without, nothing is dropped
  before the backward, and nothing fetched in it. A backward costs one reduce-scatter for each unit as well.
  Nothing else is sent in training.
- The ranks' copies of the model may differ. Those of rank 0 count, parameters and buffers, those that are
  not persistent too: fully_shard does not see to that.
- With a param_dtype, such as bfloat16, all of the model computes in it: weights are fetched in it, and
  floating inputs cast to it. The shares, their gradients, the averaging of the gradients and what the model
  returns stay in float32. With None everything is in float32.
- fully_shard_model changes the model itself and returns it. The names of its parameters remain.
- full_state_dict is called by every rank, at any time between two steps. On rank 0 it returns what
  `state_dict()` of the model in one piece would hold: the same keys in the same order, buffers too, as plain
  tensors on the CPU that require no gradient; on the other ranks an empty dict. These tensors have memory of
  their own: what the model learns later does not change them. The model stays sharded and in its
  modes (train or eval), and training goes on.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor


def fully_shard_model(
    model: nn.Module, param_dtype: torch.dtype | None = None, reshard_after_forward: bool = True
) -> nn.Module:
    """Cut the model's parameters up over all ranks.

    Args:
        model: has a ModuleList `blocks`.
        param_dtype: what the model computes in; None for float32.
        reshard_after_forward: whether the blocks' weights are dropped between forward and backward.

    Returns:
        The same model, sharded.
    """
    for t in (*model.parameters(), *model.buffers()):
        whole = t.detach().contiguous()  # gloo takes memory as it lies, and knows not every dtype
        dist.broadcast(whole.view(-1).view(torch.uint8), src=0)
        t.detach().copy_(whole)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    inner = MixedPrecisionPolicy(param_dtype=param_dtype, reduce_dtype=torch.float32)
    for block in model.blocks:  # before the model, which takes what is left
        fully_shard(block, mesh=mesh, mp_policy=inner, reshard_after_forward=reshard_after_forward)
    # only the model's result is for others: between blocks, numbers stay in param_dtype
    outer = MixedPrecisionPolicy(param_dtype, reduce_dtype=torch.float32, output_dtype=torch.float32)
    return fully_shard(model, mesh=mesh, mp_policy=outer, reshard_after_forward=False)


def full_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """The state dict of a sharded model in one piece, on rank 0; {} on the others."""
    full = {}
    for name, value in model.state_dict().items():
        whole = value.full_tensor() if isinstance(value, DTensor) else value  # on every rank: a collective
        if dist.get_rank() == 0:
            full[name] = whole.detach().clone()  # on one rank, whole may be the share itself
    return full
