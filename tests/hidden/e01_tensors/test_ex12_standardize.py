"""What grades standardize: dimensions, correction, eps, precision, constants, gradients, cost."""

import math
from functools import partial, reduce

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import on_host


def draw(sizes, gen, dtype=torch.float32):
    """Features whose means and sizes differ along every dimension."""
    x = torch.randn(sizes, generator=gen, dtype=torch.float64)
    return (3 * x + torch.arange(x.numel()).view(sizes) / 5).to(dtype)


def exact(x, dim, correction=0, eps=1e-5, after=0.0):
    """The formula of the statement, term by term in float64."""
    dims = (dim,) if isinstance(dim, int) else dim
    count = torch.Size(x.shape[d] for d in dims).numel()
    x = x.double()
    centred = x - x.sum(dims, keepdim=True) / count
    variance = (centred * centred).sum(dims, keepdim=True) / (count - correction)
    return centred / ((variance + eps).sqrt() + after)


def mistakes(x, dim, correction=0, eps=1e-5):
    """What people standardize by instead."""
    dims = (dim,) if isinstance(dim, int) else dim
    one_by_one = partial(reduce, lambda x, d: exact(x, d, correction, eps), dims, x)
    return {
        "mean and variance are those along the last dimension": lambda: exact(x, -1, correction, eps),
        "one dimension after the other: a tuple has one mean and one variance together": one_by_one,
        "the sum of squares is divided by n - 1, not by n - correction": lambda: exact(x, dim, 1, eps),
        "the sum of squares is divided by n, not by n - correction": lambda: exact(x, dim, 0, eps),
        "eps is added to the standard deviation, not to the variance": lambda: exact(
            x, dim, correction, 0.0, after=eps
        ),
        "eps is not added to the variance": lambda: exact(x, dim, correction, 0.0),
        "1e-5 is added to the variance, not the eps of the call": lambda: exact(x, dim, correction),
    }


@pytest.mark.parametrize("dims", [[0, 1, -1], [(0, 2), (-3, 1), (2, 1, 0), (1,)]], ids=["ints", "tuples"])
def test_any_dimensions(answer, gen, dims):
    """Mean and variance are taken along dim, together over those of a tuple, counted from either end."""
    x = draw((2, 5, 3), gen)
    for dim in dims:
        wanted = exact(x, dim).float()
        yours = answer.standardize(x, dim)
        call, named = f"standardize(x, dim={dim})", "batch time feature"
        expect_close(yours, wanted, call, dims=named, scale=20.0, suspects=mistakes(x, dim))


def test_other_numbers_of_dimensions(answer, gen):
    """Features with one dimension, with four, and of three equal sizes are standardized alike."""
    for sizes, dim in [
        ((7,), 0),
        ((7,), -1),
        ((2, 3, 4, 5), (0, 2, 3)),
        ((2, 3, 4, 5), -3),
        ((4, 4, 4), 1),
        ((4, 4, 4), (0, -1)),
    ]:
        x = draw(sizes, gen)
        wanted = exact(x, dim).float()
        yours = answer.standardize(x, dim)
        call = f"standardize(x, dim={dim}) of {sizes}"
        expect_close(yours, wanted, call, scale=20.0, suspects=mistakes(x, dim))


def test_correction(answer, gen):
    """The sum of squares is divided by n - correction, where n counts all numbers behind one variance."""
    x = draw((3, 7, 5), gen)  # no size is another one less 1, which feedback would take it for
    for dim, correction in [(1, 1), ((0, 2), 1), (2, 2), (1, 0)]:
        wanted = exact(x, dim, correction).float()
        yours = answer.standardize(x, dim, correction=correction)
        call = f"standardize(x, dim={dim}, correction={correction})"
        expect_close(yours, wanted, call, scale=20.0, suspects=mistakes(x, dim, correction))


