import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor


def fully_shard_model(
    model: nn.Module, param_dtype: torch.dtype | None = None, reshard_after_forward: bool = True
) -> nn.Module:
    for t in (*model.parameters(), *model.buffers()):
        dist.broadcast(t.detach(), src=0)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    inner = MixedPrecisionPolicy(param_dtype=param_dtype, reduce_dtype=torch.float32)
    for block in model.blocks:  # before the model, which takes what is left
        fully_shard(block, mesh=mesh, mp_policy=inner, reshard_after_forward=reshard_after_forward)
    # only the model's result is for others: between blocks, numbers stay in param_dtype
    outer = MixedPrecisionPolicy(param_dtype, reduce_dtype=torch.float32, output_dtype=torch.float32)
    return fully_shard(model, mesh=mesh, mp_policy=outer, reshard_after_forward=False)


def full_state_dict(model: nn.Module) -> dict[str, Tensor]:
    full = {}
    for name, value in model.state_dict().items():
        whole = value.full_tensor() if isinstance(value, DTensor) else value  # on every rank: a collective
        if dist.get_rank() == 0:
            full[name] = whole.detach().clone()  # on one rank, whole may be the share itself
    return full
