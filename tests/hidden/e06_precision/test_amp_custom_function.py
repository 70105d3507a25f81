"""What grades amp_custom_function: products and energies in regions and outside; float64, changes."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.contract import Contract, given
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in

HALVES = [torch.bfloat16, torch.float16]
LINEAR, ENERGY = "reversed_linear(x, weight, strength)", "energy(x)"


def region(dtype):
    return torch.autocast("cpu", dtype=dtype)


def matrices(gen, dtype=torch.float32):
    """x, weight and the gradient that comes in."""
    shapes = (5, 6), (4, 6), (5, 4)
    x, weight, pull = (torch.randn(shape, generator=gen, dtype=torch.float64) for shape in shapes)
    return x.to(dtype).requires_grad_(), weight.to(dtype).requires_grad_(), pull.to(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_products(answer, gen, dtype):
    """In a region all products of reversed_linear are in its dtype, also where backward runs after it."""
    x, weight, pull = matrices(gen)
    with region(dtype), compute_dtypes() as seen:
        y = answer.reversed_linear(x, weight, 0.5)
    expect_equal(y.dtype, dtype, f"the dtype of {LINEAR} in a region of {dtype}")
    expect_products_in(seen, dtype, f"{LINEAR} in a region of {dtype}")
    with compute_dtypes() as seen:
        y.backward(pull.to(dtype))
    expect_products_in(seen, dtype, f"backward of {LINEAR}, after a region of {dtype}")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("within", [False, True], ids=["after", "within"])
def test_gradients(answer, gen, dtype, within):
    """In a region x's gradient is reversed, weight's is not; both are in float32, as x and weight are."""
    x, weight, pull = matrices(gen)
    exact = [t.detach().to(dtype).double() for t in (x, weight, pull)]
    with region(dtype):
        y = answer.reversed_linear(x, weight, 0.5)
        if within:
            y.backward(pull.to(dtype))
    if not within:
        y.backward(pull.to(dtype))
    about = f"{LINEAR} {'within' if within else 'after'} a region of {dtype}"
    right = {"x": -0.5 * exact[2] @ exact[1], "weight": exact[2].T @ exact[0]}
    suspects = {
        "x": {
            "the gradient is not reversed": lambda: (-right["x"]).to(dtype),
            "strength is left out": lambda: (2 * right["x"]).to(dtype),
        },
        "weight": {
            "weight's gradient is reversed, too": lambda: (-right["weight"]).to(dtype),
            "weight's gradient is reversed, too, by -strength": lambda: (-0.5 * right["weight"]).to(dtype),
        },
    }
    expect_close(y.detach(), (exact[0] @ exact[1].T).to(dtype), f"{LINEAR} in a region of {dtype}", scale=8.0)
    for name, grad in (("x", x.grad), ("weight", weight.grad)):
        expect_equal(getattr(grad, "dtype", None), torch.float32, f"the dtype of {name}.grad from {about}")
        wanted = right[name].to(dtype)
        expect_close(grad.to(dtype), wanted, f"{name}.grad from {about}", scale=8.0, suspects=suspects[name])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_energy(answer, gen, dtype):
    """In a region energy is computed in float32, for x in any dtype, and its gradient has x's."""
    for kind in (torch.float32, *HALVES):
        x = (200 * torch.randn(3, 7, generator=gen)).to(kind).requires_grad_()
        pull = torch.randn(3, generator=gen) / 8
        wanted = x.detach().double().square().sum(-1)
        with region(dtype), compute_dtypes() as seen:
            yours = answer.energy(x)
        about = f"{ENERGY} with x in {kind}, in a region of {dtype}"
        expect_all_in(seen, torch.float32, about)
        expect_close(yours.detach(), wanted.float(), about)
        yours.backward(pull)
        slope = (2 * pull.double()[:, None] * x.detach().double()).to(kind)
        expect_equal(x.grad.dtype, kind, f"the dtype of x.grad from {about}")
        expect_close(x.grad, slope, f"x.grad from {about}")


