"""Answers to describe that people write."""

from grader.authoring.specimen import Right, Works, Wrong

OWN = '"bytes": x.numel() * x.element_size()'
WHOLE = '"storage_bytes": x.untyped_storage().nbytes()'

SPECIMENS = [
    Wrong(
        "the shape as a list",
        edits=[("tuple(x.shape)", "list(x.shape)")],
        check="test_sizes",
        says="shape",
        rung="job",
    ),
    Wrong(
        "the length of the first dim for the number of elements",
        edits=[('"elements": x.numel()', '"elements": len(x)')],
        check="test_single_number",
        says="0-d",
        rung="job",
    ),
    Wrong(
        "dtype and device as text",
        edits=[
            ('"dtype": x.dtype', '"dtype": str(x.dtype)'),
            ('"device": x.device', '"device": str(x.device)'),
        ],
        check="test_dtypes",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "four bytes for every element",
        edits=[("x.element_size()", "4")],
        check="test_dtypes",
        says="bytes",
        rung="job",
    ),
    Wrong(
        "the bytes of the whole storage for a view",
        edits=[(OWN, '"bytes": x.untyped_storage().nbytes()')],
        check="test_views",
        says="bytes",
        rung="job",
    ),
    Wrong(
        "the bytes of the view for its storage",
        edits=[(WHOLE, '"storage_bytes": x.nbytes')],
        check="test_views",
        says="storage_bytes",
        rung="job",
    ),
    Wrong(
        "asks `_base`, which not every view has",
        edits=[(WHOLE, '"storage_bytes": (x if x._base is None else x._base).nbytes')],
        check="test_views",
        says="storage_bytes",
        rung="job",
    ),
    Wrong(
        "a leaf's requires_grad only",
        edits=[('"requires_grad": x.requires_grad', '"requires_grad": x.requires_grad and x.is_leaf')],
        check="test_requires_grad",
        says="requires_grad",
        rung="job",
    ),
    Wrong(
        "contiguous if the strides fall",
        edits=[
            (
                '"contiguous": x.is_contiguous()',
                '"contiguous": list(x.stride()) == sorted(x.stride(), reverse=True)',
            )
        ],
        check="test_contiguous",
        says="contiguous",
        rung="job",
    ),
    Wrong(
        "contiguous if the strides are those of a new tensor: dims of one element count",
        edits=[
            (
                '"contiguous": x.is_contiguous()',
                '"contiguous": x.stride() == __import__("torch").empty(x.shape, device="meta").stride()',
            )
        ],
        check="test_contiguous_in_torchs_sense",
        says="contiguous",
    ),
    Wrong(
        "counts the numbers that are stored: a repeated one once",
        edits=[
            (
                '"elements": x.numel()',
                '"elements": min(x.numel(), x.untyped_storage().nbytes() // x.element_size())',
            ),
        ],
        check="test_expanded",
        says="elements",
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
        "prints the tensor on the way, which reads its values",
        edits=[("    return {", "    repr(x)\n    return {")],
        check="test_nothing_is_fetched",
        says="copies and waits",
    ),
    Works(
        "attributes, and the typed storage of older texts",
        code="""
def describe(x):
    return {
        "shape": x.size(),
        "rank": x.dim(),
        "elements": x.nelement(),
        "dtype": x.dtype,
        "device": x.device,
        "requires_grad": x.requires_grad,
        "contiguous": x.is_contiguous(),
        "bytes": x.nelement() * x.element_size(),
        "storage_bytes": x.storage().size() * x.element_size(),
    }
""",
    ),
    Works(
        "a copy for the bytes, as of a tensor that is saved",
        code="""
def describe(x):
    return dict(
        shape=tuple(x.shape),
        rank=len(x.shape),
        elements=x.numel(),
        dtype=x.dtype,
        device=x.device,
        requires_grad=x.requires_grad,
        contiguous=x.is_contiguous(),
        bytes=x.detach().contiguous().clone().untyped_storage().nbytes(),
        storage_bytes=x.untyped_storage().nbytes(),
    )
""",
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
        "strides read by hand, and nbytes",
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
]
