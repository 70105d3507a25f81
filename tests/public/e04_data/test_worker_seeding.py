"""The contract of worker_seeding."""

import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_that
from grader.checks.dataloader.workers import FORKED


def test_two_workers(answer):
    """With two workers, no two recordings get the same noise."""
    dataset = answer.NoisyRecordings(torch.zeros(4, 2), noise=1.0, seed=0)
    loader = DataLoader(dataset, num_workers=2, multiprocessing_context=FORKED)
    readings = [tuple(batch[0].tolist()) for batch in loader]
    expect_that(
        len(set(readings)) == 4,
        "two recordings get the same noise",
        yours=f"recordings 0 and 1, from two workers, get {readings[0]} and {readings[1]}",
        wanted="other noise in each worker",
    )


def test_shape_and_length(answer):
    """A reading has the shape and the dtype of its recording, and there are as many as recordings."""
    dataset = answer.NoisyRecordings(torch.zeros(5, 3, dtype=torch.float64), noise=0.5)
    expect_equal(len(dataset), 5, "len(dataset)")
    expect_equal(tuple(dataset[1].shape), (3,), "the shape of dataset[1]")
    expect_equal(dataset[1].dtype, torch.float64, "the dtype of dataset[1]")
    expect_that(not torch.equal(dataset[1], dataset[1]), "dataset[1] has the same noise twice")
