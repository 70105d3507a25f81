"""What grades pad_collate: values, lengths, mask, features, dtypes; multiples, empties, memory, devices."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    dtypes,
    empties,
    errors,
    given,
    own_memory,
    untouched,
    values,
)
from grader.checks.devices import is_simulated, on_host

PARTS = ("values", "lengths", "mask")


def drawn(gen, *lengths, features=(), more=0):
    """Sequences of these lengths, with zeros among their values."""
    return [torch.randint(0, 9, (n, *features), generator=gen) + more for n in lengths]


def frames(gen, *lengths, features=(3,)):
    return [torch.randn(n, *features, generator=gen) for n in lengths]


def padded(sequences, padding=0, multiple_of=1):
    """Values, lengths and mask, written step by step."""
    lengths = [len(s) for s in sequences]
    time = math.ceil(max(lengths) / multiple_of) * multiple_of
    values = sequences[0].new_full((len(lengths), time, *sequences[0].shape[1:]), padding)
    mask = torch.zeros(len(lengths), time, dtype=torch.bool)
    for i, s in enumerate(sequences):
        for t in range(len(s)):
            values[i, t] = s[t]
            mask[i, t] = True
    return {"values": values, "lengths": torch.tensor(lengths), "mask": mask}


def wrong(part, make):
    def mistaken(sequences, padding=0, multiple_of=1):
        right = padded(sequences, padding, multiple_of)
        return {**right, part: make(right["values"], right["lengths"], right["mask"], padding)}

    return mistaken


contract = Contract(
    "pad_collate(sequences, padding, multiple_of)",
    reference=padded,
    use=lambda answer, *args, **options: {
        part: getattr(answer.pad_collate(*args, **options), part, None) for part in PARTS
    },
    inputs=lambda gen: {
        "tokens": given(drawn(gen, 3, 1, 6, 2)),
        "tokens, with a padding of -1": given(drawn(gen, 1, 4), padding=-1),
        "tokens that hold the padding value": given(drawn(gen, 7, 6, 5, 4, 3), padding=3),
        "a single sequence": given(drawn(gen, 5), padding=-1),
        "sequences of one length": given(drawn(gen, 2, 2, 2), padding=-1),
        "tokens with large numbers": given(drawn(gen, 2, 4, more=2**40 + 1), padding=-1),
        "frames of three features": given(frames(gen, 3, 1, 4), padding=0.5),
        "frames of two by four features": given(frames(gen, 3, 1, 4, features=(2, 4)), padding=0.5),
        "frames of one feature": given(frames(gen, 3, 1, 4, features=(1,)), padding=0.5),
    },
    suspects={
        "padding stands before each sequence, not behind it": wrong(
            "values",
            lambda x, n, *_: torch.stack([row.roll(x.shape[1] - k, 0) for row, k in zip(x, n, strict=True)]),
        ),
        "padded with 0, not with `padding`": lambda sequences, padding=0, multiple_of=1: padded(
            sequences, 0, multiple_of
        ),
        "the rows are sorted by length: they keep the order of the sequences": wrong(
            "values", lambda x, n, *_: x[n.argsort(descending=True, stable=True)]
        ),
        "time comes first: pad_sequence wants batch_first=True": wrong(
            "values", lambda x, *_: x.transpose(0, 1)
        ),
        "the padding is counted as well": wrong("lengths", lambda x, n, *_: n.max().expand(n.shape)),
        "steps that hold the padding value count as padding: the lengths tell real steps": wrong(
            "mask", lambda x, n, m, padding: (x != padding).flatten(2).any(2) if x.dim() > 2 else x != padding
        ),
        "the mask is the other way round: True stands for real steps": wrong(
            "mask", lambda x, n, mask, _: ~mask
        ),
    },
    job=[
        dtypes(
            *(torch.int64, torch.int32, torch.float64, torch.bool),
            inputs=lambda gen: [given(frames(gen, 2, 4, 1, features=()), padding=1)],
            title="values has the dtype of the sequences, lengths are int64, the mask is bool.",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: [
                given(drawn(gen, 1, longest, longest // 2 + 1), padding=1, multiple_of=multiple_of)
                for multiple_of in (1, 3, 8)
                for longest in (1, 3, 7, 8, 9, 16)
            ],
            name="multiple_of",
            title="time is the least multiple that the longest sequence fits into.",
        ),
        empties(
            inputs=lambda gen: [
                given(drawn(gen, *lengths, features=features), 2)
                for lengths in ((0, 3, 1), (2, 0), (0,), (0, 0))
                for features in ((), (3,))
            ],
            title="Some of the sequences may be empty, or all.",
        ),
        own_memory(
            inputs=lambda gen: [given(drawn(gen, *lengths)) for lengths in ((4,), (3, 3), (1, 3, 2))],
            title="The batch has memory of its own, also where nothing was to be padded.",
        ),
        untouched(title="The sequences stay as they are."),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [given([])],
            name="none",
            title="No sequences are an error.",
        ),
        errors(
            ValueError,
            lambda gen: {
                "int64 and float32": given([torch.tensor([1, 2]), torch.tensor([1.0])]),
                "float32 and float64": given([torch.ones(2), torch.ones(1).double()]),
            },
            title="Sequences of different dtypes raise ValueError.",
        ),
    ],
)


@pytest.mark.fine
def test_list_is_left_alone(answer, gen):
    """The list holds the same sequences afterwards, in the same order."""
    sequences = drawn(gen, 1, 3, 2)
    handed = list(sequences)
    answer.pad_collate(handed)
    same = len(handed) == len(sequences) and all(a is b for a, b in zip(handed, sequences, strict=True))
    expect_that(same, "pad_collate(sequences) changes its list")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """values, lengths and mask are where the sequences are."""
    sequences = drawn(gen, 3, 1, 2)
    batch = answer.pad_collate([s.to(device) for s in sequences], 5, 2)
    for part in PARTS:
        expect_that(is_simulated(getattr(batch, part)), f"{part} is on another device than the sequences")
    wanted = padded(sequences, 5, 2)["values"]
    expect_equal(on_host(batch.values), wanted, "values on a device", dims="batch time")
