"""What grades learning_curve: lines, what counts of a log, smoothing, points; NaN, crashes, bounds."""

import io
import json
import math
from functools import partial
from xml.etree import ElementTree

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values

NAN = math.nan


def averaged(series, weight, corrected=True, swapped=False, begin=0.0, nan="stays"):
    """The smoothed values; or with a mistake."""
    found, mean, n = [], begin, 0
    for value in series.tolist():
        if math.isnan(value) and nan == "stays":
            found.append(value)
            continue
        if math.isnan(value) and nan == "zero":
            value = 0.0
        n += 1
        keep = 1 - weight if swapped else weight
        mean = keep * mean + (1 - keep) * value
        if begin != begin and n == 1:
            mean = value
        found.append(mean / (1 - keep**n) if corrected else mean)
    return torch.tensor(found, dtype=torch.float64)


def wrong(**how):
    return partial(averaged, **how)


def series(gen, count):
    return 1.0 + 3 * torch.rand(count, generator=gen, dtype=torch.float64)


smooth = Contract(
    "smooth(values, weight)",
    reference=averaged,
    use=lambda answer, x, weight: torch.tensor(
        [float(v) for v in answer.smooth(x.tolist(), weight)], dtype=torch.float64
    ),
    inputs=lambda gen: {
        "nine values, weight=0.75": given(series(gen, 9), 0.75),
        "five values, weight=0.875": given(series(gen, 5), 0.875),
        "six values, weight=0.25": given(series(gen, 6), 0.25),
    },
    dims="value",
    scale=10.0,
    suspects={
        "the mean is pulled towards 0: divide by 1 - weightⁿ": wrong(corrected=False),
        "weight belongs to the mean, not to the value": wrong(swapped=True),
        "the mean begins with the first value: it begins at 0, and is divided": wrong(
            corrected=False, begin=NAN
        ),
        "NaN spoils what follows": wrong(nan="spoils"),
        "NaN is taken for 0": wrong(nan="zero"),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "NaN at the third place": given(torch.tensor([2.0, 1.5, NAN, 1.0, 0.5]).double(), 0.75),
                "NaN first": given(torch.tensor([NAN, 1.5, 1.0]).double(), 0.75),
            },
            name="nan",
            title="NaN stays where it is, and counts nowhere else.",
        ),
        values(
            inputs=lambda gen: {
                "no values": given(torch.zeros(0).double(), 0.5),
                "weight=0": given(series(gen, 4), 0.0),
            },
            name="ends",
            title="There may be no values, and weight may be 0.",
        ),
    ],
)


def lines_of(entries, name="loss"):
    return [json.dumps({"step": step, name: value}) + "\n" for step, value in entries]


def followed(entries, drop="from it on"):
    """The steps and values that count, of pairs in the order of the log; or with a mistake."""
    found = {}
    for step, value in entries:
        if drop == "from it on":
            found = {s: v for s, v in found.items() if s < step}
        elif drop == "first" and step in found:
            continue
        found[step] = value
    if drop == "nothing":
        return [step for step, _ in entries], [value for _, value in entries]
    return sorted(found), [found[step] for step in sorted(found)]


def run_of(gen, *starts):
    """The log of a run that begins at steps such as 0, 4, 6, and gets five steps far each time."""
    found = []
    for start in starts:
        drawn = torch.rand(5, generator=gen, dtype=torch.float64).tolist()
        found += [(start + n, value) for n, value in enumerate(drawn)]
    return found


def pairs(found):
    return [list(part) for part in found]


@pytest.mark.parametrize("starts", [(0,), (0, 3), (0, 3, 6, 2)], ids=str)
def test_what_counts(answer, gen, starts):
    """Where a step comes again, what was there from it on is dropped."""
    entries = run_of(gen, *starts)[:-2]
    suspects = {
        "the values of a run that was given up are still there: drop all from the step on": lambda: pairs(
            followed(entries, "same step")
        ),
        "of equal steps the first counts: the later one is wanted": lambda: pairs(followed(entries, "first")),
        "nothing is dropped": lambda: pairs(followed(entries, "nothing")),
    }
    call = f'read_curve(lines, "loss") of the steps {[step for step, _ in entries]}'
    found = answer.read_curve(lines_of(entries), "loss")
    expect_equal(pairs(found), pairs(followed(entries)), call, suspects=suspects)


