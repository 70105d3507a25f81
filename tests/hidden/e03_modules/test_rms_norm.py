"""What grades rms_norm: rows, eps, gradients, the layer in use; half precision, dtypes, devices, errors."""

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    flat_cost,
    half_precision,
    layer,
    loads,
    untouched,
    values,
    without,
)

OWN = ("batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm")


def formula(state, x, eps=1e-6):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * state["weight"]


def over(mean):
    """The rows divided by the root of another mean."""
    return lambda state, x, eps=1e-6: x / (mean(x) + eps).sqrt() * state["weight"]


def rows(gen, *shape, offset=2.0, **options):
    weight = torch.randn(shape[-1], generator=gen)
    x = offset + 3 * torch.randn(shape, generator=gen)
    return layer(shape[-1], state={"weight": weight}, **options)(x)


def small(gen, **options):
    weight, x = torch.randn(6, generator=gen), torch.randn(4, 6, generator=gen) / 500
    return layer(6, state={"weight": weight}, **options)(x)


def all_sizes(gen, dtype=torch.float32):
    """Rows whose squares a half cannot hold, and rows of ordinary numbers."""
    weight, sizes = torch.randn(64, generator=gen), torch.tensor([1.0, 30.0, 400.0, 20_000.0])
    x = (sizes[:, None] * torch.randn(4, 64, generator=gen)).clamp(-6e4, 6e4)
    return layer(64, state={"weight": weight})(x.to(dtype))


contract = Contract(
    "RMSNorm(features, eps)(x)",
    reference=formula,
    inputs=lambda gen: {
        "a row": rows(gen, 4),
        "rows": rows(gen, 5, 4),
        "as many rows as features": rows(gen, 3, 3),
        "sequences": rows(gen, 2, 3, 4),
        "four dimensions": rows(gen, 2, 1, 3, 5),
        "rows around 0": rows(gen, 3, 4, offset=0.0, eps=0.3),
    },
    gradient="x weight",
    scale=4.0,
    suspects={
        "squares are added up: their mean is asked for": over(lambda x: x.square().sum(-1, keepdim=True)),
        "the mean is taken off first: that is layer norm": lambda state, x, **options: formula(
            state, x - x.mean(-1, keepdim=True), **options
        ),
        "the mean runs over the first dimension: features are the last": over(
            lambda x: x.square().mean(0, keepdim=True)
        ),
        "one mean is taken over everything: each row has its own": over(lambda x: x.square().mean()),
        "the weight is left out": lambda state, x, eps=1e-6: formula({"weight": 1.0}, x, eps),
        "eps is added to the root, not under it": lambda state, x, eps=1e-6: (
            x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * state["weight"]
        ),
        "eps is not added": lambda state, x: formula(state, x, 0.0),
        "1e-6 is added, not the eps of the layer": lambda state, x: formula(state, x),
        "1e-5 is added, where the default is 1e-6": lambda state, x, eps=1e-5: formula(state, x, eps),
    },
    job=[
        values(
            inputs=lambda gen: {
                "small numbers": small(gen),
                "small numbers, with a large eps": small(gen, eps=0.5),
                "small numbers, with an eps of their size": small(gen, eps=1e-3),
            },
            name="eps",
            title="eps is added under the root, and is 1e-6 without another word.",
        ),
        loads(),
        without(*OWN),
        flat_cost(lambda n: layer(n)(torch.ones(n, n)), over="rows and features"),
    ],
    fine=[
        half_precision(
            inputs=lambda gen: {"rows of all sizes": all_sizes(gen)},
            scale=0.01,
            suspects={
                "it is rounded before the weight, and again after it": lambda state, x: (
                    formula({"weight": 1.0}, x.float()).to(x.dtype) * state["weight"]
                ),
                "squares of large numbers are inf in float16": formula,
            },
        ),
        dtypes(
            *(torch.bfloat16, torch.float64),
            of="x",
            name="dtype_of_x",
            title="The result has the dtype of x, not that of the weight.",
        ),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        untouched(),
        device(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [layer(3)(torch.ones(4, 2)), layer(3)(torch.ones(4, 1)), layer(1)(torch.ones(2, 4))],
            title="Another number of features raises an error, also where the shapes would broadcast.",
        ),
    ],
    fine_inputs=lambda gen: {str(kind): all_sizes(gen, kind) for kind in (torch.float16, torch.bfloat16)},
)
