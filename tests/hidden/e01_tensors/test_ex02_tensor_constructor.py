"""What grades tensor_constructor: shapes and dtypes of numbers, sequences and arrays."""

import numpy as np
import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.cost.precision import default_dtype


def expect_vector(answer, values, wanted, dtype, asked=None):
    """`asked` is given as the argument dtype, where it is not None."""
    call = f"as_vector({values!r})" if asked is None else f"as_vector({values!r}, dtype={asked})"
    yours = answer.as_vector(values) if asked is None else answer.as_vector(values, dtype=asked)
    expect_equal(yours, torch.tensor(wanted, dtype=dtype), call, dims="i")


@pytest.mark.parametrize("number", [7, 1, 0, -3, 2**53 + 1], ids=str)
def test_an_int_is_a_value(answer, number):
    """A single int becomes a vector with that one int, never a size."""
    expect_vector(answer, number, [number], torch.int64)


def test_a_float_or_bool_is_a_value(answer):
    """A single float or bool becomes a vector with one element."""
    expect_vector(answer, 2.5, [2.5], torch.float32)
    expect_vector(answer, True, [True], torch.bool)
    expect_vector(answer, False, [False], torch.bool)


def test_ints_stay_ints(answer):
    """Ints become int64, exact to the last digit, in a list, a tuple and alone in a list."""
    large = 2**53 + 1
    expect_vector(answer, [large, -large, 0], [large, -large, 0], torch.int64)
    expect_vector(answer, (16_777_217, 4), [16_777_217, 4], torch.int64)
    expect_vector(answer, [3], [3], torch.int64)
    ids = [7, 2, 5]
    answer.as_vector(ids)
    expect_equal(ids, [7, 2, 5], "ids, a list, after as_vector(ids)")


def test_bools_stay_bools(answer):
    """Bools become torch.bool."""
    expect_vector(answer, [True, False, True], [True, False, True], torch.bool)
    expect_vector(answer, (False, True), [False, True], torch.bool)
    for mixed, wanted in [
        ([True, 2, 0], [1, 2, 0]),
        ((3, False), [3, 0]),
        ([True, 1], [1, 1]),
        ([1, 0], [1, 0]),
    ]:
        expect_vector(answer, mixed, wanted, torch.int64)
    expect_vector(answer, [True, 0.5], [1.0, 0.5], torch.float32)


def test_floats(answer):
    """Floats, and ints mixed with floats, become float32."""
    numbers = [0.1, -2.5, 1e30, float("-inf"), float("nan")]
    expect_vector(answer, numbers, numbers, torch.float32)
    expect_vector(answer, (1, 2.5, -3), [1.0, 2.5, -3.0], torch.float32)


def test_default_dtype(answer):
    """Floats and empty lists follow torch.set_default_dtype; ints and NumPy's float32 do not."""
    with default_dtype(torch.float64):
        made = [answer.as_vector(values) for values in (0.1, [0.1, 2], [], [4], np.float32(0.5))]
    wanted = [
        torch.tensor([0.1], dtype=torch.float64),
        torch.tensor([0.1, 2], dtype=torch.float64),
        torch.empty(0, dtype=torch.float64),
        torch.tensor([4]),
        torch.tensor([0.5]),
    ]
    names = ("0.1", "[0.1, 2]", "[]", "[4]", "np.float32(0.5)")
    for name, yours, vector in zip(names, made, wanted, strict=True):
        expect_equal(yours, vector, f"as_vector({name}) with float64 as default dtype")


def test_no_values(answer):
    """No values make a vector of shape (0,)."""
    expect_vector(answer, [], [], torch.float32)
    expect_vector(answer, (), [], torch.float32)
    expect_vector(answer, [], [], torch.int64, asked=torch.int64)
    expect_vector(answer, (), [], torch.bool, asked=torch.bool)
    expect_vector(answer, np.zeros(0, dtype=np.int32), [], torch.int32)
    expect_vector(answer, np.zeros(0, dtype=np.int32), [], torch.float64, asked=torch.float64)
    expect_vector(answer, np.zeros(0)[::-1], [], torch.float64)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.int32, torch.bool, torch.int64], ids=str
)
def test_dtype_asked_for(answer, dtype):
    """The dtype that is asked for is the one that comes, for numbers, lists and arrays."""
    expect_vector(answer, 1, [1], dtype, asked=dtype)
    expect_vector(answer, [0, 1, 5], [0, 1, 5], dtype, asked=dtype)
    expect_vector(answer, np.array([2.0, 0.0]), [2, 0], dtype, asked=dtype)
    expect_vector(answer, np.int32(4), [4], dtype, asked=dtype)
    expect_vector(answer, [True, False], [1, 0], dtype, asked=dtype)
    if dtype == torch.int64:
        expect_vector(answer, [2**62 + 1], [2**62 + 1], dtype, asked=dtype)
        expect_vector(answer, 2**62 + 1, [2**62 + 1], dtype, asked=dtype)
        expect_vector(answer, [2**62 + 1, 0.5], [2**62 + 1, 0], dtype, asked=dtype)
        expect_vector(answer, np.array([2**62 + 1], dtype=np.uint64), [2**62 + 1], dtype, asked=dtype)
    if dtype == torch.float64:
        for given in (0.1, [0.1], np.float64(0.1), np.array([0.1])):
            expect_vector(answer, given, [0.1], dtype, asked=dtype)
    if dtype == torch.bool:
        for given in ([0.5, 0.0, -2], np.array([0.5, 0.0, -2])):
            expect_vector(answer, given, [True, False, True], dtype, asked=dtype)


