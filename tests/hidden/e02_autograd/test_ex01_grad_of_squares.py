"""What grades grad_of_squares: any shapes and strides, leaves and others, who gets a gradient, grad modes."""

import contextlib

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, modes_kept, unchanged
from grader.checks.devices import on_host

CALL = "grad_of_squares(residuals, params)"


def bent(shape, gen, count=7, dtype=torch.float64):
    """Residuals that bend, of all entries of parameters of this shape; (count,)."""
    size = torch.Size(shape).numel()
    matrix = torch.randn(count, size, generator=gen, dtype=torch.float64).to(dtype)
    offset = torch.randn(count, generator=gen, dtype=torch.float64).to(dtype)
    return lambda p: torch.sin(matrix @ p.reshape(-1)) * 2 + offset


def exact(residuals, params):
    """Value and gradient, on a clone of the values."""
    leaf = params.detach().clone().contiguous().requires_grad_()
    value = (residuals(leaf) ** 2).sum()
    (gradient,) = torch.autograd.grad(value, [leaf])
    return value.detach(), gradient


def expect_both(yours, wanted, call=CALL):
    expect_that(
        isinstance(yours, tuple | list) and len(yours) == 2, f"{call} does not return a pair", yours=yours
    )
    for part, mine, right in zip(("value", "gradient"), yours, wanted, strict=True):
        # the residuals are sums that may cancel, so rounding goes by their largest terms
        scale = float(right.abs().max()) + 5.0 if right.numel() else 1.0
        expect_close(mine, right, f"the {part} of {call}", scale=scale)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_value_and_gradient(answer, gen, dtype):
    """The value is the sum of squares, and the gradient is exact for residuals of any form."""
    for size, count in [(3, 7), (5, 2), (1, 1), (2, 2051)]:
        params = torch.randn(size, generator=gen, dtype=torch.float64).to(dtype)
        residuals = bent((size,), gen, count, dtype)
        wanted = exact(residuals, params)
        expect_both(answer.grad_of_squares(residuals, params), wanted, f"{CALL} with {count} residuals")


def test_perfect_fit(answer, gen):
    """Where residuals are 0 the gradient comes from the others, and NaN and inf are not hidden."""
    for goal, about in [
        (torch.zeros(4, dtype=torch.float64), "all residuals are 0"),
        (torch.tensor([0.0, 2.0, 0.0, -1.0], dtype=torch.float64), "some residuals are 0"),
        (torch.tensor([1e6, -1e9, 1.0, -1e7], dtype=torch.float64), "residuals are large"),
    ]:
        params = torch.randn(4, generator=gen, dtype=torch.float64)
        params[2:] = 0.0
        fitted = params.clone()
        residuals = lambda p, fitted=fitted, goal=goal: (p - fitted) * 3 - goal  # noqa: E731
        wanted = exact(residuals, params)
        expect_both(answer.grad_of_squares(residuals, params), wanted, f"{CALL}, where {about},")
    goal = torch.tensor([float("nan"), 2.0, float("inf"), -1.0], dtype=torch.float64)
    for part, mine, lost in zip(
        ("value", "gradient"),
        answer.grad_of_squares(lambda p: 3 * p - goal, params),
        (True, [True, True]),
        strict=True,
    ):
        found = mine[::2] if part == "gradient" else mine
        expect_equal(
            (~found.isfinite()).tolist(),
            lost,
            f"the flags of NaN or inf in the {part}, where residuals have both",
        )


def test_any_shape(answer, gen):
    """Parameters and residuals have any shape: a single number, a matrix, none at all."""
    functions = {
        "a transposed matrix": lambda p: (p.reshape(-1, 1) * torch.arange(3.0, dtype=torch.float64) - 1).t(),
        "a single number": lambda p: p.sum() - 2,
        "empty": lambda p: p.reshape(-1)[:0],
        "params itself": lambda p: p,
    }
    for shape in [(), (2, 3), (2, 1, 2), (0, 3)]:
        params = torch.randn(shape, generator=gen, dtype=torch.float64)
        for what, residuals in functions.items():
            wanted = exact(residuals, params)
            yours = answer.grad_of_squares(residuals, params)
            expect_both(yours, wanted, f"{CALL}, params {tuple(shape)}, residuals {what},")


