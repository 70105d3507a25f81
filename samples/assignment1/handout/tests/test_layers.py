import torch

from .adapters import run_embedding, run_linear, run_rmsnorm, run_softmax


def test_linear(snapshot, draw):
    snapshot.check(run_linear(draw(6, 4), draw(2, 3, 4)))


def test_embedding(snapshot, draw):
    snapshot.check(run_embedding(draw(10, 4), torch.tensor([[3, 1, 4], [1, 5, 9]])))


def test_rmsnorm(snapshot, draw):
    snapshot.check(run_rmsnorm(draw(8), 1e-5, draw(2, 3, 8)))


def test_rmsnorm_of_silence(draw):
    """A row of zeros stays one."""
    silent = torch.zeros(2, 8)
    torch.testing.assert_close(run_rmsnorm(draw(8), 1e-5, silent), silent)


def test_softmax(draw):
    x = draw(3, 4, 5)
    for dim in (0, 1, -1):
        torch.testing.assert_close(run_softmax(x, dim), torch.softmax(x, dim))


def test_softmax_of_large_scores(draw):
    x = draw(3, 5)
    torch.testing.assert_close(run_softmax(x + 100, -1), run_softmax(x, -1), rtol=1e-4, atol=1e-4)
