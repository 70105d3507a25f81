"""Answers to fully_shard_model that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BROADCAST = """    for t in (*model.parameters(), *model.buffers()):
        dist.broadcast(t.detach(), src=0)
"""
BLOCKS = """    for block in model.blocks:  # before the model, which takes what is left
        fully_shard(block, mesh=mesh, mp_policy=inner, reshard_after_forward=reshard_after_forward)
"""
ROOT = "    return fully_shard(model, mesh=mesh, mp_policy=outer, reshard_after_forward=False)\n"
FULL = """        whole = value.full_tensor() if isinstance(value, DTensor) else value  # on every rank: a collective
        if dist.get_rank() == 0:
            full[name] = whole.detach().clone()  # on one rank, whole may be the share itself
"""
ITEMS = "    for name, value in model.state_dict().items():\n"
INNER = "inner = MixedPrecisionPolicy(param_dtype=param_dtype, reduce_dtype=torch.float32)"
OUTER = "outer = MixedPrecisionPolicy(param_dtype, reduce_dtype=torch.float32, output_dtype=torch.float32)"
STATE = "    full = {}\n"

SPECIMENS = [
    Wrong(
        "the model alone: one unit, all of it fetched at once",
        edits=[(BLOCKS, "")],
        rung="job",
        check="test_units",
        says="all of the model is one unit",
    ),
    Wrong(
        "the blocks alone: the rest is neither cut up nor averaged",
        edits=[(ROOT, "    return model\n")],
        rung="job",
        check="test_steps",
        says="gradient of embed",
    ),
    Wrong(
        "never drops the weights",
        edits=[("reshard_after_forward=reshard_after_forward)", "reshard_after_forward=False)")],
        rung="job",
        check="test_units",
        says="all-gathers in a backward",
    ),
    Wrong(
        "always drops the weights",
        edits=[("reshard_after_forward=reshard_after_forward)", "reshard_after_forward=True)")],
        rung="job",
        check="test_units",
        says="reshard_after_forward=False",
    ),
    Wrong(
        "no policy at all",
        edits=[
            (BLOCKS, BLOCKS.replace("mp_policy=inner, ", "")),
            (ROOT, ROOT.replace("mp_policy=outer, ", "")),
        ],
        rung="job",
        check="test_param_dtype",
        says="its input",
    ),
    Wrong(
        "float32 out of every block, into a head in 16 bits",
        edits=[(INNER, INNER.replace(")", ", output_dtype=torch.float32)"))],
        rung="job",
        check="test_param_dtype",
        says="must have the same dtype",
    ),
    Wrong(
        "casts the model",
        edits=[(BROADCAST, BROADCAST + "    model.to(param_dtype)\n")],
        rung="job",
        check="test_param_dtype",
        says="dtypes of the parameters",
    ),
    Wrong(
        "the state dict as it is: this rank's shares",
        edits=[(FULL, "        if dist.get_rank() == 0:\n            full[name] = value\n")],
        rung="job",
        check="test_full_state_dict",
        says="no plain tensor",
    ),
    Wrong(
        "only rank 0 puts the state together",
        edits=[(STATE, STATE + "    if dist.get_rank() != 0:\n        return full\n")],
        rung="job",
        check="test_full_state_dict",
        says="rank 0",
    ),
    Wrong(
        "every rank gets the whole state",
        edits=[("        if dist.get_rank() == 0:\n", "        if True:\n")],
        rung="job",
        check="test_full_state_dict",
        says="on rank 1",
    ),
    Wrong(
        "parameters alone",
        edits=[(ITEMS, "    for name, value in model.named_parameters():\n")],
        rung="job",
        check="test_full_state_dict",
        says="keys",
    ),
    Wrong(
        "sends what would be saved, and no buffer that is not persistent",
        edits=[("(*model.parameters(), *model.buffers())", "model.state_dict().values()")],
        rung="fine",
        check="test_copies_that_differ",
        says="shrink",
    ),
    Wrong(
        "averages the gradients in 16 bits",
        edits=[
            # Without reduce_dtype, torch 2.15 takes float32, and older versions this.
            (INNER, INNER.replace("reduce_dtype=torch.float32", "reduce_dtype=param_dtype")),
            (OUTER, OUTER.replace("reduce_dtype=torch.float32", "reduce_dtype=param_dtype")),
        ],
        rung="fine",
        check="test_averages_in_float32",
        says="gradient of",
    ),
    Wrong(
        "returns 16 bits",
        edits=[(OUTER, OUTER.replace(", output_dtype=torch.float32", ""))],
        rung="fine",
        check="test_returns_float32",
        says="what the model returns",
    ),
    Wrong(
        "what was put together, without a copy",
        edits=[("whole.detach().clone()", "whole.detach()")],
        rung="fine",
        check="test_state_of_its_own",
        says="one step later",
    ),
    Wrong(
        "the parameters as a forward has left them",
        edits=[
            (
                ITEMS,
                """    found = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for name in model.state_dict():
        value = found[name]
