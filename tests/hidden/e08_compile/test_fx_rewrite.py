"""What grades fuse_silu: what runs, results, gradients; other ways to write it, sigmoids used elsewhere."""

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from grader.checks import count_operations, expect_close, expect_equal, expect_that

CALL = "fuse_silu(model)"


class Net(nn.Module):
    """Two layers, and what stands between them."""

    def __init__(self, between):
        super().__init__()
        self.first, self.last, self.gate = nn.Linear(3, 4), nn.Linear(4, 2), nn.Sigmoid()
        self.between = between

    def forward(self, x):
        return self.last(self.between(self, self.first(x)))


JOB = {
    "x * torch.sigmoid(x)": (lambda net, x: x * torch.sigmoid(x), 1, 0),
    "torch.sigmoid(x) * x": (lambda net, x: torch.sigmoid(x) * x, 1, 0),
    "twice": (lambda net, x: (y := x * torch.sigmoid(x)) * torch.sigmoid(y), 2, 0),
    "both orders": (lambda net, x: x * torch.sigmoid(x) - torch.sigmoid(x + 1) * (x + 2), 1, 1),
    "the gate of another tensor": (lambda net, x: x * torch.sigmoid(x.flip(-1)), 0, 1),
    "a sum": (lambda net, x: x + torch.sigmoid(x), 0, 1),
}
FINE = {
    "x * x.sigmoid()": (lambda net, x: x * x.sigmoid(), 1, 0),
    "F.sigmoid(x) * x": (lambda net, x: F.sigmoid(x) * x, 1, 0),
    "x * nn.Sigmoid()(x)": (lambda net, x: x * net.gate(x), 1, 0),
    "torch.mul(x, torch.sigmoid(x))": (lambda net, x: torch.mul(x, torch.sigmoid(x)), 1, 0),
    "x.sigmoid().mul(x)": (lambda net, x: x.sigmoid().mul(x), 1, 0),
}


def built(gen, between):
    net = Net(between)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=gen))
    return net, torch.randn(5, 3, generator=gen)


def expect_fused(answer, gen, name, between, fused, left):
    """Fail unless so many silu and sigmoid run, and the result stays."""
    net, x = built(gen, between)
    wanted = net(x).detach()
    new = answer.fuse_silu(net)
    ran = count_operations(lambda: new(x))
    runs = {
        "runs": f"{ran['silu']} silu, {ran['sigmoid']} sigmoid",
        "wanted": f"{fused} silu, {left} sigmoid",
    }
    expect_that(
        ran["silu"] >= fused, f"{CALL} leaves a product of a tensor and its own sigmoid: {name}", **runs
    )
    expect_that(
        ran["silu"] <= fused,
        f"{CALL} fuses what is no product of a tensor and its own sigmoid: {name}",
        **runs,
    )
    expect_that(ran["sigmoid"] == left, f"sigmoid runs {ran['sigmoid']} times after {CALL}: {name}", **runs)
    expect_close(new(x).detach(), wanted, f"{CALL}(x) of {name}", dims="batch classes", ulps=100)


@pytest.mark.parametrize("name", list(JOB))
def test_fused(answer, gen, name):
    """Each product of a tensor and its own sigmoid is fused, and no other."""
    expect_fused(answer, gen, name, *JOB[name])


@pytest.mark.fine
@pytest.mark.parametrize("name", list(FINE))
def test_other_ways(answer, gen, name):
    """Methods, functions and modules are fused as well."""
    expect_fused(answer, gen, name, *FINE[name])


@pytest.mark.fine
def test_used_elsewhere(answer, gen):
    """A sigmoid that is used elsewhere stays, and its product is fused."""

    def between(net, x):
        s = torch.sigmoid(x)
        return x * s - s

    expect_fused(answer, gen, "x * s - s, where s is sigmoid(x)", between, 1, 1)


def test_gradients(answer, gen):
    """Parameters are those of the model, and their gradients stay."""
    net, x = built(gen, JOB["twice"][0])
    parameters = dict(net.named_parameters())
    wanted = torch.autograd.grad(net(x).square().sum(), list(parameters.values()))
    new = answer.fuse_silu(net)
    its = dict(new.named_parameters())
    expect_equal(sorted(its), sorted(parameters), f"the names of the parameters of {CALL}")
    same = all(its[name] is parameter for name, parameter in parameters.items())
    expect_that(same, f"the parameters of {CALL} are copies: an optimizer of the model does not reach them")
    found = torch.autograd.grad(new(x).square().sum(), list(parameters.values()))
    for name, yours, right in zip(parameters, found, wanted, strict=True):
        expect_close(yours, right, f"the gradient for {name} through {CALL}", ulps=500)


def test_graph_module(answer, gen):
    """A GraphModule comes back."""
    net, _ = built(gen, JOB["twice"][0])
    expect_that(isinstance(answer.fuse_silu(net), fx.GraphModule), f"{CALL} is no torch.fx.GraphModule")


@pytest.mark.fine
def test_model_stays(answer, gen):
    """The model that is handed over computes what it did, with its own operations."""
    net, x = built(gen, JOB["x * torch.sigmoid(x)"][0])
    wanted = net(x).detach()
    answer.fuse_silu(net)
    expect_equal(
        count_operations(lambda: net(x))["sigmoid"], 1, f"the number of sigmoids in model(x) after {CALL}"
    )
    expect_close(net(x).detach(), wanted, f"model(x) after {CALL}", dims="batch classes")


def oracle(answer, gen):
    def case(name):
        net, x = built(gen, JOB[name][0])
        new = answer.fuse_silu(net)
        ran = count_operations(lambda: new(x))
        return {"silu": ran["silu"], "sigmoid": ran["sigmoid"], "result": new(x).detach()}

    return {name: case(name) for name in JOB}
