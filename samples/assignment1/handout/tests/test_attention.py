import pytest
import torch

from .adapters import run_attention, run_self_attention


def test_attention(snapshot, q, k, v):
    snapshot.check(run_attention(q, k, v))


def test_attention_with_mask(snapshot, q, k, v, mask):
    snapshot.check(run_attention(q, k, v, mask))


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)], ids=["none", "heads", "batch-heads"])
def test_attention_of_any_batch(draw, leading):
    q, k, v = draw(*leading, 2, 4), draw(*leading, 6, 4), draw(*leading, 6, 4)
    found = run_attention(q, k, v)
    assert found.shape == (*leading, 2, 4)


def test_self_attention(snapshot, state_dict, draw):
    snapshot.check(run_self_attention(2, state_dict, draw(2, 6, 8)))


def test_self_attention_sees_no_future(state_dict, draw):
    x = draw(1, 6, 8)
    changed = x.clone()
    changed[:, 4:] = 0
    before, after = (run_self_attention(2, state_dict, one)[:, :4] for one in (x, changed))
    torch.testing.assert_close(before, after)
