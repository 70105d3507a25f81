"""The worked example of paged_cache."""

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    cache = answer.PagedCache(num_blocks=4, block_size=2, heads=1, dim=1)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]).view(5, 1, 1)
    for what, act, free in (
        ('append("a", …) of 3 tokens', lambda: cache.append("a", x[:3], -x[:3]), 2),
        ('fork("a", "b")', lambda: cache.fork("a", "b"), 2),
        ('append("b", …) of a token', lambda: cache.append("b", x[3:4], -x[3:4]), 1),
        ('append("a", …) of a token', lambda: cache.append("a", x[4:], -x[4:]), 1),
    ):
        act()
        expect_equal(cache.num_free, free, f"cache.num_free after cache.{what}")
    for name, wanted in (("b", [1.0, 2.0, 3.0, 4.0]), ("a", [1.0, 2.0, 3.0, 5.0])):
        keys, values = cache.gather(name)
        expect_equal(keys.flatten().tolist(), wanted, f'the keys of cache.gather("{name}")')
        expect_equal((-values).flatten().tolist(), wanted, f'the values of cache.gather("{name}"), negated')
    cache.free("a")
    expect_equal(cache.num_free, 2, 'cache.num_free after cache.free("a")')
