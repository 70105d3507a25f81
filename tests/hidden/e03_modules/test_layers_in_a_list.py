"""What grades layers_in_a_list: what is registered, values, training; containers that change, odd sizes."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, unchanged
from grader.checks.contract import Contract, device, dtypes, layer, loads, values
from grader.checks.registered import expect_registered

# (features, depth, heads), the heads not in alphabetical order
SIZES = [
    (3, 2, {"rooms": 4, "price": 1}),
    (2, 3, {"value": 2}),
    (4, 1, {"zebra": 3, "ant": 4}),
]
FEW = [(4, 0, {"zebra": 3, "ant": 4}), (3, 1, {}), (3, 0, {})]


def residual(x, scale, y):
    return x + scale * torch.relu(y)


def named(state, x, depth, heads, block=residual):
    """What the net computes, from the tensors by name."""
    for index in range(depth):
        weight, bias = state[f"layers.{index}.weight"], state[f"layers.{index}.bias"]
        x = block(x, state[f"scales.{index}"], x @ weight.T + bias)
    return {name: x @ state[f"heads.{name}.weight"].T + state[f"heads.{name}.bias"] for name in heads}


def shapes_of(features, depth, heads):
    """The shape of each parameter."""
    sizes = {f"layers.{index}": features for index in range(depth)}
    sizes |= {f"heads.{name}": size for name, size in heads.items()}
    shapes = {f"scales.{index}": () for index in range(depth)}
    for name, size in sizes.items():
        shapes |= {f"{name}.weight": (size, features), f"{name}.bias": (size,)}
    return shapes


def net(gen, sizes, *leading):
    state = {name: torch.randn(shape, generator=gen) for name, shape in shapes_of(*sizes).items()}
    return layer(*sizes, state=state)(torch.randn(*leading, sizes[0], generator=gen))


def few(gen):
    return {f"{len(heads)} heads": net(gen, (n, depth, heads), 5) for n, depth, heads in FEW}


def leading(gen):
    sizes = {"a row": (), "sequences": (2, 1, 3)}
    return {about: net(gen, SIZES[0], *size) for about, size in sizes.items()}


contract = Contract(
    "ResidualNet(features, depth, heads)(x)",
    reference=named,
    use=lambda net, x: dict(net(x)),
    inputs=lambda gen: {
        "two blocks and two heads": net(gen, SIZES[0], 5),
        "three blocks and a head": net(gen, SIZES[1], 5),
        "one block and two heads": net(gen, SIZES[2], 5),
    },
    gradient="x state",
    scale=10.0,
    suspects={
        "no residual: a block adds what it computes to x": partial(
            named, block=lambda x, scale, y: scale * torch.relu(y)
        ),
        "the scale multiplies the sum: it is for what is added to x": partial(
            named, block=lambda x, scale, y: scale * (x + torch.relu(y))
        ),
        "relu is taken of the sum: it is for the layer alone": partial(
            named, block=lambda x, scale, y: torch.relu(x + scale * y)
        ),
        "the scales have no effect": partial(named, block=lambda x, scale, y: x + torch.relu(y)),
    },
    job=[loads(title="A trained net comes back from its state dict.")],
    fine=[
        values(inputs=few, name="few_blocks_and_heads", title="There may be no blocks or no heads."),
        values(inputs=leading, name="leading_dimensions", title="x may have any leading dimensions."),
        device(title="The whole net moves with a model that contains it, and works there."),
        dtypes(
            torch.float64,
            title="The whole net is cast with a model that contains it, and works in its dtype.",
        ),
    ],
)


def test_what_is_registered(answer):
    """Every layer, scale and head is registered."""
    for features, depth, heads in SIZES:
        made = answer.ResidualNet(features, depth, dict(heads))
        call = f"ResidualNet({features}, {depth}, {heads})"
        expect_registered(made, call, parameters=shapes_of(features, depth, heads))


def test_start(answer):
    """Scales start at 0.5, and no two layers share their numbers."""
    made = answer.ResidualNet(5, 3, {"a_head": 5, "b_head": 5})
    scales = {name: p.item() for name, p in made.named_parameters() if name.startswith("scales")}
    expect_equal(scales, {f"scales.{i}": 0.5 for i in range(3)}, "the scales at the start")
    weights = [p.detach() for name, p in made.named_parameters() if name.endswith("weight")]
    for i, one in enumerate(weights):
        same = any(torch.equal(one, other) for other in weights[:i])
        expect_that(not same, "two layers start with the same numbers: make a new one for each")


def test_modes_and_freezing(answer):
    """eval() and requires_grad_(False) reach every layer and scale."""
    made = answer.ResidualNet(3, 2, {"price": 1})
    made.layers[0] = nn.Sequential(made.layers[0], nn.Dropout(0.5))
    made.eval()
    expect_equal(made.layers[0][1].training, False, "the mode of a dropout among the layers after net.eval()")
    made.requires_grad_(False)
    parts = [*made.layers.parameters(), *made.scales, *made.heads.parameters()]
    frozen = not any(p.requires_grad for p in parts)
    expect_that(frozen, "something is not frozen after net.requires_grad_(False)")


@pytest.mark.fine
def test_heads_stay(answer):
    """heads stays as it is."""
    given = {"price": 1, "rooms": 6}
    answer.ResidualNet(3, 1, given)
    expect_equal(given, {"price": 1, "rooms": 6}, "heads after ResidualNet(3, 1, heads)")


@pytest.mark.fine
def test_result(answer, gen):
    """The result is a plain dict in the order of the heads; x stays."""
    call = net(gen, SIZES[0], 2)
    made, (x,) = contract.layer(answer, call), call.args
    with torch.no_grad(), unchanged("net(x)", x=x):
        y = made(x)
    expect_that(type(y) is dict, "net(x) is no plain dict", yours=y)
    expect_equal(list(y), ["rooms", "price"], "the names in net(x), in order")


@pytest.mark.fine
def test_containers_are_used(answer, gen):
    """Replaced, appended and added layers and heads take part, and hooks on them run."""
    features, _, heads = SIZES[0]
    made, x = answer.ResidualNet(*SIZES[0]), torch.randn(2, features, generator=gen)
    made.layers[-1] = nn.Linear(features, features)
    made.layers.append(nn.Linear(features, features))
    made.scales.append(nn.Parameter(torch.tensor(2.0)))
    made.heads["price"] = nn.Linear(features, 5)
    made.heads["garden"] = nn.Linear(features, 2)
    state = {name: t.detach() for name, t in made.state_dict().items()}
    yours = dict(made(x))
    for name, right in named(state, x, 3, [*heads, "garden"]).items():
        call = f"net(x)[{name!r}] after layers and heads were replaced and added"
        expect_close(yours[name].detach(), right, call, scale=10.0)
    ran = []
    for part in [*made.layers, *made.heads.values()]:
        part.register_forward_hook(lambda *_: ran.append(1))
    made(x)
    expect_equal(len(ran), 6, "the hooks that ran in net(x), with one on each of 3 layers and 3 heads")


@pytest.mark.fine
def test_deep_copy(answer, gen):
    """A deep copy is a net of its own."""
    call = net(gen, SIZES[0], 5)
    made = contract.layer(answer, call)
    contract.called(made, call)  # what a call leaves on the net is copied along
    try:
        copied = copy.deepcopy(made)
    except RuntimeError as error:
        raise CheckFailure(
            "the net cannot be copied any more after it was called: copy.deepcopy raises",
            yours=f"{type(error).__name__}: {error}".partition("\n")[0],
            likely="a tensor with a graph is kept as an attribute: detach it, or do not keep it",
        ) from error
    with torch.no_grad(), unchanged("changing a deep copy", **dict(made.named_parameters())):
        for p in copied.parameters():
            p.add_(1.0)
    state = {name: t.double() for name, t in copied.state_dict().items()}
    for name, right in named(state, call.args[0].double(), *SIZES[0][1:]).items():
        yours = copied(*call.args)[name].detach()
        expect_close(yours, right.float(), f"a deep copy of net, changed since: {name}", scale=10.0)
