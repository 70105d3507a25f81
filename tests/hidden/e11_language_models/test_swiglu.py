"""What grades swiglu: the gate, gradients, what is registered, the hidden size; shapes, dtypes, devices."""

import torch
from torch.nn import functional as F

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    layer,
    loads,
    registered,
    untouched,
    values,
)


def gated(state, x, mix=lambda gate, up: gate * gate.sigmoid() * up):
    gate, up = (x @ state[f"{part}_proj.weight"].mT for part in ("gate", "up"))
    return mix(gate, up) @ state["down_proj.weight"].mT


def mixed(mix):
    """Gate and features put together in another way."""
    return lambda state, x: gated(state, x, mix)


def sizes(dim, hidden):
    return {
        "gate_proj.weight": (hidden, dim),
        "up_proj.weight": (hidden, dim),
        "down_proj.weight": (dim, hidden),
    }


def block(gen, *shape, hidden=7):
    """A call of a block whose weights keep the features' size."""
    state = {
        name: torch.randn(size, generator=gen) / size[1] ** 0.5
        for name, size in sizes(shape[-1], hidden).items()
    }
    return layer(shape[-1], hidden, state=state)(2 * torch.randn(shape, generator=gen))


def built(*sought):
    """Blocks that choose the hidden size themselves."""
    return lambda gen: [
        layer(dim, **options, state={name: torch.zeros(size) for name, size in sizes(dim, hidden).items()})
        for dim, hidden, options in sought
    ]


contract = Contract(
    "SwiGLU(dim, hidden)(x)",
    reference=gated,
    inputs=lambda gen: {
        "rows": block(gen, 5, 4),
        "as many hidden features as others": block(gen, 3, 6, hidden=6),
        "sequences": block(gen, 2, 3, 4, hidden=9),
    },
    gradient="x state",
    ulps=100,
    suspects={
        "silu is taken of up_proj(x): the gate is up_proj then": mixed(lambda gate, up: gate * F.silu(up)),
        "the gate is a sigmoid alone: that is the gate of GLU": mixed(lambda gate, up: gate.sigmoid() * up),
        "the gate is gelu: that is GEGLU": mixed(lambda gate, up: F.gelu(gate) * up),
        "the gate is gelu, by tanh: that is GEGLU": mixed(
            lambda gate, up: F.gelu(gate, approximate="tanh") * up
        ),
        "the gate is relu: that is ReGLU": mixed(lambda gate, up: gate.relu() * up),
        "silu is taken of the product: silu comes before the product": mixed(
            lambda gate, up: F.silu(gate * up)
        ),
        "gate and features are added: their product is asked for": mixed(lambda gate, up: F.silu(gate) + up),
        "gate_proj(x) gates itself: up_proj has no effect": mixed(lambda gate, up: F.silu(gate) * gate),
        "up_proj has no effect": mixed(lambda gate, up: F.silu(gate)),
    },
    job=[
        registered(inputs=lambda gen: [block(gen, 1, 4)]),
        registered(
            inputs=built(
                (96, 256, {}),
                (100, 512, {}),
                (12, 32, {"multiple_of": 8}),
                (20, 56, {"multiple_of": 8}),
                (16, 64, {"multiple_of": 32}),
            ),
            name="default_hidden",
            title="Without a hidden size it is 8 * dim / 3, rounded up to a multiple of multiple_of.",
        ),
        loads(),
    ],
    fine=[
        registered(
            inputs=built((4, 10, {"multiple_of": 2}), (10, 26, {"multiple_of": 13})),
            name="whole_part",
            title="8 * dim / 3 is cut to a whole number before it is rounded up.",
        ),
        values(
            inputs=lambda gen: {"a row": block(gen, 4), "four dimensions": block(gen, 2, 1, 3, 5)},
            name="other_shapes",
            title="There may be any number of dimensions in front, also none.",
        ),
        empties(),
        dtypes(
            *(torch.float16, torch.bfloat16),
            ulps=16,
            name="half_precision",
            title="A layer that is cast to half precision works in it.",
        ),
        dtypes(torch.float64, name="float64", title="A layer that is cast to float64 works in it."),
        untouched(),
        device(),
    ],
)
