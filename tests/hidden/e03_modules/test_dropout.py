"""What grades dropout: rates, scale, independence, modes, gradients; edges of p, seeds, dtypes, devices."""

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
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated

OWN = [
    *("dropout", "native_dropout", "fused_dropout", "alpha_dropout", "feature_dropout"),
    *("feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"),
]


def numbers(shape, gen, dtype=torch.float32):
    """From 1 to 2: never zero, so that a zero in the result was dropped."""
    return (1 + torch.rand(shape, generator=gen)).to(dtype)


def expect_rate(dropped, p, call):
    """Fail if this share of True is more than six standard deviations from p."""
    share, bound = float(dropped.double().mean()), 6 * math.sqrt(p * (1 - p) / dropped.numel())
    expect_that(
        abs(share - p) <= bound,
        f"{call} does not drop with probability {p}",
        yours=f"{share:.4f} of {dropped.numel()} numbers",
        wanted=f"{p} ± {bound:.4f}",
        **({"likely": "p is taken for the probability to keep"} if abs(1 - share - p) <= bound else {}),
    )


@pytest.mark.parametrize("p", [0.1, 0.8])
def test_rate_and_scale(answer, gen, p):
    """Numbers are dropped at the rate p, and what remains is x / (1 - p)."""
    for sizes in [(60, 80), (5000,), (10, 20, 25)]:
        x = numbers(sizes, gen)
        y = answer.Dropout(p)(x).detach()
        expect_rate(y == 0, p, f"Dropout({p})(x)")
        suspects = {
            "what remains is left as it is: divide it by 1 - p": lambda x=x, y=y: x * (y != 0),
            "what remains is divided by p: divide it by 1 - p": lambda x=x, y=y: x / p * (y != 0),
        }
        wanted = (x / (1 - p)).masked_fill(y == 0, 0.0)
        expect_close(y, wanted, f"Dropout({p})(x), apart from what is dropped", suspects=suspects)
    x = numbers((3, 4), gen)
    expect_close(answer.Dropout(0.0)(x).detach(), x, "Dropout(0.0)(x)")
    expect_rate(answer.Dropout()(numbers((60, 80), gen)) == 0, 0.5, "Dropout()(x)")


def test_each_number_on_its_own(answer, gen):
    """Numbers are dropped independently: no whole rows or columns, nor one mask for the batch."""
    layer = answer.Dropout(0.4)
    for sizes in [(60, 60), (25, 20, 20), (8, 8, 10, 10)]:
        dropped = layer(numbers(sizes, gen)) == 0
        for dim, size in enumerate(sizes):
            twice = dropped.narrow(dim, 0, size - 1) & dropped.narrow(dim, 1, size - 1)
            share = float(twice.double().mean())
            expect_that(
                abs(share - 0.16) < 0.06,
                f"Dropout(0.4)(x) of {sizes} does not drop neighbours along dimension {dim} independently",
                yours=f"both dropped in {share:.2f} of the pairs",
                wanted="about 0.16, which is 0.4 · 0.4",
            )


def test_another_mask_each_call(answer, gen):
    """Each call draws another mask, under no_grad too."""
    layer, x = answer.Dropout(0.5), numbers((20, 20), gen)
    expect_that(not torch.equal(layer(x), layer(x)), "two calls of drop(x) have the same mask")
    with torch.no_grad():
        expect_that(not torch.equal(layer(x), layer(x)), "two calls under no_grad have the same mask")


def test_modes_of_a_model(answer, gen):
    """train() and eval() of a model switch its dropout, and evaluation returns the numbers of x."""
    model, x = nn.Sequential(nn.Sequential(answer.Dropout(0.3))), numbers((20, 20), gen)
    expect_that(
        bool((model(x.clone()) == 0).any()), "nothing is dropped in a new model, which is in training mode"
    )
    y, likely = model.eval()(x).detach(), "it keeps a mode of its own: train() and eval() set self.training"
    expect_that(0.0 not in y, "numbers are dropped after model.eval()", likely=likely)
    expect_close(y, x, "model(x) after model.eval()")
    dropped = bool((model.train()(x) == 0).any())
    expect_that(dropped, "nothing is dropped after model.eval() and then model.train()")


def test_gradient(answer, gen):
    """The gradient is 1 / (1 - p) for what remains, 0 for what is dropped, and 1 in evaluation."""
    layer, x = answer.Dropout(0.3), numbers((20, 20), gen).requires_grad_()
    upstream = torch.randn(20, 20, generator=gen)
    y = layer(x)
    expect_that(y.requires_grad, "no gradient flows through drop(x)")
    (gradient,) = torch.autograd.grad(y, [x], upstream)
    wanted = (upstream / 0.7).masked_fill(y.detach() == 0, 0.0)
    suspects = {
        "what is dropped gets a gradient, too": lambda: upstream / 0.7,
        "the gradient is not divided by 1 - p": lambda: upstream * (y.detach() != 0),
    }
    expect_close(gradient, wanted, "the gradient of x through Dropout(0.3)", suspects=suspects)
    (gradient,) = torch.autograd.grad(layer.eval()(x).sum(), [x])
    expect_close(gradient, torch.ones(20, 20), "the gradient of x through Dropout(0.3).eval()")