def outside(function, *args):
    """Result and gradients, for a gradient of ones and more."""
    leaves = [a.detach().requires_grad_() if isinstance(a, torch.Tensor) else a for a in args]
    y = function(*leaves)
    pull = 1 + torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape) / 8
    return y.detach(), *torch.autograd.grad(y, [a for a in leaves if isinstance(a, torch.Tensor)], pull)


def reversing(x, weight, strength=1.0, back=-1.0):
    x = (1 - back * strength) * x.detach() + back * strength * x
    return x @ weight.T


reversed_linear = Contract(
    LINEAR,
    reference=lambda *args: outside(reversing, *args),
    use=lambda answer, *args: outside(answer.reversed_linear, *args),
    inputs=lambda gen: {
        "without a region": given(*(t.detach() for t in matrices(gen)[:2]), 0.25),
        "without a region, strength left out": given(*(t.detach() for t in matrices(gen)[:2])),
    },
    scale=20.0,
    suspects={
        "the gradient is not reversed": lambda *args: outside(
            lambda *given: reversing(*given, back=1.0), *args
        ),
        "strength is left out": lambda x, weight, strength=1.0: outside(reversing, x, weight),
    },
)
energies = Contract(
    ENERGY,
    reference=lambda x: outside(lambda x: x.square().sum(-1), x),
    use=lambda answer, x: outside(answer.energy, x),
    inputs=lambda gen: {
        "without a region": torch.randn(4, 6, generator=gen),
        "three dimensions, without a region": torch.randn(2, 3, 5, generator=gen),
        "bfloat16, without a region": torch.randn(4, 3, generator=gen).bfloat16(),
    },
)


@pytest.mark.fine
def test_float64(answer, gen):
    """float64 stays float64, in a region too."""
    x, weight, pull = matrices(gen, torch.float64)
    with region(torch.bfloat16):
        y, squares = answer.reversed_linear(x, weight, 0.5), answer.energy(x)
    expect_equal((y.dtype, squares.dtype), (torch.float64,) * 2, "the dtypes for float64 in a region")
    expect_close(squares.detach(), x.detach().square().sum(-1), "energy(x) for float64 in a region")
    y.backward(pull)
    expect_close(x.grad, -0.5 * pull @ weight.detach(), "x.grad for float64 after a region")


@pytest.mark.fine
def test_changed_in_place(answer, gen):
    """Where x is changed in place before backward, backward raises an error."""
    for name, call in (
        (LINEAR, lambda x: answer.reversed_linear(x, torch.ones(2, 6, requires_grad=True), 0.5)),
        (ENERGY, answer.energy),
    ):
        x = torch.randn(3, 6, generator=gen, requires_grad=True) * 1
        y = call(x)
        x.zero_()
        expect_that(y.requires_grad, f"no gradient flows through {name}")
        expect_raises(RuntimeError, lambda y=y: y.sum().backward(), f"backward of {name}, x changed between")


def oracle(answer, gen):
    def products(dtype):
        x, weight, pull = matrices(gen)

        def case():
            with region(dtype):
                y = answer.reversed_linear(x, weight, 0.5)
            grads = torch.autograd.grad(y, [x, weight], pull.to(dtype))
            return [y.detach(), *(grad.to(dtype) for grad in grads)]

        return case

    def squares(dtype, kind):
        x = (200 * torch.randn(3, 7, generator=gen)).to(kind).requires_grad_()

        def case():
            with region(dtype):
                y = answer.energy(x)
            return [y.detach(), *torch.autograd.grad(y.sum() / 8, [x])]

        return case

    x, weight, _ = matrices(gen)
    return {
        "products in bfloat16": products(torch.bfloat16),
        "products in float16": products(torch.float16),
        "an energy in float16": squares(torch.float16, torch.float16),
        "an energy in bfloat16": squares(torch.bfloat16, torch.float32),
        "without a region": lambda: [*outside(answer.reversed_linear, x, weight, 0.25)],
    }
