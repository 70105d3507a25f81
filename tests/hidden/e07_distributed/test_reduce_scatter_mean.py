"""What grades reduce_scatter_mean: the parts, any length, half precision, and what it costs."""

import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, dtypes, values
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, x):
    mine = x[rank].clone()
    return answer.reduce_scatter_mean(mine), mine


def use(answer, x):
    found = run_ranks(len(x), worker, x, answer=answer)
    return {f"rank {rank}": {"part": part, "x after": left} for rank, (part, left) in enumerate(found)}


def parts(x, reduce=lambda x: torch.stack(x).mean(0)):
    """The mean, cut into parts."""
    ranks, size = len(x), -(-len(x[0]) // len(x))
    cut = [reduce(x)[rank * size : (rank + 1) * size] for rank in range(ranks)]
    return {f"rank {rank}": {"part": cut[rank], "x after": x[rank]} for rank in range(ranks)}


def every(x):
    """Every N-th number."""
    found = parts(x)
    mean = torch.stack(x).mean(0)
    return {rank: {**one, "part": mean[int(rank[-1]) :: len(x)]} for rank, one in found.items()}


def drawn(gen, ranks, length, dtype=torch.float32):
    return [torch.randn(length, generator=gen).add(3 * rank).to(dtype) for rank in range(ranks)]


contract = Contract(
    "reduce_scatter_mean(x)",
    reference=parts,
    use=use,
    inputs=lambda gen: {
        "eight numbers on two ranks": drawn(gen, 2, 8),
        "nine numbers on three ranks": drawn(gen, 3, 9),
        "two numbers on two ranks": drawn(gen, 2, 2),
    },
    scale=20.0,
    suspects={
        "that is the sum": lambda x: parts(x, lambda x: torch.stack(x).sum(0)),
        "that is the part of this rank's own x": lambda x: {
            f"rank {rank}": {"part": own.chunk(len(x))[rank], "x after": own} for rank, own in enumerate(x)
        },
        "rank r gets every N-th number, and not part r": every,
    },
    fine=[
        values(
            inputs=lambda gen: {
                "seven numbers on three ranks": drawn(gen, 3, 7),
                "a number on three ranks": drawn(gen, 3, 1),
            },
            name="any_length",
            title="A length that the ranks do not divide: the last parts are shorter, or empty.",
        ),
        values(
            inputs=lambda gen: {
                "large float16 numbers": [torch.tensor([60000.0, 2.0], dtype=torch.float16)] * 2,
                "bfloat16 numbers that cancel": [
                    torch.tensor(row, dtype=torch.bfloat16)
                    for row in ([256.0, 1, 136], [1.0, 256, 95], [-256.0, -256, 58])
                ],
            },
            ulps=0.6,
            scale=1e-3,
            name="half_precision",
            title="Half precision is summed in float32 and rounded once.",
        ),
        dtypes(torch.float64),
    ],
)


def count(rank, world_size, answer):
    found = []
    for length in (999, 300):
        with count_collectives() as seen:
            answer.reduce_scatter_mean(torch.ones(length))
        found.append((length, seen.count, sum(call.bytes for call in seen.calls)))
    return found


@pytest.mark.fine
def test_messages(answer):
    """A call costs one reduce_scatter of the padded vector, and nothing else."""
    for rank, found in enumerate(run_ranks(3, count, answer=answer)):
        for length, kinds, size in found:
            where = f"reduce_scatter_mean(x) for {length} numbers, on rank {rank} of 3"
            facts = {"yours": f"{in_words(kinds)}, {size} bytes", "wanted": "one reduce_scatter"}
            expect_that(kinds == {"reduce_scatter": 1}, f"other messages in {where}", **facts)
            expect_that(size <= 4 * length + 12, f"too many bytes in {where}", **facts)
