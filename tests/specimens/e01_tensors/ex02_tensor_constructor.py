"""Answers to tensor_constructor that people write."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "finite numbers for infinite ones and NaN, to be safe",
        code="""
import numpy as np
import torch


def as_vector(values, dtype=None):
    if isinstance(values, (np.ndarray, np.generic)):
        vector = torch.from_numpy(np.array(values, ndmin=1))
    else:
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        if any(isinstance(value, (list, tuple)) for value in values):
            raise ValueError("more than one dim")
        vector = torch.nan_to_num(torch.tensor(values, dtype=dtype))
    if vector.ndim > 1:
        raise ValueError("more than one dim")
    return vector if dtype is None else vector.to(dtype)
""",
        check="test_floats",
        says="nan",
    ),
    Wrong(
        "sets torch's default dtype while it builds, and leaves it where the values are nested",
        code="""
import numpy as np
import torch


def as_vector(values, dtype=None):
    if isinstance(values, (np.ndarray, np.generic)):
        vector = torch.from_numpy(np.array(values, ndmin=1))
        if vector.ndim > 1:
            raise ValueError("more than one dim")
        return vector if dtype is None else vector.to(dtype)
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    if any(isinstance(value, (list, tuple)) for value in values):
        raise ValueError("more than one dim")
    vector = torch.tensor(values, dtype=dtype)
    torch.set_default_dtype(usual)
    return vector.to(usual) if dtype is None and vector.is_floating_point() else vector
