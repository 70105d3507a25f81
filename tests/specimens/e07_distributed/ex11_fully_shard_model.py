"""Answers to fully_shard_model that people write."""

from grader.authoring.specimen import Right, Wrong

BROADCAST = """    for t in (*model.parameters(), *model.buffers()):
        whole = t.detach().contiguous()  # gloo takes memory as it lies, and knows not every dtype
        dist.broadcast(whole.view(-1).view(torch.uint8), src=0)
        t.detach().copy_(whole)
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
STATE = """    full = {}
"""

SPECIMENS = [
    Wrong(
        "the model alone: one unit, all of it fetched at once",
        edits=[(BLOCKS, "")],
        check="test_messages",
        says="messages of the forward",
    ),
    Wrong(
        "the blocks alone: the rest is neither cut up nor averaged",
        edits=[(ROOT, "    return model\n")],
        check="test_steps",
        says="on rank 0 of 3",
    ),
    Wrong(
        "the model first, which leaves nothing for the blocks",
        edits=[(BLOCKS, ""), (ROOT, ROOT.replace("return ", "") + BLOCKS + "    return model\n")],
        check="test_messages",
    ),
    Wrong(
        "never drops the weights",
        edits=[("reshard_after_forward=reshard_after_forward)", "reshard_after_forward=False)")],
        check="test_messages",
        says="all-gathers in the backward",
    ),
    Wrong(
        "always drops the weights",
        edits=[("reshard_after_forward=reshard_after_forward)", "reshard_after_forward=True)")],
        check="test_messages",
        says="reshard_after_forward=False",
    ),
    Wrong(
        "drops the weights of the rest where nothing is to be dropped",
        edits=[
            ("mp_policy=outer, reshard_after_forward=False", "mp_policy=outer, reshard_after_forward=True")
        ],
        check="test_messages",
        says="reshard_after_forward=False",
    ),
    Wrong(
        "no policy at all",
        edits=[
            (BLOCKS, BLOCKS.replace("mp_policy=inner, ", "")),
            (ROOT, ROOT.replace("mp_policy=outer, ", "")),
        ],
        check="test_dtypes",
        says="input and the weight of",
    ),
    Wrong(
        "the policy for the blocks alone",
        edits=[(OUTER, "outer = MixedPrecisionPolicy()")],
        check="test_dtypes",
        says="must have the same dtype",
    ),
    Wrong(
        "bfloat16 whatever is asked for",
        edits=[
            (INNER, INNER.replace("=param_dtype", "=param_dtype and torch.bfloat16")),
            (OUTER, OUTER.replace("(param_dtype", "(param_dtype and torch.bfloat16")),
        ],
        check="test_mixed_precision",
        says="in float16",
    ),
    Wrong(
        "averages the gradients in 16 bits",
        edits=[
            # Without reduce_dtype, torch 2.15 takes float32, and older versions this.
            (INNER, INNER.replace("reduce_dtype=torch.float32", "reduce_dtype=param_dtype")),
            (OUTER, OUTER.replace("reduce_dtype=torch.float32", "reduce_dtype=param_dtype")),
        ],
        check="test_mixed_precision",
        says="gradient of",
    ),
    Wrong(
        "returns 16 bits",
        edits=[(OUTER, OUTER.replace(", output_dtype=torch.float32", ""))],
        check="test_dtypes",
        says="what the model returns",
    ),
    Wrong(
        "casts the model",
        edits=[(BROADCAST, BROADCAST + "    model.to(param_dtype)\n")],
        check="test_dtypes",
        says="dtype of",
    ),
    Wrong(
        "takes it that the copies are equal",
        edits=[(BROADCAST, "")],
        check="test_copies_that_differ",
    ),
    Wrong(
        "leaves the buffers as they are",
        edits=[("(*model.parameters(), *model.buffers())", "model.parameters()")],
        check="test_copies_that_differ",
        says="buffer shift on rank 1",
    ),
    Wrong(
        "the state dict as it is: this rank's shares",
        edits=[(FULL, "        full[name] = value\n")],
        check="test_full_state_dict",
        says="on rank",
    ),
    Wrong(
        "only rank 0 puts the state together",
        edits=[(STATE, STATE + "    if dist.get_rank() != 0:\n        return full\n")],
        check="test_worked_example",
        says="waits in",
    ),
    Wrong(
        "every rank gets the whole state",
        edits=[("        if dist.get_rank() == 0:\n", "        if True:\n")],
        check="test_full_state_dict",
        says="on rank 1",
    ),
    Wrong(
        "parameters alone",
        edits=[(ITEMS, "    for name, value in model.named_parameters():\n")],
        check="test_full_state_dict",
        says="keys",
    ),
    Wrong(
        "what was put together, without a copy",
        edits=[("whole.detach().clone()", "whole.detach()")],
        check="test_full_state_dict",
        says="one step later",
    ),
    Wrong(
        "the tool as in the tutorial, which copies nothing on the CPU",
        edits=[
            (
                STATE + ITEMS + FULL + "    return full\n",
                """    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    return get_model_state_dict(model, options=options)
