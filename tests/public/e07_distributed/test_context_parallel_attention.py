"""The worked example of context_parallel_attention: two ranks with one position each."""

import pytest
import torch

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, q, k, v, causal):
    return answer.ring_attention(q[rank], k[rank], v[rank], causal=causal)


def use(answer, q, k, v, causal=False):
    found = run_ranks(len(q), worker, q, k, v, causal, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def numbers(*xs):
    return [torch.tensor([[[x]]]) for x in xs]


parts = numbers(0.0, 0.0), numbers(1.0, 1.0), numbers(2.0, 4.0)
contract = Contract(
    "ring_attention(q, k, v, causal)",
    use=use,
    example=[
        (given(*parts), {"rank 0": torch.tensor([[[3.0]]]), "rank 1": torch.tensor([[[3.0]]])}),
        (given(*parts, causal=True), {"rank 0": torch.tensor([[[2.0]]]), "rank 1": torch.tensor([[[3.0]]])}),
    ],
)