""",
            )
        ],
        rung="fine",
        check="test_state_after_a_forward",
    ),
    Works(
        "the tutorial: one policy, and the tool of the checkpoints",
        code="""
import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def fully_shard_model(model, param_dtype=None, reshard_after_forward=True):
    fsdp_kwargs = {"reshard_after_forward": reshard_after_forward}
    if param_dtype is not None:
        fsdp_kwargs["mp_policy"] = MixedPrecisionPolicy(param_dtype=param_dtype, reduce_dtype=torch.float32)
    for layer in model.blocks:
        fully_shard(layer, **fsdp_kwargs)
    fully_shard(model, **fsdp_kwargs)
    return model


def full_state_dict(model):
    return get_model_state_dict(
        model=model,
        options=StateDictOptions(full_state_dict=True, cpu_offload=True),
    )
""",
    ),
    Works(
        "as torchtune gathers it: full_tensor for what is sharded; the default of the policy",
        code="""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def fully_shard_model(model, param_dtype=None, reshard_after_forward=True):
    policy = MixedPrecisionPolicy(param_dtype=param_dtype)
    for block in reversed(list(model.blocks)):
        fully_shard(block, mp_policy=policy, reshard_after_forward=reshard_after_forward)
    return fully_shard(model, mp_policy=policy)


def full_state_dict(model):
    cpu_state_dict = {}
    for name, param in model.state_dict().items():
        if hasattr(param, "_local_tensor"):
            param = param.full_tensor()
        if dist.get_rank() == 0:
            cpu_state_dict[name] = param.cpu()
    return cpu_state_dict
""",
    ),
    Right(
        "rank 0's state goes round after the model was cut up, and the tool of the checkpoints copied",
        code="""
import copy

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def fully_shard_model(model, param_dtype=None, reshard_after_forward=True):
    first = copy.deepcopy(model.state_dict()) if dist.get_rank() == 0 else {}
    mesh = DeviceMesh("cpu", list(range(dist.get_world_size())))
    options = dict(mesh=mesh, reshard_after_forward=reshard_after_forward)
    kinds = dict(param_dtype=param_dtype, reduce_dtype=param_dtype and torch.float32)
    for number in reversed(range(len(model.blocks))):
        fully_shard(model.blocks[number], mp_policy=MixedPrecisionPolicy(**kinds), **options)
    kinds["output_dtype"] = param_dtype and torch.float32
    fully_shard(model, mp_policy=MixedPrecisionPolicy(**kinds), **options)
    set_model_state_dict(
        model, first, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    )
    for buffer in model.buffers():
        dist.broadcast(buffer, 0)
    return model


def full_state_dict(model):
    found = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    return {name: t.clone() for name, t in found.items()}
""",
    ),
    Right(
        "objects sent round, dtypes cast by hooks, and everything put together before rank 0 keeps it",
        code="""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def fully_shard_model(model, param_dtype=None, reshard_after_forward=True):
    mine = [t.detach() for t in (*model.parameters(), *model.buffers())]
    box = [mine]
    dist.broadcast_object_list(box, src=0)
    for t, first in zip(mine, box[0]):
        t.copy_(first)
    mesh = dist.init_device_mesh("cpu", mesh_shape=(dist.get_world_size(),))
    policy = MixedPrecisionPolicy(param_dtype, torch.float32)
    for block in model.blocks.children():
        fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard_after_forward)
    fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard_after_forward)
    model.register_forward_hook(lambda module, args, result: result.float())
    return model


def full_state_dict(model):
    names, values = zip(*model.state_dict().items())
    values = [t.full_tensor() if hasattr(t, "full_tensor") else t for t in values]
    if dist.get_rank():
        return {}
    return dict(zip(names, (torch.empty_like(t).copy_(t) for t in values)))
""",
    ),
]
