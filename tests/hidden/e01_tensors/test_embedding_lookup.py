"""What grades embedding_lookup: any ids, gradients of repeated ids, memory, devices, bad input."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.contract import Contract, dtypes, empties, errors, flat_cost, own_memory, values, without
from grader.checks.devices import on_host

CALL = "embedding_lookup(weight, ids)"


def draw(gen, *shape, vocab=7, dim=9, dtype=torch.int64):
    return torch.randn(vocab, dim, generator=gen), torch.randint(vocab, shape, generator=gen).to(dtype)


def texts(gen):
    return {
        "a batch of texts": draw(gen, 3, 5),
        "a text": draw(gen, 12),
        "ids with three dimensions": draw(gen, 2, 3, 2, vocab=4, dim=4),
    }


def reference(weight, ids):
    """Row by row."""
    rows = [weight[int(i)].clone() for i in ids.flatten()]
    return (torch.stack(rows) if rows else weight[:0]).view(*ids.shape, weight.shape[1])


def with_ids(*several):
    """Calls with a table of seven rows."""
    return lambda gen: {f"ids {ids}, of 7 rows": (torch.zeros(7, 3), torch.tensor(ids)) for ids in several}


contract = Contract(
    CALL,
    reference=reference,
    inputs=texts,
    gradient="weight",
    suspects={
        "columns of weight are taken, not rows": lambda weight, ids: weight[:, ids],
        "an id is one too high: ids count from 0": lambda weight, ids: reference(weight.roll(1, 0), ids),
    },
    job=[
        values(
            inputs=lambda gen: [draw(gen, 5), draw(gen, 2, 4), draw(gen, 1, 1), draw(gen, 2, 3, 1, 4)],
            title="Each id gets its row, whatever the shape of the ids.",
        ),
        flat_cost(
            lambda n: (torch.zeros(n, 3), torch.zeros(n, n, dtype=torch.int64)), over="ids and rows of weight"
        ),
        without("embedding", "embedding_bag"),
    ],
    fine=[
        values(
            inputs=lambda gen: {"a single id": draw(gen)},
            name="single_id",
            title="A single id without dimensions gives one row.",
        ),
        empties(
            inputs=lambda gen: {"no ids": draw(gen, 0), "three texts without ids": draw(gen, 3, 0)},
            title="No ids give an empty result.",
        ),
        values(
            inputs=lambda gen: {
                f"ids of {dtype}": draw(gen, 7, dtype=dtype)
                for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8)
            },
            name="integer_dtypes",
            title="Ids of every integer dtype name rows; uint8 ids are no mask.",
        ),
        values(
            inputs=lambda gen: [draw(gen, 7, vocab=300, dtype=torch.uint8)],
            name="uint8_ids_of_many_rows",
            title="uint8 ids have their place among 300 rows, too, which a comparison in uint8 takes for 44.",
        ),
        dtypes(torch.float64, torch.bfloat16, title="The result has the dtype of weight."),
        own_memory(
            inputs=lambda gen: {"a single id": draw(gen), "a text": draw(gen, 5)},
            title="Writing to the result leaves weight alone, also for a single id.",
        ),
        errors(
            IndexError,
            with_ids([[0, -1], [2, 3]], [1, -7]),
            name="negative_ids",
            title="Negative ids raise IndexError: they do not count from the end.",
        ),
        errors(
            IndexError,
            with_ids([7, 0], [[3], [100]]),
            name="ids_that_are_too_large",
            title="Ids that are not below the number of rows raise IndexError.",
        ),
        errors(
            TypeError,
            with_ids([0.0, 1.0], [True, False] * 3 + [True]),
            name="ids_of_another_kind",
            title="Floating and boolean ids raise TypeError.",
        ),
    ],
)


@pytest.mark.fine
def test_memory_in_proportion_to_the_result(answer):
    """A lookup copies the rows that are asked for, not the table, and builds no one-hot matrix."""
    weight, ids = torch.zeros(800, 32), 32 * torch.arange(24).view(4, 6)
    used, result = peak_bytes(lambda: answer.embedding_lookup(weight, ids)), 24 * 32 * weight.itemsize
    # A few copies of the result and a few numbers for each row of the table do no harm.
    expect_that(
        used <= 4 * result + 32 * len(weight),
        f"{CALL} takes too much memory",
        yours=f"{used:,} bytes for a result of {result:,}, with a weight of {weight.nbytes:,}",
        wanted="memory in proportion to the result",
    )


@pytest.mark.fine
def test_stays_on_the_device(answer, device, gen):
    """A table on another device is read there."""
    weight, ids = draw(gen, 2, 3)
    rows = answer.embedding_lookup(weight.to(device), ids.to(device))
    expect_equal(rows.device, device, f"the device of {CALL}")
    expect_equal(on_host(rows), reference(weight, ids), CALL)
