"""What grades gradcheck_it: each kind of wrong backward, names in order; whole numbers, errors, inputs."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, unchanged

CALL = "wrong_backwards(functions, inputs)"


def op(forward, backward):
    """A function with a backward of its own."""

    class Op(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return backward(grad, *ctx.saved_tensors)

    return Op.apply


def soft(x, w):
    return (x * w).softmax(1)


def soft_gradient(dim):
    def backward(g, x, w):
        y = soft(x, w)
        inner = y * (g - (g * y).sum(dim, keepdim=True))
        return inner * w, inner * x

    return backward


def product(x, w):
    return x * w


RIGHT = {
    "product": op(product, lambda g, x, w: (g * w, g * x)),
    "sine": op(lambda x, w: x.sin() * w, lambda g, x, w: (g * w * x.cos(), g * x.sin())),
    "ratio": op(lambda x, w: x / w, lambda g, x, w: (g / w, -g * x / w**2)),
    "square": op(lambda x, w: x**2 + w, lambda g, x, w: (2 * x * g, g)),
    "softmax": op(soft, soft_gradient(1)),
    "matrix": op(lambda x, w: x @ w.mT, lambda g, x, w: (g @ w, g.mT @ x)),
}
WRONG = {
    "sine, with the sign of the slope turned": op(
        lambda x, w: x.sin() * w, lambda g, x, w: (-g * w * x.cos(), g * x.sin())
    ),
    "ratio, wrong for its second input": op(lambda x, w: x / w, lambda g, x, w: (g / w, g * x / w**2)),
    "product, without a gradient for its second input": op(product, lambda g, x, w: (g * w, None)),
    "square, whose backward ignores grad": op(
        lambda x, w: x**2 + w, lambda g, x, w: (2 * x, torch.ones_like(w))
    ),
    "softmax, whose backward has the wrong dim": op(soft, soft_gradient(0)),
    "product, off by 2 percent": op(product, lambda g, x, w: (1.02 * g * w, g * x)),
}


def numbers(gen, rows=2, columns=3):
    """Two inputs, away from 0."""
    return [1 + torch.rand(rows, columns, generator=gen) for _ in range(2)]


@pytest.mark.parametrize("name", WRONG)
def test_wrong(answer, gen, name):
    """Each wrong backward is named."""
    yours = answer.wrong_backwards({name: WRONG[name]}, numbers(gen))
    expect_equal(yours, [name], CALL, suspects={"nothing was found": list})


@pytest.mark.parametrize("name", RIGHT)
def test_right(answer, gen, name):
    """A right backward is not named, though its inputs are float32."""
    yours = answer.wrong_backwards({name: RIGHT[name]}, numbers(gen))
    expect_equal(
        yours, [], CALL, suspects={"rounding in float32 looks like a wrong backward": lambda: [name]}
    )


def test_several(answer, gen):
    """Of many functions all wrong ones are named, in the order of the dict."""
    several = mixed(gen)
    wanted = [name for name in several if name in WRONG]
    suspects = {
        "only the first is named": lambda: wanted[:1],
        "the right ones are named": lambda: [name for name in several if name in RIGHT],
        "the names are sorted: their own order is asked for": lambda: sorted(wanted),
    }
    yours = answer.wrong_backwards(several, numbers(gen))
    expect_equal(yours, wanted, CALL, suspects=suspects)


@pytest.mark.fine
def test_whole_numbers(answer, gen):
    """Indices are handed on as they are."""
    x, index = torch.rand(3, 4, generator=gen), torch.tensor([[2, 0], [1, 3], [3, 2]])

    def spread(g, x, index):
        return torch.zeros_like(x).scatter_add(1, index, g), None

    functions = {
        "right": op(lambda x, index: x.gather(1, index), spread),
        "wrong": op(lambda x, index: x.gather(1, index), lambda g, x, i: (2 * spread(g, x, i)[0], None)),
    }
    yours = answer.wrong_backwards(functions, [x, index])
    expect_equal(yours, ["wrong"], f"{CALL} with indices among them")


@pytest.mark.fine
def test_errors_in_backward(answer, gen):
    """A backward that raises is wrong, and the functions behind it are looked at as well."""
    functions = {
        "shape": op(product, lambda g, x, w: (g * w, (g * x).sum(0))),
        "right": RIGHT["product"],
        "error": op(product, lambda g, x, w: (g @ w, g @ x)),
    }
    try:
        yours = answer.wrong_backwards(functions, numbers(gen))
    except RuntimeError as error:
        expect_that(False, f"the error of a backward comes out of {CALL}", error=error)
    expect_equal(yours, ["shape", "error"], f"{CALL} where two backwards raise")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_inputs_are_left_alone(answer, gen, dtype):
    """The caller's inputs are as before, in float32 and in float64."""
    x, w = (x.to(dtype) for x in numbers(gen))
    w.requires_grad_()
    with unchanged(CALL, x=x, w=w):
        answer.wrong_backwards(RIGHT, [x, w])
    expect_that(x.grad is None and w.grad is None, f"{CALL} leaves a gradient in the caller's inputs")


def mixed(gen):
    """Right and wrong ones, in an order of their own."""
    every = {**RIGHT, **WRONG}
    names = list(every)
    return {names[n]: every[names[n]] for n in torch.randperm(len(names), generator=gen)[:9]}


def oracle(answer, gen):
    def found(rows, columns):
        sets, inputs = [mixed(gen) for _ in range(3)], numbers(gen, rows, columns)
        return lambda: [answer.wrong_backwards(functions, inputs) for functions in sets]

    return {
        "inputs of one row": found(1, 3),
        "inputs of two rows": found(2, 3),
        "inputs of three rows": found(3, 2),
    }