def test_own_computation(answer):
    """The layer is not made of PyTorch's own dropout."""
    with forbid("drop(x)", *OWN):
        answer.Dropout(0.5)(torch.ones(5, 4))


@pytest.mark.fine
def test_everything_dropped(answer, gen):
    """p = 1 gives zeros and zero gradients."""
    x = numbers((6, 5), gen).requires_grad_()
    y = answer.Dropout(1.0)(x)
    expect_equal(y.detach(), torch.zeros(6, 5), "Dropout(1.0)(x)")
    expect_that(y.requires_grad, "the result of Dropout(1.0)(x) is not part of the graph")
    (gradient,) = torch.autograd.grad(y.sum(), [x])
    expect_equal(gradient, torch.zeros(6, 5), "the gradient of x through Dropout(1.0)")


@pytest.mark.fine
def test_bad_probability(answer):
    """A probability below 0 or above 1 raises ValueError."""
    for bad in (-0.1, 1.5):
        expect_raises(ValueError, lambda bad=bad: answer.Dropout(p=bad), f"Dropout(p={bad})")


@pytest.mark.fine
def test_p_set_later(answer, gen):
    """The attribute p counts when it is set later."""
    layer, x = answer.Dropout(0.2), numbers((40, 50), gen)
    expect_equal(layer.p, 0.2, "Dropout(0.2).p")
    layer.p = 0.7
    y = layer(x).detach()
    expect_rate(y == 0, 0.7, "drop(x) after drop.p = 0.7")
    expect_close(y, (x / (1 - 0.7)).masked_fill(y == 0, 0.0), "drop(x) after drop.p = 0.7")


@pytest.mark.fine
def test_global_stream(answer, gen):
    """The same seed gives the same mask, and evaluation draws nothing."""
    layer, x, results = answer.Dropout(0.5), numbers((20, 20), gen), []
    for _ in range(2):
        torch.manual_seed(5)
        results.append(layer(x))
    expect_equal(results[1], results[0], "drop(x) after the same seed")
    with global_rng_untouched("drop.eval()(x)"):
        layer.eval()(x)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_dtype_is_kept(answer, gen, dtype):
    """The result has the dtype of x."""
    x = numbers((20, 20), gen, dtype)
    y = answer.Dropout(0.4)(x)
    wanted = (x.double() / 0.6).to(dtype).masked_fill(y == 0, 0.0)
    expect_close(y, wanted, f"Dropout(0.4)(x) of x in {dtype}, apart from what is dropped")


@pytest.mark.fine
def test_on_a_device(answer, device, gen):
    """The mask is drawn where x is."""
    layer, x = answer.Dropout(0.4), numbers((20, 20), gen).to(device)
    with count_traffic() as traffic:
        y = layer(x)
    expect_that(is_simulated(y), "drop(x) of x on another device is not there", yours=y)
    expect_no_traffic(traffic, "drop(x)")


@pytest.mark.fine
def test_x_is_left_alone(answer, gen):
    """x stays as it is, in both modes."""
    layer, x = answer.Dropout(0.4), numbers((20, 20), gen)
    with unchanged("drop(x)", x=x):
        layer(x)
    with unchanged("drop.eval()(x)", x=x):
        layer.eval()(x)


def oracle(answer, gen):
    """Masks are free: over many calls each number is kept at least once, and dropped at the rate p."""

    def called(gen):
        """p, x, and 100 results for it."""
        p = round(0.2 + 0.5 * float(torch.rand((), generator=gen)), 3)
        layer, x = answer.Dropout(p), numbers((4, 5), gen).requires_grad_()
        return p, x, [layer(x) for _ in range(100)]

    def remains(gen):
        p, _, results = called(gen)
        y = torch.stack(results).detach()
        near = bool(abs(float((y == 0).double().mean()) - p) < 0.08)
        return {"largest": y.amax(0), "rate is p": near}

    def filled_in(gen):
        p, x, results = called(gen)
        y = torch.stack(results).detach()
        return (y + (y == 0) * x.detach() / (1 - p)).mean(0)

    def gradient(gen):
        p, x, results = called(gen)
        gradients = torch.stack([torch.autograd.grad(y, [x], torch.ones(4, 5))[0] for y in results])
        dropped = torch.stack(results).detach() == 0  # it has no gradient: filled in again
        return (gradients + dropped / (1 - p)).mean(0) * x.detach()

    def evaluation(gen):
        """What a layer gives that has dropped numbers before."""
        layer, x = answer.Dropout(0.4), numbers((4, 5), gen)
        has_dropped = any(bool((layer(x) == 0).any()) for _ in range(9))
        return [layer.eval()(x).detach(), has_dropped]

    def without_a_graph(gen):
        """What remains of numbers that are not trained."""
        p, layer = 0.25, answer.Dropout(0.25)
        x = numbers((4, 5), gen)
        y = torch.stack([layer(x.clone()) for _ in range(100)])
        return (y + (y == 0) * x / (1 - p)).mean(0)

    return {
        "what remains, in 100 calls": remains,
        "training: every number, what is dropped filled in": filled_in,
        "training without a graph": without_a_graph,
        "the gradient, where it remains": gradient,
        "evaluation, after training": evaluation,
    }
