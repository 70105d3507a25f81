"""What independent_streams shows in its example."""

import torch

from grader.checks import expect_equal, expect_that


def test_streams_of_the_example(answer):
    """Streams(7) gives the same numbers each time, those of its generator, and then others."""
    streams = answer.Streams(seed=7)
    first, second = (streams.normal("weights", (2, 3)) for _ in range(2))
    anew = answer.Streams(seed=7)
    wanted = torch.randn(2, 3, generator=anew.generator("weights"))
    expect_equal(first, wanted, 'Streams(7).normal("weights", (2, 3))')
    expect_that(not torch.equal(first, second), "a second call gives the same numbers", yours=second)
    expect_equal(anew.normal("weights", (2, 3)), second, "the second numbers of another Streams(7)")
