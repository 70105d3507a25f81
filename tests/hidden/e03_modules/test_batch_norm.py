"""What grades batch_norm: both modes, running statistics, gradients; precision, updates in place, errors."""

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    flat_cost,
    half_precision,
    layer,
    loads,
    untouched,
    values,
    without,
)
from grader.checks.registered import state_of

OWN = ("batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm")
SHAPES = [(7, 3), (3, 3), (4, 3, 5), (1, 3, 4), (2, 3, 4, 5)]


def written_out(
    state,
    x,
    eps=1e-5,
    momentum=0.1,
    training=True,
    over=lambda x: [0, *range(2, x.dim())],
    correction=0,
    after=0.0,
    kept=1,
    frozen=False,
):
    """The layer feature by feature; or with a mistake."""
    column = (-1, *[1] * (x.dim() - 2))
    mean, var = state["running_mean"], state["running_var"]
    if training:
        dims = over(x)
        mean, var = x.mean(dims), x.var(dims, correction=correction)
        new = {"running_mean": mean.detach(), "running_var": x.detach().var(dims, correction=kept)}
    if training and not frozen:
        state |= {name: (1 - momentum) * state[name] + momentum * value for name, value in new.items()}
    scaled = (x - mean.view(column)) / ((var.view(column) + eps).sqrt() + after)
    return scaled * state["weight"].view(column) + state["bias"].view(column)


def wrong(**how):
    return lambda *given, **options: written_out(*given, **{**options, **how})


def old_by_momentum(*given, momentum=0.1, **options):
    return written_out(*given, **options, momentum=1 - momentum)


def batch(gen, *shape, size=2.0, offset=5.0, mode=True, **options):
    draw = lambda: torch.randn(3, generator=gen)  # noqa: E731
    state = {name: draw() for name in ("weight", "bias", "running_mean")}
    state["running_var"] = 0.5 + draw().abs()
    x = offset + size * torch.randn(shape, generator=gen)
    return layer(3, state=state, **options)._replace(training=mode)(x)


def training(gen):
    cases = {f"a batch of {shape}": batch(gen, *shape) for shape in SHAPES}
    return cases | {"a batch, with a large eps": batch(gen, 6, 3, eps=0.5)}


def momenta(gen):
    given = {"a batch": {}, "a batch, with a large momentum": {"momentum": 0.7}}
    return {about: batch(gen, *shape, **how) for about, how in given.items() for shape in SHAPES[:3]}


def evaluation(gen):
    shapes = {"rows": (5, 3), "a single row": (1, 3), "images": (2, 3, 4, 5)}
    return {about: batch(gen, *shape, mode=False) for about, shape in shapes.items()}


contract = Contract(
    "BatchNorm(features, eps, momentum)(x)",
    reference=written_out,
    inputs=lambda gen: training(gen) | evaluation(gen),
    gradient="x weight bias",
    after="running_mean running_var",
    ulps=100,
    suspects={
        "the unbiased variance normalises: it is for running_var alone": wrong(correction=1),
        "eps is added to the deviation, not to the variance": lambda *given, eps=1e-5, **options: written_out(
            *given, **options, eps=0.0, after=eps
        ),
        "1e-5 is added to the variance, not the eps of the layer": wrong(eps=1e-5),
        "statistics are taken over the rows alone: every dimension but 1 is asked for": wrong(
            over=lambda x: [0]
        ),
        "the running statistics normalise: in training it is those of the batch": wrong(training=False),
        "statistics of the batch normalise: in evaluation it is the running ones": wrong(
            training=True, frozen=True
        ),
        "running statistics move in training mode alone, not in evaluation": wrong(training=True),
        "momentum weighs the old numbers: it is the weight of the new ones": old_by_momentum,
        "running_var takes the biased variance: divide by n - 1": wrong(kept=0),
        "momentum is 0.1, whatever the layer was given": wrong(momentum=0.1),
    },
    job=[
        values(
            inputs=training,
            after="",
            title="In training each feature is normalised over all other dimensions, scaled and shifted.",
        ),
        values(
            inputs=momenta,
            name="running_statistics",
            title="Each batch in training mode moves the running statistics, by momentum, to its own.",
        ),
        values(
            inputs=evaluation,
            name="evaluation",
            title="In evaluation the running statistics normalise, a single row too, and stay as they are.",
        ),
        loads(inputs=evaluation),
        without(*OWN),
        flat_cost(lambda n: layer(n)(torch.eye(n)), over="rows and features"),
    ],
    fine=[
        half_precision(
            inputs=lambda gen: {"large numbers": batch(gen, 64, 3, size=400.0, offset=300.0)},
            of="x",
            scale=0.01,
            title="Half precision is computed in float32, and rounded once.",
        ),
        dtypes(torch.float64, name="float64", title="A float64 layer keeps float64."),
        untouched(),
        device(),
    ],
)


def test_no_graph(answer, gen):
    """Buffers carry no graph."""
    norm = answer.BatchNorm(3)
    norm(torch.randn(4, 3, generator=gen, requires_grad=True))
    for name, buffer in norm.named_buffers():
        expect_that(not buffer.requires_grad, f"{name} carries a graph after layer(x): detach what it gets")


@pytest.mark.fine
def test_far_from_zero(answer, gen):
    """Features near 10000 keep their digits."""
    x = 10_000 + torch.randn(32, 3, generator=gen)
    wanted = (x - x.double().mean(0)) / (x.double().var(0, correction=0) + 1e-5).sqrt()
    error = float((answer.BatchNorm(3)(x) - wanted).abs().max())
    likely = "mean(x²) - mean² is the small difference of two large numbers"
    told = "BatchNorm(3)(x) for x near 10000 loses its digits"
    expect_that(error < 0.01, told, yours=f"wrong by up to {error:.2g}", likely=likely)


@pytest.mark.fine
def test_in_place(answer, gen):
    """The buffers are updated in place."""
    norm = answer.BatchNorm(3)
    held = dict(norm.named_buffers())
    norm(torch.randn(6, 3, generator=gen))
    for name, buffer in norm.named_buffers():
        same = buffer.data_ptr() == held[name].data_ptr()
        expect_that(same, f"layer(x) puts a new tensor in the place of {name}: update it in place")


@pytest.mark.fine
def test_bad_input(answer):
    """Other features, and a single value per feature in training, raise ValueError and update nothing."""
    norm = answer.BatchNorm(3)
    before = state_of(norm)
    for shape in [(8, 2), (8, 1), (8, 1, 5), (1, 3)]:
        call = f"BatchNorm(3)(x) for x of {shape}"
        expect_raises((ValueError, RuntimeError), lambda s=shape: norm(torch.ones(s)), call)
        expect_equal(state_of(norm), before, f"parameters and buffers after {call}")
