"""Item difficulty and discrimination, against numbers worked out by hand and by NumPy."""

import math

import numpy as np
import pytest

from grader.classroom.report.statistics import correlation, histogram, items, mean, median

NAN = math.nan


def test_numbers_worked_out_by_hand():
    """Four students; the third column runs against the other two.

    Column 0 is 2 2 1 0 of 2: mean 1.25, difficulty 0.625. Its rest is the sum of the others, 1 2 2 1: its
    mean is 1.5 and its deviations are -.5 .5 .5 -.5, against .75 .75 -.25 -1.25, so the products sum to 0.5,
    the squares to 2.75 and 1, and r is 0.5 / sqrt(2.75).
    """
    scores = np.array([[2.0, 1, 0], [2, 1, 1], [1, 1, 1], [0, 0, 1]])
    first, second, third = items(scores, [2, 1, 1])
    assert first.judged == 4
    assert first.difficulty == pytest.approx(0.625)
    assert first.discrimination == pytest.approx(0.5 / math.sqrt(2.75))
    # 1 1 1 0 against 2 3 2 1: products .25*(0) + .25*1 + .25*0 + -.75*-1 = 1; squares .75 and 2.
    assert second.discrimination == pytest.approx(1 / math.sqrt(1.5))
    # 0 1 1 1 against 3 3 2 0: deviations -.75 .25 .25 .25 and 1 1 0 -2: -.75+.25-.5 = -1; squares .75 and 6.
    assert third.discrimination == pytest.approx(-1 / math.sqrt(4.5))
    assert third.difficulty == pytest.approx(0.75)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_numpy(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 4, size=7).astype(float)
    scores = rng.integers(0, 5, size=(23, 7)) / 4 * points
    for column, item in enumerate(items(scores, points)):
        rest = np.delete(scores, column, axis=1).sum(axis=1)
        assert item.difficulty == pytest.approx(scores[:, column].mean() / points[column])
        assert item.discrimination == pytest.approx(np.corrcoef(scores[:, column], rest)[0, 1])


def test_what_was_not_judged_counts_for_nothing():
    scores = np.array([[1.0, 1, NAN], [0, 0, 2], [1, 0, 0], [NAN, 1, 1], [0, 1, 2]])
    first = items(scores, [1, 1, 2])[0]
    assert (first.judged, first.difficulty) == (4, 0.5)
    shares = [1 / 1, 2 / 3, 0 / 3, 3 / 3]  # of what each could earn elsewhere
    assert first.discrimination == pytest.approx(np.corrcoef([1, 0, 1, 0], shares)[0, 1])


def test_a_student_with_nothing_else_has_no_rest():
    scores = np.array([[1.0, NAN], [1, 0], [0, 1], [1, 0]])
    assert items(scores, [1, 1])[0].difficulty == 0.75
    assert items(scores, [1, 1])[0].discrimination == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("rows", "difficulty"),
    [([[1.0, 0.5]], 1.0), ([[1.0, 0.5], [0.0, 1.0]], 0.5), ([[1.0, 0.0], [1.0, 1.0], [1.0, 0.5]], 1.0)],
    ids=["one student", "two students", "no variance"],
)
def test_no_correlation_without_a_spread(rows, difficulty):
    item = items(np.array(rows), [1, 1])[0]
    assert (item.difficulty, item.discrimination) == (difficulty, None)


def test_one_exercise_has_no_others():
    assert items(np.array([[0.0], [1], [1]]), [1])[0].discrimination is None


def test_nobody_judged_and_worth_nothing():
    assert items(np.array([[NAN, 1.0]] * 3), [1, 1])[0].difficulty is None
    assert items(np.array([[0.0, 1.0]] * 3), [0, 1])[0].difficulty is None
    assert items(np.empty((0, 1)), [1])[0].judged == 0


def test_rounding_is_no_variance():
    thirds = np.array([0.1 + 0.2, 0.3, 0.3, 0.3])
    assert correlation(thirds, np.arange(4.0)) is None
    assert correlation(np.arange(4.0), 3 * np.arange(4.0) + 1) == 1.0


def test_tenths():
    assert histogram([]) == [0] * 10
    assert histogram([0.0, 0.05, 0.1, 0.3, 0.1 + 0.2, 0.99, 1.0]) == [2, 1, 0, 2, 0, 0, 0, 0, 0, 2]


def test_middles():
    assert (mean([]), median([])) == (None, None)
    assert (mean([1, 2, 6]), median([1, 2, 6])) == (3.0, 2.0)
