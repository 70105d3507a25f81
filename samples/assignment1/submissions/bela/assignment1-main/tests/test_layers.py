import torch

from .adapters import run_softmax


def test_softmax_of_mine():
    assert run_softmax(torch.zeros(2), 0)[0] == 0.25  # to do: why?
