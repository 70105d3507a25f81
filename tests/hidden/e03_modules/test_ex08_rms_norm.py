"""What grades rms_norm: shapes, precision in every dtype, gradients, the module in use, devices, errors."""

import pytest
import torch
from torch import nn
from torch.func import functional_call

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    forbid,
    unchanged,
)
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
)
from grader.checks.registered import expect_registered, randomize

OWN = ("rms_norm", "fused_rms_norm", "layer_norm", "native_layer_norm")


def formula(x, weight, eps=1e-6):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def filled(answer, gen, features, eps=1e-6):
    layer = answer.RMSNorm(features, eps=eps)
    randomize(layer, gen)
    return layer


def case(answer, x, eps=1e-3):
    features = x.shape[-1]
    return Case(
        lambda: answer.RMSNorm(features, eps=eps),
        [x],
        lambda state, x: formula(x, state["weight"], eps),
        f"RMSNorm({features}, eps={eps})",
    )


def mistakes(x, weight, eps):
    """What people get wrong, and what it gives."""
    squares = x.square()
    mean = squares.mean(-1, keepdim=True)
    other = 0 if x.dim() < 3 else 1
    return {
        "squares are added up: their mean is asked for": lambda: (
            x / (squares.sum(-1, keepdim=True) + eps).sqrt() * weight
        ),
        "the mean is taken off first: that is layer norm": lambda: formula(
            x - x.mean(-1, keepdim=True), weight, eps
        ),
        "eps is added to the root, not under it": lambda: x / (mean.sqrt() + eps) * weight,
        f"the mean runs over dim {other}: features are the last dimension": lambda: (
            x / (squares.mean(other, keepdim=True) + eps).sqrt() * weight
        ),
    }


def expect_right(layer, x, note, eps=1e-6):
    exact, weight = x.double(), layer.weight.detach().double()
    wanted = formula(exact, weight, eps).to(x.dtype)
    suspects = mistakes(exact, weight, eps)
    expect_close(layer(x), wanted, f"RMSNorm({x.shape[-1]}, eps={eps})(x){note}", suspects=suspects)


@pytest.mark.parametrize("eps", [1e-6, 0.5])
def test_last_dimension(answer, gen, eps):
    """Each row along the last dimension is normalised by itself, whatever stands in front, and scaled."""
    for shape in [(4,), (1,), (5, 4), (3, 3), (2, 3, 4), (2, 1, 3, 5), (1, 1, 2), (7, 1)]:
        x = 2 + 3 * torch.randn(shape, generator=gen)
        expect_right(filled(answer, gen, shape[-1], eps), x, f" of shape {shape}", eps)


def test_default_eps(answer):
    """Without another word eps is 1e-6, and is added inside the root; NaN stays in its row."""
    x = torch.tensor([[1e-3, -2e-3, 1e-3], [1e-5, 0.0, 0.0]])
    yours = answer.RMSNorm(3)(x)
    wanted, suspects = formula(x.double(), 1.0).float(), mistakes(x.double(), 1.0, 1e-6)
    expect_close(yours, wanted, "RMSNorm(3)(x) of small numbers", suspects=suspects)
    x[0, 1] = torch.nan
    lost = answer.RMSNorm(3)(x).isnan().all(1).tolist()
    expect_equal(lost, [True, False], "which rows of RMSNorm(3)(x) are NaN, if x is in the first")


def test_empty(answer, gen):
    """No rows give no rows."""
    for shape in [(0, 3), (2, 0, 3), (0, 2, 3), (0, 0, 3)]:
        layer = filled(answer, gen, 3)
        expect_right(layer, torch.zeros(shape), f" of shape {shape}")
    expect_that(
        layer(torch.zeros(shape)).requires_grad, f"no gradient flows through layer(x) of shape {shape}"
    )


def test_layouts(answer, gen):
    """Rows are rows wherever they lie in memory, and the result has memory of its own."""
    layouts = {
        "transposed": torch.randn(3, 6, generator=gen).T,
        "in the middle of a larger tensor": torch.randn(9, 7, generator=gen)[2:7, 3:6],
        "every other feature": torch.randn(4, 6, generator=gen)[:, ::2],
        "expanded": torch.randn(4, 1, 3, generator=gen).expand(4, 5, 3),
    }
    for how, x in layouts.items():
        layer = filled(answer, gen, 3)
        with unchanged("layer(x)", x=x):
            expect_right(layer, x, f", {how}")
        with unchanged("layer(x) without gradients", x=x), torch.no_grad():
            expect_right(layer, x, f" without gradients, {how}")
    ones = torch.ones(2, 3)
    expect_copy(answer.RMSNorm(3)(ones), ones, "RMSNorm(3)(x) of ones")


