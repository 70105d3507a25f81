"""What grades layers_in_a_list: all layers train, move, save and switch; containers are used as they are."""

import functools
import math
from types import MappingProxyType

import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, unchanged
from grader.checks.cost.precision import default_dtype
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
    in_evaluation,
)
from grader.checks.registered import expect_registered, randomize, state_of

# (features, depth, heads), the heads not in alphabetical order
SIZES = [
    (3, 2, {"rooms": 4, "price": 1}),
    (2, 3, {"value": 2}),
    (4, 0, {"zebra": 3, "ant": 4}),
    (3, 1, {}),
    (3, 0, {}),
    (1, 1, {"score": 1}),
    (2, 2, {"north": 3, "East": 3, "south": 4, "alt": 1, "west": 2}),
]


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
    """Every layer, scale and head is registered, for any depth and any heads."""
    for features, depth, heads in SIZES:
        parameters = {f"scales.{index}": () for index in range(depth)}
        sizes = {f"layers.{index}": features for index in range(depth)}
        sizes |= {f"heads.{name}": size for name, size in heads.items()}
        for name, size in sizes.items():
            parameters |= {f"{name}.weight": (size, features), f"{name}.bias": (size,)}
        given = dict(heads)
        net = answer.ResidualNet(features, depth, given)
        call = f"ResidualNet({features}, {depth}, {heads})"
        expect_equal(given, heads, f"heads after {call}")
        expect_registered(net, call, parameters=parameters)
    deep = answer.ResidualNet(1, 17, {"last": 1})
    frozen = [name for name, p in deep.named_parameters() if not p.requires_grad]
    expect_equal(frozen, [], "the frozen parameters of a new ResidualNet(1, 17, heads)")
    net = answer.ResidualNet(features, depth, MappingProxyType(heads))
    expect_registered(net, f"{call}, heads in a MappingProxyType", parameters=parameters)


def test_values(answer, gen):
    """Values are right for any depth, any heads and any leading dimensions, and x is left alone."""
    for features, depth, heads in SIZES:
        net = answer.ResidualNet(features, depth, dict(heads))
        randomize(net, gen)
        state = state_of(net)
        for leading, size in [((5,), 1), ((5,), 1000), ((), 1), ((1,), 1), ((2, 1, 3), 1), ((0,), 1)]:
            x = size * torch.randn(*leading, features, generator=gen)
            wanted = named(state, depth, heads, x)
            # terms of a thousand may nearly cancel: their sizes add up to this
            sizes = named({name: t.abs() for name, t in state.items()}, depth, heads, x.abs())
            scale = max([10.0, *(float(t.max()) for t in sizes.values() if t.numel())])
            with unchanged("net(x)", x=x):
                y = net(x)
            wrong = functools.partial(named, state, depth, heads, x)
            expect_predictions(y, wanted, f"ResidualNet({features}, {depth}, {heads})(x)", wrong, scale)
            with torch.no_grad(), unchanged("net(x) under no_grad", x=x):
                y = net(x)
            call = f"ResidualNet({features}, {depth}, {heads})(x) under no_grad"
            expect_predictions(y, wanted, call, scale=scale)
        turned = torch.randn(features, 3, 2, generator=gen).permute(2, 1, 0)
        call = f"ResidualNet({features}, {depth}, {heads})(x) of an x that lies features first"
        expect_predictions(net(turned), named(state, depth, heads, turned), call)
        for name, y in net(torch.full((features,), torch.nan)).items():
            expect_that(bool(y.isnan().all()), f"net(x)[{name!r}] hides that x is NaN", yours=y.detach())


