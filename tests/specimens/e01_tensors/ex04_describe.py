"""Answers to describe that people write."""

from grader.authoring.specimen import Right, Wrong

OWN = '"bytes": x.numel() * x.element_size()'
WHOLE = '"storage_bytes": x.untyped_storage().nbytes()'

SPECIMENS = [
    Wrong(
        "the numbers of the tensor that x was cut from, which may be a part of the storage itself",
        edits=[
            (
                "x.untyped_storage().nbytes()",
                "x.untyped_storage().nbytes() if x._base is None else x._base.numel() * x._base.element_size()",
            )
        ],
        check="test_views_count_their_own_elements",
        says="storage_bytes",
    ),
    Wrong(
        "resolves a lazy conjugate first",
        edits=[("    return {", "    x = x.resolve_conj()\n    return {")],
        check="test_nothing_is_copied",
        says="copies",
    ),
    Wrong(
        "whether gradients are recorded now",
        edits=[("x.requires_grad", "x.requires_grad and __import__('torch').is_grad_enabled()")],
        check="test_requires_grad",
        says="no_grad",
    ),
    Wrong(
        "the bytes of the whole storage for a view",
        edits=[(OWN, '"bytes": x.untyped_storage().nbytes()')],
        check="test_views_count_their_own_elements",
        says="bytes",
    ),
    Wrong(
        "the bytes of the view for its storage",
        edits=[(WHOLE, '"storage_bytes": x.nbytes')],
        check="test_views_count_their_own_elements",
        says="storage_bytes",
    ),
    Wrong(
        "the number of elements of the storage, not its bytes",
        edits=[(WHOLE, '"storage_bytes": x.untyped_storage().nbytes() // x.element_size()')],
        check="test_plain_tensors",
        says="storage_bytes",
    ),
    Wrong(
        "the storage from the end of the view: numel plus offset",
        edits=[(WHOLE, '"storage_bytes": (x.storage_offset() + x.numel()) * x.element_size()')],
        check="test_views_count_their_own_elements",
        says="storage_bytes",
    ),
    Wrong(
        "asks `_base`, which not every view has",
        edits=[(WHOLE, '"storage_bytes": (x if x._base is None else x._base).numel() * x.element_size()')],
        check="test_views_count_their_own_elements",
        says="storage_bytes",
    ),
    Wrong(
        "four bytes for every element",
        edits=[("x.element_size()", "4")],
        check="test_dtypes",
        says="bytes",
    ),
    Wrong(
        "bits of finfo and iinfo, which bool and complex do not have",
        edits=[
            (
                "x.element_size()",
                "(__import__('torch').finfo(x.dtype) if x.is_floating_point() else __import__('torch').iinfo(x.dtype)).bits // 8",
            )
        ],
        check="test_dtypes",
        says="iinfo",
    ),
    Wrong(
        "the length of the first dim for the number of elements",
        edits=[('"elements": x.numel()', '"elements": len(x)')],
        check="test_single_number",
        says="0-d",
    ),
    Wrong(
        "a tensor for the number of elements",
        edits=[('"elements": x.numel()', '"elements": __import__("torch").tensor(x.shape).prod()')],
        check="test_plain_tensors",
        says="elements",
    ),
    Wrong(
        "counts the numbers that are stored: a repeated one once",
        edits=[
            (
                '"elements": x.numel()',
                '"elements": min(x.numel(), x.untyped_storage().nbytes() // x.element_size())',
            ),
            (OWN, '"bytes": min(x.nbytes, x.untyped_storage().nbytes())'),
        ],
        check="test_expanded",
        says="elements",
    ),
    Wrong(
        "a single number has rank 1",
        edits=[('"rank": x.ndim', '"rank": max(x.ndim, 1)')],
        check="test_single_number",
        says="rank",
    ),
    Wrong(
        "the shape as a list",
        edits=[("tuple(x.shape)", "list(x.shape)")],
        check="test_plain_tensors",
        says="shape",
    ),
    Wrong(
        "dtype and device as text",
        edits=[
            ('"dtype": x.dtype', '"dtype": str(x.dtype)'),
            ('"device": x.device', '"device": str(x.device)'),
        ],
        check="test_dtypes",
        says="dtype",
    ),
    Wrong(
        "the kind of the device without its number",
        edits=[('"device": x.device', '"device": __import__("torch").device(x.device.type)')],
        check="test_nothing_is_fetched",
        says="device",
    ),
    Wrong(
        "a leaf's requires_grad only",
        edits=[('"requires_grad": x.requires_grad', '"requires_grad": x.requires_grad and x.is_leaf')],
        check="test_requires_grad",
        says="requires_grad",
    ),
    Wrong(
        "whether a gradient was computed",
        edits=[('"requires_grad": x.requires_grad', '"requires_grad": x.grad is not None')],
        check="test_requires_grad",
        says="requires_grad",
    ),
    Wrong(
        "contiguous if no dim was transposed: the strides fall",
        edits=[
            (
                '"contiguous": x.is_contiguous()',
                '"contiguous": list(x.stride()) == sorted(x.stride(), reverse=True)',
            )
        ],
        check="test_contiguity",
        says="contiguous",
    ),
    Wrong(
        "contiguous if the strides are those of a new tensor: dims of one element count",
        edits=[
            (
                '"contiguous": x.is_contiguous()',
                '"contiguous": x.stride() == __import__("torch").empty(x.shape, device="meta").stride()',
            )
        ],
        check="test_contiguity",
        says="contiguous",
    ),
    Wrong(
        "contiguous in any memory format",
        edits=[
            (
                '"contiguous": x.is_contiguous()',
                '"contiguous": x.is_contiguous() or (x.ndim == 4 and x.is_contiguous(memory_format=__import__("torch").channels_last))',
            )
        ],
        check="test_contiguity",
        says="channels_last",
    ),
    Wrong(
        "the bytes by way of NumPy: not for meta, another device or bfloat16",
        edits=[(OWN, '"bytes": x.detach().numpy().nbytes')],
        check="test_without_values",
        says="meta",
    ),
    Wrong(
        "moves the tensor to the CPU first",
        edits=[
            (
                "    return {",
                "    device, x = x.device, x.cpu() if x.device.type != 'meta' else x\n    return {",
            ),
            ('"device": x.device', '"device": device'),
        ],
        check="test_nothing_is_fetched",
        says="storage_bytes",
    ),
    Wrong(
        "prints a value on the way",
        edits=[("    return {", "    repr(x)\n    return {")],
        check="test_nothing_is_fetched",
        says="copies and waits",
    ),
    Wrong(
        "the bytes of a contiguous copy",
        edits=[
            (
                OWN,
                '"bytes": x.detach().clone(memory_format=__import__("torch").contiguous_format).untyped_storage().nbytes()',
            )
        ],
        check="test_nothing_is_copied",
        says="copies it",
    ),
    Wrong(
        "elements of a tensor without any: a product that starts at the sizes above 0",
        edits=[('"elements": x.numel()', '"elements": __import__("math").prod(s for s in x.shape if s)')],
        check="test_empty",
        says="elements",
    ),
    Wrong(
        "a key more",
        edits=[('"rank": x.ndim', '"rank": x.ndim, "strides": x.stride()')],
        check="test_plain_tensors",
        says="keys",
    ),
    Wrong(
        "one dict for all records",
        code="""
RECORD = {}

def describe(x):
    RECORD.update(shape=x.shape, rank=x.ndim, elements=x.numel(), dtype=x.dtype, device=x.device)
    RECORD.update(requires_grad=x.requires_grad, contiguous=x.is_contiguous())
    RECORD.update(bytes=x.nbytes, storage_bytes=x.untyped_storage().nbytes())
    return RECORD
""",
        check="test_plain_tensors",
        says="earlier record",
    ),
    Right(
        "computed by hand from shape and itemsize",
        code="""
import math

def describe(x):
    elements = math.prod(x.size())
    return dict(
        storage_bytes=x.untyped_storage().size(),
        bytes=elements * x.dtype.itemsize,
        contiguous=x.is_contiguous(),
        requires_grad=x.requires_grad,
        device=x.device,
        dtype=x.dtype,
        elements=elements,
        rank=len(x.shape),
        shape=x.shape,
    )
""",
    ),
    Right(
        "attributes, dim() and nbytes",
        code="""
from collections import OrderedDict

def describe(x):
    record = OrderedDict()
    record["shape"] = x.size()
    record["rank"] = x.dim()
    record["elements"] = x.nelement()
    for name in ("dtype", "device", "requires_grad"):
        record[name] = getattr(x, name)
    expected, dense = 1, True
    for size, stride in zip(reversed(x.shape), reversed(x.stride())):
        dense = dense and (size == 1 or stride == expected)
        expected *= size
    record["contiguous"] = dense or x.numel() == 0
    record["bytes"] = x.nbytes
    record["storage_bytes"] = len(x.untyped_storage())
    return record
""",
    ),
    Wrong(
        "counts the elements in a float",
        edits=[('"elements": x.numel()', '"elements": int(float(x.numel()))')],
        check="test_expanded",
        says="elements",
    ),
    Wrong(
        "None for what can require no gradient",
        edits=[("x.requires_grad", "x.requires_grad if x.is_floating_point() else None")],
        check="test_requires_grad",
        says="int64",
    ),
]