@pytest.mark.parametrize("size", [1e-15, 1e-6, 1e5, 1e15])
def test_large_and_small(answer, gen, size):
    """Rows of any size are right, next to each other too; a row of zeros stays zero."""
    x = torch.randn(4, 5, generator=gen)
    x[0] *= size
    x[1] = 0
    x[2, 1:] *= size
    layer = filled(answer, gen, 5)
    for rows in (x, x[1:2], x[:1]):
        for row in rows:
            expect_right(layer, row, f" of a row near {size:g}")
        expect_right(layer, rows, f" of rows near {size:g}")
    layer.load_state_dict({"weight": layer.weight * 1e7})
    expect_right(layer, x, f" of rows near {size:g}, with weights near 1e7")
    wide = x.double() * size
    expect_right(filled(answer, gen, 5).double(), wide, f" of float64 rows near {size**2:g}")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_rounds_once(answer, gen, dtype):
    """Half precision is computed in float32 with the weight, and rounded once, at the end."""
    half_a_step = 0.6 * torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
    biggest = torch.full((2, 40), 6e4).to(dtype)
    tiny = torch.randn(6, 40, generator=gen).mul(1e-5).to(dtype)
    many = torch.randn(1, 9000, generator=gen).to(dtype)
    for how, x, eps in [
        ("near 1", torch.randn(64, 12, generator=gen).to(dtype), 1e-6),
        ("near 400", torch.randn(6, 40, generator=gen).mul(400).to(dtype), 1e-6),
        ("near 60000", biggest, 1e-6),
        ("near 0.00001", tiny, 1e-12),
        ("in a row of 9000", many, 1e-6),
    ]:
        for kind in (torch.float32, dtype):
            layer = filled(answer, gen, x.shape[-1], eps).to(kind)
            yours, call = layer(x), f"a {kind} layer on {dtype} {how}"
            expect_equal(yours.dtype, dtype, f"the dtype from {call}")
            wanted = formula(x.double(), layer.weight.detach().double(), eps)
            expect_close(yours.double(), wanted, call, ulps=half_a_step, scale=0.01)
    # the squares of these numbers lie in the middle between two that the dtype has
    same = torch.full((64,), 1.0625 if dtype == torch.bfloat16 else 1 + 39 / 1024).to(dtype)
    layer = answer.RMSNorm(64)
    layer.load_state_dict({"weight": torch.linspace(1.0, 1.5, 64)})
    wanted = formula(same.double(), layer.weight.detach().double())
    call = f"RMSNorm(64)(x) of equal numbers in {dtype}"
    expect_close(layer(same).double(), wanted, call, ulps=half_a_step * 0.52 / 0.6, scale=0.001)


def test_dtype_of_the_input(answer, gen):
    """The result has the dtype of x, not that of the weight, and is computed in no less than it needs."""
    for kind, dtype in [
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float64),
        (torch.float16, torch.bfloat16),
        (torch.float64, torch.float32),
    ]:
        layer = filled(answer, gen, 4, 1e-3).to(kind)
        x = torch.randn(5, 4, generator=gen, dtype=torch.float64).to(dtype)
        expect_right(layer, x, f", a {kind} layer on {dtype}", 1e-3)
        expect_equal(layer.weight.dtype, kind, f"the dtype of the weight of a {kind} layer on {dtype}")
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        expect_casts(case(answer, torch.randn(5, 4, generator=gen)), dtype, gen)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_gradients(answer, gen, dtype):
    """Gradients flow to x, also through its root mean square, and to the weight, in their dtypes."""
    for shape, eps in [((3, 4), 0.1), ((2, 3, 5), 1e-6), ((6,), 1e-6)]:
        layer = answer.RMSNorm(shape[-1], eps=eps).train(len(shape) > 1)
        expect_gradients(
            lambda x, w, layer=layer: functional_call(layer, {"weight": w}, (x,)),
            [
                torch.randn(shape, generator=gen).to(dtype),
                torch.randn(shape[-1], generator=gen).to(dtype),
            ],
            lambda x, w, eps=eps: formula(x, w, eps),
            gen=gen,
            call=f"RMSNorm({shape[-1]})(x) in {dtype}",
            names="x weight",
            scale=4.0,
        )
    for size in () if dtype == torch.bfloat16 else (1e-10, 1e10):
        x, pull = (torch.randn(3, 4, generator=gen, dtype=dtype) for _ in "xy")
        mine = (x * size).requires_grad_()
        right = mine.detach().double().requires_grad_()
        (answer.RMSNorm(4, eps=1e-6)(mine) * pull).sum().backward()
        (formula(right, 1.0) * pull).sum().backward()
        per = max(size, 1e-3)  # what a row is divided by
        expect_close(
            mine.grad * per,
            (right.grad * per).to(dtype),
            f"the gradient for x near {size:g}",
            ulps=100,
            scale=4.0,
        )


