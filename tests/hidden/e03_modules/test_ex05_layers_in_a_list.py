"""What grades layers_in_a_list: what is registered, values, training; containers that change, odd sizes."""

import functools

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
)
from grader.checks.registered import expect_registered, randomize, state_of

# (features, depth, heads), the heads not in alphabetical order
SIZES = [
    (3, 2, {"rooms": 4, "price": 1}),
    (2, 3, {"value": 2}),
    (4, 1, {"zebra": 3, "ant": 4}),
]
FEW = [(4, 0, {"zebra": 3, "ant": 4}), (3, 1, {}), (3, 0, {})]


def residual(x, scale, y):
    return x + scale * torch.relu(y)


MISTAKES = {
    "no residual: a block adds what it computes to x": lambda x, scale, y: scale * torch.relu(y),
    "the scale multiplies the sum: it is for what is added to x": lambda x, scale, y: (
        scale * (x + torch.relu(y))
    ),
    "relu is taken of the sum: it is for the layer alone": lambda x, scale, y: torch.relu(x + scale * y),
    "the scales have no effect": lambda x, scale, y: x + torch.relu(y),
}


def named(state, depth, heads, x, block=residual):
    """What the net computes, from the tensors by name."""
    for index in range(depth):
        weight, bias = state[f"layers.{index}.weight"], state[f"layers.{index}.bias"]
        x = block(x, state[f"scales.{index}"], x @ weight.T + bias)
    return {name: x @ state[f"heads.{name}.weight"].T + state[f"heads.{name}.bias"] for name in heads}


def case(answer, gen, leading=(5,), sizes=SIZES[0]):
    features, depth, heads = sizes
    return Case(
        lambda: answer.ResidualNet(features, depth, dict(heads)),
        [torch.randn(*leading, features, generator=gen)],
        lambda state, x: named(state, depth, heads, x),
        f"ResidualNet({features}, {depth}, heads)",
    )


def expect_predictions(yours, wanted, call, wrong=None, scale=10.0):
    """`wrong`, if given, tells what the net would compute with other blocks; `scale` is the size of terms."""
    expect_that(type(yours) is dict, f"{call} is no plain dict", yours=yours)
    expect_equal(list(yours), list(wanted), f"the names in {call}, in order")
    for name, right in wanted.items():
        blocks = MISTAKES if wrong else {}
        suspects = {told: lambda b=block, name=name: wrong(b)[name] for told, block in blocks.items()}
        expect_close(
            yours[name].detach(), right.detach(), f"{call}[{name!r}]", scale=scale, suspects=suspects
        )


def test_what_is_registered(answer):
    """Every layer, scale and head is registered."""
    for features, depth, heads in SIZES:
        parameters = {f"scales.{index}": () for index in range(depth)}
        sizes = {f"layers.{index}": features for index in range(depth)}
        sizes |= {f"heads.{name}": size for name, size in heads.items()}
        for name, size in sizes.items():
            parameters |= {f"{name}.weight": (size, features), f"{name}.bias": (size,)}
        net = answer.ResidualNet(features, depth, dict(heads))
        expect_registered(net, f"ResidualNet({features}, {depth}, {heads})", parameters=parameters)


def expect_values(answer, gen, sizes, leading):
    for features, depth, heads in sizes:
        net, x = (
            answer.ResidualNet(features, depth, dict(heads)),
            torch.randn(*leading, features, generator=gen),
        )
        randomize(net, gen)
        wrong = functools.partial(named, state_of(net), depth, heads, x)
        call = f"ResidualNet({features}, {depth}, {heads})(x)"
        y = dict(net(x))
        expect_equal(sorted(y), sorted(heads), f"the names in {call}")
        expect_predictions({name: y[name] for name in heads}, wrong(residual), call, wrong)


def test_values(answer, gen):
    """Values are right, block by block and for every head."""
    expect_values(answer, gen, SIZES, (5,))


def test_start(answer):
    """Scales start at 0.5, and no two layers share their numbers."""
    net = answer.ResidualNet(5, 3, {"a_head": 5, "b_head": 5})
    scales = {name: p.item() for name, p in net.named_parameters() if name.startswith("scales")}
    expect_equal(scales, {f"scales.{i}": 0.5 for i in range(3)}, "the scales at the start")
    weights = [p.detach() for name, p in net.named_parameters() if name.endswith("weight")]
    for i, one in enumerate(weights):
        same = any(torch.equal(one, other) for other in weights[:i])
        expect_that(not same, "two layers start with the same numbers: make a new one for each")