def test_start(answer):
    """Scales start at 0.5 and layers like nn.Linear, in one dtype; no two layers share their numbers."""
    net = answer.ResidualNet(40, 3, {"a_head": 40, "b_head": 40})
    seen = []
    for name, p in net.named_parameters():
        if name.startswith("scales"):
            expect_equal(p.detach(), torch.tensor(0.5), name)
            continue
        bound, largest, spread = 1 / math.sqrt(40), float(p.detach().abs().max()), float(p.detach().std())
        expect_that(
            largest <= bound and 0.4 * bound < spread < 0.75 * bound,
            f"{name} does not start like that of an nn.Linear",
            yours=f"numbers up to {largest:.4f}, standard deviation {spread:.4f}",
            wanted=f"uniform up to {bound:.4f}, standard deviation {bound / math.sqrt(3):.4f}",
        )
        expect_that(
            not any(p.shape == other.shape and torch.equal(p, other) for other in seen),
            f"{name} starts with the same numbers as another layer's",
        )
        seen.append(p)
    other = answer.ResidualNet(40, 3, {"a_head": 40, "b_head": 40})
    same = torch.equal(net.layers[0].weight, other.layers[0].weight)
    expect_that(not same, "layers.0.weight starts with the same numbers in two nets")
    with default_dtype(torch.float64):
        kinds = {p.dtype for p in answer.ResidualNet(2, 1, {"a_head": 1}).parameters()}
    expect_equal(
        kinds, {torch.float64}, "the dtypes in a net that is made while float64 is the default dtype"
    )
    try:
        first = net.scales[0]
    except (TypeError, KeyError) as error:
        raise CheckFailure(
            f"net.scales[0] is not the first scale\n  yours   {type(error).__name__}: {error}"
        ) from None
    with torch.no_grad():
        first.fill_(2.0)
    expect_equal([s.item() for s in net.scales], [2.0, 0.5, 0.5], "the scales after the first was set to 2")


def test_everything_trains(answer, gen):
    """Gradient descent on net.parameters() moves every layer, every scale and every head."""
    expect_trains(case(answer, gen), gen, lr=0.01)


def test_values_and_gradients(answer, gen):
    """Gradients are right for x and every parameter, in both modes, with whatever parameters are given."""
    expect_functional(case(answer, gen), gen)
    expect_functional(in_evaluation(case(answer, gen, leading=(2, 2))), gen)
    expect_functional(case(answer, gen, leading=(), sizes=SIZES[-1]), gen)
    expect_functional(case(answer, gen, sizes=SIZES[2]), gen)


def test_moves_and_casts(answer, device, gen):
    """The whole net moves and casts with a model that contains it, and works there."""
    expect_moves(case(answer, gen), device, gen)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        expect_casts(case(answer, gen), dtype, gen, ulps=16.0 if dtype.itemsize == 2 else None)


def test_saves_and_loads(answer, gen):
    """A trained net comes back from its state dict."""
    expect_loads(case(answer, gen), gen)


def test_deep_copy(answer, gen):
    """A deep copy is a net of its own."""
    expect_copies(case(answer, gen), gen)


def test_modes_and_freezing(answer, gen):
    """eval(), train() and requires_grad_(False) reach every layer, and what replaced one."""
    net = case(answer, gen).make()
    linears = [m for m in net.modules() if isinstance(m, nn.Linear)]
    expect_equal(len(linears), 4, "the number of nn.Linear in net.modules(), with 2 layers and 2 heads")
    drop = nn.Dropout(0.5)
    net.layers[0] = nn.Sequential(net.layers[0], drop)
    model = nn.ModuleList([net])
    model.eval()
    expect_equal(drop.training, False, "the mode of a dropout among the layers after model.eval()")
    model.train()
    expect_equal(drop.training, True, "the mode of a dropout among the layers after model.train()")
    model.requires_grad_(False)
    frozen = [p.requires_grad for layer in linears for p in layer.parameters()]
    frozen += [scale.requires_grad for scale in net.scales]
    expect_that(not any(frozen), "something is not frozen after model.requires_grad_(False)")
    net, x = case(answer, gen).make(), torch.randn(2, 3, generator=gen, requires_grad=True)
    state = state_of(net)
    net.requires_grad_(False)
    (wanted,) = torch.autograd.grad(named(state, 2, ["price"], x)["price"].sum(), [x])
    (yours,) = torch.autograd.grad(net(x)["price"].sum(), [x])
    expect_close(yours, wanted, "the gradient for x through a net that is frozen", scale=10.0)