def test_names(answer, gen):
    """Each name has its own curve: a line of another name drops nothing."""
    train, held_out = run_of(gen, 0, 5), [(4, 0.5), (9, 0.25)]
    lines = (
        lines_of(train[:5])
        + lines_of(held_out[:1], "val")
        + lines_of(train[5:])
        + lines_of(held_out[1:], "val")
    )
    found = pairs(answer.read_curve(lines, "loss"))
    kept = [entry for entry in train if entry[0] not in (4, 9)]
    drops = "a line of another name drops values: look at those with the name"
    suspects = {drops: lambda: pairs(zip(*kept, strict=True))}
    expect_equal(found, pairs(followed(train)), 'read_curve(lines, "loss")', suspects=suspects)
    expect_equal(pairs(answer.read_curve(lines, "val")), [[4, 9], [0.5, 0.25]], 'read_curve(lines, "val")')


def test_lines(answer):
    """A record is a line of JSON with all its scalars, at the end of the file."""
    file = io.StringIO()
    answer.record(file, 3, loss=0.5, rate=0.125)
    answer.record(file, 4, loss=0.25)
    expect_that(file.getvalue().endswith("\n"), "the line has no end", yours=repr(file.getvalue()[-20:]))
    found = [json.loads(line) for line in file.getvalue().splitlines()]
    wanted = [{"step": 3, "loss": 0.5, "rate": 0.125}, {"step": 4, "loss": 0.25}]
    expect_equal(
        found, wanted, "the lines after record(file, 3, loss=0.5, rate=0.125) and record(file, 4, loss=0.25)"
    )


@pytest.mark.fine
def test_cut_lines(answer, gen):
    """Lines that a crash has cut are skipped."""
    entries = run_of(gen, 0)
    lines = lines_of(entries)
    lines[2:2] = ['{"step": 2, "lo', lines[1][:5] + lines[0]]
    found = answer.read_curve([*lines, '{"step": 5, "loss": 0.'], "loss")
    expect_equal(pairs(found), pairs(followed(entries)), 'read_curve(lines, "loss") where lines are cut')


@pytest.mark.fine
def test_strict_json(answer):
    """Tensors are recorded as numbers, NaN and infinities as null, which is read as NaN."""
    file = io.StringIO()
    answer.record(file, 0, loss=torch.tensor([0.5], requires_grad=True))
    for step, value in enumerate([NAN, math.inf, torch.tensor(-math.inf)], 1):
        answer.record(file, step, loss=value)
    text = file.getvalue()
    bad = [word for word in ("NaN", "Infinity", "tensor") if word in text]
    expect_that(not bad, "the log is no JSON: it has no such word", yours=text, words=", ".join(bad))
    wanted = [0.5, None, None, None]
    expect_equal([json.loads(line)["loss"] for line in text.splitlines()], wanted, "the recorded losses")
    _, found = answer.read_curve(text.splitlines(), "loss")
    expect_equal(
        [repr(value) for value in found], ["0.5", "nan", "nan", "nan"], "their values from read_curve"
    )


@pytest.mark.fine
def test_flushed(answer):
    """Each record is flushed, so that a crash right after it loses nothing."""
    raw = io.BytesIO()
    with io.TextIOWrapper(io.BufferedWriter(raw), write_through=False) as file:
        answer.record(file, 0, loss=0.5)
        written = raw.getvalue()
        expect_that(written.endswith(b"\n"), "the record waits in a buffer: flush the file", yours=written)


def scaled(steps, curve, width, height, upside=False, count=False, zero=False, tight=False):
    """The points of the curve; or with a mistake."""
    steps, low = steps.double(), 0.0 if zero else curve.min().item()
    high = curve.max().item()
    if count:
        steps = torch.arange(len(steps)).double()
    first = 0.0 if tight else steps[0]
    x = width * (steps - first) / (steps[-1] - first).clamp(min=1)
    y = height * (high - curve) / (high - low) if high > low else torch.full_like(curve, height / 2)
    return torch.stack([x, height - y if upside else y], 1)


