"""The worked example of stuck_parameters, a healthy model, and dead and unused layers."""

import torch
from torch import nn

from grader.checks import expect_equal

CALL = "stuck_parameters(model, optimizer, train_step)"


def healthy():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def stepping(model, optimizer):
    def train_step():
        optimizer.zero_grad()
        model(torch.tensor([[1.0, 2.0], [-3.0, 0.5]])).square().mean().backward()
        optimizer.step()

    return train_step


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    model = healthy()
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD([model[0].weight, model[2].weight], lr=0.1)
    yours = answer.stuck_parameters(model, optimizer, stepping(model, optimizer))
    wanted = {"0.weight": "frozen", "0.bias": "not in optimizer", "2.bias": "not in optimizer"}
    suspects = {
        "clone() is missing: a parameter changes in place, and what you kept of it with it": lambda: (
            wanted | {"2.weight": "lost"}
        ),
        "the order of the reasons: a parameter that is not in the optimizer is also without effect": lambda: (
            wanted | {"0.weight": "no gradient"}
        ),
    }
    expect_equal(yours, wanted, CALL, suspects=suspects)


def test_healthy_model(answer):
    """A model that moves all over gives no alarm."""
    model = healthy()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    yours = answer.stuck_parameters(model, optimizer, stepping(model, optimizer))
    copies = "clone() is missing: a parameter changes in place, and what you kept of it with it"
    names = [name for name, _ in model.named_parameters()]
    suspects = {copies: lambda: dict.fromkeys(names, "lost")}
    expect_equal(yours, {}, f"{CALL} of a healthy model", suspects=suspects)


def test_dead_and_unused_layers(answer):
    """A layer behind a dead ReLU has a zero gradient, an unused one has none."""
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "spare": nn.Linear(2, 2, bias=False)})
    nn.init.constant_(model["used"].weight, -1.0)
    nn.init.constant_(model["used"].bias, -1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train_step():
        optimizer.zero_grad()
        (1 + model["used"](torch.ones(3, 2)).relu()).sum().backward()
        optimizer.step()

    yours = answer.stuck_parameters(model, optimizer, train_step)
    wanted = {"used.weight": "zero gradient", "used.bias": "zero gradient", "spare.weight": "no gradient"}
    expect_equal(yours, wanted, CALL)