def test_dtypes(answer, gen):
    """The value has the dtype of the residuals, and the gradient that of params."""
    data = torch.randn(6, 4, generator=gen, dtype=torch.float64)
    params = torch.randn(4, generator=gen)
    for residuals in (lambda p: data @ p.double() - 1, lambda p: p.double() - params.double()):
        wanted = exact(residuals, params)
        yours = answer.grad_of_squares(residuals, params)
        expect_both(yours, wanted, f"{CALL}, params float32, residuals float64")


def test_strided_and_expanded_params(answer, gen):
    """Parameters may be transposed, cut out or expanded: each entry has a gradient of its own."""
    table = torch.randn(4, 6, generator=gen, dtype=torch.float64)
    row = torch.randn(1, 3, generator=gen, dtype=torch.float64)
    for params in (table.t()[::2], row.expand(4, 3), table[1, 2].expand(5)):
        residuals = bent(params.shape, gen)
        wanted = exact(residuals, params)
        with unchanged(f"{CALL} of a strided params", params=params, memory=table):
            yours = answer.grad_of_squares(residuals, params)
        expect_both(yours, wanted, f"{CALL} of a strided params")


def test_leaf_with_a_gradient(answer, gen):
    """What lies in `.grad` of params has no influence, and stays."""
    params = torch.randn(4, generator=gen, dtype=torch.float64).requires_grad_()
    inner = bent((4,), gen)
    residuals = lambda p: inner(p) + (p - 2 * params).sum()  # noqa: E731 # here params is a constant
    wanted = exact(residuals, params)
    params.grad = torch.full_like(params, 10.0)
    with unchanged(CALL, params=params):
        yours = answer.grad_of_squares(residuals, params)
    expect_that(params.grad is not None, f"{CALL} takes away the `.grad` of params")
    expect_equal(params.grad, torch.full_like(params.detach(), 10.0), f"params.grad after {CALL}")
    expect_both(yours, wanted, f"{CALL}, if residuals uses params as a constant, too,")


def test_params_that_were_computed(answer, gen):
    """params may be the result of other operations, and nothing flows on to where it comes from."""
    source = torch.randn(4, generator=gen, dtype=torch.float64).requires_grad_()
    params = source * 3
    inner = bent((4,), gen)
    residuals = lambda p: inner(p) + (p - 2 * params).sum()  # noqa: E731 # here params is a constant
    wanted = exact(residuals, params)
    with unchanged(CALL, params=params, source=source):
        yours = answer.grad_of_squares(residuals, params)
    expect_both(yours, wanted, f"{CALL} of a computed params")
    expect_that(source.grad is None, "the tensor that params is computed from has a `.grad`")
    (onward,) = torch.autograd.grad(params.sum(), [source])  # its graph has not been used up
    expect_equal(onward, torch.full((4,), 3.0, dtype=torch.float64), "the gradient through params afterwards")


def test_params_without_gradients(answer, gen):
    """A params that requires no gradients still requires none afterwards."""
    params = torch.randn(4, generator=gen, dtype=torch.float64)
    inner = bent((4,), gen)
    residuals = lambda p: inner(p) + (p - 2 * params).sum()  # noqa: E731 # here params is a constant
    wanted = exact(residuals, params)
    with unchanged(CALL, params=params):
        yours = answer.grad_of_squares(residuals, params)
    expect_both(yours, wanted, f"{CALL}, if residuals uses params,")
    expect_that(params.grad is None, f"params has a `.grad` after {CALL}")


def test_other_tensors_get_no_gradient(answer, gen):
    """Weights that residuals uses get no gradient, and keep the one that they have."""
    network = nn.Linear(4, 3).double()
    with torch.no_grad():
        network.weight.copy_(torch.randn(3, 4, generator=gen))
    network.bias.grad = torch.ones(3, dtype=torch.float64)
    params = torch.randn(4, generator=gen, dtype=torch.float64)
    residuals = nn.Sequential(network, nn.Tanh())
    wanted = exact(residuals, params)
    yours = answer.grad_of_squares(residuals, params)
    expect_both(yours, wanted)
    expect_that(network.weight.grad is None, "a weight that residuals uses has got a `.grad`")
    expect_that(network.bias.grad is not None, "a weight that residuals uses has lost its `.grad`")
    expect_equal(
        network.bias.grad, torch.ones(3, dtype=torch.float64), "the `.grad` of a weight that has one"
    )
    flags = [p.requires_grad for p in network.parameters()]
    expect_equal(flags, [True, True], "requires_grad of weights that residuals uses")


