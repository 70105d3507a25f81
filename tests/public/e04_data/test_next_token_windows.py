"""The worked examples of next_token_windows."""

import torch

from grader.checks.contract import Contract, given

TOKENS = torch.tensor([7, 3, 9, 4, 1, 8, 2])


def both(answer, *args, **options):
    """The two results; in a list, they can be taken apart as well."""
    found = answer.next_token_windows(*args, **options)
    return tuple(found) if isinstance(found, list) else found


contract = Contract(
    "next_token_windows(tokens, block, stride, offset)",
    use=both,
    dims="windows block",
    example=[
        (
            given(TOKENS, block=3, stride=2),
            (torch.tensor([[7, 3, 9], [9, 4, 1]]), torch.tensor([[3, 9, 4], [4, 1, 8]])),
        ),
        (given(TOKENS, block=3, stride=3, offset=1), (torch.tensor([[3, 9, 4]]), torch.tensor([[9, 4, 1]]))),
    ],
)
