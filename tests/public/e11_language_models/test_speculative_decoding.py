"""The worked example of speculative_decoding, and a draft that is always right."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, given

PROPOSED = torch.tensor([0, 0])
Q = torch.tensor([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
P = torch.tensor([[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]])


def judged(answer, *args):
    """The distribution of the next token, and how many stay."""
    count, rest = answer.accept(*args)
    return rest, torch.tensor(int(count))


accept = Contract(
    "accept(proposed, q, p, uniforms)",
    use=judged,
    example=[
        (given(PROPOSED, Q, P, torch.tensor([0.8, 0.7])), (torch.tensor([0, 2 / 3, 1 / 3]), torch.tensor(1))),
        (
            given(PROPOSED, Q, P, torch.tensor([0.8, 0.4])),
            (torch.tensor([0.1, 0.2, 0.7]), torch.tensor(2)),
        ),
    ],
    dims=("token", ""),
)


def test_counting(answer, gen):
    """Two models that count upwards, and are sure of it, go on counting."""
    model = 200 * torch.eye(9).roll(1, 1)
    yours = answer.speculate(model.__getitem__, model.__getitem__, torch.tensor([0, 1]), 5, 2, gen)
    expect_equal(yours, torch.arange(7), "speculate(target, draft, prompt, 5, 2, generator)", dims="time")
