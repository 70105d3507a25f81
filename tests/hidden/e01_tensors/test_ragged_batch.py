"""What grades ragged_batch: values, offsets, tables, gradients; features, cost, empty rows, devices."""

from itertools import pairwise

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    dtypes,
    empties,
    flat_cost,
    given,
    strides,
    untouched,
    values,
)
from grader.checks.devices import count_traffic, is_simulated, on_host

LENGTHS = {
    "three rows": (2, 4, 1),
    "a row without numbers": (3, 0, 2, 5),
    "the longest first, the last empty": (6, 1, 0),
    "rows of one length": (3, 3),
    "a single row": (4,),
    "as many rows as numbers in the longest": (1, 4, 2, 3),
}
DTYPES = (torch.float64, torch.float16, torch.int32, torch.bool)


def of_table(gen, lengths, *features, more=0):
    """Numbers stand in the padding, too."""
    time = max(lengths, default=0) + more
    table = torch.randn(len(lengths), time, *features, generator=gen)
    return given(table, torch.tensor(lengths, dtype=torch.int64))


def of_values(gen, lengths, *features):
    offsets = torch.tensor([0, *lengths]).cumsum(0)
    return given(torch.randn(sum(lengths), *features, generator=gen), offsets, padding=0.5)


def each(make):
    return lambda gen: {about: make(gen, lengths) for about, lengths in LENGTHS.items()}


def with_features(make):
    return values(
        inputs=lambda gen: {
            "two features": make(gen, (2, 0, 3), 2),
            "one feature": make(gen, (2, 4, 1), 1),
            "two by three features": make(gen, (1, 3), 2, 3),
        },
        name="features",
        title="Numbers may have features.",
    )


def cut(table, lengths):
    """Values and offsets, row by row."""
    ends = [0]
    found = [table[:0].flatten(0, 1)]
    for row, n in zip(table, lengths.tolist(), strict=True):
        found.append(row[:n])
        ends.append(ends[-1] + n)
    return torch.cat(found), torch.tensor(ends)


def with_values(make):
    """What people take for values."""
    return lambda table, lengths: (make(table, lengths), cut(table, lengths)[1])


def with_offsets(make):
    """What people make of the offsets."""
    return lambda table, lengths: (cut(table, lengths)[0], make(cut(table, lengths)[1]))


def filled(values, offsets, padding=0.0, time=None, before=False):
    """Row by row; what comes after padding is as people get it wrong."""
    ends = offsets.tolist()
    time = max((end - start for start, end in pairwise(ends)), default=0) if time is None else time
    table = values.new_full((len(ends) - 1, time, *values.shape[1:]), padding)
    for i, (start, end) in enumerate(pairwise(ends)):
        first = time - (end - start) if before else 0
        table[i, first : first + end - start] = values[start:end]
    return table


unpadded = Contract(
    "unpad(table, lengths)",
    reference=cut,
    inputs=each(of_table),
    gradient="table",
    use=lambda answer, table, lengths: tuple(answer.unpad(table, lengths)),
    suspects={
        "these are ends: offsets begin with 0": with_offsets(lambda offsets: offsets[1:]),
        "the end of the last row is missing from the offsets": with_offsets(lambda offsets: offsets[:-1]),
        "offsets begin with 0, and then have lengths: they add them up": with_offsets(
            lambda offsets: torch.cat([offsets[:1], offsets.diff()])
        ),
        "a number of padding comes with each row": with_values(
            lambda table, lengths: cut(table, (lengths + 1).clamp(max=table.shape[1]))[0]
        ),
        "values are read down the columns": with_values(
            lambda table, lengths: table.mT[torch.arange(table.shape[1])[:, None] < lengths]
        ),
        "the first values of the whole table, padding among them": with_values(
            lambda table, lengths: table.flatten()[: int(lengths.sum())]
        ),
        "the padding is there as well": with_values(lambda table, lengths: table.flatten(0, 1)),
    },
    fine=[
        with_features(of_table),
        values(
            inputs=lambda gen: {
                "a table with two columns more": of_table(gen, (2, 3), more=2),
                "empty rows in three columns": of_table(gen, (0, 0), more=3),
            },
            name="longer_tables",
            title="A table may be longer than its longest row.",
        ),
        flat_cost(
            {
                "rows": lambda n: (torch.ones(n, 2), torch.arange(n) % 3),
                "time": lambda n: (torch.ones(2, n), torch.tensor([n, n // 2])),
            }
        ),
        empties(
            inputs=lambda gen: {
                "two empty rows": of_table(gen, (0, 0)),
                "no rows": of_table(gen, ()),
                "no rows, with features": of_table(gen, (), 3),
            },
            title="All rows may be empty, and there may be none.",
        ),
        dtypes(*DTYPES, of="table"),
        strides(),
        untouched(),
    ],
)

padded = Contract(
    "pad(values, offsets, padding)",
    reference=filled,
    inputs=each(of_values),
    gradient="values",
    dims="row time",
    suspects={
        "padding stands before each row, not behind it": lambda *held, **how: filled(
            *held, **how, before=True
        ),
        "padded with 0, not with `padding`": lambda values, offsets, **how: filled(values, offsets),
        "time is the number of all values: the longest row is long enough": lambda values, offsets, **how: (
            filled(values, offsets, **how, time=len(values))
        ),
        "time comes first: pad_sequence wants batch_first=True": lambda *held, **how: filled(
            *held, **how
        ).transpose(0, 1),
    },
    fine=[
        with_features(of_values),
        values(
            inputs=lambda gen: {
                "features of a table that is transposed": given(
                    torch.randn(3, 6, generator=gen).T, torch.tensor([0, 2, 2, 6]), padding=0.5
                )
            },
            name="strides",
            title="Values may have any strides.",
        ),
        flat_cost(
            {
                "rows": lambda n: (torch.ones(n), torch.arange(n + 1)),
                "time": lambda n: (torch.ones(2 * n), torch.tensor([0, n, 2 * n])),
            }
        ),
        values(
            inputs=lambda gen: {
                "two empty rows": of_values(gen, (0, 0)),
                "no rows": of_values(gen, ()),
                "no rows, with features": of_values(gen, (), 3),
            },
            name="empty",
            title="All rows may be empty, and there may be none.",
        ),
        dtypes(*DTYPES, of="values"),
        untouched(),
    ],
)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """Results are where the arguments are, and no more than a length is copied to the CPU."""
    table, lengths = of_table(gen, (2, 0, 5, 3)).args
    wanted, ends = cut(table, lengths)
    there = table.to(device), lengths.to(device), wanted.to(device), ends.to(device)
    with count_traffic() as traffic:
        found, offsets = answer.unpad(*there[:2])
        again = answer.pad(*there[2:], padding=0.5)
    for name, t in {"values": found, "offsets": offsets, "the table": again}.items():
        expect_that(is_simulated(t), f"{name}: on another device than the arguments", yours=t)
    expect_equal(on_host(found), wanted, "values on a device")
    expect_equal(on_host(again), filled(wanted, ends, 0.5), "the table on a device", dims="row time")
    expect_that(
        traffic.numbers <= 1 and not traffic.to_device,
        "more than a length is copied between the device and the CPU",
        yours=f"{traffic.numbers} numbers to the CPU, {traffic.to_device} copies to the device",
    )
