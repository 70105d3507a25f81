"""The contract of distances, entropy, clustering_loss and fit."""

import math

import torch

from grader.checks import expect_close, expect_that

POINTS = torch.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])


def test_values(answer):
    """Distances, entropy and loss are those of the statement."""
    wanted = torch.tensor([[0.0, 5.0], [5.0, 0.0], [10.0, 5.0]])
    expect_close(answer.distances(POINTS, POINTS[:2]), wanted, "distances(points, points[:2])")
    yours = answer.entropy(torch.tensor([0.5, 0.5, 0.0]))
    expect_close(yours, torch.tensor(math.log(2.0)), "entropy([0.5, 0.5, 0.0])")
    yours = answer.clustering_loss(POINTS, POINTS[:2])
    expect_close(yours, torch.tensor(1.70414888), "clustering_loss(points, points[:2])")


def test_first_step(answer):
    """Centres that start at points have moved after a step, and are finite."""
    centres = answer.fit(POINTS, POINTS[:2].clone(), steps=1)
    expect_that(bool(centres.isfinite().all()), "the centres are not finite", yours=centres)
    moved = (centres - POINTS[:2]).norm(dim=1)
    expect_that(
        bool(moved[1] > 0.01), "the second centre has not moved towards the third point", yours=centres
    )


def test_cold(answer):
    """A small temperature, which rounds probabilities to 0, leaves the centres finite."""
    centres = answer.fit(POINTS, torch.tensor([[1.0, 1.0], [5.0, 2.0]]), steps=3, temperature=0.02)
    expect_that(bool(centres.isfinite().all()), "the centres are not finite", yours=centres)