def test_everything_trains(answer, gen):
    """Gradient descent on net.parameters() moves every layer, every scale and every head."""
    expect_trains(case(answer, gen), gen, lr=0.01)


def test_saves_and_loads(answer, gen):
    """A trained net comes back from its state dict."""
    expect_loads(case(answer, gen), gen)


def test_gradients(answer, gen):
    """Gradients are right for x and every parameter."""
    expect_functional(case(answer, gen), gen)


def test_modes_and_freezing(answer, gen):
    """eval() and requires_grad_(False) reach every layer and scale."""
    net = case(answer, gen).make()
    net.layers[0] = nn.Sequential(net.layers[0], nn.Dropout(0.5))
    net.eval()
    expect_equal(net.layers[0][1].training, False, "the mode of a dropout among the layers after net.eval()")
    net.requires_grad_(False)
    parts = [*net.layers.parameters(), *net.scales, *net.heads.parameters()]
    expect_that(
        not any(p.requires_grad for p in parts), "something is not frozen after net.requires_grad_(False)"
    )


@pytest.mark.fine
def test_few_blocks_and_heads(answer, gen):
    """There may be no blocks or no heads; heads stays as it is."""
    expect_values(answer, gen, FEW, (5,))
    given = {"price": 1, "rooms": 6}
    answer.ResidualNet(3, 1, given)
    expect_equal(given, {"price": 1, "rooms": 6}, "heads after ResidualNet(3, 1, heads)")


@pytest.mark.fine
def test_result(answer, gen):
    """The result is a plain dict in the order of the heads, for any leading dimensions; x stays."""
    for leading in [(), (2, 1, 3)]:
        expect_values(answer, gen, SIZES, leading)
    net, x = case(answer, gen).make(), torch.randn(2, 3, generator=gen)
    with torch.no_grad(), unchanged("net(x)", x=x):
        y = net(x)
    expect_that(type(y) is dict, "net(x) is no plain dict", yours=y)
    expect_equal(list(y), ["rooms", "price"], "the names in net(x), in order")


@pytest.mark.fine
def test_containers_are_used(answer, gen):
    """Replaced, appended and added layers and heads take part, and hooks on them run."""
    features, _, heads = SIZES[0]
    net, x = case(answer, gen).make(), torch.randn(2, features, generator=gen)
    net.layers[-1] = nn.Linear(features, features)
    net.layers.append(nn.Linear(features, features))
    net.scales.append(nn.Parameter(torch.tensor(2.0)))
    net.heads["price"] = nn.Linear(features, 5)
    net.heads["garden"] = nn.Linear(features, 2)
    looped = [*net.layers, *net.heads.values()]
    state = {f"scales.{index}": scale.detach() for index, scale in enumerate(net.scales)}
    names = [*(f"layers.{index}" for index in range(3)), *(f"heads.{name}" for name in net.heads)]
    for name, layer in zip(names, looped, strict=True):
        state |= {f"{name}.weight": layer.weight.detach(), f"{name}.bias": layer.bias.detach()}
    wanted = named(state, 3, [*heads, "garden"], x)
    expect_predictions(net(x), wanted, "net(x) after layers and heads were replaced and added")
    ran = []
    for layer in looped:
        layer.register_forward_hook(lambda *_: ran.append(1))
    net(x)
    expect_equal(len(ran), 6, "the hooks that ran in net(x), with one on each of 3 layers and 3 heads")


@pytest.mark.fine
def test_moves_and_casts(answer, device, gen):
    """The whole net moves and casts with a model that contains it, and works there."""
    expect_moves(case(answer, gen), device, gen)
    expect_casts(case(answer, gen), torch.float64, gen)


@pytest.mark.fine
def test_deep_copy(answer, gen):
    """A deep copy is a net of its own."""
    expect_copies(case(answer, gen), gen)


def oracle(answer, gen):
    def told(features, depth, heads, gradients=False):
        net = answer.ResidualNet(features, depth, dict(heads))
        with torch.no_grad():
            for _, p in sorted(net.named_parameters()):
                p.copy_(torch.randn(p.shape, generator=gen))
        x = torch.randn(4, features, generator=gen, requires_grad=True)
        y = net(x)
        sum(t.square().sum() for t in y.values()).backward()
        if gradients:
            return [x.grad, {name: p.grad for name, p in sorted(net.named_parameters())}]
        return {name: y[name].detach() for name in heads}

    return {
        "two blocks and two heads": lambda: told(*SIZES[0]),
        "three blocks and a head": lambda: told(*SIZES[1]),
        "the gradients for x and all parameters": lambda: told(*SIZES[2], gradients=True),
    }
