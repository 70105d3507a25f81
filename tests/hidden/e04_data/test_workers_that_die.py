"""What grades workers_that_die: rows, pickles, bad rows in workers, what was read; reasons, ends."""

import json
import re

import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.dataloader.workers import FORKED, imported_anew

# More workers than processors: a machine may have only one.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
NAMES = ["cat", "dog", "bee"]
BAD = {
    "no JSON": "{x: 1",
    "no x": '{"name": "cat"}',
    "no name": '{"x": [1, 2]}',
    "an unknown name": '{"x": [1], "name": "cow"}',
}


def lines_of(gen, count=5):
    """Good lines, and what they hold."""
    numbers = [torch.randn(2 + i % 3, generator=gen) for i in range(count)]
    numbers[1] = torch.tensor([7.0, 2.0])
    classes = torch.randint(3, (count,), generator=gen).tolist()
    lines = [json.dumps({"x": x.tolist(), "name": NAMES[n]}) for x, n in zip(numbers, classes, strict=True)]
    lines[1] = lines[1].replace(".0", "")
    return lines, list(zip(numbers, classes, strict=True))


def loader_of(data, workers, **options):
    start = FORKED if workers else None
    return DataLoader(data, None, num_workers=workers, multiprocessing_context=start, **options)


def outcome(data, workers):
    """The rows that come, and the error that ends the loop, or None."""
    rows = []
    try:
        for x, y in loader_of(data, workers):
            rows.append((x, int(y)))
    except Exception as error:
        return rows, error
    return rows, None


def expect_bad(answer, line, place, why, workers, words=""):
    """Fail unless a loop over five rows, of which this is a bad one, ends in BadRow that names its place."""
    lines = ['{"x": [4], "name": "dog"}'] * 5
    lines[place] = line
    rows, error = outcome(answer.JsonRows(lines, NAMES), workers)
    told = f"row {place} of 5 has {why}, with {workers} workers:"
    expect_that(
        error is not None,
        f"{told} the loop ends without an error",
        yours=f"{len(rows)} rows",
        likely="a StopIteration from __getitem__ is taken for the end of the epoch"
        if len(rows) == place
        else "",
    )
    if isinstance(error, NotImplementedError):
        raise error
    likely = ""
    if workers and "BadRow" in str(error):
        likely = "the loader makes the error anew from one text: BadRow has to take the message alone"
    text = str(error).strip().splitlines()[-1] if str(error).strip() else ""
    told_type = f"{told} the loop raises {type(error).__name__}, not BadRow"
    expect_that(isinstance(error, answer.BadRow), told_type, yours=text, likely=likely)
    named = re.search(rf"\brow {place}\b", str(error))
    expect_that(bool(named), f"{told} the message does not say 'row {place}'", yours=text)
    if words:
        expect_that(words in text, f"{told} the message does not say {words}", yours=text)


@pytest.mark.parametrize("workers", [0, 2])
def test_good_rows(answer, gen, workers):
    """Good rows come as their numbers, in float32, and the place of their names."""
    lines, wanted = lines_of(gen)
    rows, error = outcome(answer.JsonRows(lines, NAMES), workers)
    expect_that(error is None, f"good rows raise {type(error).__name__}, with {workers} workers", yours=error)
    expect_equal(rows, wanted, f"the rows with {workers} workers")


def test_pickled(answer, gen):
    """Spawned workers get the dataset by pickle."""
    lines, wanted = lines_of(gen)
    data = answer.JsonRows(lines, NAMES)
    _, there = imported_anew(answer, "dataset", data)
    expect_equal([there[i] for i in range(5)], wanted, "the rows of a dataset after pickling")


@pytest.mark.parametrize(
    ("why", "workers"), [*((why, 0) for why in BAD), ("no x", 1), ("an unknown name", 2)]
)
def test_bad_rows(answer, why, workers):
    """A bad row ends the loop with BadRow, which names the row."""
    expect_bad(answer, BAD[why], 3, why, workers)


