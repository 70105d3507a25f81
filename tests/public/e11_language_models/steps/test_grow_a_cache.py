"""The suite of grow_a_cache."""

import torch

from grader.checks.contract import Contract, given


def grown(cache, new, dim=2):
    return new if cache is None else torch.cat([cache, new], dim=dim)


def draw(gen):
    def keys(time):
        return torch.randn(2, 3, time, 4, generator=gen)

    return {
        "three tokens and one more": given(keys(3), keys(1)),
        "two tokens and two more": given(keys(2), keys(2)),
        "no token yet": given(None, keys(3)),
    }


contract = Contract(
    "grow_a_cache(cache, new)",
    reference=grown,
    example=(
        given(torch.tensor([[[[1.0, 2.0]]]]), torch.tensor([[[[3.0, 4.0]]]])),
        [[[[1.0, 2.0], [3.0, 4.0]]]],
    ),
    inputs=draw,
    dims="text head time feature",
    suspects={
        "features are joined: time is the dim before the last": lambda cache, new: grown(cache, new, 3),
        "heads are joined: time is dim 2": lambda cache, new: grown(cache, new, 1),
        "texts are joined: time is dim 2": lambda cache, new: grown(cache, new, 0),
        "the new keys stand before the old ones": lambda cache, new: (
            new if cache is None else grown(new, cache)
        ),
        "these are the new keys alone": lambda cache, new: new,
    },
)
