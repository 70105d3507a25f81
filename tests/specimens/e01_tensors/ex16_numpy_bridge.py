"""Answers to numpy_bridge that people write."""

from grader.authoring.specimen import Right, Works, Wrong

COPY = "    if not array.flags.writeable or any(stride < 0 for stride in array.strides):\n        array = array.copy()\n"
CAST = "    if values.dtype == torch.bfloat16:\n        values = values.float()\n"

SPECIMENS = [
    Wrong(
        "a copy for safety",
        edits=[("    return values.numpy()", "    return values.numpy().copy()")],
        check="test_array_on_the_tensors_memory",
        says="wrong values",
        rung="job",
    ),
    Wrong(
        "detaches in place",
        edits=[("x.detach().cpu()", "x.detach_().cpu()")],
        check="test_graph_is_left_alone",
        says="requires_grad",
        rung="job",
    ),
    Wrong(
        "float32 for everything",
        edits=[(CAST, "    values = values.float()\n")],
        check="test_dtypes_stay",
        says="float32",
        rung="job",
    ),
    Wrong(
        "bfloat16 as float16, which has a smaller range",
        edits=[("values = values.float()", "values = values.half()")],
        check="test_bfloat16_becomes_float32",
        says="float16",
        rung="job",
    ),
    Wrong(
        "bfloat16 as float16 and then float32",
        edits=[("values = values.float()", "values = values.half().float()")],
        check="test_bfloat16_becomes_float32",
        says="inf",
        rung="job",
    ),
    Wrong(
        "by way of a list",
        edits=[("    return values.numpy()", "    return np.array(values.tolist())")],
        check="test_dtypes_stay",
        rung="job",
    ),
    Wrong(
        "detaches and forgets other devices",
        edits=[("x.detach().cpu()", "x.detach()")],
        check="test_from_another_device",
        says="Tensor.cpu()",
        rung="job",
    ),
    Wrong(
        "from_numpy as it is",
        edits=[(COPY, "")],
        check="test_reversed_arrays",
        says="negative",
        rung="job",
    ),
    Wrong(
        "looks at the first stride only",
        edits=[("any(stride < 0 for stride in array.strides)", "(array.ndim > 0 and array.strides[0] < 0)")],
        check="test_reversed_arrays",
        says="negative",
        rung="job",
    ),
    Wrong(
        "a new tensor each time",
        edits=[("torch.from_numpy(array)", "torch.tensor(array)")],
        check="test_tensor_on_the_arrays_memory",
        says="after array[...] = 5",
        rung="job",
    ),
    Wrong(
        "does not wait for the copy",
        edits=[("x.detach().cpu()", 'x.detach().to("cpu", non_blocking=True)')],
        check="test_one_transfer",
        says="does not wait",
    ),
    Wrong(
        "two trips: once to look, once to fetch",
        edits=[(CAST, CAST + "    x.cpu()\n")],
        check="test_one_transfer",
        says="copies to the CPU",
    ),
    Wrong(
        "contiguous first: a strided tensor is copied",
        edits=[("x.detach().cpu()", "x.detach().cpu().contiguous()")],
        check="test_strided_memory_is_shared",
        says="transposed",
    ),
    Wrong(
        "a number for a 0-d tensor",
        edits=[("    return values.numpy()", "    return values.numpy()[()]")],
        check="test_any_shape",
        says="no NumPy array",
    ),
    Wrong(
        "silences the warning for read-only arrays",
        edits=[
            ("not array.flags.writeable or ", ""),
            (
                "    return torch.from_numpy(array)",
                "    import warnings\n    with warnings.catch_warnings():\n        warnings.simplefilter('ignore')\n        return torch.from_numpy(array)",
            ),
        ],
        check="test_read_only_array_is_left_alone",
        says="wrong values",
    ),
    Wrong(
        "copies the tensor, after the warning",
        edits=[
            ("not array.flags.writeable or ", ""),
            (
                "    return torch.from_numpy(array)",
                "    return torch.from_numpy(array) if array.flags.writeable else torch.from_numpy(array).clone()",
            ),
        ],
        check="test_no_warning",
        says="warning",
    ),
    Wrong(
        "copies whatever is not contiguous",
        edits=[("any(stride < 0 for stride in array.strides)", "not array.flags.c_contiguous")],
        check="test_strided_memory_is_shared",
        says="transposed",
    ),
    Wrong(
        "as_tensor goes to torch's default device",
        edits=[("torch.from_numpy(array)", "torch.as_tensor(array)")],
        check="test_on_the_cpu",
        says="not on the CPU",
    ),
    Wrong(
        "ascontiguousarray, which gives a 0-d array a dim",
        edits=[("array = array.copy()", "array = np.ascontiguousarray(array).copy()")],
        check="test_any_shape",
        says="wrong shape",
    ),
    Works(
        "detach, cpu, numpy, and what is contiguous",
        code="""
import numpy as np
import torch

def to_numpy(x):
    x = x.detach().cpu()
    if x.dtype == torch.bfloat16:
        x = x.float()
    return x.numpy()

def from_numpy(array):
    return torch.from_numpy(np.ascontiguousarray(array))
""",
    ),
    Works(
        "a copy where torch refuses",
        code="""
import torch

def to_numpy(x):
    x = x.detach().cpu()
    try:
        return x.numpy()
    except TypeError:
        return x.to(torch.float32).numpy()

def from_numpy(array):
    try:
        return torch.from_numpy(array)
    except ValueError:
        return torch.from_numpy(array.copy())
""",
    ),
    Right(
        "numpy(force=True), and a tensor of what cannot be shared",
        code="""
import numpy as np
import torch

def to_numpy(x):
    return (x.to(torch.float32) if x.dtype is torch.bfloat16 else x).numpy(force=True)

def from_numpy(array):
    if array.dtype.hasobject or array.dtype.kind in "US":
        raise TypeError(f"no numbers: {array.dtype}")
    shareable = array.flags["WRITEABLE"] and all(s >= 0 for s in array.strides)
    kept = array if shareable else np.array(array, order="C", copy=True)
    return torch.as_tensor(kept, device="cpu")
""",
    ),
    Right(
        "asarray both ways",
        code="""
import numpy as np
import torch

def to_numpy(x):
    with torch.no_grad():
        if x.device.type != "cpu":
            x = x.to("cpu")
        return np.asarray((x.type(torch.float) if x.dtype == torch.bfloat16 else x).detach())

def from_numpy(array):
    array = np.require(array, requirements=["W"])
    if min(array.strides, default=0) < 0:
        array = np.array(array)
        array = np.ascontiguousarray(array).reshape(array.shape)
    return torch.from_numpy(array)
""",
    ),
]