def polylines(answer, steps, curve, width, height):
    """The points of each polyline."""
    picture = answer.draw(steps.tolist(), curve.tolist(), width, height)
    try:
        root = ElementTree.fromstring(picture)
    except (ElementTree.ParseError, TypeError):
        expect_that(False, "draw(…) is no XML", yours=str(picture)[:200])
    lines = [e.get("points") or "" for e in root.iter() if e.tag.endswith("polyline")]
    numbers = [[float(n) for n in line.replace(",", " ").split()] for line in lines]
    return [torch.tensor(found, dtype=torch.float64).view(-1, 2) for found in numbers]


def curve_of(gen, count, width, height):
    steps = 20 + (1 + torch.randint(1, 9, (count,), generator=gen)).cumsum(0)
    return given(steps, 2 + 5 * torch.rand(count, generator=gen, dtype=torch.float64), width, height)


draw = Contract(
    "draw(steps, values, width, height)",
    reference=scaled,
    use=lambda answer, *args: torch.cat(polylines(answer, *args) or [torch.zeros(0, 2).double()]).round(
        decimals=1
    ),
    inputs=lambda gen: {
        "nine values": curve_of(gen, 9, 300, 100),
        "fourteen values": curve_of(gen, 14, 200, 400),
        "twenty values": curve_of(gen, 20, 640, 480),
    },
    dims="point (x,y)",
    widens=False,
    ulps=0.15 / torch.finfo(torch.float64).eps,
    scale=1.0,
    suspects={
        "y is upside down: in an SVG it grows downward": partial(scaled, upside=True),
        "values are drawn at equal distances: x follows the steps": partial(scaled, count=True),
        "values are drawn from 0: the lowest lies at the lower edge": partial(scaled, zero=True),
        "x begins at step 0: the first step lies at the left edge": partial(scaled, tight=True),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "equal values": given(torch.tensor([3, 5, 9]), torch.full((3,), 0.5).double(), 90, 60),
                "one value": given(torch.tensor([7]), torch.tensor([2.0]).double(), 90, 60),
            },
            name="bounds",
            title="Where all values are equal, they lie in the middle; a single step is at the left edge.",
        )
    ],
)


@pytest.mark.fine
def test_broken_curve(answer):
    """NaN breaks the curve into several polylines, and counts for no bound."""
    steps = torch.tensor([0, 1, 2, 3, 4, 5])
    curve = torch.tensor([4.0, 3.0, NAN, 1.0, NAN, 0.0]).double()
    found = [part.tolist() for part in polylines(answer, steps, curve, 100, 40) if len(part)]
    rounded = [[[round(x, 1) + 0.0, round(y, 1) + 0.0] for x, y in part] for part in found]
    wanted = [[[0.0, 0.0], [20.0, 10.0]], [[60.0, 30.0]], [[100.0, 40.0]]]
    expect_equal(rounded, wanted, "the polylines of draw(…) where values are NaN")


def oracle(answer, gen):
    logs = {str(starts): run_of(gen, *starts) for starts in [(0,), (0, 3), (0, 4, 2)]}
    curves = [curve_of(gen, 9, 300, 100).args for _ in range(3)]

    def recorded(gen):
        file = io.StringIO()
        for step, value in logs["(0,)"]:
            answer.record(file, step, loss=value, more=value / 2)
        return [json.loads(line) for line in file.getvalue().splitlines()]

    def smoothed(gen):
        return [torch.tensor(answer.smooth(curve.tolist(), 0.75)) for _, curve, *_ in curves]

    def drawn(gen):  # points are rounded: their number, beside what is drawn
        return [(len(torch.cat(polylines(answer, *args))), args[1]) for args in curves]

    return {
        "records": recorded,
        **{
            f"the log of a run that begins at {name}": lambda gen, log=log: pairs(
                answer.read_curve(lines_of(log), "loss")
            )
            for name, log in logs.items()
        },
        "smoothed values": smoothed,
        "points of pictures": drawn,
    }
