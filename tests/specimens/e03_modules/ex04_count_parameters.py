"""Answers to count_parameters that people write."""

from grader.authoring.specimen import Right, Wrong

LISTS = "parameters, buffers = list(model.parameters()), list(model.buffers())  # each object once"
TOTAL = '"total": sum(p.numel() for p in parameters),'
TRAINABLE = "for p in parameters if p.requires_grad"
BYTES = "sum(t.numel() * t.element_size() for t in parameters + buffers)"
DEF = "    parameters, buffers = list"


def lists(code):
    return [(LISTS, code)]


SPECIMENS = [
    Wrong(
        "adds the bytes as floats",
        edits=[
            (BYTES, f"int(math.f{BYTES})"),
            ("from torch import nn\n", "import math\n\nfrom torch import nn\n"),
        ],
        check="test_on_meta",
        says="2⁵² numbers",
    ),
    Wrong(
        "passes over buffers whose name begins with an underscore",
        edits=lists(
            "parameters = list(model.parameters())\n"
            "    buffers = [b for n, b in model.named_buffers() if not n.split('.')[-1].startswith('_')]"
        ),
        check="test_shapes_of_all_kinds",
    ),
    Wrong(
        "no more bytes than the storage has",
        edits=[(BYTES, "sum(min(t.nbytes, t.untyped_storage().nbytes()) for t in parameters + buffers)")],
        check="test_equal_is_not_tied",
        says="expanded buffer",
    ),
    Wrong(
        "a table of the usual dtypes",
        edits=[
            (
                DEF,
                "    import torch\n    two, eight = (torch.float16, torch.bfloat16), (torch.float64, torch.int64)\n"
                + DEF,
            ),
            (
                BYTES,
                "sum(t.numel() * (2 if t.dtype in two else 8 if t.dtype in eight or t.is_complex() else "
                "1 if t.dtype in (torch.bool, torch.int8, torch.uint8) else 4) for t in parameters + buffers)",
            ),
        ],
        check="test_bytes_by_dtype",
        says="complex128",
    ),
    Wrong(
        "buffers two modules deep",
        edits=lists(
            "parameters = list(model.parameters())\n"
            "    buffers = [b for name, b in model.named_buffers() if name.count('.') < 3]"
        ),
        check="test_nested_modules",
    ),
    Wrong(
        "clears the gradients on the way",
        edits=[("    return {", "    model.zero_grad()\n    return {")],
        check="test_model_is_left_alone",
        says="gradient is gone",
    ),
    Wrong(
        "buffers train as well if they require gradients",
        edits=[(TRAINABLE, "for p in parameters + buffers if p.requires_grad")],
        check="test_frozen_parameters",
        says="buffer that requires",
    ),
    Wrong(
        "tells tensors apart by where they lie and how",
        edits=[
            (
                BYTES,
                "sum({(t.data_ptr(), t.shape, t.stride()) if t.numel() and not t.is_meta else id(t): t.nbytes "
                "for t in parameters + buffers}.values())",
            )
        ],
        check="test_equal_is_not_tied",
        says="same memory",
    ),
    Wrong(
        "forgets frozen parameters without dimensions",
        edits=[
            (BYTES, BYTES.replace("parameters +", "[p for p in parameters if p.requires_grad or p.dim()] +"))
        ],
        check="test_frozen_parameters",
    ),
    Wrong(
        "counts by name: ties count twice",
        edits=lists(
            "parameters = [p for _, p in model.named_parameters(remove_duplicate=False)]\n"
            "    buffers = list(model.buffers())"
        ),
        check="test_ties",
        says="total",
    ),
    Wrong(
        "buffers by name",
        edits=lists(
            "parameters = list(model.parameters())\n"
            "    buffers = [b for _, b in model.named_buffers(remove_duplicate=False)]"
        ),
        check="test_ties",
        says="bytes",
    ),
    Wrong(
        "module by module: a layer in two places counts once, a tied weight twice",
        edits=lists(
            "parameters = [p for m in model.modules() for p in m.parameters(recurse=False)]\n"
            "    buffers = [b for m in model.modules() for b in m.buffers(recurse=False)]"
        ),
        check="test_ties",
    ),
    Wrong(
        "counts inner modules again and again",
        edits=lists(
            "parameters = [p for m in model.modules() for p in m.parameters()]\n    buffers = list(model.buffers())"
        ),
        check="test_nested_modules",
    ),
    Wrong(
        "only what the children hold themselves",
        edits=lists(
            "parameters = list({p for m in model.children() for p in m.parameters(recurse=False)})\n"
            "    parameters += [p for p in model.parameters(recurse=False)]\n"
            "    buffers = list(model.buffers())"
        ),
        check="test_nested_modules",
    ),
    Wrong(
        "leaves only: parameters of a container are lost",
        edits=lists(
            "parameters = list({p for m in model.modules() if not list(m.children()) for p in m.parameters()})\n"
            "    buffers = list(model.buffers())"
        ),
        check="test_nested_modules",
    ),
    Wrong(
        "weights and biases only",
        edits=lists(
            "parameters = list({getattr(m, n) for m in model.modules() for n in ('weight', 'bias')"
            " if getattr(m, n, None) is not None})\n    buffers = list(model.buffers())"
        ),
        check="test_shapes_of_all_kinds",
    ),
    Wrong(
        "the state dict: ties twice, buffers among the parameters",
        edits=lists("parameters = list(model.state_dict(keep_vars=True).values())\n    buffers = []"),
        check="test_ties",
    ),
    Wrong(
        "buffers of the state dict: those that are not saved are lost",
        edits=lists(
            "parameters = list(model.parameters())\n    names = dict(model.named_buffers())\n"
            "    buffers = [t for n, t in model.state_dict(keep_vars=True).items() if n in names]"
        ),
        check="test_shapes_of_all_kinds",
        says="bytes",
    ),
    Wrong(
        "buffers take no bytes", edits=[(BYTES, BYTES.replace(" + buffers", ""))], check="test_bytes_by_dtype"
    ),
    Wrong(
        "buffers are parameters",
        edits=[(TOTAL, TOTAL.replace("in parameters", "in parameters + buffers"))],
        check="test_shapes_of_all_kinds",
        says="total",
    ),
    Wrong(
        "one memory address, one parameter: on meta, and for empty ones, all are at 0",
        edits=[
            (
                LISTS,
                LISTS + "\n    parameters = list({p.data_ptr(): p for p in parameters}.values())"
                "\n    buffers = list({b.data_ptr(): b for b in buffers}.values())",
            )
        ],
        check="test_on_meta",
    ),
    Wrong(
        "the whole storage of a view",
        edits=[("t.numel() * t.element_size()", "t.untyped_storage().nbytes()")],
        check="test_equal_is_not_tied",
        says="bytes",
    ),
    Wrong(
        "one storage, one parameter",
        edits=[
            (
                LISTS,
                LISTS
                + "\n    parameters = list({p.untyped_storage()._cdata: p for p in parameters}.values())",
            )
        ],
        check="test_equal_is_not_tied",
    ),
    Wrong(
        "one shape, one parameter",
        edits=[(LISTS, LISTS + "\n    parameters = list({tuple(p.shape): p for p in parameters}.values())")],
        check="test_equal_is_not_tied",
    ),
    Wrong(
        "equal numbers, one parameter",
        edits=[
            (
                LISTS,
                LISTS
                + "\n    parameters = list({(tuple(p.shape), str(p.tolist())): p for p in parameters}.values())"
                " if not any(p.is_meta for p in parameters) else parameters",
            )
        ],
        check="test_equal_is_not_tied",
    ),
    Wrong(
        "no difference between frozen and not",
        edits=[(" if p.requires_grad", "")],
        check="test_frozen_parameters",
    ),
    Wrong(
        "trainable is what has a gradient",
        edits=[(TRAINABLE, "for p in parameters if p.grad is not None")],
        check="test_frozen_parameters",
    ),
    Wrong(
        "nothing is trainable in evaluation mode",
        edits=[(TRAINABLE, TRAINABLE + " and model.training")],
        check="test_frozen_parameters",
        says="trainable",
    ),
    Wrong(
        "total counts what trains only",
        edits=[(TOTAL, '"total": sum(p.numel() for p in parameters if p.requires_grad),')],
        check="test_frozen_parameters",
        says="total",
    ),
    Wrong(
        "trainable is a count of tensors",
        edits=[
            (
                "sum(p.numel() for p in parameters if p.requires_grad)",
                "sum(p.requires_grad for p in parameters)",
            )
        ],
        check="test_frozen_parameters",
    ),
    Wrong("four bytes for each number", edits=[("t.element_size()", "4")], check="test_bytes_by_dtype"),
    Wrong(
        "the dtype of the first parameter for all",
        edits=[("t.element_size()", "(parameters + buffers)[0].element_size()")],
        check="test_bytes_by_dtype",
    ),
    Wrong(
        "with the gradients",
        edits=[(BYTES, BYTES + " + sum(p.grad.nbytes for p in parameters if p.grad is not None)")],
        check="test_frozen_parameters",
        says="bytes",
    ),
    Wrong(
        "the size of a saved file",
        edits=[
            (
                DEF,
                "    import io, torch\n    file = io.BytesIO()\n    torch.save(model.state_dict(), file)\n"
                + DEF,
            ),
            (BYTES, "file.getbuffer().nbytes"),
        ],
        check="test_bytes_by_dtype",
    ),
    Wrong(
        "a bool takes a bit",
        edits=[
            (
                "t.numel() * t.element_size()",
                "t.numel() * (t.element_size() if t.dtype.itemsize > 1 else 0.125)",
            )
        ],
        check="test_shapes_of_all_kinds",
    ),
    Wrong(
        "rows times columns: 0-d and cubes are no matrices",
        edits=[(TOTAL, TOTAL.replace("p.numel()", "p.shape[0] * (p.shape[1] if p.dim() > 1 else 1)"))],
        check="test_shapes_of_all_kinds",
    ),
    Wrong(
        "NumPy's product, which is a number of NumPy",
        edits=[
            (DEF, "    import numpy as np\n" + DEF),
            (TOTAL, '"total": sum(np.prod(p.shape, dtype=np.int64) for p in parameters),'),
        ],
        check="test_bytes_by_dtype",
        says="int64",
    ),
    Wrong(
        "a float",
        edits=[(BYTES, "8 * " + BYTES + " / 8")],
        check="test_bytes_by_dtype",
    ),
    Wrong(
        "one more key",
        edits=[(TOTAL, TOTAL + '\n        "frozen": sum(not p.requires_grad for p in parameters),')],
        check="test_bytes_by_dtype",
        says="frozen",
    ),
    Wrong(
        "flattens all parameters into one vector to count it",
        edits=[
            (DEF, "    import torch\n" + DEF),
            (TOTAL, '"total": len(torch.cat([p.flatten() for p in parameters])) if parameters else 0,'),
        ],
        check="test_model_is_left_alone",
        says="copies",
    ),
    Wrong(
        "adds up ones",
        edits=[
            (DEF, "    import torch\n" + DEF),
            (
                TOTAL,
                '"total": sum(int(torch.ones_like(p, dtype=torch.int64, device=None if not p.is_meta else "cpu").sum()) for p in parameters),',
            ),
        ],
        check="test_on_a_device",
        says="copies and waits",
    ),
    Wrong(
        "moves the model to the CPU first",
        edits=[
            (
                DEF,
                "    if not any(p.is_meta for p in model.parameters()):\n        model = model.cpu()\n" + DEF,
            )
        ],
        check="test_on_a_device",
        says="copies and waits",
    ),
    Wrong(
        "makes the model float32 to know the bytes",
        edits=[(DEF, "    model.float()\n" + DEF)],
        check="test_bytes_by_dtype",
    ),
    Wrong(
        "unfreezes everything on the way",
        edits=[("    return {", "    model.requires_grad_()\n    return {")],
        check="test_frozen_parameters",
        says="trainable",
    ),
    Wrong(
        "ends in training mode",
        edits=[("    return {", "    model.train()\n    return {")],
        check="test_model_is_left_alone",
        says="modes",
    ),
    Wrong(
        "remembers the count on the model",
        edits=[
            (DEF, "    if hasattr(model, '_count'):\n        return model._count\n" + DEF),
            ("return {", "model._count = {"),
            ("    }\n", "    }\n    return model._count\n"),
        ],
        check="test_model_is_left_alone",
        says="taken out",
    ),
    Right(
        "collects by id, module by module",
        code="""
def count_parameters(model):
    seen, count = set(), {"bytes": 0, "trainable": 0, "total": 0}
    for module in model.modules():
        for group, learns in ((module._parameters, True), (module._buffers, False)):
            for tensor in group.values():
                if tensor is None or id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                count["bytes"] += tensor.nbytes
                if learns:
                    count["total"] += tensor.numel()
                    if tensor.requires_grad:
                        count["trainable"] += tensor.numel()
    return count
""",
    ),
    Right(
        "sets of tensors and products of shapes",
        code="""
import itertools
import math

def count_parameters(model):
    parameters = set(p for _, p in model.named_parameters(remove_duplicate=False))
    everything = parameters | set(b for _, b in model.named_buffers())
    total = sum(math.prod(p.shape) for p in parameters)
    frozen = sum(math.prod(p.shape) for p in parameters if not p.requires_grad)
    size = sum(math.prod(t.shape) * t.dtype.itemsize for t in everything)
    return dict(total=total, trainable=total - frozen, bytes=size)
""",
    ),
    Right(
        "detached tensors",
        edits=[(TOTAL, '"total": sum(p.data.nelement() for p in parameters),')],
    ),
    Wrong(
        "takes whatever is called module for the model that DDP wraps",
        edits=[
            (
                "    parameters, buffers = ",
                "    model = getattr(model, 'module', model)\n    parameters, buffers = ",
            )
        ],
        check="test_nested_modules",
        says="named module",
    ),
]
