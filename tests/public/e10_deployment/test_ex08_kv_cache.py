"""The contract of kv_cache."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises, expect_view
from grader.checks.registered import expect_registered

X = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])
MEANS = torch.tensor([[[2.0, 0.0], [3.0, 1.0], [2.0, 2.0]]])


def example(answer):
    """The layer of the worked example: no queries and keys, identities for values and out."""
    layer = answer.CachedAttention(2, heads=1)
    qkv = torch.cat([torch.zeros(4, 2), torch.eye(2)])
    layer.load_state_dict({"qkv.weight": qkv, "out.weight": torch.eye(2)})
    return layer


def test_worked_example(answer):
    """The worked example of the statement comes out, without and with a cache."""
    layer = example(answer)
    expect_close(layer(X).detach(), MEANS, "layer(x)", dims="batch time dim")
    cache = layer.make_cache(batch=1, capacity=8)
    expect_close(layer(X[:, :2], cache).detach(), MEANS[:, :2], "layer(x[:, :2], cache)")
    expect_equal(cache.length, 2, "cache.length")
    expect_close(layer(X[:, 2:], cache).detach(), MEANS[:, 2:], "layer(x[:, 2:], cache)")
    expect_equal(cache.length, 3, "cache.length")


def test_truncate(answer):
    """After cache.truncate(1) the next token is number 1 again."""
    layer = example(answer)
    cache = layer.make_cache(batch=1, capacity=8)
    layer(X, cache)
    cache.truncate(1)
    expect_equal(cache.length, 1, "cache.length after truncate(1)")
    expect_close(layer(X[:, 1:2], cache).detach(), MEANS[:, 1:2], "layer(x[:, 1:2], cache) after truncate(1)")


def test_append(answer):
    """append returns views of all keys and values; a full cache raises ValueError."""
    cache = answer.KVCache(2, 3, 4, 6)
    k, v = torch.ones(2, 3, 1, 6), torch.zeros(2, 3, 1, 6)
    first, _ = cache.append(k, v)
    keys, values = cache.append(2 * k, v)
    expect_equal(keys.clone(), torch.cat([k, 2 * k], 2), "the keys from cache.append(…)")
    expect_equal(values.clone(), torch.zeros(2, 3, 2, 6), "the values from cache.append(…)")
    expect_view(keys, first, "cache.append(…)")
    three = torch.ones(2, 3, 3, 6)
    expect_raises(ValueError, lambda: cache.append(three, three), "append of 3 tokens with room for 2")


def test_registered(answer):
    """The two linear layers are registered, and nothing else."""
    shapes = {"qkv.weight": [24, 8], "out.weight": [8, 8]}
    expect_registered(answer.CachedAttention(8, 2), "CachedAttention(8, 2)", parameters=shapes)
