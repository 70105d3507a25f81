"""The suite of a_window_mask."""

import torch

from grader.checks.contract import Contract, given

EXAMPLE = [
    [True, False, False, False],
    [True, True, False, False],
    [False, True, True, False],
    [False, False, True, True],
]


def seen(time, window, least=0):
    """Place by place."""
    return torch.tensor([[least <= i - j < window for j in range(time)] for i in range(time)])


def draw(gen):
    more = torch.randint(10, (3,), generator=gen).tolist()
    sizes = [(7 + more[0], 3), (9 + more[1], 4), (18 + more[2], 5)]
    return {f"{time} tokens, a window of {window}": given(time, window) for time, window in sizes}


contract = Contract(
    "a_window_mask(time, window)",
    reference=seen,
    example=(given(4, 2), torch.tensor(EXAMPLE)),
    inputs=draw,
    dims="token at",
    suspects={
        "one token too many: the window counts the token itself": lambda time, window: seen(time, window + 1),
        "the token itself is left out": lambda time, window: seen(time, window + 1, 1),
        "the past has no end: leave out what lies window tokens back or more": lambda time, window: seen(
            time, time
        ),
        "the future is seen: what lies back is 0 or more": lambda time, window: seen(time, window, -time),
        "True stands where nobody may look": lambda time, window: ~seen(time, window),
        "rows and columns change places: a row is the token that looks": lambda time, window: (
            seen(time, window).T
        ),
    },
)
