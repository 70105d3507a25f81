"""Answers to numpy_bridge that people write."""

from grader.authoring.specimen import Right, Wrong

COPY = "    if not array.flags.writeable or any(stride < 0 for stride in array.strides):\n        array = array.copy()\n"
THERE = "    values = x.detach().cpu()  # neither copies on the CPU"
CAST = "    if values.dtype == torch.bfloat16:\n        values = values.float()\n"

SPECIMENS = [
    Wrong(
        "copies what torch warns of, which it does once in a program",
        code="""
import warnings

import torch


def to_numpy(x):
    x = x.detach().cpu()
    return x.float().numpy() if x.dtype == torch.bfloat16 else x.numpy()


def from_numpy(array):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return torch.from_numpy(array)
    except (ValueError, UserWarning):
        return torch.from_numpy(array.copy())
""",
        check="test_read_only_array_is_left_alone",
        says="read-only array after",
    ),
    Wrong(
        "makes a read-only array writable, where NumPy lets it",
        edits=[
            (
                "    if not array.flags.writeable or",
                "    if array.flags.owndata:\n        array.flags.writeable = True\n    if not array.flags.writeable or",
            )
        ],
        check="test_read_only_array_is_left_alone",
    ),
    Wrong(
        "hushes the warning for a single number, which nobody would write to",
        edits=[
            (
                COPY,
                """    if array.ndim == 0:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.from_numpy(array)
"""
                + COPY,
            )
        ],
        check="test_any_shape",
    ),
    Wrong(
        "detaches and forgets other devices",
        edits=[("x.detach().cpu()", "x.detach()")],
        check="test_from_another_device",
        says="Tensor.cpu()",
    ),
    Wrong(
        "asks for CUDA only",
        edits=[("x.detach().cpu()", "(x.detach().cpu() if x.is_cuda else x.detach())")],
        check="test_from_another_device",
    ),
    Wrong(
        "two trips: once to look, once to fetch",
        edits=[(CAST, CAST + "    x.cpu()\n")],
        check="test_from_another_device",
        says="copies to the CPU",
    ),
    Wrong(
        "does not wait for the copy",
        edits=[("x.detach().cpu()", 'x.detach().to("cpu", non_blocking=True)')],
        check="test_from_another_device",
        says="does not wait",
    ),
    Wrong(
        "bfloat16 through bytes, which are read-only",
        edits=[
            (
                CAST,
                "    if values.dtype == torch.bfloat16:\n"
                "        data = values.float().numpy().tobytes()\n"
                "        return np.frombuffer(data, np.float32).reshape(tuple(x.shape))\n",
            )
        ],
        check="test_bfloat16_becomes_float32",
        says="read-only",
    ),
    Wrong(
        "a copy for safety",
        edits=[("    return values.numpy()", "    return values.numpy().copy()")],
        check="test_array_on_the_tensors_memory",
        says="wrong values",
    ),
    Wrong(
        "contiguous first: a strided tensor is copied",
        edits=[("x.detach().cpu()", "x.detach().cpu().contiguous()")],
        check="test_array_on_the_tensors_memory",
        says="transposed",
    ),
    Wrong(
        "detaches in place",
        edits=[("x.detach().cpu()", "x.detach_().cpu()")],
        check="test_graph_is_left_alone",
        says="requires_grad",
    ),
    Wrong(
        "float32 for everything",
        edits=[(CAST, "    values = values.float()\n")],
        check="test_dtypes_stay",
        says="float32",
    ),
    Wrong(
        "bfloat16 as float16, which has a smaller range",
        edits=[("values = values.float()", "values = values.half()")],
        check="test_bfloat16_becomes_float32",
        says="float16",
    ),
    Wrong(
        "bfloat16 as float16 and then float32",
        edits=[("values = values.float()", "values = values.half().float()")],
        check="test_bfloat16_becomes_float32",
        says="inf",
    ),
    Wrong(
        "bfloat16 as its bits",
        edits=[("values = values.float()", "values = values.view(torch.int16)")],
        check="test_bfloat16_becomes_float32",
        says="int16",
    ),
    Wrong(
        "float32 for float16 too",
        edits=[("values.dtype == torch.bfloat16", "values.dtype in (torch.bfloat16, torch.float16)")],
        check="test_dtypes_stay",
        says="float32",
    ),
    Wrong(
        "by way of a list",
        edits=[("    return values.numpy()", "    return np.array(values.tolist())")],
        check="test_dtypes_stay",
    ),
    Wrong(
        "bfloat16 by way of a list, which loses the shape of what is empty",
        edits=[
            (
                "        values = values.float()\n",
                "        return np.array(values.tolist(), dtype=np.float32)\n",
            )
        ],
        check="test_any_shape",
        says="bfloat16",
    ),
    Wrong(
        "a copy of what was computed",
        edits=[("x.detach().cpu()", "(x.detach() if x.grad_fn is None else x.detach().clone()).cpu()")],
        check="test_array_on_the_tensors_memory",
        says="computed",
    ),
    Wrong(
        "what is empty has no values to read: no error for text",
        edits=[
            (
                "    if not array.flags.writeable or",
                "    if array.size == 0:\n        return torch.zeros(array.shape, dtype=torch.float64)\n    if not array.flags.writeable or",
            )
        ],
        check="test_not_numbers",
        says="no error",
    ),
    Wrong(
        "a number for a 0-d tensor",
        edits=[("    return values.numpy()", "    return values.numpy()[()]")],
        check="test_any_shape",
        says="no NumPy array",
    ),
    Wrong(
        "from_numpy as it is",
        edits=[(COPY, "")],
        check="test_negative_strides",
        says="negative",
    ),
    Wrong(
        "copies what is reversed, not what is read-only",
        edits=[("not array.flags.writeable or ", "")],
        check="test_read_only_array_is_left_alone",
        says="warning",
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
        check="test_read_only_array_is_left_alone",
        says="warning",
    ),
    Wrong(
        "makes the caller's array writable",
        edits=[
            (
                "    if not array.flags.writeable or any(",
                "    try:\n        array.flags.writeable = True\n    except ValueError:\n        pass\n    if not array.flags.writeable or any(",
            )
        ],
        check="test_read_only_array_is_left_alone",
        says="wrong values",
    ),
    Wrong(
        "a new tensor each time",
        edits=[("torch.from_numpy(array)", "torch.tensor(array)")],
        check="test_tensor_on_the_arrays_memory",
        says="from_numpy(array).fill_(3)",
    ),
    Wrong(
        "copies whatever repeats",
        edits=[("if not array.flags.writeable", "if 0 in array.strides or not array.flags.writeable")],
        check="test_tensor_on_the_arrays_memory",
        says="repeats",
    ),
    Wrong(
        "copies whatever is not contiguous",
        edits=[("any(stride < 0 for stride in array.strides)", "not array.flags.c_contiguous")],
        check="test_tensor_on_the_arrays_memory",
        says="transposed",
    ),
    Wrong(
        "looks at the first stride only",
        edits=[("any(stride < 0 for stride in array.strides)", "(array.ndim > 0 and array.strides[0] < 0)")],
        check="test_negative_strides",
        says="negative",
    ),
    Wrong(
        "looks at the first and the last stride",
        edits=[
            (
                "any(stride < 0 for stride in array.strides)",
                "(array.ndim > 0 and min(array.strides[0], array.strides[-1]) < 0)",
            )
        ],
        check="test_negative_strides",
        says="negative",
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
    Wrong(
        "float32 on the way in",
        edits=[("torch.from_numpy(array)", "torch.from_numpy(array).float()")],
        check="test_dtypes_stay",
        says="float32",
    ),
    Wrong(
        "requires gradients where it can",
        edits=[
            (
                "    return torch.from_numpy(array)",
                "    x = torch.from_numpy(array)\n    return x.requires_grad_(x.dtype == torch.float32 and array.ndim == 1)",
            )
        ],
        check="test_tensor_from_numpy_requires_no_gradients",
        says="requires gradients",
    ),
    Wrong(
        "reads objects and text as numbers",
        edits=[
            (
                "    return torch.from_numpy(array)",
                "    if array.dtype.kind in 'OU':\n        array = np.nan_to_num(array.astype(np.float64))\n    return torch.from_numpy(array)",
            )
        ],
        check="test_not_numbers",
        says="no error",
    ),
    Wrong(
        "refuses with a ValueError",
        edits=[
            (
                "    return torch.from_numpy(array)",
                "    if array.dtype.kind not in 'biufc':\n        raise ValueError(array.dtype)\n    return torch.from_numpy(array)",
            )
        ],
        check="test_not_numbers",
        says="ValueError",
    ),
    Wrong(
        "hushes the warning, for the whole program, and copies what torch has warned of",
        edits=[
            (
                "    if not array.flags.writeable or any(stride < 0 for stride in array.strides):\n"
                "        array = array.copy()\n"
                "    return torch.from_numpy(array)",
                "    import warnings\n\n"
                "    warnings.filterwarnings('ignore', message='The given NumPy array is not writable')\n"
                "    if any(stride < 0 for stride in array.strides):\n"
                "        array = array.copy()\n"
                "    return torch.from_numpy(array) if array.flags.writeable else torch.from_numpy(array).clone()",
            )
        ],
        check="test_read_only_array_is_left_alone",
        says="changes the filters",
    ),
    Wrong(
        "widens unsigned integers, as torch once had to",
        edits=[
            (
                "    if not array.flags.writeable or",
                "    if array.dtype in (np.uint16, np.uint32):\n        array = array.astype(np.int64)\n"
                "    if not array.flags.writeable or",
            )
        ],
        check="test_dtypes_stay",
        says="uint16",
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
    Wrong(
        "bfloat16 by the bits of the memory, whatever the strides are",
        edits=[
            (
                CAST,
                """    if values.dtype == torch.bfloat16:
        bits = np.frombuffer(bytes(values.untyped_storage()), np.uint16)[values.storage_offset() :]
        wide = bits[: values.numel()].astype(np.uint32) << 16
        return wide.view(np.float32).reshape(values.shape)
""",
            )
        ],
        check="test_bfloat16_becomes_float32",
        says="transposed",
    ),
]
