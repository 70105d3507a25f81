"""The suite of peak_of_a_call."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that


def called(answer, fn):
    """What fn gave, and the bytes."""
    pair = answer.peak_of_a_call(fn)
    what = "peak_of_a_call(fn) is no pair of what fn returns and its bytes"
    expect_that(type(pair) is tuple and len(pair) == 2, what, yours=pair)
    expect_that(pair[0] is not fn, "peak_of_a_call(fn)[0] is fn itself, not what it gives: call it, fn()")
    return pair


def test_without_a_gpu(answer, gen, monkeypatch):
    """Without a GPU, fn is called all the same, and the bytes are None."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for n in (1, 3, 8):
        x = torch.randn(n, generator=gen)
        result, peak = called(answer, lambda x=x: x + 1)
        expect_close(result, x + 1, "peak_of_a_call(fn)[0], where fn gives x + 1,")
        suspects = {"memory is not counted without a GPU: None": lambda: 0}
        expect_equal(peak, None, "peak_of_a_call(fn)[1] without a GPU", suspects=suspects)


def test_called_once(answer, monkeypatch):
    """The function is called once."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    calls = []
    answer.peak_of_a_call(lambda: calls.append(1) or torch.zeros(2))
    suspects = {"fn runs twice: keep what its one call gives": lambda: 2, "fn is not called: fn()": lambda: 0}
    expect_equal(len(calls), 1, "the number of calls of fn in peak_of_a_call(fn)", suspects=suspects)


@pytest.mark.gpu
def test_bytes(answer):
    """On a GPU, the peak of this call counts: not what was taken before, not an earlier peak."""
    x = torch.ones(1_000_000, device="cuda")
    torch.zeros(9_000_000, device="cuda")  # an earlier peak, given back at once
    _, peak = called(answer, lambda: (x + 1).sum())
    expect_that(type(peak) is int, "the peak is no number of bytes", yours=peak)
    least, most = x.nbytes, x.nbytes + 2**21
    expect_that(
        least <= peak <= most, "wrong peak of (x + 1).sum()", yours=peak, wanted=f"{least} or a bit more"
    )


def oracle(answer, gen):
    drawn = {n: torch.randn(n, generator=gen) for n in (2, 5, 9)}
    return {f"{n} numbers": answer.peak_of_a_call(lambda x=x: 2 * x) for n, x in drawn.items()}