def test_read(answer, gen):
    """read tells, in the main process, which rows were asked for by workers, and no others."""
    lines, _ = lines_of(gen, 6)
    for workers, order in ((2, [4, 1, 2]), (0, [3])):
        data = answer.JsonRows(lines, NAMES)
        list(loader_of(data, workers, sampler=order))
        wanted = torch.zeros(6, dtype=torch.bool)
        wanted[order] = True
        call = f"data.read after rows {order} were read by {workers} workers"
        likely = "a worker writes into a copy: keep read in shared memory"
        yours = data.read.tolist()
        expect_that(bool((data.read | ~wanted).all()), f"wrong {call}", yours=yours, likely=likely)
        expect_equal(data.read.clone(), wanted, call)


def test_read_bad(answer):
    """A bad row was asked for, too."""
    data = answer.JsonRows(list(BAD.values()), NAMES)
    for row in (1, 3):
        expect_raises(answer.BadRow, lambda row=row: data[row], f"data[{row}]")
    yours, wanted = data.read.tolist(), [False, True, False, True]
    told, likely = "wrong data.read after rows 1 and 3, both bad", "the error comes before read is written"
    expect_that(yours == wanted, told, yours=yours, wanted=wanted, likely=likely)


@pytest.mark.fine
def test_reasons(answer):
    """The message says which key is missing, and which name is unknown."""
    for place, (why, words) in enumerate([("no x", "x"), ("no name", "name"), ("an unknown name", "cow")]):
        expect_bad(answer, BAD[why], place, why, 0, words=words)


@pytest.mark.fine
def test_other_bad_rows(answer):
    """A row is bad, too, if x is no list of numbers, or the line no JSON object."""
    for why, line in {
        "texts for x": '{"x": ["a", "b"], "name": "cat"}',
        "a text for x": '{"x": "ab", "name": "cat"}',
        "null for x": '{"x": null, "name": "cat"}',
        "rows of different lengths for x": '{"x": [[1], [2, 3]], "name": "cat"}',
        "a list": "[1, 2]",
        "a number": "7",
        "a list for a name": '{"x": [1], "name": ["cat"]}',
    }.items():
        expect_bad(answer, line, 2, why, 0)


@pytest.mark.fine
def test_last(answer, gen):
    """Row -1 is the last, which messages and read count from the front."""
    lines, wanted = lines_of(gen, 4)
    data = answer.JsonRows([*lines, "7 x"], NAMES)
    expect_equal(data[-2], wanted[3], "data[-2], of 5 rows")
    expect_raises(answer.BadRow, lambda: data[-1], "data[-1], row 4 of 5,", words="4")
    expect_equal(
        data.read.tolist(), [False, False, False, True, True], "data.read after data[-2] and data[-1]"
    )


@pytest.mark.fine
def test_beyond(answer, gen):
    """An index beyond the rows is an IndexError."""
    data = answer.JsonRows(lines_of(gen)[0], NAMES)
    for row in (5, -6):
        expect_raises(IndexError, lambda row=row: data[row], f"data[{row}], of 5 rows")


def oracle(answer, gen):
    def rows(gen, workers):
        return list(outcome(answer.JsonRows(lines_of(gen, 7)[0], NAMES), workers)[0])

    def ended(gen):
        """How many rows come before a bad one, what they are, and whether it is named."""
        lines, place = lines_of(gen, 9)[0], int(torch.randint(1, 9, (), generator=gen))
        lines[place] = BAD["an unknown name"]
        before, error = outcome(answer.JsonRows(lines, NAMES), 2)
        return [before, isinstance(error, answer.BadRow), bool(re.search(rf"\brow {place}\b", str(error)))]

    def read(gen):
        order = torch.randperm(90, generator=gen)[:40].tolist()
        data = answer.JsonRows(lines_of(gen, 90)[0], NAMES)
        list(loader_of(data, 2, sampler=order))
        return data.read.clone()

    return {
        "good rows": lambda gen: rows(gen, 0),
        "good rows from two workers": lambda gen: rows(gen, 2),
        "rows before a bad one": ended,
        "which rows were read": read,
    }
