"""The worked example of balanced_sampler, and what a loader gives."""

import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract

sample_weights = Contract(
    "sample_weights(labels)",
    example=(torch.tensor([0, 0, 0, 2]), [1 / 6, 1 / 6, 1 / 6, 1 / 2]),
    use=lambda answer, labels: torch.as_tensor(answer.sample_weights(labels)).float(),
)


def test_loader(answer):
    """A loader gives as many examples as the dataset has, and half of them are of the rare class."""
    labels = torch.tensor([0] * 950 + [1] * 50)
    found = torch.cat(list(answer.balanced_loader(labels, labels, batch_size=8, seed=1)))
    expect_equal(len(found), 1000, "the number of examples in an epoch")
    rare = int(found.sum())
    told = "the share of the rare class, which is 5 % of the dataset, is not a half"
    expect_that(400 < rare < 600, told, yours=f"{rare} of 1000 examples", wanted="about 500")
