"""What grades tensor_constructor: shapes and dtypes of numbers, sequences and arrays."""

import numpy as np
import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, errors, given, values
from grader.checks.cost.precision import default_dtype


def reference(numbers, dtype=None):
    """By way of NumPy, whose dtypes are torch's but for Python's floats."""
    own = torch.from_numpy(np.atleast_1d(numbers).copy())
    if dtype is None and own.is_floating_point() and not isinstance(numbers, (np.ndarray, np.generic)):
        dtype = torch.get_default_dtype()
    return own if dtype is None else own.to(dtype)


def at_hand(gen):
    """Numbers as they come."""
    ids = torch.randint(2**53, 2**60, (6,), generator=gen)
    prices = torch.rand(4, generator=gen, dtype=torch.float64)
    return {
        "one label": int(ids[0]),
        "one price": float(prices[0]),
        "large ids": ids.tolist(),
        "prices": prices.tolist(),
        "flags": (ids % 2 == 0).tolist(),
        "a float64 array": prices.numpy(),
        "ids as float64": given(tuple((ids % 1000).tolist()), dtype=torch.float64),
    }


def check(name, title, cases):
    """A clause about these values: arrays by what they are in words, others as they are written."""
    calls = {about: given(one) for about, one in cases.items()} if isinstance(cases, dict) else cases
    return values(inputs=lambda gen: calls, name=name, title=title)


IDS = np.arange(6)
TABLES = {"a list of lists": [[1, 2], [3, 4]], "one row": [[1, 2, 3]], "a 1×1 array": np.ones((1, 1))}

contract = Contract(
    "as_vector(values)",
    reference=reference,
    inputs=at_hand,
    suspects={
        "the numbers go through float32, which does not hold all of them": lambda *given, **how: (
            reference(*given, **how).float().to(reference(*given, **how).dtype)
        ),
    },
    dims="i",
    job=[
        check("int_is_a_value", "A single int is a value, never a size.", [7, 1, 0, -3]),
        check("float_is_a_value", "A single float or bool makes one element.", [2.5, True, False]),
        check(
            "values",
            "Ints become int64, exact to the last digit.",
            [given([2**53 + 1, -4]), given((16_777_217, 4)), given([1, 0])],
        ),
        check("bools", "Bools become torch.bool.", [given([True, False, True]), given((False, True))]),
        check(
            "floats",
            "Floats, and ints mixed with floats, become float32.",
            [given([0.1, 1e30]), given((1, 2.5, -3))],
        ),
        check(
            "arrays_keep_their_dtype",
            "An array keeps its dtype.",
            {
                f"an array of {d}": np.array([3, 0, 1]).astype(d)
                for d in ("int32", "uint8", "bool", "float64")
            },
        ),
        check(
            "dtype_asked_for",
            "The dtype that is asked for is the one that comes.",
            [
                given([0, 1, 5], dtype=torch.float64),
                given([0, 1, 5], dtype=torch.bool),
                given([2**53 + 1], dtype=torch.int64),
                given(1, dtype=torch.float16),
                given(np.array([2.0, 0.0]), dtype=torch.int64),
            ],
        ),
    ],
    fine=[
        check(
            "float64",
            "With dtype=torch.float64, floats keep all their digits.",
            [given(0.1, dtype=torch.float64), given([0.1, 2.5], dtype=torch.float64)],
        ),
        check(
            "no_values",
            "No values make a vector of shape (0,).",
            {"no values": [], "an empty array": np.zeros(0, dtype=np.int32)},
        ),
        check(
            "numpy_numbers",
            "A NumPy number makes one element and keeps its dtype.",
            {
                "np.int64(3)": np.int64(3),
                "np.int32(-2)": np.int32(-2),
                "np.float64(0.1)": np.float64(0.1),
                "np.bool_(True)": np.bool_(True),
            },
        ),
        check(
            "strides",
            "Strided and reversed arrays keep their order.",
            {"ids[1::2]": IDS[1::2], "ids[::-1]": IDS[::-1]},
        ),
        errors(
            ValueError,
            lambda gen: {about: given(table) for about, table in TABLES.items()},
            title="Tables raise ValueError.",
        ),
    ],
)


@pytest.mark.fine
def test_default_dtype(answer):
    """Floats follow torch.set_default_dtype; ints and arrays do not."""
    with default_dtype(torch.float64):
        kinds = [answer.as_vector(v).dtype for v in (0.1, [0.1, 2], [4], np.ones(2, dtype=np.float32))]
    expect_that(
        kinds == [torch.float64, torch.float64, torch.int64, torch.float32],
        "with float64 as default, 0.1, [0.1, 2], [4] and a float32 array become other dtypes",
        yours=kinds,
        wanted="float64, float64, int64, float32",
    )


@pytest.mark.fine
def test_memory_of_its_own(answer):
    """Writing into the vector does not change the NumPy array that was given."""
    array = np.array([1.0, 2.0, 3.0])
    answer.as_vector(array).zero_()
    expect_that(
        array.tolist() == [1.0, 2.0, 3.0],
        "writing into as_vector(array) changes the array",
        yours=array.tolist(),
        wanted="[1.0, 2.0, 3.0]",
        likely="`as_tensor` and `from_numpy` look at the array's memory; `tensor` copies",
    )
