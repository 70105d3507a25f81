"""Answers to training_memory that people write."""

from grader.authoring.specimen import Right, Wrong

TENSORS = "    tensors = [*model.parameters(), *model.buffers()]  # each tensor once\n"
TRAINABLE = "    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)\n"
BYTES = '"parameters": sum(t.numel() * (dtype if t.is_floating_point() else t).itemsize for t in tensors),'
GRADIENTS = '"gradients": trainable * dtype.itemsize,'
STATE = '"optimizer": trainable * STATES[optimizer] * moved.itemsize,'
MASTER = '"master": trainable * 4 if has_master else 0,'
KEPT = '"activations": batch * saved * dtype.itemsize,'
HAS = "    has_master = master_weights and dtype.itemsize < 4\n"
RETURN = '    return {**table, "total": sum(table.values())}\n'
FIT = '    return max(0, budget - none["total"]) // one["activations"]\n'
BOTH = "(training_memory(model, n, saved, dtype, optimizer, master_weights) for n in (0, 1))"
NEGATIVE = "    if batch < 0 or saved < 0:\n"

SPECIMENS = [
    Wrong(
        "counts on master weights in the batch where nobody asks for them",
        edits=[
            (
                "    master_weights: bool = False,\n) -> int:",
                "    master_weights: bool = True,\n) -> int:",
            )
        ],
        check="test_largest_batch",
    ),
    Wrong(
        "one tensor for each memory",
        edits=[
            (
                TENSORS,
                TENSORS.replace(
                    "[*model.parameters(), *model.buffers()]",
                    "[*{t.untyped_storage()._cdata: t for t in [*model.parameters(), *model.buffers()]}.values()]",
                ),
            )
        ],
        check="test_once",
        says="parts of one tensor",
    ),
    Wrong(
        "adds up in floating point",
        edits=[
            (
                TRAINABLE,
                TRAINABLE.replace("p.numel() for", "float(p.numel()) for")
                .replace("sum", "int(sum")
                .replace("\n", ")\n"),
            )
        ],
        check="test_on_meta",
        says="300000001",
    ),
    Wrong(
        "the name of the optimizer in any case",
        edits=[
            (
                "    if optimizer not in STATES:\n",
                "    optimizer = optimizer.lower()\n    if optimizer not in STATES:\n",
            )
        ],
        check="test_bad_input",
        says="AdamW",
    ),
    Wrong(
        "divides in floating point",
        edits=[
            (
                FIT,
                FIT.replace("return max", "return int(max").replace(
                    ' // one["activations"]', ' / one["activations"])'
                ),
            )
        ],
        check="test_on_meta",
    ),
    Wrong(
        "gradients of frozen parameters",
        edits=[(GRADIENTS, '"gradients": sum(p.numel() for p in model.parameters()) * dtype.itemsize,')],
        check="test_trainable",
    ),
    Wrong(
        "optimizer state for frozen parameters",
        edits=[(STATE, STATE.replace("trainable", "sum(p.numel() for p in model.parameters())"))],
        check="test_trainable",
    ),
    Wrong(
        "a master of frozen parameters",
        edits=[(MASTER, MASTER.replace("trainable", "sum(p.numel() for p in model.parameters())"))],
        check="test_trainable",
    ),
    Wrong(
        "frozen parameters take nothing",
        edits=[
            (
                TENSORS,
                TENSORS.replace("*model.parameters()", "*(p for p in model.parameters() if p.requires_grad)"),
            )
        ],
        check="test_trainable",
    ),
    Wrong(
        "trainable in training mode only",
        edits=[
            (
                TRAINABLE,
                TRAINABLE.replace("if p.requires_grad", "if p.requires_grad and torch.is_grad_enabled()"),
            )
        ],
        check="test_trainable",
        says="under no_grad",
    ),
    Wrong(
        "counts what has a gradient",
        edits=[(TRAINABLE, TRAINABLE.replace("p.requires_grad", "p.grad is not None"))],
        check="test_real_models",
    ),
    Wrong(
        "counts by the state dict: tied twice, buffers that are not saved never",
        edits=[(TENSORS, "    tensors = list(model.state_dict().values())\n")],
        check="test_real_models",
    ),
    Wrong(
        "forgets buffers",
        edits=[(TENSORS, "    tensors = list(model.parameters())\n")],
        check="test_real_models",
    ),
    Wrong(
        "integer buffers in dtype",
        edits=[(BYTES, '"parameters": sum(t.numel() for t in tensors) * dtype.itemsize,')],
        check="test_real_models",
    ),
    Wrong(
        "integer parameters in dtype",
        edits=[(BYTES, BYTES.replace("(dtype if", "(dtype if isinstance(t, nn.Parameter) or"))],
        check="test_real_models",
    ),
    Wrong(
        "each tensor in the dtype that it has now",
        edits=[(BYTES, '"parameters": sum(t.numel() * t.itemsize for t in tensors),')],
        check="test_dtypes_before",
    ),
    Wrong(
        "buffers in the dtype that they have now",
        edits=[
            (
                BYTES,
                '"parameters": sum(t.numel() * (dtype if isinstance(t, nn.Parameter) else t).itemsize for t in tensors),',
            )
        ],
        check="test_dtypes_before",
    ),
    Wrong(
        "tied parameters twice",
        edits=[
            (
                TENSORS,
                "    tensors = [*model.parameters(), *(t for _, t in model.named_buffers(remove_duplicate=False))]\n",
            )
        ],
        check="test_once",
    ),
    Wrong(
        "gradients of tied parameters twice",
        edits=[
            (
                TRAINABLE,
                "    trainable = sum(p.numel() for _, p in model.named_parameters(remove_duplicate=False) if p.requires_grad)\n",
            )
        ],
        check="test_once",
    ),
    Wrong(
        "counts equal layers once",
        edits=[
            (
                TRAINABLE,
                "    trainable = sum({n.split('.')[-1] + str(p.shape): p.numel() for n, p in model.named_parameters() if p.requires_grad}.values())\n",
            )
        ],
        check="test_once",
    ),
    Wrong(
        "float32 gradients",
        edits=[(GRADIENTS, '"gradients": trainable * 4,')],
        check="test_real_models",
    ),
    Wrong(
        "gradients for the master",
        edits=[(GRADIENTS, '"gradients": trainable * moved.itemsize,')],
        check="test_real_models",
    ),
    Wrong(
        "state in dtype, beside the master",
        edits=[(STATE, STATE.replace("moved", "dtype"))],
        check="test_real_models",
    ),
    Wrong(
        "state always in float32",
        edits=[(STATE, STATE.replace("moved.itemsize", "4"))],
        check="test_real_models",
    ),
    Wrong(
        "the second moment of Adam forgotten", edits=[('"adamw": 2', '"adamw": 1')], check="test_real_models"
    ),
    Wrong("two moments for momentum", edits=[('"momentum": 1', '"momentum": 2')], check="test_real_models"),
    Wrong("momentum without a state", edits=[('"momentum": 1', '"momentum": 0')], check="test_real_models"),
    Wrong("the gradient as a state of SGD", edits=[('"sgd": 0', '"sgd": 1')], check="test_real_models"),
    Wrong(
        "a master wherever one is asked for",
        edits=[(HAS, "    has_master = master_weights\n")],
        check="test_real_models",
    ),
    Wrong(
        "a master wherever dtype is narrow",
        edits=[(HAS, "    has_master = dtype.itemsize < 4\n")],
        check="test_real_models",
    ),
    Wrong(
        "a master for 16 bits only",
        edits=[(HAS, "    has_master = master_weights and dtype.itemsize == 2\n")],
        check="test_dtypes_before",
    ),
    Wrong(
        "a master in dtype",
        edits=[(MASTER, MASTER.replace("* 4", "* dtype.itemsize"))],
        check="test_real_models",
    ),
    Wrong(
        "the master instead of the parameters",
        edits=[(BYTES, BYTES.replace("sum(", "0 if has_master else sum("))],
        check="test_real_models",
    ),
    Wrong(
        "activations of one example",
        edits=[(KEPT, '"activations": saved * dtype.itemsize,')],
        check="test_real_activations",
    ),
    Wrong(
        "activations in float32",
        edits=[(KEPT, '"activations": batch * saved * 4,')],
        check="test_real_activations",
    ),
    Wrong(
        "activations in the dtype of the master",
        edits=[(KEPT, '"activations": batch * saved * moved.itemsize,')],
        check="test_trainable",
    ),
    Wrong(
        "saved numbers taken for bytes",
        edits=[(KEPT, '"activations": batch * saved,')],
        check="test_real_activations",
    ),
    Wrong(
        "activations where there is something to train only",
        edits=[(KEPT, '"activations": batch * saved * dtype.itemsize if trainable else 0,')],
        check="test_trainable",
    ),
    Wrong(
        "a total without activations",
        edits=[(RETURN, RETURN.replace("sum(table.values())", 'sum(table.values()) - table["activations"]'))],
        check="test_defaults",
    ),
    Wrong(
        "no total",
        edits=[(RETURN, '    return {**table, "total": table["parameters"]}\n')],
        check="test_defaults",
    ),
    Wrong(
        "megabytes",
        edits=[
            (
                RETURN,
                '    table["total"] = sum(table.values())\n    return {name: size / 2**20 for name, size in table.items()}\n',
            )
        ],
        check="test_real_models",
    ),
    Wrong(
        "AdamW is not the default",
        edits=[
            (
                '    optimizer: str = "adamw",\n    master_weights: bool = False,\n) -> dict',
                '    optimizer: str = "sgd",\n    master_weights: bool = False,\n) -> dict',
            )
        ],
        check="test_defaults",
    ),
    Wrong("a card of 6e9 bytes", edits=[("6 * 1024**3", "6 * 10**9")], check="test_defaults"),
    Wrong(
        "converts the model and measures",
        edits=[(TENSORS, TENSORS.replace("model.p", "model.to(dtype).p"))],
        check="test_model_is_left_alone",
        says="dtype",
    ),
    Wrong(
        "converts a copy and measures",
        edits=[(TENSORS, "    import copy\n    model = copy.deepcopy(model).to(dtype)\n" + TENSORS)],
        check="test_model_is_left_alone",
        says="makes memory",
    ),
    Wrong(
        "sees whether the numbers are there",
        edits=[
            (
                TENSORS,
                TENSORS
                + "    tensors = [t for t in tensors if not t.is_floating_point() or bool(t.isfinite().all())]\n",
            )
        ],
        check="test_on_meta",
    ),
    Wrong(
        "rounds up",
        edits=[(FIT, '    return -(-max(0, budget - none["total"]) // one["activations"])\n')],
        check="test_largest_batch",
    ),
    Wrong(
        "one too few where it fits exactly",
        edits=[(FIT, '    return max(0, budget - none["total"] - 1) // one["activations"]\n')],
        check="test_largest_batch",
    ),
    Wrong(
        "negative batches",
        edits=[(FIT, '    return (budget - none["total"]) // one["activations"]\n')],
        check="test_largest_batch",
        says="nothing fits",
    ),
    Wrong(
        "at least one",
        edits=[(FIT, '    return max(1, (budget - none["total"]) // one["activations"])\n')],
        check="test_largest_batch",
        says="wanted  int 0",
    ),
    Wrong(
        "divides by the total for one example",
        edits=[(FIT, '    return budget // one["total"]\n')],
        check="test_largest_batch",
    ),
    Wrong(
        "divides through floats",
        edits=[(FIT, '    return max(0.0, budget - none["total"]) // one["activations"]\n')],
        check="test_largest_batch",
    ),
    Wrong(
        "ignores the master",
        edits=[(BOTH, "(training_memory(model, n, saved, dtype, optimizer) for n in (0, 1))")],
        check="test_largest_batch",
    ),
    Wrong(
        "ignores the optimizer",
        edits=[(BOTH, "(training_memory(model, n, saved, dtype, 'adamw', master_weights) for n in (0, 1))")],
        check="test_largest_batch",
    ),
    Wrong(
        "ignores dtype",
        edits=[
            (
                BOTH,
                "(training_memory(model, n, saved, torch.float32, optimizer, master_weights) for n in (0, 1))",
            )
        ],
        check="test_largest_batch",
    ),
    Wrong(
        "powers of two",
        edits=[
            (
                FIT,
                '    n = max(0, budget - none["total"]) // one["activations"]\n    return 1 << n.bit_length() - 1 if n else 0\n',
            )
        ],
        check="test_largest_batch",
    ),
    Wrong(
        "a dictionary's KeyError for an unknown optimizer",
        edits=[("    if optimizer not in STATES:\n", "    if STATES[optimizer] < 0:\n")],
        check="test_bad_input",
        says="KeyError",
    ),
    Wrong(
        "any dtype",
        edits=[("    if not dtype.is_floating_point:\n", "    if dtype is None:\n")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "complex numbers as well",
        edits=[
            (
                "    if not dtype.is_floating_point:\n",
                "    if not (dtype.is_floating_point or dtype.is_complex):\n",
            )
        ],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "negative batches pass",
        edits=[(NEGATIVE, "    if saved < 0:\n")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "a negative saved passes",
        edits=[(NEGATIVE, "    if batch < 0:\n")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "divides by zero",
        edits=[("    if saved == 0:\n", "    if saved is None:\n")],
        check="test_bad_input",
        says="ZeroDivisionError",
    ),
    Right(
        "parameter by parameter, with bisection for the batch",
        code="""
import torch
from torch import nn


def training_memory(model, batch, saved, dtype=torch.float32, optimizer="adamw", master_weights=False):
    states = {"sgd": 0, "momentum": 1, "adamw": 2}.get(optimizer)
    if states is None or not torch.empty((), dtype=dtype).is_floating_point() or min(batch, saved) < 0:
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
                table["optimizer"] += t.numel() * step * states
                if step != width:
                    table["master"] += t.numel() * step
    table["activations"] = saved * batch * width
    table["total"] = sum(table.values())
    return table


def largest_batch(model, saved, budget=6 * 2**30, dtype=torch.float32, optimizer="adamw", master_weights=False):
    if saved < 1:
        raise ValueError("saved")

    def fits(n):
        return training_memory(model, n, saved, dtype, optimizer, master_weights)["total"] <= budget

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
        "an abstract copy on meta",
        edits=[
            (
                TENSORS,
                "    import copy\n    memo = {id(t): (nn.Parameter(t.detach().to('meta'), requires_grad=t.requires_grad) if isinstance(t, nn.Parameter) else t.to('meta')) for t in [*model.parameters(), *model.buffers()]}\n"
                "    model = copy.deepcopy(model, memo).to(dtype)\n" + TENSORS,
            ),
            (BYTES, '"parameters": sum(t.nbytes for t in tensors),'),
        ],
    ),
    Wrong(
        "a buffer of two layers twice",
        edits=[
            (
                TENSORS,
                "    buffers = [b for m in model.modules() for b in m._buffers.values() if b is not None]\n"
                "    tensors = [*model.parameters(), *buffers]\n",
            )
        ],
        check="test_once",
        says="a buffer of two layers",
    ),
    Wrong(
        "a parameter without dimensions is no number",
        edits=[(TRAINABLE, TRAINABLE.replace("p.numel() for", "p.numel() * (p.ndim > 0) for"))],
        check="test_once",
        says="without dimensions",
    ),
    Wrong(
        "puts the model into evaluation mode, where nothing is counted twice",
        edits=[(TENSORS, "    model.eval()\n" + TENSORS)],
        check="test_model_is_left_alone",
        says="training flag",
    ),
    Wrong(
        "remembers what it has found for a model",
        edits=[
            ("def training_memory(\n", "@functools.cache\ndef training_memory(\n"),
            (
                "import torch\nfrom torch import nn\n",
                "import functools\n\nimport torch\nfrom torch import nn\n",
            ),
        ],
        check="test_frozen_later",
    ),
    Wrong(
        "master weights only where dtype is narrower than the parameters are now",
        edits=[
            (
                HAS,
                HAS + "    now = max([p.itemsize for p in model.parameters()], default=4)\n"
                "    has_master = master_weights and dtype.itemsize < now\n",
            )
        ],
        check="test_dtypes_before",
        says="from torch.bfloat16",
    ),
    Wrong(
        "takes a buffer that requires a gradient for a parameter",
        edits=[(TRAINABLE, TENSORS + TRAINABLE.replace("model.parameters()", "tensors"))],
        check="test_trainable",
        says="no parameter",
    ),
    Wrong(
        "one tensor for each address and shape",
        edits=[
            (
                TENSORS,
                TENSORS
                + "    tensors = list({(t.data_ptr() or id(t), t.shape): t for t in tensors}.values())\n",
            )
        ],
        check="test_once",
        says="a parameter's numbers",
    ),
]
