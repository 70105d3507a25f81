"""The worked example of expert_all_to_all."""

import pytest
import torch

from grader.checks import expect_close
from grader.checks.distributed import run_ranks

TOKENS = [
    ([[1.0], [2.0]], [[3, 0], [1, 2]], [[0.5, 0.5], [0.9, 0.1]]),
    ([[3.0]], [[2, 1]], [[0.2, 0.8]]),
]
WANTED = [[[4.5], [4.4]], [[7.2]]]
FACTORS = torch.tensor([1.0, 2.0, 4.0, 8.0])


def times(factor):
    return lambda rows: rows * factor


def worked_example(rank, world_size, answer):
    experts = [times(float(factor)) for factor in FACTORS.chunk(world_size)[rank]]
    return answer.expert_parallel(*map(torch.tensor, TOKENS[rank]), experts)


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    for rank, yours in enumerate(run_ranks(2, worked_example, answer=answer)):
        x, chosen, weights = map(torch.tensor, TOKENS[rank])
        terms = x * FACTORS[chosen]
        in_turn = x * FACTORS[torch.tensor([0, 2, 1, 3])][chosen]
        suspects = {
            "weights are left out": lambda t=terms: t.sum(1, keepdim=True),
            "only the first of the k experts counts": lambda t=terms, w=weights: (t * w)[:, :1],
            "experts are numbered in turn, over the ranks: rank r holds r * n to r * n + n - 1": (
                lambda t=in_turn, w=weights: (t * w).sum(1, keepdim=True)
            ),
            "results are in the order of experts: put them back in the order of tokens": (
                lambda t=terms, c=chosen, w=weights: (
                    t.flatten()[c.flatten().argsort()].view(t.shape) * w
                ).sum(1, keepdim=True)
            ),
        }
        call = f"expert_parallel(x, chosen, weights, experts) on rank {rank}"
        expect_close(yours, torch.tensor(WANTED[rank]), call, dims="token feature", suspects=suspects)