def test_containers_are_used(answer, gen):
    """Replaced, appended and added layers and heads take part, and indices and loops work."""
    features, _, heads = SIZES[0]
    net, x = case(answer, gen).make(), torch.randn(2, features, generator=gen)
    net.layers[-1] = nn.Linear(features, features)
    net.layers.append(nn.Linear(features, features))
    net.scales.append(nn.Parameter(torch.tensor(2.0)))
    net.heads["price"] = nn.Linear(features, 5)
    net.heads["garden"] = nn.Linear(features, 2)
    expect_equal(
        (len(net.layers), len(net.scales), len(net.heads)), (3, 3, 3), "the sizes after one append each"
    )
    looped = [*net.layers, *net.heads.values()]
    state = {f"scales.{index}": scale.detach() for index, scale in enumerate(net.scales)}
    names = [*(f"layers.{index}" for index in range(3)), *(f"heads.{name}" for name in net.heads)]
    for name, layer in zip(names, looped, strict=True):
        state |= {f"{name}.weight": layer.weight.detach(), f"{name}.bias": layer.bias.detach()}
    wanted = named(state, 3, [*heads, "garden"], x)
    expect_predictions(net(x), wanted, "net(x) after layers and heads were replaced and added")
    registered = set(net.state_dict())
    expect_equal(sorted(registered), sorted(state), "the names in net.state_dict() after that")
    ran = []
    for layer in looped:
        layer.register_forward_hook(lambda *_: ran.append(1))
    net(x)
    expect_equal(len(ran), 6, "the hooks that ran in net(x), with one on each of 3 layers and 3 heads")
    with torch.no_grad():
        net.scales[0].fill_(-30.0)
    state["scales.0"] = torch.tensor(-30.0)
    expect_predictions(net(x), named(state, 3, [*heads, "garden"], x), "net(x) after a scale was set")
    del net.heads["rooms"]
    net.layers, net.scales = nn.ModuleList([net.layers[0]]), nn.ParameterList([net.scales[0]])
    expect_predictions(net(x), named(state, 1, ["price", "garden"], x), "net(x) after layers and a head went")
    net.layers.append(net.layers[0])
    net.scales.append(net.scales[0])
    state |= {f"layers.1.{name}": state[f"layers.0.{name}"] for name in ("weight", "bias")}
    state["scales.1"] = state["scales.0"]
    wanted = named(state, 2, ["price", "garden"], x)
    expect_predictions(net(x), wanted, "net(x) after the only block was appended once more")
    plain = answer.ResidualNet(features, 1, {"all": 2})
    plain.layers[0], plain.heads["all"] = nn.Identity(), nn.Identity()
    with torch.no_grad(), unchanged("net(x) with nn.Identity() for a layer", x=x):
        y = plain(x)
    expect_predictions(y, {"all": x + 0.5 * x.relu()}, "net(x) with nn.Identity() for all layers")


def oracle(answer, gen):
    results = []
    for features, depth, heads in SIZES[:3]:
        net = answer.ResidualNet(features, depth, dict(heads)).double()
        parameters = sorted(net.named_parameters())
        with torch.no_grad():
            for _, p in parameters:
                p.copy_(torch.randn(p.shape, generator=gen, dtype=torch.float64))
        x = torch.randn(4, features, generator=gen, dtype=torch.float64, requires_grad=True)
        y = net(x)
        sum(t.square().sum() for t in y.values()).backward()
        results.append({name: t.detach() for name, t in y.items()})
        results += [x.grad, {name: p.grad for name, p in parameters}]
    return results
