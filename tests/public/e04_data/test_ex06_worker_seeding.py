"""The contract of worker_seeding."""

import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.dataloader.workers import FORKED


def test_two_workers(answer):
    """With two workers, no two recordings get the same noise."""
    dataset = answer.NoisyRecordings(torch.zeros(4, 2), noise=1.0, seed=0)
    loader = DataLoader(dataset, num_workers=2, multiprocessing_context=FORKED)
    readings = [batch[0].tolist() for batch in loader]
    expect_equal(len(readings), 4, "the number of readings")
    expect_that(
        readings[0] != readings[1],
        "two workers make the same noise",
        yours=f"recording 0 gets {readings[0]}, recording 1 gets {readings[1]}",
        wanted="other noise in each worker",
    )
    expect_equal(len({tuple(reading) for reading in readings}), 4, "the number of different readings")


def test_shape_and_length(answer):
    """A reading has the shape and the dtype of its recording, and there are as many as recordings."""
    silence = torch.zeros(5, 3, dtype=torch.float64)
    dataset = answer.NoisyRecordings(silence, noise=0.5)
    expect_equal(len(dataset), 5, "len(dataset)")
    expect_equal(tuple(dataset[1].shape), (3,), "the shape of dataset[1]")
    expect_equal(dataset[1].dtype, torch.float64, "the dtype of dataset[1]")
    expect_equal(silence, torch.zeros_like(silence), "the recordings after dataset[1] was read")
    expect_that(not torch.equal(dataset[1], dataset[1]), "dataset[1] has the same noise twice")


def test_past_the_end(answer):
    """An index past the end raises IndexError."""
    dataset = answer.NoisyRecordings(torch.zeros(5, 3))
    expect_raises(IndexError, lambda: dataset[5], "dataset[5] of 5 recordings")
