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
