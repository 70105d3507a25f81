"""The contract of layers_in_a_list."""

import torch

from grader.checks import expect_close, expect_equal
from grader.checks.registered import expect_registered


def net(answer):
    return answer.ResidualNet(features=4, depth=2, heads={"price": 1, "rooms": 6})


def test_parameters(answer):
    """Layers, scales and heads are all known to the net."""
    parameters = {
        "layers.0.weight": (4, 4),
        "layers.0.bias": (4,),
        "layers.1.weight": (4, 4),
        "layers.1.bias": (4,),
        "scales.0": (),
        "scales.1": (),
        "heads.price.weight": (1, 4),
        "heads.price.bias": (1,),
        "heads.rooms.weight": (6, 4),
        "heads.rooms.bias": (6,),
    }
    expect_registered(net(answer), "ResidualNet(4, 2, heads)", parameters=parameters)


def test_result(answer):
    """The result is a dict with a tensor for each head."""
    y = net(answer)(torch.zeros(8, 4))
    shapes = {name: t.shape for name, t in y.items()}
    wanted = {"price": torch.Size([8, 1]), "rooms": torch.Size([8, 6])}
    expect_equal(shapes, wanted, "the shapes of net(x)")


def test_blocks(answer):
    """A block adds to what it gets: by identities and scales of 0.5, 1 becomes 1.5, then 2.25."""
    model = net(answer)
    with torch.no_grad():
        for layer in (*model.layers, model.heads["price"]):
            layer.weight.copy_(torch.eye(4) if layer.weight.shape == (4, 4) else torch.ones(1, 4))
            layer.bias.zero_()
    suspects = {
        "a block gives what its layer gives: it is added to what the block gets": lambda: torch.tensor([1.0]),
        "the scales are left out": lambda: torch.tensor([16.0]),
        "what a block gets is scaled, too": lambda: torch.tensor([4.0]),
    }
    expect_close(net_price(model), torch.tensor([9.0]), 'net(torch.ones(4))["price"]', suspects=suspects)


def net_price(model):
    return model(torch.ones(4))["price"].detach()


def test_container_access(answer):
    """Layers and heads are found as before."""
    model = net(answer)
    found = (len(model.layers), len(model.scales), "price" in model.heads, "garden" in model.heads)
    expect_equal(found, (2, 2, True, False), "len(net.layers), len(net.scales), and which heads there are")
    expect_equal(model.heads["rooms"].out_features, 6, 'net.heads["rooms"].out_features')
