"""Answers to training_memory that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TENSORS = "    tensors = [*model.parameters(), *model.buffers()]  # each tensor once\n"
TRAINABLE = "    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)\n"
BYTES = '"parameters": sum(t.numel() * (dtype if t.is_floating_point() else t).itemsize for t in tensors),'
GRADIENTS = '"gradients": trainable * dtype.itemsize,'
STATE = '"optimizer": trainable * 2 * moved.itemsize,'
MASTER = '"master": trainable * 4 if has_master else 0,'
KEPT = '"activations": batch * saved * dtype.itemsize,'
HAS = "    has_master = master_weights and dtype.itemsize < 4\n"
RETURN = '    return {**table, "total": sum(table.values())}\n'
FIT = '    return max(0, budget - none["total"]) // one["activations"]\n'

SPECIMENS = [
    Wrong(
        "all parameters are trainable",
        edits=[(TRAINABLE, "    trainable = sum(p.numel() for p in model.parameters())\n")],
        check="test_frozen",
        says="frozen parameters have no gradient",
        rung="job",
    ),
    Wrong(
        "frozen parameters take nothing",
        edits=[
            (
                TENSORS,
                TENSORS.replace("*model.parameters()", "*(p for p in model.parameters() if p.requires_grad)"),
            )
        ],
        check="test_frozen",
        says="lie in memory as well",
        rung="job",
    ),
    Wrong(
        "parameters in the dtype that they have now",
        edits=[(BYTES, '"parameters": sum(t.nbytes for t in tensors),')],
        check="test_without_master",
        says="dtype that they have now",
        rung="job",
    ),
    Wrong(
        "float32 gradients, as under autocast",
        edits=[(GRADIENTS, '"gradients": trainable * 4,')],
        check="test_without_master",
        says="gradients are in dtype",
        rung="job",
    ),
    Wrong(
        "moments in dtype, beside the master",
        edits=[(STATE, STATE.replace("moved", "dtype"))],
        check="test_with_master",
        says="those of the master",
        rung="job",
    ),
    Wrong(
        "moments always in float32",
        edits=[(STATE, STATE.replace("moved.itemsize", "4"))],
        check="test_without_master",
        says="without a master",
        rung="job",
    ),
    Wrong(
        "the second moment forgotten",
        edits=[(STATE, STATE.replace(" * 2", ""))],
        check="test_without_master",
        says="two moments",
        rung="job",
    ),
    Wrong(
        "a master wherever dtype is narrow",
        edits=[(HAS, "    has_master = dtype.itemsize < 4\n")],
        check="test_without_master",
        says="nobody asked",
        rung="job",
    ),
    Wrong(
        "saved numbers taken for bytes",
        edits=[(KEPT, '"activations": batch * saved,')],
        check="test_without_master",
        says="not bytes",
        rung="job",
    ),
    Wrong(
        "rounds up",
        edits=[(FIT, '    return -(-max(0, budget - none["total"]) // one["activations"])\n')],
        check="test_largest_batch",
        says="one too many",
        rung="job",
    ),
    Wrong(
        "the room that the model takes forgotten",
        edits=[(FIT, '    return budget // one["activations"]\n')],
        check="test_largest_batch",
        says="takes its place",
        rung="job",
    ),
    Wrong(
        "negative batches",
        edits=[(FIT, '    return (budget - none["total"]) // one["activations"]\n')],
        check="test_nothing_fits",
        says="negative batch",
        rung="job",
    ),
    Wrong(
        "counts by the state dict: tied weights twice",
        edits=[(TENSORS, "    tensors = list(model.state_dict().values())\n")],
        check="test_tied_weights",
    ),
    Wrong(
        "integer buffers in dtype",
        edits=[(BYTES, '"parameters": sum(t.numel() for t in tensors) * dtype.itemsize,')],
        check="test_buffers",
    ),
    Wrong(
        "a master wherever one is asked for",
        edits=[(HAS, "    has_master = master_weights\n")],
        check="test_no_master_needed",
    ),
    Wrong(
        "divides in floating point",
        edits=[(FIT, '    return int(max(0, budget - none["total"]) / one["activations"])\n')],
        check="test_on_meta",
        says="as floats",
    ),
    Wrong(
        "converts the model and measures",
        edits=[(TENSORS, TENSORS.replace("*model.p", "*model.to(dtype).p"))],
        check="test_model_is_left_alone",
        says="dtype",
    ),
    Wrong(
        "any dtype",
        edits=[("    if not dtype.is_floating_point:\n", "    if dtype is None:\n")],
        check="test_bad_dtype",
        says="no error",
    ),
    Works(
        "parameters alone, bytes in a dict",
        code="""