def test_arrays_keep_their_dtype(answer):
    """A NumPy array keeps its dtype."""
    for name in (
        "int32",
        "uint8",
        "int16",
        "int64",
        "bool",
        "float16",
        "float32",
        "float64",
        "uint16",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "int8",
    ):
        array = np.array([3, 0, 1]).astype(name)
        expect_vector(answer, array, array.tolist(), getattr(torch, name))
    large = 2**53 + 1
    expect_vector(answer, np.array([large, -large]), [large, -large], torch.int64)
    expect_vector(answer, np.array([large]), [large], torch.int64, asked=torch.int64)
    expect_vector(answer, np.array([0.1, 1e300]), [0.1, 1e300], torch.float64)


def test_array_of_any_strides(answer):
    """A reversed, strided, read-only or 0-d array gives its values in their order."""
    ids, table = np.arange(6), np.arange(6, dtype=np.float32).reshape(2, 3)
    fixed = ids.copy()
    fixed.flags.writeable = False
    for array, name in [
        (ids[::-1], "ids[::-1]"),
        (ids[4::-2], "ids[4::-2]"),
        (ids[1::2], "ids[1::2]"),
        (table[:, 1], "table[:, 1]"),
        (table[::-1, 2], "table[::-1, 2]"),
        (np.broadcast_to(ids[3], 4), "ids[3], four times"),
        (fixed, "a read-only ids"),
        (np.array(7), "np.array(7)"),
        (np.array(0.5), "np.array(0.5)"),
    ]:
        wanted = [array.item()] if array.ndim == 0 else array.tolist()
        dtype = getattr(torch, str(array.dtype))
        expect_equal(
            answer.as_vector(array), torch.tensor(wanted, dtype=dtype), f"as_vector({name})", dims="i"
        )
        yours = answer.as_vector(array, dtype=torch.float64)
        call = f"as_vector({name}, dtype=torch.float64)"
        expect_equal(yours, torch.tensor(wanted, dtype=torch.float64), call, dims="i")


def test_numpy_numbers(answer):
    """A NumPy number becomes a vector with one element and keeps its dtype."""
    expect_vector(answer, np.int64(3), [3], torch.int64)
    expect_vector(answer, np.int64(2**53 + 1), [2**53 + 1], torch.int64)
    expect_vector(answer, np.int64(2**53 + 1), [2**53 + 1], torch.int64, asked=torch.int64)
    expect_vector(answer, np.int32(-2), [-2], torch.int32)
    expect_vector(answer, np.float32(0.1), [float(np.float32(0.1))], torch.float32)
    expect_vector(answer, np.float64(0.1), [0.1], torch.float64)
    expect_vector(answer, np.bool_(True), [True], torch.bool)
    expect_vector(answer, np.uint8(200), [200], torch.uint8)
    expect_vector(answer, np.float16(0.5), [0.5], torch.float16)


def test_memory_of_its_own(answer):
    """Writing into the vector does not change the NumPy array that was given."""
    array = np.array([1.0, 2.0, 3.0])
    for given, name in (
        (array, "array"),
        (array[::2], "array[::2]"),
        (array[1:2].reshape(()), "array[1], 0-d"),
    ):
        for dtype in (None, torch.float64):
            answer.as_vector(given, dtype=dtype).zero_()
            expect_that(
                array.tolist() == [1.0, 2.0, 3.0],
                f"writing into as_vector({name}) changes the array",
                yours=str(array.tolist()),
                wanted="[1.0, 2.0, 3.0]",
            )


@pytest.mark.parametrize("dtype", [None, torch.float32], ids=["no dtype", "dtype"])
def test_more_dims_are_refused(answer, dtype):
    """Values with more than one dim raise ValueError, also when they are few."""
    for values in (
        [[1, 2, 3]],
        [[1.5], [2.5]],
        ((7,),),
        [1, [2]],
        [[1], 2],
        (0.5, (1, 2)),
        [[1, 2], [3]],
        [[]],
        [(), ()],
        [[[1, 2]]],
        np.ones((1, 3)),
        np.ones((1, 1)),
        np.ones((2, 0)),
    ):
        expect_raises(ValueError, lambda v=values: answer.as_vector(v, dtype=dtype), f"as_vector({values!r})")
    left = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    expect_equal(left, torch.float32, "the default dtype of torch after as_vector(values) raised ValueError")


def oracle(answer, gen):
    ids = torch.randint(2**53, 2**60, (5,), generator=gen)
    prices = torch.rand(4, generator=gen, dtype=torch.float64)
    return [
        answer.as_vector(int(ids[0])),
        answer.as_vector(ids.tolist()),
        answer.as_vector(float(prices[0])),
        answer.as_vector(prices.tolist()),
        answer.as_vector(prices.numpy()),
        answer.as_vector(tuple(ids.tolist()), dtype=torch.float64),
        answer.as_vector((ids % 2).bool().tolist()),
    ]
