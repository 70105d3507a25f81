"""What grades numpy_bridge: shared memory, the copies that must be, dtypes, gradients, devices."""

import math
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import torch

from grader.checks import expect_equal, expect_gradient, expect_raises, expect_that
from grader.checks.devices import count_traffic

DTYPES = [
    "float64",
    "float32",
    "float16",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "rare ones",
]
RARE = ["int16", "uint16", "uint32", "uint64", "complex128"]


def expect_array(yours, wanted, call):
    """An array with the shape, dtype and values of the tensor `wanted`."""
    expect_that(isinstance(yours, np.ndarray), f"{call} is no NumPy array", yours=str(type(yours)))
    dtype = str(wanted.dtype).removeprefix("torch.")
    expect_equal(str(yours.dtype), dtype, f"the dtype of {call}")
    expect_equal(yours.shape, tuple(wanted.shape), f"the shape of {call}")
    expect_equal(torch.from_numpy(np.array(yours)), wanted, call)


with warnings.catch_warnings():  # torch warns of a read-only array once in a program: not of the answer's
    warnings.simplefilter("ignore")
    torch.from_numpy(np.broadcast_to(0.0, 1))


@contextmanager
def no_warning(call):
    """Fail if torch warns that an array is not writable, also if it has done so before, or is hushed."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            before = list(warnings.filters)
            yield
            hushed = warnings.filters != before
    finally:
        torch.set_warn_always(always)
    shown = [str(warning.message)[:80] for warning in shown if "writable" in str(warning.message)]
    expect_that(not shown, f"{call} shows a warning", yours="; ".join(shown))
    expect_that(
        not hushed,
        f"{call} changes the filters of Python's warnings for the whole program",
        wanted="a copy of the array, of which torch does not warn",
    )


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_stay(answer, name):
    """Every dtype that both sides have stays as it is, there and back."""
    for kind in RARE if name == "rare ones" else [name]:
        x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(getattr(torch, kind))
        expect_array(answer.to_numpy(x), x.clone(), f"to_numpy(x) of {x.dtype}")
        array = np.array([[0, 1, 2], [3, 0, 5]]).astype(kind)
        expect_equal(answer.from_numpy(array), x.clone(), f"from_numpy(array) of {kind}")


def test_bfloat16_becomes_float32(answer):
    """bfloat16 becomes float32 with the very same values, also those beyond the range of float16."""
    x = torch.tensor([[0.1, -3e38, 1e-30], [65792.0, 1.0, 0.0], [math.nan, math.inf, 1e-39]]).bfloat16()
    yours = answer.to_numpy(x)
    expect_array(yours, x.float(), "to_numpy(x) of bfloat16")
    expect_that(yours.flags.writeable, "to_numpy(x) of bfloat16 is read-only", wanted="a writable array")
    expect_array(
        answer.to_numpy(x.clone().requires_grad_()), x.float(), "to_numpy(x) of bfloat16 with requires_grad"
    )
    for part, how in ((x.t(), "transposed"), (x[1:, ::2], "a part"), (x[:1].expand(4, 3), "expanded")):
        expect_array(answer.to_numpy(part), part.float(), f"to_numpy(x) of bfloat16, {how}")


def test_any_shape(answer):
    """0-d and empty tensors and arrays keep their shapes; a 0-d array is still an array."""
    for sizes in [(), (0,), (2, 0, 3), (1,), (1, 2, 1)]:
        x = torch.full(sizes, 2.5, dtype=torch.float64)
        expect_array(answer.to_numpy(x), x.clone(), f"to_numpy(x) of shape {sizes}")
        expect_array(answer.to_numpy(x.bfloat16()), x.float(), f"to_numpy(x) of bfloat16 of shape {sizes}")
        expect_equal(answer.from_numpy(np.full(sizes, 2.5)), x, f"from_numpy(array) of shape {sizes}")
        fixed = np.full(sizes, 2.5)
        fixed.flags.writeable = False
        call = f"from_numpy of a read-only array of shape {sizes}"
        with no_warning(call):
            yours = answer.from_numpy(fixed)
        expect_equal(yours, x, call)
        yours.fill_(-1)
        expect_array(fixed, x, f"a read-only array of shape {sizes} after from_numpy(array).fill_(-1)")


def test_array_on_the_tensors_memory(answer):
    """An array and its CPU tensor share memory: strided, 0-d, or with requires_grad."""
    table = torch.zeros(3, 4)
    for x, name in [
        (torch.zeros(3), "x"),
        (torch.zeros(()), "a single number x"),
        (table.t(), "a transposed x"),
        (table[1:, ::2], "a strided x"),
        (torch.zeros(2, 1).expand(2, 3), "an expanded x"),
        (torch.zeros(2, 3, 4).permute(2, 0, 1)[1:], "a permuted x"),
        (torch.zeros(2, dtype=torch.bool), "a bool x"),
        (torch.zeros(2, dtype=torch.complex64), "a complex x"),
        (torch.zeros(2, dtype=torch.int64), "an int64 x"),
        (torch.zeros(2, dtype=torch.float16), "a float16 x"),
        (torch.zeros(2, requires_grad=True), "an x with requires_grad"),
        (torch.nn.Parameter(torch.zeros(2)), "a parameter x"),
        (torch.zeros(2, requires_grad=True) * 2, "an x that was computed from such a one"),
    ]:
        array = answer.to_numpy(x)
        array[...] = 3
        expect_equal(x.detach(), torch.full(x.shape, 3, dtype=x.dtype), f"{name} after to_numpy(x)[...] = 3")
        x.detach().fill_(5)
        expect_array(array, torch.full(x.shape, 5, dtype=x.dtype), f"to_numpy(x) of {name} after x.fill_(5)")


def test_tensor_on_the_arrays_memory(answer):
    """A tensor and its writable array share memory, strided or not."""
    table = np.zeros((3, 4))
    for array, name in [
        (np.zeros(3), "array"),
        (np.zeros(()), "a 0-d array"),
        (table.T, "a transposed array"),
        (table[1:, ::2], "a strided array"),
        (np.zeros((2, 3, 4)).transpose(2, 0, 1)[1:], "a permuted array"),
        (np.lib.stride_tricks.as_strided(np.zeros(2), (2, 3), (8, 0)), "a writable array that repeats"),
        (np.zeros(3, dtype=bool), "a bool array"),
        (np.zeros(3, dtype=np.float16), "a float16 array"),
        (np.zeros((1, 3), dtype=np.uint8), "a uint8 array"),
    ]:
        x = answer.from_numpy(array)
        x.fill_(3)
        expect_array(
            array, torch.full(array.shape, 3, dtype=x.dtype), f"{name} after from_numpy(array).fill_(3)"
        )
        array[...] = 5
        expect_equal(
            x, torch.full(array.shape, 5, dtype=x.dtype), f"from_numpy of {name} after array[...] = 5"
        )


def test_there_and_back(answer):
    """A tensor that goes to NumPy and comes back looks at the memory that it had."""
    x = torch.arange(6.0).view(2, 3).t()
    back = answer.from_numpy(answer.to_numpy(x))
    expect_equal(back, x.clone(), "from_numpy(to_numpy(x))")
    x.fill_(-1)
    expect_equal(back, torch.full((3, 2), -1.0), "from_numpy(to_numpy(x)) after x.fill_(-1)")


def test_read_only_array_is_left_alone(answer):
    """The tensor of a read-only array may be written to; the array keeps its values and stays read-only."""
    strided = np.arange(8.0)[::2]
    repeated = np.broadcast_to(np.array([[1.0], [2.0]]), (2, 3))
    for array, name in [(np.arange(4.0), "a"), (strided, "a strided"), (repeated, "an expanded")]:
        array = array if array.flags.owndata else array.view()  # one that owns its memory could be unlocked
        array.flags.writeable = False
        wanted = torch.tensor(array.tolist(), dtype=torch.float64)
        call = f"from_numpy of {name} read-only array"
        with nullcontext() if name == "a strided" else no_warning(call):  # as programs run: warned before
            x = answer.from_numpy(array)
        expect_equal(x.clone(), wanted, f"from_numpy of {name} read-only array")
        x[..., 0] = 99.0
        expect_array(array, wanted, f"{name} read-only array after from_numpy(array)[..., 0] = 99")
        expect_equal(
            int((x == 99.0).sum()), x[..., 0].numel(), "how many values from_numpy(array)[..., 0] = 99 sets"
        )
        expect_that(not array.flags.writeable, "from_numpy makes the caller's array writable")


def test_negative_strides(answer):
    """Reversed arrays, along whichever dim, become tensors in the reversed order."""
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    cube = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    fixed = table.copy()
    fixed.flags.writeable = False
    for array, name in [
        (cube[::-1], "cube[::-1]"),
        (cube[:, ::-1], "cube[:, ::-1]"),
        (cube[..., ::-1], "cube[..., ::-1]"),
        (cube[None, :, ::-1, ::2], "cube[None, :, ::-1, ::2]"),
        (cube.T[:, ::-1], "cube.T[:, ::-1]"),
        (fixed[:, ::-1], "table[:, ::-1] of a read-only table"),
        (table[::-1], "table[::-1]"),
        (table[:, ::-1], "table[:, ::-1]"),
        (table[::-1, ::-1], "table[::-1, ::-1]"),
        (np.rot90(table), "np.rot90(table)"),
        (table[0, ::-1][:1], "table[0, ::-1][:1]"),
    ]:
        wanted = torch.tensor(array.tolist(), dtype=torch.int32)
        expect_equal(answer.from_numpy(array), wanted, f"from_numpy({name})")


def test_graph_is_left_alone(answer, gen):
    """A tensor still requires gradients after to_numpy, and backward gives the right ones."""
    x = torch.randn(3, generator=gen).requires_grad_()
    squares = x * x
    wanted, given = (2 * x).detach(), x.detach().clone()
    leaf, result = answer.to_numpy(x), answer.to_numpy(squares)
    expect_array(leaf, given, "to_numpy(x)")
    expect_array(result, given * given, "to_numpy(x * x)")
    expect_that(x.requires_grad, "to_numpy(x) switches off requires_grad of x")
    expect_that(squares.requires_grad, "to_numpy cuts its argument out of the graph")
    squares.sum().backward()
    expect_gradient(x.grad, wanted, "x, of (x * x).sum() after to_numpy")


def test_on_the_cpu(answer):
    """A tensor from NumPy is on the CPU, also where torch's default device is another one."""
    array = np.arange(6.0).reshape(2, 3)
    fixed = array.copy()
    fixed.flags.writeable = False
    with torch.device("meta"):
        made = [answer.from_numpy(given) for given in (array, array[:, ::-1], fixed)]
    for x in made:
        expect_that(x.device.type == "cpu", "from_numpy(array) is not on the CPU", yours=str(x.device))


