"""The suite of one_head_for_many."""

import torch

from grader.checks.contract import Contract, given, views


def shared(k, groups):
    return torch.stack([k] * groups, dim=1)


def draw(gen):
    return {
        f"{heads} heads, {groups} groups": given(torch.randn(heads, time, dim, generator=gen), groups)
        for heads, groups, time, dim in [(2, 3, 4, 5), (3, 3, 2, 2), (4, 2, 3, 3)]
    }


contract = Contract(
    "one_head_for_many(k, groups)",
    reference=shared,
    example=(given(torch.tensor([[[1.0]], [[2.0]]]), 3), [[[[1.0]]] * 3, [[[2.0]]] * 3]),
    inputs=draw,
    dims="head group time feature",
    job=[views(title="The heads are shared: nothing is copied.")],
    suspects={
        "the new dim stands before the heads: it belongs behind them": lambda k, groups: torch.stack(
            [k] * groups
        ),
        "the heads follow each other in one dim: the groups have a dim of their own": (
            lambda k, groups: k.repeat_interleave(groups, 0)
        ),
        "the new dim has size 1: expand it to groups": lambda k, groups: k.unsqueeze(1),
    },
)
