"""Answers to pad_collate that people write."""

from grader.authoring.specimen import Right, Wrong

EMPTY = "    if len(sequences) == 0 or multiple_of < 1:\n"
FIT = "if sequence.dtype != first.dtype or sequence.shape[1:] != first.shape[1:]:"
DIM = "        if sequence.dim() == 0:\n"
LENGTHS = "lengths = torch.tensor([len(sequence) for sequence in sequences], device=first.device)"
TIME = "time = -(-max(map(len, sequences)) // multiple_of) * multiple_of"
VALUES = "values = first.new_full((len(sequences), time, *first.shape[1:]), padding)"
LOOP = (
    "    for row, sequence in zip(values, sequences, strict=True):\n        row[: len(sequence)] = sequence\n"
)
MASK = "mask = torch.arange(time, device=first.device) < lengths[:, None]"
RETURN = "return PaddedBatch(values, lengths, mask)"

SPECIMENS = [
    Wrong(
        "counts the features only",
        edits=[
            (
                FIT,
                FIT.replace(
                    "sequence.shape[1:] != first.shape[1:]",
                    "sequence.dim() != first.dim() or sequence.shape[1:].numel() != first.shape[1:].numel()",
                ),
            )
        ],
        check="test_bad_input",
        says="(2, 3) and (3, 2)",
    ),
    Wrong(
        "padding is always 0", edits=[(VALUES, VALUES.replace(", padding)", ", 0)"))], check="test_padding"
    ),
    Wrong(
        "does not round up",
        edits=[(TIME, "time = max(map(len, sequences))")],
        check="test_multiple_of",
    ),
    Wrong(
        "rounds down",
        edits=[(TIME, "time = max(map(len, sequences)) // multiple_of * multiple_of")],
        check="test_multiple_of",
    ),
    Wrong(
        "always one more multiple",
        edits=[(TIME, "time = (max(map(len, sequences)) // multiple_of + 1) * multiple_of")],
        check="test_multiple_of",
    ),
    Wrong(
        "a multiple at least",
        edits=[(TIME, TIME.replace("max(map(len, sequences))", "max(1, *map(len, sequences))"))],
        check="test_multiple_of",
    ),
    Wrong(
        "up to a power of two",
        edits=[
            (TIME, TIME + "\n    time = 1 << (time - 1).bit_length() if multiple_of > 1 and time else time")
        ],
        check="test_multiple_of",
    ),
    Wrong(
        "rounds up to 8 always",
        edits=[
            (
                TIME,
                TIME.replace(
                    "// multiple_of) * multiple_of",
                    "// 8) * 8 if multiple_of > 1 else max(map(len, sequences))",
                ),
            )
        ],
        check="test_multiple_of",
    ),
    Wrong(
        "float32 whatever comes",
        edits=[
            (
                VALUES,
                "values = torch.full((len(sequences), time, *first.shape[1:]), float(padding), device=first.device)",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "the dtype of the padding",
        edits=[
            (
                VALUES,
                "values = torch.full((len(sequences), time, *first.shape[1:]), padding, device=first.device)",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "by way of float64",
        edits=[(LOOP, LOOP.replace("= sequence\n", "= sequence.double().to(first.dtype)\n"))],
        check="test_exact",
    ),
    Wrong(
        "by way of float32",
        edits=[(LOOP, LOOP.replace("= sequence\n", "= sequence.float().to(first.dtype)\n"))],
        check="test_exact",
    ),
    Wrong(
        "clears NaN away",
        edits=[
            (
                RETURN,
                "return PaddedBatch(values.nan_to_num(nan=padding) if values.is_floating_point() else values, lengths, mask)",
            )
        ],
        check="test_padding",
    ),
    Wrong(
        "a mask from the values",
        edits=[
            (MASK, "mask = values.flatten(2).ne(padding).any(2) if values.dim() > 2 else values.ne(padding)")
        ],
        check="test_padding",
    ),
    Wrong(
        "lengths from the values",
        edits=[
            (
                MASK,
                MASK
                + "\n    lengths = (values.flatten(2).ne(padding).any(2) if values.dim() > 2 else values.ne(padding)).sum(1)",
            )
        ],
        check="test_padding",
    ),
    Wrong("a mask that is True at padding", edits=[(MASK, MASK.replace("<", ">="))], check="test_lengths"),
    Wrong("a mask with one step too many", edits=[(MASK, MASK.replace("<", "<="))], check="test_lengths"),
    Wrong(
        "a mask of numbers",
        edits=[(MASK, f"mask = ({MASK.removeprefix('mask = ')}).float()")],
        check="test_lengths",
    ),
    Wrong(
        "time first in the mask",
        edits=[(RETURN, "return PaddedBatch(values, lengths, mask.T)")],
        check="test_lengths",
    ),
    Wrong(
        "a mask with feature dimensions",
        edits=[
            (MASK, MASK + "\n    mask = mask.view(*mask.shape, *[1] * (values.dim() - 2)).expand_as(values)")
        ],
        check="test_lengths",
    ),
    Wrong(
        "time first",
        edits=[(RETURN, "return PaddedBatch(values.transpose(0, 1), lengths, mask)")],
        check="test_lengths",
    ),
    Wrong(
        "pads on the left",
        edits=[(LOOP, LOOP.replace("row[: len(sequence)]", "row[time - len(sequence) :]"))],
        check="test_lengths",
        says="padding stands before each sequence",
    ),
    Wrong(
        "sorted by length",
        edits=[(VALUES, "sequences = sorted(sequences, key=len, reverse=True)\n    " + VALUES)],
        check="test_lengths",
        says="sorted by length: they keep",
    ),
    Wrong(
        "all sorted by length",
        edits=[(LENGTHS, "sequences = sorted(sequences, key=len, reverse=True)\n    " + LENGTHS)],
        check="test_lengths",
    ),
    Wrong(
        "leaves empty sequences out",
        edits=[(LENGTHS, "sequences = [s for s in sequences if len(s)] or sequences\n    " + LENGTHS)],
        check="test_lengths",
    ),
    Wrong(
        "an empty sequence counts as one step",
        edits=[(LENGTHS, LENGTHS.replace("[len(sequence) for", "[max(len(sequence), 1) for"))],
        check="test_lengths",
    ),
    Wrong(
        "no batch of empty sequences alone",
        edits=[
            (
                EMPTY,
                EMPTY.replace("len(sequences) == 0", "not any(s.numel() or s.dim() == 0 for s in sequences)"),
            )
        ],
        check="test_lengths",
    ),
    Wrong(
        "tokens only",
        edits=[(VALUES, VALUES.replace(", *first.shape[1:]", ""))],
        check="test_lengths",
    ),
    Wrong(
        "lengths in int32",
        edits=[(LENGTHS, LENGTHS.replace(", device", ", dtype=torch.int32, device"))],
        check="test_lengths",
    ),
    Wrong(
        "lengths as a list",
        edits=[(RETURN, "return PaddedBatch(values, lengths.tolist(), mask)")],
        check="test_lengths",
    ),
    Wrong(
        "padded lengths",
        edits=[(RETURN, "return PaddedBatch(values, torch.full_like(lengths, time), mask)")],
        check="test_lengths",
    ),
    Wrong(
        "one sequence is passed on as a view",
        edits=[
            (
                RETURN,
                "values = first[None] if len(sequences) == 1 and time == len(first) else values\n    "
                + RETURN,
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "writes the sequences over",
        edits=[
            (
                RETURN,
                "for s in sequences:\n        s[s == padding] = padding + 1 if s.dtype != torch.bool else padding\n    "
                + RETURN,
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "sorts the caller's list",
        edits=[(RETURN, "if isinstance(sequences, list):\n        sequences.sort(key=len)\n    " + RETURN)],
        check="test_memory",
    ),
    Wrong(
        "appends a longest sequence to the caller's list",
        edits=[
            (
                EMPTY,
                EMPTY
                + "        pass\n    if isinstance(sequences, list) and sequences and sequences[0].dim() and len(sequences) == 3:\n        sequences.append(sequences[0])\n"
                + EMPTY,
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "needs contiguous sequences",
        edits=[(LOOP, LOOP.replace("= sequence\n", "= sequence.view(-1).view(sequence.shape)\n"))],
        check="test_layouts",
    ),
    Wrong(
        "lists only",
        edits=[(EMPTY, "    sequences = sequences + []\n" + EMPTY)],
        check="test_layouts",
    ),
    Wrong(
        "a buffer that is used again",
        edits=[
            ("\n\ndef pad_collate(", "\n\n_buffers = {}\n\n\ndef pad_collate("),
            (
                VALUES,
                "shape = (len(sequences), time, *first.shape[1:])\n    key = (shape, first.dtype, first.device)\n    values = _buffers.setdefault(key, first.new_full(shape, padding)).fill_(padding)",
            ),
        ],
        check="test_two_calls",
    ),
    Wrong(
        "a buffer for each shape and padding",
        edits=[
            ("\n\ndef pad_collate(", "\n\n_buffers = {}\n\n\ndef pad_collate("),
            (
                VALUES,
                "shape = (len(sequences), time, *first.shape[1:])\n    key = (shape, first.dtype, first.device, padding)\n    values = _buffers.setdefault(key, first.new_full(shape, padding)).fill_(padding)",
            ),
        ],
        check="test_two_calls",
    ),
    Wrong(
        "never shorter than an earlier batch",
        edits=[
            ("\n\ndef pad_collate(", "\n\n_longest = [0]\n\n\ndef pad_collate("),
            (TIME, TIME + "\n    time = _longest[0] = max(time, _longest[0])"),
        ],
        check="test_two_calls",
    ),
    Wrong(
        "the mask on the CPU",
        edits=[(MASK, "mask = torch.arange(time) < lengths.cpu()[:, None]")],
        check="test_on_a_device",
    ),
    Wrong(
        "lengths on the CPU",
        edits=[
            (LENGTHS, LENGTHS.replace(", device=first.device", "")),
            (MASK, MASK.replace("lengths", "lengths.to(first.device)")),
        ],
        check="test_on_a_device",
        says="lengths",
    ),
    Wrong(
        "values on the CPU",
        edits=[
            (
                VALUES,
                "values = torch.full((len(sequences), time, *first.shape[1:]), padding, dtype=first.dtype)",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "a class of its own in each call",
        edits=[
            (
                RETURN,
                "class Batch(NamedTuple):\n        values: Tensor\n        lengths: Tensor\n        mask: Tensor\n\n    return Batch(values, lengths, mask)",
            )
        ],
        check="test_pickled",
    ),
    Wrong(
        "a dict",
        edits=[(RETURN, "return {'values': values, 'lengths': lengths, 'mask': mask}")],
        check="test_lengths",
    ),
    Wrong(
        "promotes dtypes",
        edits=[
            (FIT, "if sequence.shape[1:] != first.shape[1:]:"),
            (
                VALUES,
                VALUES
                + "\n    for s in sequences:\n        values = values.to(torch.promote_types(values.dtype, s.dtype))",
            ),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "casts to the first dtype",
        edits=[(FIT, "if sequence.shape[1:] != first.shape[1:]:")],
        check="test_an_error_in_a_worker",
    ),
    Wrong(
        "looks at sequences with steps only",
        edits=[(FIT, FIT.replace("if ", "if len(sequence) and (").replace(":]:", ":]):"))],
        check="test_bad_input",
    ),
    Wrong(
        "broadcasts features",
        edits=[(FIT, "if sequence.dtype != first.dtype or sequence.dim() != first.dim():")],
        check="test_bad_input",
    ),
    Wrong(
        "compares neighbours by number of elements",
        edits=[
            (
                FIT,
                "if sequence.dtype != first.dtype or sequence[:1].numel() != first[:1].numel() and len(sequence) and len(first):",
            )
        ],
        check="test_bad_input",
    ),
    Wrong(
        "a number is a sequence of one",
        edits=[
            (DIM, "        if False:\n"),
            (
                "    first = sequences[0]\n",
                "    sequences = [torch.atleast_1d(s) for s in sequences]\n    first = sequences[0]\n",
            ),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "whatever error len gives",
        edits=[(DIM, "        if False:\n")],
        check="test_bad_input",
        says="ValueError",
    ),
    Wrong(
        "an empty batch is an IndexError",
        edits=[(EMPTY, EMPTY.replace("len(sequences) == 0 or ", ""))],
        check="test_bad_input",
    ),
    Wrong(
        "any multiple",
        edits=[(EMPTY, EMPTY.replace("multiple_of < 1", "multiple_of == 0"))],
        check="test_bad_input",
    ),
    Right(
        "pad_sequence for floats and ints, then pad",
        code="""
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


class PaddedBatch(NamedTuple):
    values: Tensor
    lengths: Tensor
    mask: Tensor


def pad_collate(sequences, padding=0, multiple_of=1):
    sequences = list(sequences)
    if not sequences or multiple_of <= 0:
        raise ValueError("nothing to do")
    if any(s.ndim == 0 for s in sequences):
        raise ValueError("no time dimension")
    if len({(s.dtype, tuple(s.shape)[1:]) for s in sequences}) > 1:
        raise ValueError("different kinds of sequences")
    lengths = torch.as_tensor([s.size(0) for s in sequences]).to(sequences[0].device)
    values = pad_sequence(sequences, batch_first=True, padding_value=padding)
    extra = -values.shape[1] % multiple_of
    if extra:
        filler = torch.full_like(values[:, :1], padding) if values.shape[1] else None
        values = torch.cat([values] + [filler] * extra, dim=1)
    mask = pad_sequence([torch.ones(s.size(0), dtype=torch.bool, device=s.device) for s in sequences], batch_first=True)
    mask = F.pad(mask, (0, extra))
    return PaddedBatch(values.clone(), lengths, mask)
""",
    ),
    Right(
        "a row at a time, by concatenation",
        code="""
from collections import namedtuple

import torch

PaddedBatch = namedtuple("PaddedBatch", ["mask", "lengths", "values"])


def pad_collate(sequences, padding=0, multiple_of=1):
    if multiple_of < 1:
        raise ValueError("multiple_of")
    kinds = set()
    for s in sequences:
        if not s.shape:
            raise ValueError("a number is no sequence")
        kinds.add((s.dtype, s.shape[1:]))
    if len(kinds) != 1:
        raise ValueError("not one kind of sequences")
    time = max(s.shape[0] for s in sequences)
    while time % multiple_of:
        time += 1
    rows, marks = [], []
    for s in sequences:
        rest = torch.full((time - s.shape[0], *s.shape[1:]), padding, dtype=s.dtype, device=s.device)
        rows.append(torch.cat([s, rest]))
        marks.append(torch.arange(time, device=s.device).lt(s.shape[0]))
    mask = torch.stack(marks)
    return PaddedBatch(mask=mask, lengths=mask.sum(1), values=torch.stack(rows))
""",
    ),
    Wrong(
        "padding in float32 first",
        edits=[
            (
                "first.new_full((len(sequences), time, *first.shape[1:]), padding)",
                "torch.full((len(sequences), time, *first.shape[1:]), float(padding), device=first.device).to(first.dtype)",
            )
        ],
        check="test_padding",
        says="16777217",
    ),
    Wrong(
        "rounds up by a bit mask",
        edits=[
            (
                TIME,
                "time = (max(map(len, sequences)) + multiple_of - 1) & ~(multiple_of - 1) if multiple_of % 2 == 0 else -(-max(map(len, sequences)) // multiple_of) * multiple_of",
            )
        ],
        check="test_multiple_of",
    ),
    Wrong(
        "rounds up by a reciprocal",
        edits=[
            (
                TIME,
                "time = int((max(map(len, sequences)) + multiple_of - 1) * (1 / multiple_of)) * multiple_of",
            )
        ],
        check="test_multiple_of",
    ),
    Wrong(
        "padding is cut to the finite numbers",
        edits=[
            (
                VALUES,
                "padding = max(padding, torch.finfo(first.dtype).min) if first.is_floating_point() else padding\n    values = first.new_full((len(sequences), time, *first.shape[1:]), padding)",
            )
        ],
        check="test_padding",
        says="inf",
    ),
    Wrong(
        "a float for padding takes the sequences along",
        edits=[
            (
                "row[: len(sequence)] = sequence\n",
                "row[: len(sequence)] = sequence.double() if isinstance(padding, float) and not sequence.is_floating_point() else sequence\n",
            )
        ],
        check="test_exact",
    ),
    Wrong(
        "keeps the positions for each width",
        edits=[
            (
                MASK,
                "steps = STEPS.setdefault((time, first.device), torch.arange(time, device=first.device))\n    mask = steps < lengths[:, None]",
            ),
            ("def pad_collate(", "STEPS = {}\n\n\ndef pad_collate("),
        ],
        check="test_two_calls",
        says="a cache",
    ),
    Wrong(
        "keeps the last batch",
        edits=[
            (RETURN, f"pad_collate.last = values, lengths, mask\n    {RETURN}"),
        ],
        check="test_two_calls",
        says="nothing from one call to the next",
    ),
    Wrong(
        "positions for the widest batch so far",
        edits=[
            (
                MASK,
                "global STEPS\n    if len(STEPS) < time:\n        STEPS = torch.arange(time)\n    mask = STEPS[:time].to(first.device) < lengths[:, None]",
            ),
            ("def pad_collate(", "STEPS = torch.arange(0)\n\n\ndef pad_collate("),
        ],
        check="test_two_calls",
        says="nothing from one call to the next",
    ),
    Wrong(
        "compares kinds and widths of numbers",
        edits=[
            (
                FIT,
                FIT.replace(
                    "sequence.dtype != first.dtype",
                    "sequence.dtype.itemsize != first.dtype.itemsize\n"
                    "            or sequence.is_floating_point() != first.is_floating_point()\n           ",
                )
                .replace("if ", "if (\n            ", 1)
                .replace(":]:", ":]\n        ):"),
            )
        ],
        check="test_bad_input",
        says="float16 and bfloat16",
    ),
]
