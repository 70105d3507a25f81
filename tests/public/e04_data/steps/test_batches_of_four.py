"""The suite of batches_of_four."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def draw(gen):
    found = {}
    for least in (5, 100, 200):
        rows = least + int(torch.randint(40, (), generator=gen)) * 2 + 1  # odd: the last batch is short
        found[f"of {rows} rows"] = given(torch.zeros(rows, 2), torch.zeros(rows))
    return found


def sizes(features, labels):
    full, rest = divmod(len(labels), 4)
    return [4] * full + [rest] * (rest > 0)


contract = Contract(
    "batches_of_four(features, labels)",
    reference=sizes,
    example=(given(torch.zeros(10, 3), torch.zeros(10)), [4, 4, 2]),
    inputs=draw,
    suspects={
        "every batch has one row: DataLoader was not told batch_size=4": lambda features, labels: (
            [1] * len(labels)
        ),
        "the last batch is what is left over, mostly less than four": lambda features, labels: (
            [4] * -(-len(labels) // 4)
        ),
        "the last batch is left out, which drop_last=True does": lambda features, labels: (
            [4] * (len(labels) // 4)
        ),
        "the columns are counted, and not the rows of a batch": lambda features, labels: (
            [features.shape[1]] * len(sizes(features, labels))
        ),
        "this is the number of batches: their sizes are asked for": lambda features, labels: len(
            sizes(features, labels)
        ),
    },
)


def test_batch_size(answer):
    """Eight rows make two batches."""
    yours = answer.batches_of_four(torch.zeros(8, 3), torch.zeros(8))
    expect_that(
        yours != [1] * 8, "every batch has one row: DataLoader was not told batch_size=4", yours=str(yours)
    )
    expect_that(yours != [3] * 2, "the columns were counted, not the rows of a batch", yours=str(yours))
    expect_that(
        yours == [4, 4], "wrong sizes of the batches of eight rows", yours=str(yours), wanted="[4, 4]"
    )
