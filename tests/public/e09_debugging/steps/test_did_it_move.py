"""The suite of did_it_move."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


class Step(nn.Module):
    """A step of training that moves all parameters but those it forgets. It counts how often it is called.

    As a module it is copied together with the model.
    """

    def __init__(self, model, forgotten):
        super().__init__()
        self.model, self.forgotten, self.calls = model, forgotten, 0

    @torch.no_grad()
    def forward(self):
        self.calls += 1
        for name, parameter in self.model.named_parameters():
            if name not in self.forgotten:
                parameter += 0.5 - parameter.detach().sign()


def linear(forgotten):
    model = nn.Linear(2, 1)
    return given(model, Step(model, forgotten))


def drawn(gen, layers):
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(layers)))
    names = [name for name, _ in model.named_parameters()]
    return given(model, Step(model, [n for n in names if torch.rand((), generator=gen) < 0.5]))


def listed(answer, model, step):
    names = answer.did_it_move(model, step)
    return f"{', '.join(names)}; steps: {step.calls}" if isinstance(names, list) else names


def all_names(model):
    return [name for name, _ in model.named_parameters()]


contract = Contract(
    "did_it_move(model, step)",
    reference=lambda model, step: f"{', '.join(step.forgotten)}; steps: 1",
    use=listed,
    example=(linear(["bias"]), "bias; steps: 1"),
    inputs=lambda gen: {f"of {layers} layers": drawn(gen, layers) for layers in (3, 4, 6, 9)},
    suspects={
        "nothing was copied: another name for the same tensor moves along with it, so .clone() it": (
            lambda model, step: f"{', '.join(all_names(model))}; steps: 1"
        ),
        "these are the parameters that moved": lambda model, step: (
            f"{', '.join(n for n in all_names(model) if n not in step.forgotten)}; steps: 1"
        ),
        "step() is never called": lambda model, step: f"{', '.join(all_names(model))}; steps: 0",
    },
)