def test_gradient_of_zeros(answer, gen):
    """A row of zeros has the gradient of the formula, not NaN; large half-precision rows a finite one."""
    x = torch.randn(3, 4, generator=gen)
    x[1] = 0
    layer = answer.RMSNorm(4, eps=1e-4)
    expect_gradients(layer, [x], lambda x: formula(x, 1.0, 1e-4), gen=gen, call="RMSNorm(4)(x)", names="x")
    large = torch.full((1, 4), 6e4, dtype=torch.float16, requires_grad=True)
    layer(large)[0, 0].backward()
    expect_that(bool(large.grad.isfinite().all()), "the gradient of 60000 in float16 is not finite")


def test_registered(answer, gen):
    """The weight is the one thing registered, and state dicts go to PyTorch's own layer and back."""
    layer = answer.RMSNorm(3)
    expect_registered(layer, "RMSNorm(3)", parameters={"weight": [3]})
    expect_equal(layer.weight.detach(), torch.ones(3), "the weight of a new RMSNorm(3)")
    own = nn.RMSNorm(3, eps=1e-6)
    randomize(own, gen)
    layer.load_state_dict(own.state_dict())
    own.load_state_dict(layer.state_dict())
    x = torch.randn(2, 3, generator=gen)
    expect_close(layer(x), own(x).detach(), "a layer that loaded the state of nn.RMSNorm")


def test_in_use(answer, gen):
    """Saved, loaded, copied, trained and given other parameters, the layer computes with its weight."""
    one = case(answer, 1 + torch.randn(5, 4, generator=gen))
    expect_loads(one, gen)
    expect_copies(one, gen)
    expect_functional(one, gen)
    expect_trains(one, gen)
    layer, half = answer.RMSNorm(4).bfloat16(), torch.randn(5, 4, generator=gen).bfloat16()
    with torch.no_grad():
        for factor, training in ((1.0, True), (3.0, True), (1.0, False), (3.0, False)):
            layer.train(training).weight.data.fill_(factor)
            mode = "" if training else " in evaluation"
            expect_right(layer, half, f" in bfloat16{mode}, the weights now {factor:g}")


def test_on_a_device(answer, gen, device):
    """A model on another device takes the layer along, and nothing is copied between device and CPU."""
    expect_moves(case(answer, torch.randn(5, 4, generator=gen)), device, gen)


def test_bad_input(answer):
    """No dimensions, or another number of features, raise ValueError, also where they would broadcast."""
    for features, shapes in [(3, [(), (4,), (4, 1), (1,), (3, 4), (3, 0), (0,)]), (1, [(), (4,), (1, 4)])]:
        layer = answer.RMSNorm(features)
        for shape in shapes:
            expect_raises(
                ValueError,
                lambda layer=layer, shape=shape: layer(torch.ones(shape)),
                f"RMSNorm({features})(x) for x of {shape}",
            )


def test_own_computation(answer, gen):
    """The layer leans on none of PyTorch's norms, and does not loop over rows or features."""
    with forbid("layer(x)", *OWN):
        answer.RMSNorm(3)(torch.ones(2, 3))
    for over, sizes in [("rows", lambda n: (n, 3)), ("features", lambda n: (4, n))]:

        def make(n, sizes=sizes):
            x = torch.randn(sizes(n), generator=gen)
            layer = answer.RMSNorm(x.shape[-1])
            return lambda: layer(x)

        expect_flat_cost(make, "layer(x)", over=over)


def oracle(answer, gen):
    results = []
    for dtype, eps in [(torch.float64, 1e-6), (torch.float64, 0.3), (torch.bfloat16, 1e-6)]:
        layer = answer.RMSNorm(6, eps=eps).to(dtype)
        x = torch.randn(4, 6, generator=gen).to(dtype).requires_grad_()
        out = layer(x)
        out.mul(torch.randn(out.shape, generator=gen).to(dtype)).sum().backward()
        results += [out.detach(), x.grad, layer.weight.grad]
    return results