import torch

def training_memory(model, batch, saved, dtype=torch.float32, master_weights=False):
    size = dtype.itemsize
    total = sum(p.numel() for p in model.parameters())
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    out = {
        "parameters": total * size,
        "gradients": trainable * size,
        "master": trainable * 4 if master_weights else 0,
        "optimizer": trainable * 2 * (4 if master_weights else size),
        "activations": batch * saved * size,
    }
    out["total"] = sum(out.values())
    return out

def largest_batch(model, saved, budget, dtype=torch.float32, master_weights=False):
    fixed = training_memory(model, 0, saved, dtype, master_weights)["total"]
    if fixed > budget:
        return 0
    return int((budget - fixed) / (saved * dtype.itemsize))
""",
    ),
    Works(
        "in loops: parameter by parameter, and one example more each time",
        code="""
import torch

BYTES = {torch.float64: 8, torch.float32: 4, torch.float16: 2, torch.bfloat16: 2}

def training_memory(model, batch, saved, dtype=torch.float32, master_weights=False):
    n_bytes = BYTES[dtype]
    memory = dict(parameters=0, gradients=0, master=0, optimizer=0, activations=batch * saved * n_bytes)
    for p in model.parameters():
        n = p.numel()
        memory["parameters"] += n * n_bytes
        if p.requires_grad:
            memory["gradients"] += n * n_bytes
            if master_weights:
                memory["master"] += n * 4
                memory["optimizer"] += n * 8
            else:
                memory["optimizer"] += n * 2 * n_bytes
    memory["total"] = sum(memory.values())
    return memory

def largest_batch(model, saved, budget, dtype=torch.float32, master_weights=False):
    batch = 0
    while training_memory(model, batch + 1, saved, dtype, master_weights)["total"] <= budget:
        batch += 1
    return batch
""",
    ),
    Right(
        "parameter by parameter, with bisection for the batch",
        code="""
import torch
from torch import nn


def training_memory(model, batch, saved, dtype=torch.float32, master_weights=False):
    if not torch.empty((), dtype=dtype).is_floating_point():
        raise ValueError("bad argument")
    width = torch.empty((), dtype=dtype).element_size()
    table = dict.fromkeys(["total", "activations", "parameters", "gradients", "optimizer", "master"], 0)
    seen = set()
    for module in model.modules():
        for t in [*module._parameters.values(), *module._buffers.values()]:
            if t is None or id(t) in seen:
                continue
            seen.add(id(t))
            table["parameters"] += t.numel() * (width if t.is_floating_point() else t.element_size())
            if isinstance(t, nn.Parameter) and t.requires_grad:
                table["gradients"] += t.numel() * width
                step = 4 if master_weights and width < 4 else width
                table["optimizer"] += t.numel() * step * 2
                if step != width:
                    table["master"] += t.numel() * step
    table["activations"] = saved * batch * width
    table["total"] = sum(table.values())
    return table


def largest_batch(model, saved, budget, dtype=torch.float32, master_weights=False):
    def fits(n):
        return training_memory(model, n, saved, dtype, master_weights)["total"] <= budget

    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
""",
    ),
    Right(
        "a copy on meta, converted",
        edits=[
            (
                TENSORS,
                "    import copy\n"
                "    memo = {id(t): nn.Parameter(t.detach().to('meta')) if isinstance(t, nn.Parameter) else t.to('meta')\n"
                "            for t in [*model.parameters(), *model.buffers()]}\n"
                "    moved_model = copy.deepcopy(model, memo).to(dtype)\n"
                "    tensors = [*moved_model.parameters(), *moved_model.buffers()]\n",
            ),
            (BYTES, '"parameters": sum(t.nbytes for t in tensors),'),
        ],
    ),
]
