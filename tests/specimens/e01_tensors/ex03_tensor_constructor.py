"""Answers to tensor_constructor that people write."""

from grader.authoring.specimen import Right, Works, Wrong

MAKE = "    vector = torch.tensor(values, dtype=dtype)"
REVERSED = "        values = np.ascontiguousarray(values)"

SPECIMENS = [
    Wrong(
        "wraps a single int in a list and still builds with the class",
        edits=[
            (
                MAKE,
                "    vector = torch.Tensor(values if hasattr(values, '__len__') else [values])\n"
                "    vector = vector if dtype is None else vector.to(dtype)",
            )
        ],
        check="test_values",
        says="float32",
        rung="job",
    ),
    Wrong(
        "only lists go through torch.tensor: an int is still a size",
        edits=[
            (
                MAKE,
                "    make = torch.tensor if isinstance(values, (list, tuple)) else lambda v, dtype: torch.Tensor(v)\n"
                "    vector = make(values, dtype=dtype)",
            )
        ],
        check="test_int_is_a_value",
        rung="job",
    ),
    Wrong(
        "a number stays 0-d",
        edits=[("torch.atleast_1d(vector)", "vector")],
        check="test_float_is_a_value",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "the class of ints: floats are cut off",
        edits=[
            (
                MAKE,
                "    vector = torch.LongTensor([values] if np.ndim(values) == 0 else values)\n    vector = vector if dtype is None else vector.to(dtype)",
            )
        ],
        check="test_floats",
        says="int64",
        rung="job",
    ),
    Wrong(
        "int64 for whatever is an int in Python, and so for bools",
        edits=[
            (
                MAKE,
                "    if isinstance(values, (list, tuple)) and all(isinstance(v, int) for v in values):\n"
                "        dtype = dtype or torch.int64\n" + MAKE,
            )
        ],
        check="test_bools",
        says="int64",
        rung="job",
    ),
    Wrong(
        "takes the first value for the kind of all",
        edits=[
            (
                MAKE,
                "    if dtype is None and isinstance(values, (list, tuple)) and values:\n"
                "        dtype = torch.tensor(values[0]).dtype\n" + MAKE,
            )
        ],
        check="test_floats",
        says="int64",
        rung="job",
    ),
    Wrong(
        "an array by way of a list: its dtype is lost",
        edits=[(REVERSED, "        values = values.tolist()")],
        check="test_arrays_keep_their_dtype",
        says="int32",
        rung="job",
    ),
    Wrong(
        "the dtype is ignored",
        edits=[("torch.tensor(values, dtype=dtype)", "torch.tensor(values)")],
        check="test_dtype_asked_for",
        says="wrong dtype",
        rung="job",
    ),
    Wrong(
        "one dtype for all floats that Python has: float32",
        edits=[
            (
                MAKE,
                "    if dtype is None and isinstance(values, (list, tuple, float)):\n"
                "        dtype = torch.float32 if torch.tensor(values).is_floating_point() else None\n"
                + MAKE,
            )
        ],
        check="test_default_dtype",
        says="float32",
    ),
    Wrong(
        "as_tensor: the vector is a window onto the array",
        edits=[("torch.tensor(values, dtype=dtype)", "torch.as_tensor(values, dtype=dtype)")],
        check="test_memory_of_its_own",
        says="changes the array",
    ),
    Wrong(
        "squeezes first: a table with one row slips through",
        edits=[("    if vector.ndim > 1:", "    vector = vector.squeeze()\n    if vector.ndim > 1:")],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "gives torch.tensor a reversed array, which it refuses",
        edits=[(REVERSED, "        values = values[:]")],
        check="test_strides",
        says="negative",
    ),
    Wrong(
        "stacks one tensor for each value, and there may be none",
        edits=[
            (
                MAKE,
                "    if isinstance(values, (list, tuple)) and all(isinstance(v, int) for v in values):\n"
                "        values = torch.stack([torch.tensor(v) for v in values]).numpy()\n" + MAKE,
            )
        ],
        check="test_no_values",
        says="non-empty",
    ),
    Wrong(
        "an item() turns NumPy numbers into Python's, and their dtypes into the defaults",
        edits=[
            (
                MAKE,
                "    if np.ndim(values) == 0 and hasattr(values, 'item'):\n        values = values.item()\n"
                + MAKE,
            )
        ],
        check="test_numpy_numbers",
        says="int32",
    ),
    Works(
        "torch.tensor, reshaped",
        code="""
import torch

def as_vector(values, dtype=None):
    return torch.tensor(values, dtype=dtype).reshape(-1)
""",
    ),
    Works(
        "the function in place of the class, and cast as before",
        edits=[
            ("torch.tensor(values, dtype=dtype)", "torch.tensor(values)"),
            (
                "    return torch.atleast_1d(vector)",
                "    vector = vector if dtype is None else vector.to(dtype)\n    return torch.atleast_1d(vector)",
            ),
        ],
    ),
    Works(
        "a single number in a list, and as_tensor",
        code="""
import torch

def as_vector(values, dtype=None):
    if isinstance(values, (int, float)):
        values = [values]
    return torch.as_tensor(values, dtype=dtype)
""",
    ),
    Right(
        "a case for each kind of value",
        code="""
import numpy as np
import torch

def as_vector(values, dtype=None):
    if isinstance(values, (np.ndarray, np.generic)):
        array = np.atleast_1d(values)
        if array.ndim > 1:
            raise ValueError(f"{array.ndim} dims")
        vector = torch.from_numpy(array.copy())
        return vector if dtype is None else vector.to(dtype)
    if not isinstance(values, (list, tuple)):
        values = [values]
    if any(isinstance(v, (list, tuple)) for v in values):
        raise ValueError("nested")
    if dtype is None:
        if len(values) == 0 or any(type(v) is float for v in values):
            dtype = torch.get_default_dtype()
        elif all(type(v) is bool for v in values):
            dtype = torch.bool
        else:
            dtype = torch.int64
    vector = torch.empty(len(values), dtype=dtype)
    for i, value in enumerate(values):
        vector[i] = value
    return vector
""",
    ),
    Right(
        "as_tensor and a clone, reshaped",
        code="""
import numpy as np
import torch

def as_vector(values, dtype=None):
    if isinstance(values, np.ndarray) and any(stride < 0 for stride in values.strides):
        values = values.copy()
    vector = torch.as_tensor(values, dtype=dtype).clone()
    if vector.dim() >= 2:
        raise ValueError("expected at most one dim")
    return vector.reshape(-1)
""",
    ),
]
