"""The worked example of learning_curve."""

import io
import json
from xml.etree import ElementTree

import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given

smooth = Contract(
    "smooth(values, weight)",
    example=(given([2.0, 1.0, 0.75], 0.5), [2.0, 4 / 3, 1.0]),
    dims="value",
    use=lambda answer, values, weight: torch.tensor(answer.smooth(values, weight)),
)


def test_log(answer):
    """Three records are three lines of JSON, and are read again."""
    file = io.StringIO()
    for step, loss in enumerate([2.0, 1.0, 0.75]):
        answer.record(file, step, loss=loss)
    lines = file.getvalue().splitlines()
    expect_equal(len(lines), 3, "the number of lines after three records")
    expect_equal(json.loads(lines[2]), {"step": 2, "loss": 0.75}, "the line of record(file, 2, loss=0.75)")
    found = answer.read_curve(lines, "loss")
    expect_equal(tuple(found), ([0, 1, 2], [2.0, 1.0, 0.75]), 'read_curve(lines, "loss")')


def test_picture(answer):
    """The picture of the statement comes out."""
    picture = answer.draw([0, 1, 2], [2.0, 1.0, 0.75], 200, 100)
    try:
        root = ElementTree.fromstring(picture)
    except (ElementTree.ParseError, TypeError):
        expect_that(False, "draw(…) is no XML: a browser shows nothing", yours=str(picture)[:200])
    expect_equal(root.get("viewBox"), "0 0 200 100", "viewBox of draw(…)")
    lines = [e.get("points") for e in root.iter() if e.tag.endswith("polyline")]
    expect_equal(len(lines), 1, "the number of polylines from draw(…)")
    numbers = [float(n) for n in lines[0].replace(",", " ").split()]
    wanted = [0.0, 0.0, 100.0, 80.0, 200.0, 100.0]
    close = len(numbers) == 6 and all(abs(a - b) < 0.05 for a, b in zip(numbers, wanted, strict=True))
    told = "wrong points from draw([0, 1, 2], [2.0, 1.0, 0.75], 200, 100)"
    likely = "y is upside down: in an SVG it grows downward" if numbers[1:4:2] == [100.0, 20.0] else ""
    expect_that(close, told, yours=numbers, wanted=wanted, likely=likely)