def test_eps(answer, gen):
    """eps is added to the variance under the root, and its default is 1e-5."""
    x = torch.randn(4, 6, generator=gen) / 200
    wanted = exact(x, 1).float()
    call = "standardize(x, 1) of small numbers"
    expect_close(answer.standardize(x, 1), wanted, call, suspects=mistakes(x, 1))
    for eps in (0.5, 1e-3, 1e-12, 0.0):
        wanted = exact(x, 1, eps=eps).float()
        call = f"standardize(x, -1, eps={eps}) of small numbers"
        expect_close(answer.standardize(x, -1, eps=eps), wanted, call, suspects=mistakes(x, -1, eps=eps))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_arguments_in_other_dtypes(answer, gen, dtype):
    """dim, correction and eps mean the same in every dtype."""
    x = draw((3, 4, 5), gen, dtype)
    for dim, correction, eps in [((0, -1), 1, 1e-5), (0, 0, 0.5), (-2, 2, 2.0), (1, 1, 1e-12)]:
        wanted = exact(x, dim, correction, eps).to(dtype)
        yours = answer.standardize(x, dim, correction=correction, eps=eps)
        call = f"standardize(x, {dim}, correction={correction}, eps={eps}) of {dtype}"
        ulps, suspects = 2 if dtype.itemsize == 2 else None, mistakes(x, dim, correction, eps)
        expect_close(yours, wanted, call, ulps=ulps, scale=20.0, suspects=suspects)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Half precision is computed in float32 and rounded once, at the end: squares do not overflow."""
    noise = torch.randn(3, 8, 32, generator=gen)
    for x in (900 * noise[0], 1000 + 8 * noise[1], noise[2] / 50):
        x = x.to(dtype)
        wanted, call = exact(x, 1).to(dtype), f"standardize(x, 1) of {dtype}"
        with default_dtype(dtype):  # of no account
            yours = answer.standardize(x, 1)
        # Numbers that are right to float32 may still round to either neighbour, but few do.
        expect_close(yours, wanted, call, ulps=1.01, scale=0.05)
        off = int(yours.ne(wanted).sum())
        expect_that(
            off <= 0.1 * wanted.numel(),
            f"{call} rounds more than once",
            yours=f"{off} of {wanted.numel()} numbers are not the ones nearest to the exact result",
            wanted="float32 up to the end, and one rounding there",
        )


def test_float64(answer, gen):
    """float64 is computed in float64, with all its digits."""
    x = draw((4, 6), gen, torch.float64)
    wanted = exact(x, 0)
    expect_close(answer.standardize(x, 0), wanted, "standardize(x, 0) of float64", scale=20.0)


def test_constant_and_single_numbers(answer):
    """Numbers that are all equal, or a single one, come out as 0; a NaN makes NaN of those around it."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        x = torch.tensor([[7.25] * 4, [0.0] * 4, [-1.0, 1.0, -1.0, 1.0]], dtype=dtype)
        call = f"standardize(x, 1, eps=1e-12) with constant rows of {dtype}"
        expect_close(answer.standardize(x, 1, eps=1e-12), exact(x, 1, eps=1e-12).to(dtype), call)
        x[1, 2] = math.nan
        wanted = exact(x, 1).to(dtype)
        expect_close(answer.standardize(x, 1), wanted, f"standardize(x, 1) with a NaN in row 1, of {dtype}")
        wanted = exact(x[1:2], 0).to(dtype)
        call = f"standardize(x, 0) of a single row with a NaN, of {dtype}"
        expect_close(answer.standardize(x[1:2], 0), wanted, call)


def test_far_from_zero(answer, gen):
    """Numbers such as 30000 + noise keep the digits that they have."""
    for dtype in (torch.float32, torch.float64):
        x = 30000 + torch.randn(65, 64, generator=gen, dtype=dtype)
        wanted = exact(x, 1).to(dtype)
        # The mean of such numbers is itself only known up to their rounding.
        call = f"standardize(x, 1) of 30000 + noise in {dtype}"
        expect_close(answer.standardize(x, 1), wanted, call, ulps=8, scale=3e4)
    x = 30000 + torch.randn(16, 1024, generator=gen)
    x[:, 0] = 0.0  # so what is far from zero is also far from the first number
    wanted, call = exact(x, 1).float(), "standardize(x, 1) of 0 and 1023 times 30000 + noise"
    expect_close(answer.standardize(x, 1), wanted, call, ulps=8, scale=100.0)


