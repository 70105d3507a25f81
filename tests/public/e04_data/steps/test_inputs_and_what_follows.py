"""The suite of inputs_and_what_follows."""

import torch

from grader.checks.contract import Contract, given

contract = Contract(
    "inputs_and_what_follows(tokens)",
    reference=lambda tokens: (tokens[:-1], tokens[1:]),
    example=(given(torch.tensor([7, 3, 9, 4])), (torch.tensor([7, 3, 9]), torch.tensor([3, 9, 4]))),
    inputs=lambda gen: [torch.randint(50_000, (n,), generator=gen) for n in (5, 8, 2)],
    suspects={
        "only the last token is a target: each input has one, the token after it": lambda tokens: (
            tokens[:-1],
            tokens[-1:],
        ),
        "the targets are the inputs themselves: move them one place on": lambda tokens: 2 * (tokens[:-1],),
        "inputs and targets are the wrong way round": lambda tokens: (tokens[1:], tokens[:-1]),
        "the last token is no input: nothing follows it": lambda tokens: (tokens, tokens[1:]),
        "the targets wrap around: the first token does not follow the last": lambda tokens: (
            tokens,
            tokens.roll(-1),
        ),
    },
)
