"""What grades numpy_bridge: dtypes, gradients, shared memory, devices; strides, read-only and 0-d arrays."""

import warnings

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_gradient, expect_that
from grader.checks.devices import count_traffic

KINDS = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool", "complex64"]


def expect_array(yours, wanted, call, was=None, suspects=None):
    """An array with the shape, dtype and values of the tensor `wanted`; before, they were those of `was`."""
    expect_that(isinstance(yours, np.ndarray), f"{call} is no NumPy array", yours=str(type(yours)))
    dtype = str(wanted.dtype).removeprefix("torch.")
    ways = {
        "a list of Python's floats is on the way, of which NumPy makes float64": lambda: "float64",
        "everything becomes float32: each dtype is to stay": lambda: "float32",
        "bfloat16 becomes float16, which has a smaller range: float32 holds all of it": lambda: "float16",
    }
    expect_equal(str(yours.dtype), dtype, f"the dtype of {call}", suspects=ways)
    expect_equal(yours.shape, tuple(wanted.shape), f"the shape of {call}")
    expect_close(torch.from_numpy(np.array(yours)), wanted, call, ulps=0.0, before=was, suspects=suspects)


def read_only(array):
    fixed = array.copy()
    fixed.flags.writeable = False
    return fixed


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes_stay(answer, kind):
    """Every dtype that both sides have stays as it is, there and back."""
    x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(getattr(torch, kind))
    expect_array(answer.to_numpy(x), x.clone(), f"to_numpy(x) of {x.dtype}")
    array = np.array([[0, 1, 2], [3, 0, 5]]).astype(kind)
    expect_equal(answer.from_numpy(array), x.clone(), f"from_numpy(array) of {kind}")


def test_bfloat16_becomes_float32(answer):
    """bfloat16 becomes float32 with the very same values, also those beyond the range of float16."""
    x = torch.tensor([[0.1, -3e38, 1e-30], [65792.0, 1.0, 0.0]]).bfloat16()
    half = {"the numbers go by way of float16, which has a smaller range": lambda: x.half().float()}
    expect_array(answer.to_numpy(x), x.float(), "to_numpy(x) of bfloat16", suspects=half)


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


def test_from_another_device(answer, device):
    """A tensor on another device comes to the CPU."""
    x = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, 6.0]])
    expect_array(answer.to_numpy(x.to(device)), x, "to_numpy(x) of x on another device")


def test_reversed_arrays(answer):
    """Reversed arrays, along whichever dim, become tensors in the reversed order."""
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    cube = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for array, name in [
        (table[::-1], "table[::-1]"),
        (table[:, ::-1], "table[:, ::-1]"),
        (cube[:, ::-1], "cube[:, ::-1]"),
    ]:
        wanted = torch.tensor(array.tolist(), dtype=torch.int32)
        expect_equal(answer.from_numpy(array), wanted, f"from_numpy({name})")


def expect_array_shared(answer, x, name):
    array = answer.to_numpy(x)
    x.detach().fill_(5)
    call = f"to_numpy(x) of {name} after x.fill_(5)"
    expect_array(array, torch.full(x.shape, 5, dtype=x.dtype), call, was=torch.zeros(x.shape, dtype=x.dtype))


def expect_tensor_shared(answer, array, name):
    x = answer.from_numpy(array)
    array[...] = 5
    call, wanted = f"from_numpy of {name} after array[...] = 5", torch.full(array.shape, 5, dtype=x.dtype)
    expect_close(x, wanted, call, before=torch.zeros_like(wanted))


def test_array_on_the_tensors_memory(answer):
    """An array and its CPU tensor share memory, also where gradients are required."""
    expect_array_shared(answer, torch.zeros(2, 3), "x")
    expect_array_shared(answer, torch.nn.Parameter(torch.zeros(2)), "a parameter x")
    expect_array_shared(answer, torch.zeros(2, requires_grad=True) * 2, "an x that was computed")


def test_tensor_on_the_arrays_memory(answer):
    """A tensor and its array share memory."""
    expect_tensor_shared(answer, np.zeros((2, 3)), "array")


