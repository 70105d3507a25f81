"""What grades broadcast_shape: results and errors for two shapes and more; sizes of 0, messages, lists."""

from itertools import zip_longest

import pytest
import torch

from grader.checks import expect_equal, expect_raises, forbid, forbid_files
from grader.checks.contract import Contract, errors, given, values

CALL = "broadcast_shape(shapes)"
OWN = ("torch/functional.py", "torch/_refs/", "torch/_prims_common/", "torch/_subclasses/", "numpy/")
ERRORS = (ValueError, RuntimeError)


def call(answer, shapes):
    return tuple(answer.broadcast_shape(shapes))


def joined(columns):
    """One size of each column of sizes that fit."""
    return tuple(next((size for size in column if size != 1), 1) for column in columns)


def from_the_right(shapes):
    return joined(zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1))[::-1]


def from_the_left(shapes):
    return joined(zip_longest(*shapes, fillvalue=1))


def shortest(shapes):
    rank = min(len(shape) for shape in shapes)
    return from_the_right([shape[len(shape) - rank :] for shape in shapes])


def drawn(gen, patterns):
    """Shapes like these words, in which equal letters are equal sizes; "." is ()."""
    sizes = dict(zip("abcde", (torch.randperm(9000, generator=gen)[:5] + 2).tolist(), strict=True))
    sizes.update({digit: int(digit) for digit in "01"})
    return given([tuple(sizes[letter] for letter in word.strip(".")) for word in patterns.split()])


def several(**patterns):
    return lambda gen: {about.replace("_", " "): drawn(gen, words) for about, words in patterns.items()}


contract = Contract(
    CALL,
    reference=from_the_right,
    inputs=several(
        two_of_one_rank="a1 1b",
        two_that_are_equal="abc abc",
        two_of_which_one_is_longer="a11 1b",
        two_of_which_one_is_much_longer="abcd d",
        three_of_one_rank="a11 1b1 11c",
        three_of_unequal_rank="c b1 a11",
        three_with_a_size_twice="aba a1a ba",
        two_that_both_have_sizes_of_1="11a 1a",
        a_number_among_them=". ab .",
        one_alone="a1b",
    ),
    use=call,
    suspects={
        "shapes are compared from the left": from_the_left,
        "dimensions that the shortest shape lacks are left out": shortest,
        "only the first two shapes count": lambda shapes: from_the_right(shapes[:2]),
        "the result is the longest shape, with its sizes of 1": lambda shapes: max(shapes, key=len),
    },
    job=[
        errors(
            ERRORS,
            several(
                two_of_one_rank="ab cb",
                two_of_unequal_rank="ab a",
                the_first_and_the_last="a 1 b",
                the_last_and_the_first="a1 1b c1",
                the_middle_one="1a 11 ba c1",
                three_dimensions="a1c a1b",
            ),
            title="Sizes that differ, and are not 1, raise ValueError.",
        )
    ],
    fine=[
        values(
            inputs=several(
                zero_and_one="0 1", one_and_zero="1 0", two_dimensions="a0 10 1", zeros="0a 11 0a"
            ),
            name="sizes_of_0",
            title="A size of 0 counts like any other: beside 1 the result is 0.",
        ),
        errors(
            ERRORS,
            several(zero_first="0 a", zero_last="a 0", two_dimensions="a1 0b"),
            name="errors_of_0",
            title="A size of 0 fits no size but 0 and 1.",
        ),
        values(inputs=lambda gen: [given([])], name="no_shapes", title="An empty list gives ()."),
    ],
)


def test_own_computation(answer):
    """The answer has the rule itself, without tensors and what else knows it."""
    makers = ("empty", "zeros", "ones", "rand", "broadcast_tensors", "broadcast_to", "expand")
    with forbid(CALL, *makers), forbid_files(CALL, *OWN):
        call(answer, [(3, 1), (1, 4), (5, 1, 1)])


@pytest.mark.fine
@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(17, 5), (29, 17, 1), (83, 1)], "-2 17 83"),
        ([(71, 5, 6, 1), (5, 6, 8), (94, 1, 1, 1)], "-4 71 94"),
    ],
)
def test_message(answer, shapes, words):
    """The error's message has the dimension, counted from the right, and the two sizes."""
    expect_raises(ERRORS, lambda: answer.broadcast_shape(shapes), f"broadcast_shape({shapes})", words=words)


@pytest.mark.fine
@pytest.mark.parametrize("kind", [list, torch.Size])
def test_other_sequences(answer, kind):
    """Shapes may be lists and torch.Size, and stay as they are."""
    shapes = [kind([2, 1, 3]), kind([4, 1]), kind([])]
    before = [tuple(shape) for shape in shapes]
    expect_equal(call(answer, shapes), (2, 4, 3), f"{CALL} of {kind.__name__}")
    expect_equal([tuple(shape) for shape in shapes], before, f"the shapes after {CALL}")
