"""What a check draws depends on the seed and the check, and on nothing that an answer has set."""

import torch

from grader.checks import rng


def test_streams_dtype_and_threads_start_anew():
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(2)
        rng.seed_globals(0, "a check")
        drawn = torch.randn(3)
        assert (drawn.dtype, torch.get_num_threads()) == (torch.float32, 1)
        rng.seed_globals(0, "a check")
        assert torch.equal(torch.randn(3), drawn)
    finally:
        rng.settle()


def test_cuda_is_not_asked_where_gpus_are_hidden(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(asked.append("asked")))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    rng.set_globals(0)
    assert not asked
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    rng.set_globals(0)
    assert asked
