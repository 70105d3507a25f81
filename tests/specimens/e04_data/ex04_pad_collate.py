"""Answers to pad_collate that people write."""

from grader.authoring.specimen import Right, Works, Wrong

LENGTHS = "lengths = torch.tensor([len(sequence) for sequence in sequences], device=first.device)  # (batch,)"
VALUES = "values = first.new_full((len(sequences), time, *first.shape[1:]), padding)"
MASK = "mask = torch.arange(time, device=first.device) < lengths[:, None]  # (batch, time)"
WRITE = "row[: len(sequence)] = sequence"
RETURN = "    return PaddedBatch(values, lengths, mask)"
CHECK = "if len({sequence.dtype for sequence in sequences}) != 1:"
FIRST = "    first = sequences[0]\n"

SPECIMENS = [
    Wrong(
        "padding is always 0",
        edits=[(VALUES, VALUES.replace(", padding)", ", 0)"))],
        check="test_tokens",
        says="padded with 0",
        rung="job",
    ),
    Wrong(
        "a mask from the values",
        edits=[
            (MASK, "mask = (values != padding).flatten(2).any(2) if values.dim() > 2 else values != padding")
        ],
        check="test_tokens",
        says="hold the padding value",
        rung="job",
    ),
    Wrong(
        "a mask that is True at padding",
        edits=[(MASK, MASK.replace("<", ">="))],
        check="test_tokens",
        says="the other way round",
        rung="job",
    ),
    Wrong(
        "time first",
        edits=[(RETURN, "    values = values.transpose(0, 1)\n" + RETURN)],
        check="test_tokens",
        rung="job",
    ),
    Wrong(
        "pads on the left",
        edits=[(WRITE, "row[len(row) - len(sequence) :] = sequence")],
        check="test_tokens",
        says="before each sequence",
        rung="job",
    ),
    Wrong(
        "sorted by length, as packing wants them",
        edits=[(FIRST, "    sequences = sorted(sequences, key=len, reverse=True)\n" + FIRST)],
        check="test_tokens",
        says="sorted by length",
        rung="job",
    ),
    Wrong(
        "padded lengths",
        edits=[(RETURN, "    lengths = torch.full_like(lengths, time)\n" + RETURN)],
        check="test_tokens",
        says="lengths",
        rung="job",
    ),
    Wrong(
        "lengths as a list",
        edits=[(RETURN, "    lengths = lengths.tolist()\n" + RETURN)],
        check="test_tokens",
        says="a Python list",
        rung="job",
    ),
    Wrong(
        "a mask with feature dimensions",
        edits=[
            (
                RETURN,
                "    mask = mask.view(*mask.shape, *[1] * (values.dim() - 2)).expand(values.shape)\n"
                + RETURN,
            )
        ],
        check="test_features",
        says="mask",
        rung="job",
    ),
    Wrong(
        "float32 whatever comes",
        edits=[
            (
                VALUES,
                "values = torch.full((len(sequences), time, *first.shape[1:]), float(padding))"
                ".to(first.device)",
            )
        ],
        check="test_tokens",
        says="wrong dtype",
        rung="job",
    ),
    Wrong(
        "by way of float32",
        edits=[
            (
                VALUES,
                "values = torch.full((len(sequences), time, *first.shape[1:]), float(padding))"
                ".to(first.device)",
            ),
            (MASK, MASK + "\n    values = values.to(first.dtype)"),
        ],
        check="test_dtypes",
        rung="job",
    ),
    Wrong(
        "one multiple more where the longest fits",
        edits=[
            ("-(-max(map(len, sequences)) // multiple_of)", "(max(map(len, sequences)) // multiple_of + 1)")
        ],
        check="test_tokens",
        says="shape",
        rung="job",
    ),
    Wrong(
        "multiple_of ignored",
        edits=[("-(-max(map(len, sequences)) // multiple_of) * multiple_of", "max(map(len, sequences))")],
        check="test_multiple_of",
    ),
    Wrong(
        "leaves empty sequences out",
        edits=[(FIRST, "    sequences = [s for s in sequences if len(s)] or sequences\n" + FIRST)],
        check="test_empty",
    ),
    Wrong(
        "the mask on the CPU",
        edits=[(RETURN, "    mask = mask.cpu()\n" + RETURN)],
        check="test_on_a_device",
        says="mask is on another device",
    ),
    Wrong(
        "one sequence is passed on as a view",
        edits=[
            (
                RETURN,
                "    if len(sequences) == 1 and time == len(first):\n"
                "        values = first.unsqueeze(0)\n" + RETURN,
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "sorts the caller's list back and forth",
        edits=[(RETURN, "    sequences.sort(key=len)\n" + RETURN)],
        check="test_memory",
        says="changes its list",
    ),
    Wrong(
        "takes the first dtype for all",
        edits=[(CHECK, "if len(sequences) == 0:")],
        check="test_errors",
    ),
    Works(
        "pad_sequence, and a comparison with the lengths",
        code="""
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


class PaddedBatch(NamedTuple):
    values: Tensor
    lengths: Tensor
    mask: Tensor


def pad_collate(sequences, padding=0, multiple_of=1):
    lengths = torch.tensor([len(s) for s in sequences])
    values = pad_sequence(sequences, batch_first=True, padding_value=padding)
    mask = torch.arange(values.shape[1])[None, :] < lengths[:, None]
    return PaddedBatch(values, lengths, mask)
""",
    ),
    Works(
        "F.pad for each, then stack",
        code="""
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


class PaddedBatch(NamedTuple):
    values: Tensor
    lengths: Tensor
    mask: Tensor


def pad_collate(sequences, padding=0, multiple_of=1):
    lengths = torch.tensor([s.size(0) for s in sequences])
    longest = int(lengths.max())
    longest = (longest + multiple_of - 1) // multiple_of * multiple_of
    values, mask = [], torch.zeros(len(sequences), longest, dtype=torch.bool)
    for i, s in enumerate(sequences):
        missing = (0, 0) * (s.dim() - 1) + (0, longest - s.size(0))
        values.append(F.pad(s, missing, value=padding))
        mask[i, : s.size(0)] = True
    return PaddedBatch(torch.stack(values), lengths, mask)
""",
    ),
    Right(
        "pad_sequence, then more padding",
        code="""
import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


class PaddedBatch(NamedTuple):
    values: Tensor
    lengths: Tensor
    mask: Tensor


def pad_collate(sequences, padding=0, multiple_of=1):
    if not sequences or any(s.dtype != sequences[0].dtype for s in sequences):
        raise ValueError("want sequences of one dtype")
    device = sequences[0].device
    values = pad_sequence(list(sequences), batch_first=True, padding_value=padding)
    batch, longest, *features = values.shape
    time = math.ceil(longest / multiple_of) * multiple_of
    more = values.new_full((batch, time - longest, *features), padding)
    lengths = torch.tensor([len(s) for s in sequences], device=device)
    steps = torch.arange(time, device=device).expand(batch, time)
    return PaddedBatch(torch.cat([values, more], dim=1), lengths, steps < lengths.unsqueeze(1))
""",
    ),
    Right(
        "a row at a time, by concatenation",
        code="""
from typing import NamedTuple

import torch
from torch import Tensor


class PaddedBatch(NamedTuple):
    values: Tensor
    lengths: Tensor
    mask: Tensor


def pad_collate(sequences, padding=0, multiple_of=1):
    if len(sequences) == 0:
        raise ValueError("no sequences")
    dtypes = {s.dtype for s in sequences}
    if len(dtypes) > 1:
        raise ValueError(f"different dtypes: {dtypes}")
    longest = max(s.shape[0] for s in sequences)
    while longest % multiple_of:
        longest += 1
    rows, masks = [], []
    for s in sequences:
        rest = longest - s.shape[0]
        rows.append(torch.cat([s, s.new_full((rest, *s.shape[1:]), padding)]))
        flags = [True] * s.shape[0] + [False] * rest
        masks.append(torch.tensor(flags, dtype=torch.bool, device=s.device))
    lengths = torch.tensor([s.shape[0] for s in sequences], device=sequences[0].device)
    return PaddedBatch(torch.stack(rows), lengths, torch.stack(masks))
""",
    ),
]
