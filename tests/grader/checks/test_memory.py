"""Bytes are counted where there are any, and graphs are told from what they have saved."""

import numpy
import torch

from grader.checks import held_bytes, marked, peak_bytes


def test_new_tensors_count_once() -> None:
    x = torch.ones(100)
    assert peak_bytes(lambda: x.view(10, 10).t()) == 0
    assert peak_bytes(lambda: (x + 1).view(10, 10).mul_(2)) == 400
    assert held_bytes(lambda: (x + 1).sum()) == 4


def test_what_is_made_of_numbers_counts() -> None:
    assert peak_bytes(lambda: torch.tensor([1.0] * 100)) == 400
    assert held_bytes(lambda: torch.tensor([1.0] * 100)[:3]) == 400
    array = numpy.ones(100)
    assert peak_bytes(lambda: torch.from_numpy(array)[:3]) == 0


def test_meta_has_no_memory() -> None:
    x = torch.ones(100)
    assert peak_bytes(lambda: x.to("meta") + torch.empty(100, device="meta")) == 0


def test_sparse_tensors_count_by_what_is_made_for_them() -> None:
    at, x = torch.arange(3).repeat(2, 1), torch.ones(3, 4)
    peak = peak_bytes(lambda: torch.sparse_coo_tensor(at, torch.ones(3), (3, 3)) @ x)
    assert 12 + 48 <= peak <= 120


def test_mark_lives_as_long_as_the_graph() -> None:
    x = torch.ones(3, requires_grad=True)
    copy, mark = marked(x)
    loss = copy.sum()
    del copy
    loss.backward()
    assert torch.equal(x.grad, torch.ones(3)) and mark() is not None
    total = loss.detach()
    del loss
    assert mark() is None and total == 3
