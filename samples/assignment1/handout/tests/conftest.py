"""Inputs, and snapshots of what the reference makes of them."""

import numpy as np
import pytest
import torch

from .common import FIXTURES, SNAPSHOTS


def pytest_addoption(parser):
    parser.addoption("--write-snapshots", action="store_true", help="keep what the reference returns")


class Snapshot:
    def __init__(self, name, write):
        self.file = SNAPSHOTS / f"{name}.npz"
        self.write = write

    def check(self, actual, rtol=1e-4, atol=1e-5):
        found = actual.detach().numpy()
        if self.write:
            np.savez_compressed(self.file, array=found)
        with np.load(self.file) as kept:
            np.testing.assert_allclose(found, kept["array"], rtol=rtol, atol=atol)


@pytest.fixture
def snapshot(request):
    """Compares an array with the file of this test's name."""
    return Snapshot(request.node.name, request.config.getoption("--write-snapshots"))


@pytest.fixture
def draw():
    """Draws the same numbers for every test."""
    generator = torch.Generator().manual_seed(1)
    return lambda *shape: torch.randn(*shape, generator=generator)


@pytest.fixture
def q(draw):
    return draw(2, 3, 8)


@pytest.fixture
def k(q, draw):
    return draw(2, 5, 8)


@pytest.fixture
def v(k, draw):
    return draw(2, 5, 8)


@pytest.fixture
def mask():
    return torch.tensor([[1, 0, 0, 1, 0], [1, 1, 0, 0, 1], [0, 1, 1, 1, 1]], dtype=torch.bool)


@pytest.fixture(scope="session")
def state_dict():
    """Weights of one block of a trained model."""
    with np.load(FIXTURES / "block.npz") as file:
        return {name: torch.from_numpy(file[name]) for name in file}


@pytest.fixture(scope="session")
def corpus():
    return FIXTURES / "corpus.txt"
