"""Answers to count_parameters that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LISTS = "parameters, buffers = list(model.parameters()), list(model.buffers())  # each object once"
TOTAL = "sum(p.numel() for p in parameters),"
TRAINABLE = "sum(p.numel() for p in parameters if p.requires_grad)"
BYTES = "sum(t.numel() * t.element_size() for t in parameters + buffers)"

SPECIMENS = [
    Wrong(
        "the state dict: ties twice, buffers among the parameters",
        edits=[(LISTS, "parameters, buffers = list(model.state_dict(keep_vars=True).values()), []")],
        check="test_buffers",
        says="counted as parameters",
        rung="job",
    ),
    Wrong(
        "the bytes of a state dict: ties twice",
        edits=[(BYTES, BYTES.replace("parameters + buffers", "model.state_dict().values()"))],
        check="test_ties",
        says="its bytes twice",
        rung="job",
    ),
    Wrong(
        "module by module: a tied weight counts twice",
        edits=[
            (
                LISTS,
                LISTS.replace(
                    "list(model.parameters())",
                    "[p for m in model.modules() for p in m._parameters.values() if p is not None]",
                ),
            )
        ],
        check="test_ties",
        says="counts twice",
        rung="job",
    ),
    Wrong(
        "only what the children hold themselves",
        edits=[
            (
                LISTS,
                "parameters = [p for c in model.children() for p in c._parameters.values() if p is not None]\n    buffers = list(model.buffers())",
            )
        ],
        check="test_nested_modules",
        rung="job",
    ),
    Wrong(
        "weights and biases only",
        edits=[
            (
                LISTS,
                "parameters = [p for n, p in model.named_parameters() if n.endswith(('weight', 'bias'))]\n    buffers = list(model.buffers())",
            )
        ],
        check="test_nested_modules",
        says="nested",
        rung="job",
    ),
    Wrong(
        "total counts what trains only",
        edits=[(TOTAL, TRAINABLE + ",")],
        check="test_frozen_parameters",
        says="frozen parameters count",
        rung="job",
    ),
    Wrong(
        "no difference between frozen and not",
        edits=[(TRAINABLE, "sum(p.numel() for p in parameters)")],
        check="test_frozen_parameters",
        says="do not train",
        rung="job",
    ),
    Wrong(
        "nothing is trainable in evaluation mode",
        edits=[("if p.requires_grad)", "if p.requires_grad and model.training)")],
        check="test_frozen_parameters",
        says="evaluation mode",
        rung="job",
    ),
    Wrong(
        "buffers take no bytes",
        edits=[("parameters + buffers", "parameters")],
        check="test_buffers",
        says="take no bytes",
        rung="job",
    ),
    Wrong(
        "four bytes for each number",
        edits=[("t.element_size()", "4")],
        check="test_bytes_by_dtype",
        says="4 bytes",
        rung="job",
    ),
    Wrong(
        "the dtype of the first parameter for parameters",
        edits=[
            (
                BYTES,
                "sum(p.numel() for p in parameters) * (parameters[0].element_size() if parameters else 0)\n        + sum(t.nbytes for t in buffers)",
            )
        ],
        check="test_bytes_by_dtype",
        says="in four dtypes",
        rung="job",
    ),
    Wrong(
        "NumPy's product, which is a number of NumPy",
        edits=[
            (TOTAL, "np.sum([np.prod(p.shape) for p in parameters]),"),
            ("from torch", "import numpy as np\nfrom torch"),
        ],
        check="test_plain_ints",
    ),
    Wrong(
        "buffers by name",
        edits=[("list(model.buffers())", "[b for _, b in model.named_buffers(remove_duplicate=False)]")],
        check="test_unsaved_and_shared_buffers",
        says="of two names",
    ),
    Wrong(
        "buffers of the state dict: those that are not saved are lost",
        edits=[
            (
                "list(model.buffers())",
                "[b for n, b in model.state_dict().items() if n in dict(model.named_buffers())]",
            )
        ],
        check="test_unsaved_and_shared_buffers",
        says="not saved",
    ),
    Wrong(
        "the whole storage of a view",
        edits=[("t.numel() * t.element_size()", "t.untyped_storage().nbytes()")],
        check="test_views",
    ),
    Wrong(
        "one memory address, one parameter: on meta all are at 0",
        edits=[("list(model.parameters())", "list({p.data_ptr(): p for p in model.parameters()}.values())")],
        check="test_on_meta",
    ),
    Wrong(
        "moves the model to the CPU first",
        edits=[
            (
                LISTS,
                "if all(not p.is_meta for p in model.parameters()):\n        model = model.cpu()\n    "
                + LISTS,
            )
        ],
        check="test_nothing_is_read_or_changed",
    ),
    Works(
        "nelement, as on forums",
        code="""
def count_parameters(model):
    param_size = 0
    for param in model.parameters():
        param_size += param.nelement() * param.element_size()
    buffer_size = 0
    for buffer in model.buffers():
        buffer_size += buffer.nelement() * buffer.element_size()
    return {
        "total": sum(p.numel() for p in model.parameters()),
        "trainable": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "bytes": param_size + buffer_size,
    }
""",
    ),
    Works(
        "products of sizes by NumPy",
        code="""
import numpy as np

def count_parameters(model):
    trainable = filter(lambda p: p.requires_grad, model.parameters())
    return {
        "total": sum(np.prod(p.size()) for p in model.parameters()),
        "trainable": sum(np.prod(p.size()) for p in trainable),
        "bytes": sum(t.nbytes for t in [*model.parameters(), *model.buffers()]),
    }
""",
    ),
    Right(
        "collects by id, module by module",
        code="""
import math

def count_parameters(model):
    parameters, buffers = {}, {}
    for module in model.modules():
        parameters |= {id(p): p for p in module._parameters.values() if p is not None}
        buffers |= {id(b): b for b in module._buffers.values() if b is not None}
    return {
        "total": sum(math.prod(p.shape) for p in parameters.values()),
        "trainable": sum(math.prod(p.shape) * p.requires_grad for p in parameters.values()),
        "bytes": sum(t.dtype.itemsize * t.numel() for t in (parameters | buffers).values()),
    }
""",
    ),
    Right(
        "one pass with nbytes",
        code="""
from itertools import chain

def count_parameters(model):
    total = trainable = 0
    for p in model.parameters():
        total += p.numel()
        if p.requires_grad:
            trainable += p.numel()
    size = sum(t.nbytes for t in chain(model.parameters(), model.buffers()))
    return dict(total=total, trainable=trainable, bytes=size)
""",
    ),
]