@pytest.mark.filterwarnings("ignore:var")
def test_empty_batch(answer):
    """No rows give no rows."""
    for sizes, dim in [((0, 4), 1), ((3, 0, 2), -1), ((3, 0, 2), (0, 2)), ((0, 2, 3), (1, 2)), ((0, 3), -1)]:
        x = torch.zeros(sizes)
        expect_equal(
            answer.standardize(x, dim), torch.zeros(sizes), f"standardize(x, dim={dim}) of shape {sizes}"
        )


def test_strided_input(answer, gen):
    """Features of any strides, transposed or expanded, are standardized alike, and left as they were."""
    for x in (
        draw((4, 6), gen).t()[::2],
        draw((1, 6), gen).expand(4, 6),
        draw((2, 3, 4), gen).permute(2, 0, 1),
        draw((2, 3, 4), gen),
    ):
        wanted, call = exact(x, 0).float(), f"standardize(x, 0) of an x with strides {x.stride()}"
        with unchanged(call, x=x):
            yours = answer.standardize(x, 0)
        expect_close(yours, wanted, call, scale=20.0)


def test_gradient(answer, gen):
    """Gradients flow through the mean and the variance as well."""
    x = draw((3, 4, 5), gen)
    for dim, correction, dtype in [(1, 0, torch.float32), ((0, 2), 1, torch.float64)]:
        x = x.to(dtype)
        call = f"standardize(x, dim={dim}, correction={correction})"
        fn = lambda x, dim=dim, c=correction: answer.standardize(x, dim, correction=c)  # noqa: E731
        reference = lambda x, dim=dim, c=correction: exact(x, dim, c)  # noqa: E731
        expect_gradients(fn, [x], reference, gen=gen, call=call, names="x", scale=10.0)
    x = torch.randn(4, 6, generator=gen).bfloat16()
    call = "standardize(x, dim=1) of torch.bfloat16"
    kind = answer.standardize(x.clone().requires_grad_(), 1).dtype
    expect_equal(kind, torch.bfloat16, f"the dtype of {call}, where x requires gradients")
    fn, reference = (lambda x: answer.standardize(x, 1)), (lambda x: exact(x, 1))
    expect_gradients(fn, [x], reference, gen=gen, call=call, names="x", scale=10.0)


def test_gradient_of_constant_numbers(answer, gen):
    """Where all numbers are equal, or differ by less than the root of eps, the gradient is right."""
    x = torch.tensor([[7.25] * 4, [0.0] * 4, [0.0, 0.003, -0.001, 0.002], [1.0, 2.0, 3.0, 4.0]])
    fn, reference = (lambda x: answer.standardize(x, 1)), (lambda x: exact(x, 1))
    expect_gradients(
        fn,
        [x],
        reference,
        gen=gen,
        call="standardize(x, 1) with constant rows and one of variance 2.5e-6",
        names="x",
    )
    call = "standardize(x, 1) of single numbers"
    expect_gradients(fn, [x[3:].T], reference, gen=gen, call=call, names="x")


def test_stays_on_the_device(answer, device, gen):
    """Features on another device are standardized there."""
    x = draw((3, 4), gen)
    wanted = exact(x, (0, 1), 1).float()
    there = x.to(device)
    yours = answer.standardize(there, (0, 1), correction=1)
    expect_equal(yours.device, there.device, "the device of standardize(x, (0, 1), correction=1)")
    expect_close(on_host(yours), wanted, "standardize(x, (0, 1), correction=1)", scale=20.0)


def test_no_loop(answer):
    """The cost is the same for 6 rows or features and for 24."""

    def make(n):
        x = torch.rand(n, n)
        return lambda: [answer.standardize(x, dim) for dim in (0, 1, (0, 1))]

    expect_flat_cost(make, "standardize(x, dim)", over="rows and features")


def oracle(answer, gen):
    x = (2 * torch.randn(3, 4, 5, generator=gen) + 1).requires_grad_()
    y = answer.standardize(x, (0, -1), correction=1, eps=1e-3)
    y.backward(torch.randn(y.shape, generator=gen))
    return [y.detach(), x.grad, answer.standardize(x.detach().half() * 500, 1)]
