"""What grades stable_activations: values and gradients of any size, small results; 0, inf, half precision."""

import math

import torch
from torch.nn import functional as F

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    given,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
    without,
)

OWN = (
    "sigmoid", "expit", "special_expit", "hardsigmoid", "logsigmoid", "log_sigmoid", "softplus", "gelu",
    "silu", "mish", "glu", "softmax", "softmin", "log_softmax", "binary_cross_entropy_with_logits",
    "soft_margin_loss", "cross_entropy",
)  # fmt: skip


def smooth(x):
    """Softplus; F.softplus itself cuts off at 20."""
    return torch.logaddexp(x, torch.zeros_like(x))


def smooth_gelu(x, tanh=False):
    return F.gelu(x, approximate="tanh" if tanh else "none")


def by_tanh(x, inner):
    return x / 2 * (1 + (math.sqrt(2 / math.pi) * inner).tanh())


def gelu_with(inner):
    """With another argument of tanh."""
    return lambda x, tanh=False: by_tanh(x, inner(x)) if tanh else F.gelu(x)


def narrow(function):
    """In float32, as the answer computes it."""
    return lambda x: function(x.float()).double()


def ordinary(gen):
    return {
        "a table": given(3 * torch.randn(4, 5, generator=gen)),
        "a row": given(2 + torch.randn(7, generator=gen)),
        "three dimensions": given(5 * torch.randn(2, 3, 4, generator=gen)),
    }


def signs(gen, *sizes):
    """Numbers of these sizes, of both signs, and some near 1, so that none is judged by the size of 1e-40."""
    x = torch.tensor(sizes).repeat_interleave(4) * (0.9 + 0.1 * torch.rand(4 * len(sizes), generator=gen))
    x = torch.cat([x, -x, torch.randn(4, generator=gen)])
    return given(x[torch.randperm(len(x), generator=gen)])


def large(gen):
    return {
        "numbers near 100 and -100": signs(gen, 100.0, 120.0),
        "numbers near 10000 and -10000": signs(gen, 1e4, 1e3),
    }


def small(sign):
    """Where results are near 0."""
    return lambda gen: {
        f"numbers near {sign * size}": given(sign * (size + 4 * torch.rand(3, 4, generator=gen)))
        for size in (18.0, 30.0)
    }


def approximate(gen):
    """The inputs of gelu's approximation."""
    both = ordinary(gen) | large(gen)
    return {f"{name}, by tanh": given(call.args[0], tanh=True) for name, call in both.items()}


def every(near_0):
    return lambda gen: ordinary(gen) | large(gen) | near_0(gen)


def job(near_0, inputs):
    """Clauses of the job; results near 0 are those of `near_0`."""
    return [
        values(inputs=ordinary),
        values(inputs=large, name="large", title="Large numbers of either sign come out right."),
        values(inputs=near_0, name="digits", title="Small results keep their digits."),
        gradients("x", inputs=inputs, title="Gradients are right for x of any size."),
        without(*OWN),
    ]


FINE = [
    gradients(
        "x",
        inputs=lambda gen: [given(torch.tensor([0.0, 0.5, -0.5]))],
        name="gradient_at_0",
        title="The gradient is right at 0.",
    ),
    half_precision(),
    dtypes(torch.float64, name="float64", title="float64 stays float64."),
    empties(),
    strides(inputs=ordinary),
    untouched(),
    device(),
]
INF = values(
    inputs=lambda gen: [given(torch.tensor([math.inf, -math.inf, 1.0]))],
    name="inf",
    title="inf and -inf have their limits.",
)
BELOW, ABOVE = every(small(-1)), every(small(1))

sigmoid = Contract(
    "sigmoid(x)",
    reference=torch.sigmoid,
    inputs=BELOW,
    gradient="x",
    suspects={
        "tanh wants half of x: the sigmoid is (1 + tanh(x / 2)) / 2": lambda x: (1 + x.tanh()) / 2,
        "1 + tanh(x / 2) is the difference of two numbers near 1, where x is far below 0": narrow(
            lambda x: (1 + (x / 2).tanh()) / 2
        ),
        "exp of a large number is inf, and inf / inf is NaN": narrow(lambda x: x.exp() / (1 + x.exp())),
        "it is that of -x": lambda x: (-x).sigmoid(),
        "1 - 1 / (1 + exp(x)) is the difference of two numbers near 1": narrow(
            lambda x: 1 - 1 / (1 + x.exp())
        ),
    },
    job=job(small(-1), BELOW),
    fine=[*FINE, INF],
)
softplus = Contract(
    "softplus(x)",
    reference=smooth,
    inputs=BELOW,
    gradient="x",
    suspects={
        "log(1 + exp(x)) is inf for large x, and 0 where 1 + exp(x) is 1": narrow(
            lambda x: (1 + x.exp()).log()
        ),
        "log1p(exp(x)) is inf for large x": narrow(lambda x: x.exp().log1p()),
        "1 + exp(-|x|) is 1 for x far from 0: log1p keeps the rest": narrow(
            lambda x: x.clamp(min=0) + (1 + (-x.abs()).exp()).log()
        ),
        "it is that of -x": lambda x: smooth(-x),
    },
    job=job(small(-1), BELOW),
    fine=[*FINE, INF],
)
log_sigmoid = Contract(
    "log_sigmoid(x)",
    reference=F.logsigmoid,
    inputs=ABOVE,
    gradient="x",
    suspects={
        "the sigmoid is 0 far below 0, and 1 far above it: its logarithm is -inf, or 0": narrow(
            lambda x: x.sigmoid().log()
        ),
        "1 + exp(-|x|) is 1 for x far from 0: log1p keeps the rest": narrow(
            lambda x: x.clamp(max=0) - (1 + (-x.abs()).exp()).log()
        ),
        "the sign is wrong: it is below 0": smooth,
        "it is that of -x": lambda x: F.logsigmoid(-x),
    },
    job=job(small(1), ABOVE),
    fine=[*FINE, INF],
)
gelu = Contract(
    "gelu(x, tanh)",
    reference=smooth_gelu,
    inputs=every(approximate),
    gradient="x",
    suspects={
        "erf takes x, not x / √2": lambda x, tanh=False: (
            smooth_gelu(x, tanh) if tanh else x / 2 * (1 + x.erf())
        ),
        "the approximation comes back, not the exact one": lambda x, tanh=False: smooth_gelu(x, True),
        "the exact one comes back: tanh is ignored": lambda x, tanh=False: smooth_gelu(x),
        "x² stands where x³ should": gelu_with(lambda x: x + 0.044715 * x**2),
        "√(2 / π) is for the sum, not for x alone": gelu_with(
            lambda x: x + 0.044715 * math.sqrt(math.pi / 2) * x**3
        ),
        "x * sigmoid(1.702 * x) is another approximation": lambda x, tanh=False: x * (1.702 * x).sigmoid(),
        "half of it is missing": lambda x, tanh=False: 2 * smooth_gelu(x, tanh),
    },
    job=[
        values(inputs=lambda gen: ordinary(gen) | large(gen)),
        values(inputs=approximate, name="tanh", title="With tanh=True the approximation comes back."),
        gradients("x", inputs=every(approximate), title="Gradients are right for x of any size."),
        without(*OWN, inputs=every(approximate)),
    ],
    fine=FINE,
)