def test_tensor_from_numpy_requires_no_gradients(answer):
    """A tensor from NumPy requires no gradients."""
    x = answer.from_numpy(np.ones(3, dtype=np.float32))
    expect_that(not x.requires_grad, "from_numpy(array) requires gradients")
    reverse = answer.from_numpy(np.ones(3, dtype=np.float32)[::-1])
    expect_that(not reverse.requires_grad, "from_numpy of a reversed array requires gradients")


def test_not_numbers(answer):
    """Arrays of objects or of text raise TypeError, also when they hold or spell numbers."""
    for array in (
        np.array([1, 2], dtype=object),
        np.array(["1", "2"]),
        np.array([b"1"]),
        np.array([None, None])[::-1],
        np.array([], dtype=object),
        np.array([], dtype=str),
    ):
        fixed = array.copy()
        fixed.flags.writeable = False
        for given in (array, fixed):
            call = f"from_numpy({array.tolist()}) of dtype {array.dtype}"
            expect_raises(TypeError, lambda given=given: answer.from_numpy(given), call)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16], ids=str)
def test_from_another_device(answer, device, dtype):
    """A tensor on another device comes to the CPU in one copy."""
    values = torch.tensor([[1, -2, 3], [4, 5, 6]]).to(dtype)
    x = values.to(device)
    wanted = values.float() if dtype == torch.bfloat16 else values
    with count_traffic() as traffic:
        array = answer.to_numpy(x)
    expect_array(array, wanted, "to_numpy(x) of x on another device")
    expect_equal(traffic.to_host, 1, "the number of copies to the CPU by to_numpy(x)")
    expect_that(
        traffic.syncs > 0,
        "to_numpy(x) does not wait for its copy from the device (non_blocking=True)",
        yours="an array that may still hold other numbers",
    )
    if dtype == torch.float32:
        expect_array(
            answer.to_numpy(x.requires_grad_()), wanted, "to_numpy(x) of x with requires_grad on a device"
        )


def oracle(answer, gen):
    x = torch.randn(2, 3, generator=gen, requires_grad=True)
    arrays = [answer.to_numpy(t) for t in (x, x.bfloat16(), (x * 2).t(), x.detach()[0, 0])]
    ids = torch.randint(100, (4, 3), generator=gen).numpy()
    fixed = ids.copy()
    fixed.flags.writeable = False
    tensors = [answer.from_numpy(a) for a in (ids, ids[::-1], ids.T, fixed)]
    ids[0] = -1
    return [[(str(a.dtype), a.shape, a.tolist()) for a in arrays], tensors]
