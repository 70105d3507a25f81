"""The suite of a_hook_that_listens."""

import torch
from torch import nn

from grader.checks import expect_that, hooks_of
from grader.checks.contract import Contract, given
from grader.checks.registered import randomize


def one_neuron():
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    nn.init.constant_(model[0].weight, 2.0)
    nn.init.constant_(model[0].bias, 1.0)
    return model


def drawn(gen, place):
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 2))
    randomize(model, gen)
    return given(model, model[place], torch.randn(4, 3, generator=gen))


def outputs(model, x):
    return [model[: n + 1](x).detach() for n in range(len(model))]


contract = Contract(
    "a_hook_that_listens(model, layer, x)",
    reference=lambda model, layer, x: outputs(model, x)[list(model).index(layer)],
    example=(given(model := one_neuron(), model[0], torch.tensor([[3.0]])), [[7.0]]),
    inputs=lambda gen: {f"for layer {place} of 5": drawn(gen, place) for place in (0, 2, 3)},
    suspects={
        "this is the output of the whole model, not of the layer": lambda model, layer, x: outputs(model, x)[
            -1
        ],
        "the layer got x itself: inside the model it gets what the layer before it returns": (
            lambda model, layer, x: layer(x).detach()
        ),
    },
)


def test_hook_is_removed(answer):
    """The hook is gone after the call."""
    model = one_neuron()
    answer.a_hook_that_listens(model, model[0], torch.tensor([[3.0]]))
    left = [hook for part in model.modules() for hook in hooks_of(part)]
    what = "a hook still listens after a_hook_that_listens(model, layer, x): call handle.remove()"
    expect_that(not left, what, yours=f"{len(left)} left", wanted="none")
