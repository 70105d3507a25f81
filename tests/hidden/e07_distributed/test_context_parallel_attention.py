"""What grades context_parallel_attention: attention over all ranks, masked or not, and what travels."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, q, k, v, causal):
    return answer.ring_attention(q[rank], k[rank], v[rank], causal=causal)


def use(answer, q, k, v, causal=False):
    found = run_ranks(len(q), worker, q, k, v, causal, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def by_rank(y, ranks):
    return {f"rank {rank}": part for rank, part in enumerate(y.chunk(ranks, dim=-2))}


def whole(q, k, v, causal=False, factor=None):
    """The attention of one process, cut by rank."""
    ranks, (q, k, v) = len(q), (torch.cat(parts, dim=-2) for parts in (q, k, v))
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if factor is None else factor)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return by_rank(scores.softmax(dim=-1) @ v, ranks)


def own(q, k, v, causal=False):
    """Each rank sees its own keys."""
    found = [whole([a], [b], [c], causal)["rank 0"] for a, b, c in zip(q, k, v, strict=True)]
    return by_rank(torch.cat(found, dim=-2), len(q))


def mean_of_blocks(q, k, v, causal=False):
    """The mean of the softmaxes over each rank's keys."""
    blocks = [whole([torch.cat(q, -2)], [a], [b])["rank 0"] for a, b in zip(k, v, strict=True)]
    return by_rank(torch.stack(blocks).mean(0), len(q))


def own_places(q, k, v, causal=False):
    """The mask of the first block, laid over each block."""
    ranks, time = len(q), q[0].shape[-2]
    q, k, v = (torch.cat(parts, dim=-2) for parts in (q, k, v))
    hidden = torch.ones(time, time).triu(1).bool().tile(ranks, ranks) & causal
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
    return by_rank(scores.softmax(dim=-1) @ v, ranks)


def call(gen, ranks, heads, time, features, wide=0, scale=1.0, **options):
    def parts(width, scale=1.0):
        return [scale * torch.randn(heads, time, width, generator=gen) for _ in range(ranks)]

    return given(parts(features, scale), parts(features), parts(wide or features), **options)


contract = Contract(
    "ring_attention(q, k, v, causal)",
    reference=whole,
    use=use,
    inputs=lambda gen: {
        "two ranks": call(gen, 2, 2, 3, 4),
        "three ranks": call(gen, 3, 1, 4, 5),
        "three ranks, with a causal mask": call(gen, 3, 2, 3, 4, causal=True),
    },
    ulps=200,
    scale=3.0,
    suspects={
        "each rank sees its own keys alone": own,
        "the scores are not divided by √features": lambda *args, **options: whole(
            *args, **options, factor=1.0
        ),
        "the softmax is taken of each block, and the blocks averaged": mean_of_blocks,
        "the mask takes each block for the first one: positions count over all ranks": own_places,
        "nothing is masked": lambda q, k, v, causal=False: whole(q, k, v),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "large scores": call(gen, 2, 2, 3, 4, scale=300.0),
                "large scores with a causal mask": call(gen, 2, 2, 3, 4, scale=300.0, causal=True),
            },
            ulps=20_000,
            name="large_scores",
            title="Large scores neither overflow nor become NaN.",
        ),
        values(
            inputs=lambda gen: {"values of seven features": call(gen, 2, 2, 3, 4, wide=7)},
            name="wide_values",
            title="v may have another number of features than k.",
        ),
        values(
            inputs=lambda gen: {
                "float64": given(
                    *(
                        [torch.randn(2, 3, 4, generator=gen, dtype=torch.float64) for _ in range(2)]
                        for _ in range(3)
                    )
                )
            },
            name="float64",
            title="float64 is computed in float64.",
        ),
    ],
)


def count(rank, world_size, answer, x):
    with count_collectives() as seen:
        answer.ring_attention(x, x, x, causal=False)
    return [(call.kind, call.bytes, call.peer) for call in seen.calls]


def test_ring(answer):
    """Keys and values go to the next rank, a block at a time, and nothing else is sent."""
    x = torch.ones(2, 5, 4)
    for rank, calls in enumerate(run_ranks(3, count, x, answer=answer)):
        where = f"ring_attention(q, k, v) on rank {rank} of 3"
        others = sorted({kind for kind, *_ in calls} - {"send", "recv"})
        expect_that(not others, f"other communication than send and recv in {where}: {', '.join(others)}")
        peers = {peer for kind, _, peer in calls if kind == "send"}
        expect_equal(peers, {(rank + 1) % 3}, f"the ranks that are sent to in {where}")
        sent, most = sum(size for kind, size, _ in calls if kind == "send"), 3 * 2 * x.nbytes
        largest = max(size for _, size, _ in calls)
        expect_that(largest <= 2 * x.nbytes, f"a message of more than a block in {where}", yours=largest)
        expect_that(sent <= most, f"too many bytes are sent in {where}", yours=sent, wanted=most)
