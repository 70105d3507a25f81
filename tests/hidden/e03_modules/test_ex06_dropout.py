"""What grades dropout: rates, independence, modes, seeds, edges of p, gradients, dtypes, devices."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_raises,
    expect_that,
    forbid,
    global_rng_untouched,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host
from grader.checks.registered import expect_registered

OWN = [
    *("dropout", "native_dropout", "fused_dropout", "alpha_dropout", "feature_dropout"),
    *("feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"),
]
THEIRS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


def numbers(shape, gen, dtype=torch.float32):
    """From 1 to 2: never zero, so that a zero in the result was dropped."""
    return (1 + torch.rand(shape, generator=gen, dtype=torch.float64)).to(dtype)


def expect_rate(dropped, p, call):
    """Fail if this share of True is more than six standard deviations from p."""
    share, bound = float(dropped.double().mean()), 6 * math.sqrt(p * (1 - p) / dropped.numel())
    expect_that(
        abs(share - p) <= bound,
        f"{call} does not drop with probability {p}",
        yours=f"{share:.4f} of {dropped.numel()} numbers",
        wanted=f"{p} ± {bound:.4f}",
    )


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.95])
def test_rate_and_scale(answer, gen, p):
    """Numbers are dropped at the rate p, and what remains is x / (1 - p)."""
    layer, x = answer.Dropout(p), numbers((60, 80), gen)
    wanted = x / (1 - p)
    y = layer(x)
    dropped = y == 0
    call = f"Dropout({p})(x), apart from what is dropped"
    suspects = {
        "what remains is left as it is: divide it by 1 - p": lambda: x * ~dropped,
        "what remains is divided by p: divide it by 1 - p": lambda: x / p * ~dropped,
        "what remains is divided by the share that remained: by 1 - p": lambda: (
            x / (~dropped).float().mean() * ~dropped
        ),
    }
    suspects = suspects if bool(dropped.any()) else {}
    expect_close(y, wanted.masked_fill(dropped, 0.0), call, suspects=suspects)
    expect_rate(dropped, p, f"Dropout({p})(x)")
    y = answer.Dropout()(x)
    expect_close(y, (2 * x).masked_fill(y == 0, 0.0), "Dropout()(x), apart from what is dropped")
    expect_rate(y == 0, 0.5, "Dropout()(x)")


def test_each_number_on_its_own(answer, gen):
    """Numbers are dropped independently: no whole rows, columns or channels, and no fixed count."""
    layer, x = answer.Dropout(0.4), numbers((100, 100), gen)
    dropped = layer(x) == 0
    for dim, what in ((0, "columns"), (1, "rows")):
        spread = float(dropped.double().mean(dim).std())
        expect_that(
            0.03 < spread < 0.07,
            f"Dropout(0.4)(x) does not treat {what} independently",
            yours=f"the dropped shares of 100 {what} have a standard deviation of {spread:.3f}",
            wanted="about 0.049",
        )
    for step in (1, 100):
        flat = dropped.flatten()
        expect_rate(flat[step:] & flat[:-step], 0.16, f"Dropout(0.4)(x), two numbers {step} apart at once,")
    for sizes in [(4000,), (25, 20, 20), (8, 8, 10, 10), (4, 5, 5, 8, 8)]:
        dropped = layer(numbers(sizes, gen)) == 0
        for dim, size in enumerate(sizes):
            twice = dropped.narrow(dim, 0, size - 1) & dropped.narrow(dim, 1, size - 1)
            call = f"Dropout(0.4)(x) of {sizes}, two neighbours along dimension {dim} at once,"
            expect_rate(twice, 0.16, call)
    expect_rate(layer(numbers((1, 4000), gen)) == 0, 0.4, "Dropout(0.4)(x) of a single row")
    dropped = layer(torch.ones(150_000)) == 0
    for step in (1024, 4096, 32768, 65536):
        twice = dropped[step:] & dropped[:-step]
        expect_rate(twice, 0.16, f"Dropout(0.4)(x) of 150000 numbers, two of them {step} apart at once,")
    same = "Dropout(0.4)(x) drops the same count at each of six calls"
    counts = {int((layer(x[:20]) == 0).sum()) for _ in range(6)}
    expect_that(len(counts) > 1, same, yours=f"{counts.pop()} of 2000", wanted="another count at most calls")
    wide = layer(x[:1].expand(50, 100)) == 0
    expect_that(
        not bool((wide == wide[0]).all()), "Dropout(0.4)(x) drops the same in each row of an expanded x"
    )


def test_each_call_on_its_own(answer, gen):
    """Each call has another mask, drawn from the global stream: with the same seed it is the same one."""
    layer, x = answer.Dropout(0.5), numbers((20, 20), gen)
    torch.manual_seed(5)
    first, second = layer(x), layer(x)
    torch.manual_seed(5)
    again = layer(x)
    torch.manual_seed(6)
    other = layer(x)
    expect_that(not torch.equal(first, second), "two calls of drop(x) have the same mask")
    expect_equal(again, first, "drop(x) after the same seed")
    expect_that(not torch.equal(first, other), "drop(x) has the same mask after another seed")


def test_evaluation(answer, gen):
    """In evaluation mode the numbers come through, and nothing is drawn."""
    for p in (0.0, 0.3, 1.0):
        for dtype in (torch.float32, torch.bfloat16):
            layer, x = answer.Dropout(p).eval(), numbers((7, 5), gen, dtype)
            with global_rng_untouched("drop.eval()(x)"), unchanged("drop.eval()(x)", x=x):
                y = layer(x)
            expect_equal(y.detach(), x, f"Dropout({p}).eval()(x)")
    x = numbers((7, 5), gen).requires_grad_()
    (gradient,) = torch.autograd.grad(answer.Dropout(0.9).eval()(x).sum(), [x])
    expect_equal(gradient, torch.ones(7, 5), "the gradient of x through Dropout(0.9).eval()")


def test_modes_of_a_model(answer, gen):
    """train() and eval() of a model switch its dropout; no_grad does not."""
    model = nn.Sequential(nn.Identity(), nn.ModuleList([answer.Dropout(0.5)])[0])
    x = numbers((20, 20), gen)

    def drops():
        return bool((model(x) == 0).any())

    expect_that(drops(), "nothing is dropped in a new model")
    model.eval()
    expect_that(not drops(), "something is dropped after model.eval()")
    twin = copy.deepcopy(model)
    model.train()
    expect_that(drops(), "nothing is dropped after model.eval() and then model.train()")
    with torch.no_grad():
        expect_that(drops(), "nothing is dropped in training mode under no_grad")
        again = torch.equal(model(x) == 0, model(x) == 0)
        expect_that(not again, "under no_grad two calls in training mode drop the same numbers")
    with torch.inference_mode():
        expect_that(drops(), "nothing is dropped in training mode under inference_mode")
    expect_equal(twin(x), x, "a deep copy of the model in evaluation mode")
    model[1].training = False
    expect_that(not drops(), "something is dropped while training is False")


def test_edges_of_p(answer, gen):
    """p = 0 drops nothing and p = 1 everything, without NaN; the gradients are 1 and 0."""
    for given, p in ((0.0, 0.0), (0, 0.0), (1.0, 1.0), (1, 1.0)):
        x = numbers((6, 5), gen).requires_grad_()
        y = answer.Dropout(given)(x)
        expect_equal(y.detach(), x.detach() * (1 - p), f"Dropout({given})(x)")
        expect_that(y.requires_grad, f"the result of Dropout({given})(x) is not part of the graph")
        (gradient,) = torch.autograd.grad(y.sum(), [x])
        expect_equal(gradient, torch.full((6, 5), 1 - p), f"the gradient of x through Dropout({given})")
    for p in (0.0, 1.0):
        torch.manual_seed(146)  # torch.rand gives an exact 0 among the first 20,000 then
        y = answer.Dropout(p)(torch.ones(20_000))
        expect_equal(y, torch.full((20_000,), 1 - p), f"Dropout({p})(x) of 20,000 ones")
    for bad in (-0.01, 1.01, 2, -1, math.inf, -math.inf, math.nan):
        expect_raises(ValueError, lambda bad=bad: answer.Dropout(bad), f"Dropout({bad})")


def test_p_set_later(answer, gen):
    """The attribute p may be set later, and counts from then on."""
    layer, x = copy.deepcopy(answer.Dropout(0.2)), numbers((40, 50), gen)  # no longer the one that was built
    expect_equal(layer.p, 0.2, "Dropout(0.2).p")
    layer(x)
    for p in (0.75, 0.0, 1.0):
        layer.p = p
        y = layer(x)
        expect_rate(y == 0, p, f"drop(x) after drop.p = {p}")
        wanted = (x / (1 - p) if p < 1 else x).masked_fill(y == 0, 0.0)
        expect_close(y, wanted, f"drop(x) after drop.p = {p}, apart from what is dropped")
    ones = torch.ones(20, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(ones).sum(), [ones])
    expect_equal(gradient, torch.zeros(20), "the gradient of x through drop(x) after drop.p = 1.0")


def test_gradient(answer, gen):
    """The gradient is 1 / (1 - p) for what remains, and 0 for what is dropped, whatever the numbers are."""
    x = torch.randn(9, 10, generator=gen).requires_grad_()
    cotangent = torch.randn(9, 10, generator=gen)
    layer = answer.Dropout(0.3)
    y = layer(x)
    expect_that(y.requires_grad, "no gradient flows through drop(x)")
    wanted = (cotangent / 0.7).masked_fill(y.detach() == 0, 0.0)
    layer.p = 0.6
    layer(x)  # a layer may be used twice before the backward
    (gradient,) = torch.autograd.grad(y, [x], cotangent)
    suspects = {"what is dropped gets a gradient, too": lambda: cotangent / 0.7}
    call = "the gradient of x through the first of two calls of Dropout(0.3), before p is set to 0.6"
    expect_close(gradient, wanted, call, suspects=suspects)
    zeros = torch.zeros(40, 50, requires_grad=True)
    (gradient,) = torch.autograd.grad(answer.Dropout(0.3)(zeros).sum(), [zeros])
    expect_rate(gradient == 0, 0.3, "Dropout(0.3)(x), judged by the gradient of an x of zeros,")


def test_any_shape(answer, gen):
    """Any shape and any strides; x is left alone."""
    for shape in [(), (1,), (0, 3), (5,), (2, 1, 3, 4)]:
        x = numbers(shape, gen)
        expect_equal(answer.Dropout(1.0)(x), torch.zeros(shape), f"Dropout(1.0)(x), x of shape {shape}")
        wanted = x / 0.75
        with unchanged("drop(x)", x=x):
            y = answer.Dropout(0.25)(x)
        expect_close(y, wanted.masked_fill(y == 0, 0.0), f"Dropout(0.25)(x), x of shape {shape}")
        with torch.no_grad(), unchanged("drop(x) under no_grad", x=x):
            answer.Dropout(0.25)(x)
    for x in (numbers((6, 8), gen).t()[::2], numbers((1, 5), gen).expand(3, 5)):
        wanted = x / 0.75
        with unchanged("drop(x) of a strided x", x=x):
            y = answer.Dropout(0.25)(x)
        expect_close(y, wanted.masked_fill(y == 0, 0.0), "Dropout(0.25)(x) of a strided x")
    drop = answer.Dropout(0.5)
    dropped = torch.tensor([float(drop(torch.tensor(1.0))) == 0 for _ in range(60)])
    expect_rate(dropped, 0.5, "Dropout(0.5)(x) of 60 single numbers")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """The dtype stays, float64 keeps its precision, and the rate is p in every dtype, also a small one."""
    x = numbers((30, 40), gen, dtype)
    y = answer.Dropout(0.3)(x)
    wanted = (x.double() / 0.7).to(dtype)
    expect_close(y, wanted.masked_fill(y == 0, 0.0), f"Dropout(0.3)(x) in {dtype}")
    expect_rate(y == 0, 0.3, f"Dropout(0.3)(x) in {dtype}")
    y = answer.Dropout(0.99)(x)
    wanted = (x.double() * 100).to(dtype)
    expect_close(y, wanted.masked_fill(y == 0, 0.0), f"Dropout(0.99)(x) in {dtype}")
    single = answer.Dropout(0.5)(x[0, 0])
    expect_equal(str(single.dtype), str(dtype), f"the dtype of Dropout(0.5)(x) of a single number in {dtype}")
    huge = torch.full((30, 40), torch.finfo(dtype).max, dtype=dtype)
    y = answer.Dropout(0.5)(huge)
    expect_that(
        not bool(y.isnan().any()), f"Dropout(0.5)(x) of the largest number in {dtype} has NaN", yours=y
    )
    expect_rate(y == 0, 0.5, f"Dropout(0.5)(x) of the largest number in {dtype}")
    for p, wanted in ((0.0, x), (1.0, torch.zeros_like(x))):
        y = answer.Dropout(p)(x.requires_grad_())
        expect_equal(y.detach(), wanted.detach(), f"Dropout({p})(x) in {dtype}")
        (gradient,) = torch.autograd.grad(y.sum(), [x])
        expect_equal(
            gradient, torch.full_like(x, 1 - p), f"the gradient of x through Dropout({p}) in {dtype}"
        )
    # enough to see that a draw in float16 is too coarse
    many = torch.ones(1_000_000, dtype=dtype)
    for p in (0.0006, 0.9995):
        expect_rate(answer.Dropout(p)(many) == 0, p, f"Dropout({p})(x) in {dtype}")


def test_on_a_device(answer, device, gen):
    """On another device numbers are dropped there: nothing is copied between it and the CPU."""
    x = numbers((40, 50), gen)
    wanted = x / 0.6
    there = x.to(device)
    model = nn.Sequential(answer.Dropout(0.4)).to(device)
    with count_traffic() as traffic:
        y = model(there)
    expect_that(is_simulated(y), "drop(x) is on another device than x", yours=y)
    expect_no_traffic(traffic, "drop(x)")
    for p, right in ((0.0, x), (1.0, torch.zeros_like(x))):
        with count_traffic() as traffic:
            y_edge = answer.Dropout(p)(there)
        expect_that(is_simulated(y_edge), f"Dropout({p})(x) is on another device than x", yours=y_edge)
        expect_no_traffic(traffic, f"Dropout({p})(x)")
        expect_equal(on_host(y_edge), right, f"Dropout({p})(x) on a device")
    values = on_host(y)
    expect_close(values, wanted.masked_fill(values == 0, 0.0), "drop(x) on a device")
    expect_rate(values == 0, 0.4, "drop(x) on a device")
    torch.manual_seed(3)
    first = on_host(model(there))
    torch.manual_seed(3)
    expect_equal(on_host(model(there)), first, "drop(x) on a device after the same seed")


def test_own_computation(answer):
    """Nothing is registered, and PyTorch's own dropout does not take part."""
    with forbid("drop(x)", *OWN):
        layer = answer.Dropout(0.5)
        layer(torch.ones(3, 4))
        layer.eval()(torch.ones(3, 4))
    expect_registered(layer, "Dropout(0.5)", parameters={})
    theirs = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
    expect_equal(
        sum(isinstance(m, theirs) for m in layer.modules()), 0, "the number of PyTorch's dropouts in it"
    )


def oracle(answer, gen):
    layer, x = answer.Dropout(0.25), numbers((20, 30), gen, torch.float64).requires_grad_()
    y = layer(x)
    y.sum().backward()
    dropped = (y.detach() == 0).double()
    near = abs(float(dropped.mean()) - 0.25) < 0.15
    # the mask is free, so what was dropped is filled in again
    consistent = [y.detach() + dropped * x.detach() / 0.75, x.grad + dropped / 0.75]
    everything = answer.Dropout(1.0)(x.detach())
    return [near, *consistent, everything, layer.eval()(x).detach(), answer.Dropout(0.0)(x.detach())]
