"""The contract of count_flops, training_flops and utilisation."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

LLAMA = {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "hidden": 14336}


def test_worked_example(answer):
    """The worked example of the statement comes out, in plain Python numbers."""
    llama = answer.Decoder(**LLAMA, vocabulary=128256)
    wanted = {"projections": 21990232555520, "attention": 35184372088832, "mlp": 92358976733184}
    wanted |= {"head": 8607114461184, "total": 158140695838720}
    expect_equal(answer.count_flops(llama, batch=1, time=8192), wanted, "count_flops(llama, 1, 8192)")
    training = answer.training_flops(llama, batch=1, time=8192)
    expect_equal(training, 474422087516160, "training_flops(llama, 1, 8192)")
    share = answer.utilisation(llama, tokens_per_second=9300, time=8192, peak=989e12)
    call = "utilisation(llama, 9300, 8192, 989e12)"
    expect_that(isinstance(share, float), f"{call} is no float", yours=share, wanted="a plain float")
    yours, wanted = (torch.tensor(number, dtype=torch.float64) for number in (share, 0.544579907041456))
    expect_close(yours, wanted, call, ulps=2.0**20)


def test_bad_input(answer):
    """Heads that cannot be shared out raise ValueError."""
    odd = answer.Decoder(**{**LLAMA, "kv_heads": 5}, vocabulary=128256)
    expect_raises(ValueError, lambda: answer.count_flops(odd, 1, 8), "count_flops of 32 heads and 5 kv_heads")
