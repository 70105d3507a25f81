"""The worked example of kv_cache."""

import torch

from grader.checks import expect_close, expect_equal

X = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])
MEANS = torch.tensor([[[2.0, 0.0], [3.0, 1.0], [2.0, 2.0]]])


def test_worked_example(answer):
    """The worked example of the statement comes out, without and with a cache."""
    layer = answer.CachedAttention(2, heads=1)
    qkv = torch.cat([torch.zeros(4, 2), torch.eye(2)])
    layer.load_state_dict({"qkv.weight": qkv, "out.weight": torch.eye(2)})
    suspects = {"tokens see those after them": lambda: MEANS[:, 2:].expand(1, 3, 2)}
    expect_close(layer(X).detach(), MEANS, "layer(x)", dims="batch time dim", suspects=suspects)
    cache = layer.make_cache(batch=1, capacity=8)
    expect_close(layer(X[:, :2], cache).detach(), MEANS[:, :2], "layer(x[:, :2], cache)")
    expect_equal(cache.length, 2, "cache.length")
    suspects = {"it does not see the tokens in the cache": lambda: X[:, 2:]}
    expect_close(layer(X[:, 2:], cache).detach(), MEANS[:, 2:], "layer(x[:, 2:], cache)", suspects=suspects)
    expect_equal(cache.length, 3, "cache.length")
    cache.truncate(1)
    expect_equal(cache.length, 1, "cache.length after truncate(1)")
    expect_close(layer(X[:, 1:2], cache).detach(), MEANS[:, 1:2], "layer(x[:, 1:2], cache) after truncate(1)")
