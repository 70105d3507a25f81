"""The worked example of leaky_traces, and a backward through it."""

import torch

from grader.checks import expect_gradient
from grader.checks.contract import Contract, given

X = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])


def trace(x, decay, initial, after=False):
    found = [initial]
    for step in x:
        found.append(decay * (found[-1] + step) if after else decay * found[-1] + step)
    return torch.stack(found[1:])


contract = Contract(
    "leaky_traces(x, decay, initial)",
    example=(
        given(X, decay=torch.tensor(0.5), initial=torch.tensor([8.0, 0.0])),
        [[5.0, 10.0], [4.5, 25.0], [6.25, 52.5]],
    ),
    suspects={
        "every step shows the last trace: one tensor is written over": lambda x, decay, initial: trace(
            x, decay, initial
        )[-1].expand_as(x),
        "the input fades, too: it is added after the decay": lambda *given, **named: trace(
            *given, **named, after=True
        ),
        "initial is ignored": lambda x, decay, initial: trace(x, decay, 0 * initial),
    },
    dims="time feature",
)


def test_learnable_decay(answer):
    """Backward works with a learnable decay, and gives the right gradient."""
    decay = torch.tensor(0.5, requires_grad=True)
    answer.leaky_traces(X, decay, torch.tensor([8.0, 0.0]))[-1].sum().backward()
    suspects = {"the trace is detached at every step": lambda: torch.tensor(29.5)}
    of = "decay through leaky_traces(x, decay, initial)[-1].sum()"
    expect_gradient(decay.grad, torch.tensor(39.0), of, suspects=suspects)
