"""The suite of numpy_there_and_back."""

import numpy as np
import torch

from grader.checks.contract import Contract, given, untouched

PAIR = torch.tensor([1.0, 2.5], dtype=torch.float64)


def with_array(answer, array):
    """What the answer makes of an array that shares the tensor's numbers: kinds, and all as tensors."""
    found = answer.numpy_there_and_back(array.numpy())
    if type(found) is not tuple:
        return found
    parts = tuple(torch.from_numpy(part) if type(part) is np.ndarray else part for part in found)
    return {"kinds": [type(part).__name__ for part in found], "numbers": parts}


def doubled(array, first="Tensor", second="ndarray"):
    return {"kinds": [first, second], "numbers": (2 * array, 2 * array)}


contract = Contract(
    "numpy_there_and_back(array)",
    reference=doubled,
    use=with_array,
    example=(given(PAIR), {"kinds": ["Tensor", "ndarray"], "numbers": (2 * PAIR, 2 * PAIR)}),
    inputs=lambda gen: {
        "float64 of shape (3,)": torch.randn(3, generator=gen, dtype=torch.float64),
        "float32 of shape (2, 4)": torch.randn(2, 4, generator=gen),
        "float64 of shape (5, 1)": torch.randn(5, 1, generator=gen, dtype=torch.float64),
    },
    job=[untouched(title="The array that came in stays as it is.")],
    suspects={
        "the second is still a tensor: `.numpy()` makes an array of it": lambda a: doubled(
            a, "Tensor", "Tensor"
        ),
        "the first is still an array: make a tensor of it": lambda a: doubled(a, "ndarray", "ndarray"),
        "the numbers are not doubled": lambda a: doubled(a / 2),
        "the numbers are doubled twice: the array was changed, too": lambda a: doubled(2 * a),
    },
)