""",
            )
        ],
        check="test_full_state_dict",
        says="one step later",
    ),
    Wrong(
        "parameters and buffers by hand, with their graphs",
        edits=[
            (ITEMS, "    for name, value in [*model.named_parameters(), *model.named_buffers()]:\n"),
            ("whole.detach().clone()", "whole.clone()"),
        ],
        check="test_full_state_dict",
    ),
    Wrong(
        "saves in the dtype of the computation",
        edits=[("whole.detach().clone()", "whole.detach().clone().to(torch.bfloat16)")],
        check="test_full_state_dict",
    ),
    Wrong(
        "sends what would be saved, and no buffer that is not persistent",
        edits=[("(*model.parameters(), *model.buffers())", "model.state_dict().values()")],
        check="test_copies_that_differ",
        says="buffer mask",
    ),
    Wrong(
        "keeps the last block, which the backward needs first, and drops the rest instead",
        edits=[
            (
                "mp_policy=inner, reshard_after_forward=reshard_after_forward)",
                "mp_policy=inner, reshard_after_forward=reshard_after_forward and block is not model.blocks[-1])",
            ),
            (
                "mp_policy=outer, reshard_after_forward=False)",
                "mp_policy=outer, reshard_after_forward=reshard_after_forward)",
            ),
        ],
        check="test_messages",
        says="does not fetch all blocks",
    ),
    Wrong(
        "training mode after saving",
        edits=[(STATE, STATE + "    model.train()\n")],
        check="test_full_state_dict",
        says="a mode (train or eval) changes",
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
        check="test_full_state_dict",
    ),
    Wrong(
        "one rank needs no sharding",
        edits=[(BROADCAST, "    if dist.get_world_size() == 1:\n        return model\n" + BROADCAST)],
        check="test_full_state_dict",
        says="dtypes",
    ),
    Wrong(
        "frozen parameters stay each rank's own",
        edits=[
            (
                "for t in (*model.parameters(), *model.buffers()):",
                "for t in (*(p for p in model.parameters() if p.requires_grad), *model.buffers()):",
            )
        ],
        check="test_copies_that_differ",
    ),
    Right(
        "rank 0's state goes round after the model was cut up, and the tool of the checkpoints copied",
        code='''"""Another answer."""

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
''',
    ),
    Right(
        "objects sent round, dtypes cast by hooks, and everything put together before rank 0 keeps it",
        code='''"""Another answer."""

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
''',
    ),
    Wrong(
        "seeds all ranks alike, whose dropout is then the same",
        edits=[(BROADCAST, "    torch.manual_seed(0)\n" + BROADCAST)],
        check="test_steps",
        says="random stream",
    ),
]