@pytest.mark.fine
def test_strided_memory_is_shared(answer):
    """What is transposed or strided is shared as well."""
    table, numbers = torch.zeros(3, 4), np.zeros((3, 4))
    expect_array_shared(answer, table.t(), "a transposed x")
    expect_array_shared(answer, table[1:, ::2], "a strided x")
    expect_tensor_shared(answer, numbers.T, "a transposed array")
    expect_tensor_shared(answer, numbers[1:, ::2], "a strided array")


@pytest.mark.fine
def test_any_shape(answer):
    """0-d and empty tensors and arrays keep their shapes; a 0-d array is still an array."""
    for sizes in [(), (0,), (2, 0, 3), (1, 2, 1)]:
        x = torch.full(sizes, 2.5, dtype=torch.float64)
        expect_array(answer.to_numpy(x), x.clone(), f"to_numpy(x) of shape {sizes}")
        expect_equal(answer.from_numpy(np.full(sizes, 2.5)), x, f"from_numpy(array) of shape {sizes}")
        fixed = read_only(np.full(sizes, 2.5))
        expect_equal(answer.from_numpy(fixed), x, f"from_numpy of a read-only array of shape {sizes}")


@pytest.mark.fine
def test_read_only_array_is_left_alone(answer):
    """The tensor of a read-only array may be written to; the array keeps its values and stays read-only."""
    array = read_only(np.arange(4.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # test_no_warning looks at that
        answer.from_numpy(array).fill_(99.0)
    wanted = torch.arange(4.0, dtype=torch.float64)
    expect_array(array, wanted, "a read-only array after from_numpy(array).fill_(99)")
    expect_that(not array.flags.writeable, "from_numpy makes the caller's array writable")


@pytest.mark.fine
def test_no_warning(answer):
    """torch need not warn of a read-only array."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            answer.from_numpy(read_only(np.arange(4.0)))
    finally:
        torch.set_warn_always(always)
    found = [str(warning.message)[:80] for warning in shown if "writable" in str(warning.message)]
    expect_that(not found, "from_numpy of a read-only array shows a warning", yours="; ".join(found))


@pytest.mark.fine
def test_on_the_cpu(answer):
    """A tensor from NumPy is on the CPU, also where torch's default device is another one."""
    array = np.arange(6.0).reshape(2, 3)
    with torch.device("meta"):
        made = [answer.from_numpy(given) for given in (array, array[:, ::-1])]
    for x in made:
        expect_that(x.device.type == "cpu", "from_numpy(array) is not on the CPU", yours=str(x.device))


@pytest.mark.fine
def test_one_transfer(answer, device):
    """A tensor on another device comes in one copy, which is complete when the call returns."""
    x = torch.zeros(2, 3).to(device)
    with count_traffic() as traffic:
        answer.to_numpy(x)
    expect_equal(traffic.to_host, 1, "the number of copies to the CPU by to_numpy(x)")
    told = "to_numpy(x) does not wait for its copy from the device (non_blocking=True)"
    expect_that(traffic.syncs > 0, told, yours="an array that may still hold other numbers")


def oracle(answer, gen):
    x = torch.randn(2, 3, generator=gen, requires_grad=True)
    ids = torch.randint(1000, (4, 3), generator=gen).numpy()
    shared = torch.randn(3, 4, generator=gen)

    def told(array):
        return [str(array.dtype), list(array.shape), array.tolist()]

    def written():
        array = answer.to_numpy(shared)
        shared.mul_(2)
        return told(array)

    return {
        "a tensor that requires gradients": lambda: told(answer.to_numpy(x)),
        "a tensor that was computed from it": lambda: told(answer.to_numpy(2 * x)),
        "a tensor in bfloat16": lambda: told(answer.to_numpy(x.detach().bfloat16())),
        "an array of ids": lambda: answer.from_numpy(ids.copy()),
        "ids in reversed order": lambda: answer.from_numpy(ids[::-1]),
        "the array of a tensor that is doubled": written,
    }