def test_no_graph(answer, gen):
    """Neither the value nor the gradient carries a graph."""
    weight = torch.ones(7, dtype=torch.float64, requires_grad=True)
    source = torch.randn(4, generator=gen, dtype=torch.float64).requires_grad_()
    plain = bent((4,), gen)
    for params in (source, source * 2, source.detach()):
        value, gradient = answer.grad_of_squares(lambda p: plain(p) * weight, params)
        expect_equal(value.requires_grad, False, f"requires_grad of the value of {CALL}")
        expect_equal(gradient.requires_grad, False, f"requires_grad of the gradient of {CALL}")


def test_inside_no_grad(answer, gen):
    """Where gradients are switched off it still works, and leaves them switched off; else on."""
    params = torch.randn(4, generator=gen, dtype=torch.float64)
    residuals = bent((4,), gen)
    wanted = exact(residuals, params)
    with torch.no_grad(), modes_kept(f"{CALL} inside no_grad"):
        yours = answer.grad_of_squares(residuals, params)
    expect_both(yours, wanted, f"{CALL} inside no_grad")
    with modes_kept(CALL):
        answer.grad_of_squares(residuals, params)

    def failing(p):
        raise ArithmeticError("no residuals here")

    failure = "an error that residuals raises inside no_grad"
    with torch.no_grad(), modes_kept(failure), contextlib.suppress(ArithmeticError):
        answer.grad_of_squares(failing, params)


def test_called_once(answer, gen):
    """residuals is called once, with a tensor of the shape and dtype of params."""
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        seen, inner = [], bent((2, 3), gen, dtype=dtype)

        def residuals(p, seen=seen, inner=inner, dtype=dtype):
            seen.append((tuple(p.shape), str(p.dtype)))
            return inner(p.to(dtype))

        found = answer.grad_of_squares(residuals, torch.randn(2, 3, generator=gen).to(dtype))
        about = f"params of shape (2, 3) in {dtype}"
        expect_equal(seen, [((2, 3), str(dtype))], f"the shape and dtype in each call of residuals, {about}")
        expect_equal([t.dtype for t in found], [dtype] * 2, f"the dtypes of value and gradient, {about}")


def test_on_a_device(answer, gen, device):
    """residuals is called on the device of params, and the results lie there."""
    params, where = torch.randn(4, generator=gen), []
    wanted = exact(lambda p: p.sin() * 2, params)
    residuals = lambda p: (where.append(str(p.device)), p.sin() * 2)[1]  # noqa: E731
    found = answer.grad_of_squares(residuals, params.to(device))
    expect_equal(where, [str(device)], f"where {CALL} calls residuals, with params on {device}")
    expect_equal([str(t.device) for t in found], [str(device)] * 2, f"the devices of the results of {CALL}")
    expect_both([on_host(t) for t in found], wanted)


def test_call_after_call(answer, gen):
    """A second call gives its own gradient, and leaves the results of the first as they were."""
    params = torch.randn(4, generator=gen, dtype=torch.float64)
    first, second = bent((4,), gen), bent((4,), gen)
    wanted = [exact(first, params), exact(second, params), exact(first, params)]
    yours = [answer.grad_of_squares(f, params) for f in (first, second, first)]
    for number, (mine, right) in enumerate(zip(yours, wanted, strict=True), start=1):
        expect_both(mine, right, f"call {number} of three of {CALL}")
    params.mul_(-2)
    wanted = exact(first, params)
    expect_both(answer.grad_of_squares(first, params), wanted, f"{CALL} after params has moved")


def oracle(answer, gen):
    weight = torch.ones(7, dtype=torch.float64, requires_grad=True)
    source = torch.randn(3, 2, generator=gen, dtype=torch.float64).requires_grad_()
    plain = bent((2, 3), gen)
    results = [answer.grad_of_squares(lambda p: plain(p) * weight, p) for p in (source.t(), source.t() * 0.5)]
    return [list(pair) for pair in results] + [source.grad is None, weight.grad is None]