""",
        check="test_more_dims_are_refused",
        says="default dtype",
    ),
    Wrong(
        "takes the first value for the kind of all",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if dtype is None and isinstance(values, (list, tuple)) and values and isinstance(values[0], bool):\n"
                "        dtype = torch.bool\n    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_bools_stay_bools",
    ),
    Wrong(
        "wraps a single int in a list and still builds with the class",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    vector = torch.Tensor(values if hasattr(values, '__len__') else [values])\n"
                "    vector = vector if dtype is None else vector.to(dtype)",
            )
        ],
        check="test_ints_stay_ints",
        says="float32",
    ),
    Wrong(
        "only lists go through torch.tensor: an int is still a size",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    make = torch.tensor if isinstance(values, (list, tuple)) else lambda v, dtype: torch.Tensor(v)\n"
                "    vector = make(values, dtype=dtype)",
            )
        ],
        check="test_an_int_is_a_value",
    ),
    Wrong(
        "a number stays 0-d",
        edits=[("torch.atleast_1d(vector)", "vector")],
        check="test_a_float_or_bool_is_a_value",
        says="wrong shape",
    ),
    Wrong(
        "float32 unless another dtype is asked for",
        edits=[("torch.tensor(values, dtype=dtype)", "torch.tensor(values, dtype=dtype or torch.float32)")],
        check="test_ints_stay_ints",
        says="float32",
    ),
    Wrong(
        "int64 for whatever is an int in Python, and so for bools",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    first = values[0] if hasattr(values, '__len__') and len(values) else values\n"
                "    if dtype is None and isinstance(first, int) and all(isinstance(v, int) for v in torch.atleast_1d(torch.tensor(values)).tolist()):\n"
                "        dtype = torch.int64\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_bools_stay_bools",
        says="int64",
    ),
    Wrong(
        "one dtype for all floats: float32",
        edits=[
            (
                "    return torch.atleast_1d(vector)",
                "    if dtype is None and vector.is_floating_point():\n        vector = vector.float()\n    return torch.atleast_1d(vector)",
            )
        ],
        check="test_default_dtype",
        says="float32",
    ),
    Wrong(
        "the default dtype for all floats, NumPy's float64 too",
        edits=[
            (
                "    return torch.atleast_1d(vector)",
                "    if dtype is None and vector.is_floating_point():\n"
                "        vector = vector.to(torch.get_default_dtype())\n    return torch.atleast_1d(vector)",
            )
        ],
        check="test_arrays_keep_their_dtype",
    ),
    Wrong(
        "looks at the first value only to choose a dtype",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if dtype is None and isinstance(values, (list, tuple)) and values:\n"
                "        dtype = torch.tensor(values[0]).dtype\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_floats",
    ),
    Wrong(
        "as_tensor: the vector is a window onto the array",
        edits=[("torch.tensor(values, dtype=dtype)", "torch.as_tensor(values, dtype=dtype)")],
        check="test_memory_of_its_own",
        says="changes the array",
    ),
    Wrong(
        "from_numpy where no dtype is asked for",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    vector = torch.from_numpy(values) if isinstance(values, np.ndarray) and dtype is None else torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_memory_of_its_own",
    ),
    Wrong(
        "flattens whatever comes",
        edits=[
            (
                "    if vector.ndim > 1:\n"
                '        raise ValueError(f"a vector has one dim, the values have shape {tuple(vector.shape)}")\n'
                "    return torch.atleast_1d(vector)  # (count,)",
                "    return vector.reshape(-1)",
            )
        ],
        check="test_more_dims_are_refused",
        says="no error",
    ),
    Wrong(
        "squeezes first: a table with one row slips through",
        edits=[("    if vector.ndim > 1:", "    vector = vector.squeeze()\n    if vector.ndim > 1:")],
        check="test_more_dims_are_refused",
        says="no error",
    ),
    Wrong(
        "refuses a table with another error",
        edits=[("raise ValueError(f", "raise TypeError(f")],
        check="test_more_dims_are_refused",
        says="TypeError",
    ),
    Wrong(
        "an empty vector in the default dtype, whatever was asked for",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if np.size(values) == 0 and np.ndim(values) == 1:\n        return torch.empty(0)\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_no_values",
        says="dtype",
    ),
    Wrong(
        "int64 for a tuple of what is an int in Python, and so for bools",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if isinstance(values, tuple) and values and all(isinstance(v, int) for v in values):\n"
                "        dtype = dtype or torch.int64\n    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_bools_stay_bools",
        says="int64",
    ),
    Wrong(
        "leaves ragged lists to torch.tensor, which raises a TypeError",
        edits=[
            (
                "any(isinstance(value, list | tuple) for value in values)",
                "values and all(isinstance(value, list | tuple) for value in values)",
            )
        ],
        check="test_more_dims_are_refused",
        says="TypeError",
    ),
    Wrong(
        "gives torch.tensor a reversed array, which it refuses",
        edits=[("        values = np.ascontiguousarray(values)", "        values = values[:]")],
        check="test_array_of_any_strides",
        says="negative",
    ),
    Wrong(
        "an array by way of float64: large ids are rounded",
        edits=[
            (
                "        values = np.ascontiguousarray(values)",
                "        values = values.astype(np.float64).astype(values.dtype)",
            )
        ],
        check="test_arrays_keep_their_dtype",
        says="wrong values",
    ),
    Wrong(
        "the dtype is ignored",
        edits=[("torch.tensor(values, dtype=dtype)", "torch.tensor(values)")],
        check="test_dtype_asked_for",
        says="wrong dtype",
    ),
    Wrong(
        "an int64 by way of float64",
        edits=[
            (
                "torch.tensor(values, dtype=dtype)",
                "torch.tensor(values) if dtype is None else torch.tensor(values, dtype=torch.float64).to(dtype)",
            )
        ],
        check="test_dtype_asked_for",
        says="wrong values",
    ),
    Wrong(
        "a number is what isinstance(values, (int, float)) says: NumPy's int64 is not",
        edits=[
            (
                "torch.tensor(values, dtype=dtype)",
                "torch.tensor([values] if isinstance(values, (int, float)) else values, dtype=dtype)",
            ),
            ("torch.atleast_1d(vector)", "vector"),
        ],
        check="test_numpy_numbers",
        says="wrong shape",
    ),
    Wrong(
        "an item() turns NumPy numbers into Python's, and their dtypes into the defaults",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if isinstance(values, np.generic):\n        values = values.item()\n    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_numpy_numbers",
    ),
    Wrong(
        "stacks one tensor for each value, and there may be none",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if isinstance(values, (list, tuple)) and all(isinstance(v, int) for v in values):\n"
                "        values = torch.stack([torch.tensor(v) for v in values]).numpy()\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_no_values",
        says="non-empty",
    ),
    Wrong(
        "every list by way of a NumPy array: one float makes floats of the ints",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if isinstance(values, list | tuple):\n"
                "        array = np.array(values)\n"
                "        default = torch.get_default_dtype() if array.dtype.kind == 'f' else None\n"
                "        values, dtype = array, dtype or default\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_dtype_asked_for",
        says="wrong values",
    ),
    Wrong(
        "a table of dtypes that lacks some",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if isinstance(values, np.ndarray):\n"
                "        names = 'bool uint8 int16 int32 int64 float16 float32 float64'.split()\n"
                "        dtype = dtype or {name: getattr(torch, name) for name in names}.get(values.dtype.name)\n"
                "        values = values.tolist()\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_arrays_keep_their_dtype",
        says="uint16",
    ),
    Right(
        "asks NumPy for the number of dims first",
        code="""
import numpy as np
import torch

def as_vector(values, dtype=None):
    try:
        dims = np.ndim(values)
    except ValueError:
        dims = 2  # ragged
    if dims > 1:
        raise ValueError("one dim, please")
    if isinstance(values, np.ndarray):
        values = values.copy()
    if dims == 0:
        return torch.tensor(values, dtype=dtype).unsqueeze(0)
    return torch.tensor(values, dtype=dtype)
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
        return torch.from_numpy(array.copy()).to(dtype or torch.from_numpy(array[:0].copy()).dtype)
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
    try:
        vector = torch.as_tensor(values, dtype=dtype).clone()
    except TypeError:
        raise ValueError("nested") from None
    if vector.dim() >= 2:
        raise ValueError("expected at most one dim")
    return vector.reshape(-1)
""",
    ),
    Wrong(
        "takes 1 and 0, which equal True and False, for bools",
        edits=[
            (
                "    vector = torch.tensor(values, dtype=dtype)",
                "    if dtype is None and isinstance(values, (list, tuple)) and len(values) > 1:\n"
                "        if all(value in (True, False) for value in values):\n"
                "            dtype = None if any(isinstance(value, float) for value in values) else torch.bool\n"
                "    vector = torch.tensor(values, dtype=dtype)",
            )
        ],
        check="test_bools_stay_bools",
    ),
]
