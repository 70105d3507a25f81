"""What grades attention: values and gradients of the written-out formula, peak bytes, layout, dtypes."""

import math

import pytest
import torch
from torch.nn.attention.bias import CausalBias

from grader.checks import (
    count_operations,
    expect_close,
    expect_equal,
    expect_gradients,
    expect_that,
    peak_bytes,
    saved_bytes,
    unchanged,
)
from grader.checks.cost.dispatch import unfollowed
from grader.checks.devices import on_host

DIMS = "batch time heads dim"

# batch, time, keys, heads, kv_heads, dim, causal
CASES = {
    "all keys": (2, 5, 5, 3, 3, 4, False),
    "all keys, other lengths": (2, 3, 7, 2, 2, 5, False),
    "more queries than keys": (1, 6, 4, 2, 2, 3, False),
    "causal": (2, 6, 6, 3, 3, 4, True),
    "causal, the last queries": (2, 3, 8, 2, 2, 4, True),
    "causal, one query": (3, 1, 7, 2, 2, 4, True),
    "causal, one position": (2, 1, 1, 3, 3, 2, True),
    "shared heads": (2, 5, 5, 6, 2, 4, False),
    "shared heads, causal": (1, 7, 7, 6, 3, 4, True),
    "shared heads, the last queries": (2, 4, 6, 4, 1, 3, True),
    "shared heads, one query": (2, 1, 5, 4, 2, 3, True),
    "causal, 300 positions": (1, 300, 300, 1, 1, 2, True),
    "causal, the last queries of 300": (1, 2, 300, 1, 1, 160, True),
}


def written_out(query, key, value, causal=False, scale=None):
    """The formula of the statement, in float64."""
    query, key, value = query.double(), key.double(), value.double()
    (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
    key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
    scores = (dim**-0.5 if scale is None else scale) * torch.einsum("bthd,bshd->bhts", query, key)
    if causal:
        scores = scores.masked_fill(~torch.ones(time, keys, dtype=torch.bool).tril(keys - time), -torch.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value)


def drawn(gen, batch, time, keys, heads, kv_heads, dim, dtype=torch.float32):
    sizes = [(batch, time, heads, dim), (batch, keys, kv_heads, dim), (batch, keys, kv_heads, dim)]
    return [torch.randn(size, generator=gen).to(dtype) for size in sizes]


@pytest.fixture(autouse=True)
def causal_bias(monkeypatch):
    """Let torch make its causal masks while memory is watched, which fails in torch 2.13."""

    def new(cls, *args, **kwargs):
        with unfollowed():
            return torch.Tensor.__new__(cls)

    monkeypatch.setattr(CausalBias, "__new__", new)


@pytest.mark.parametrize("case", CASES)
def test_values(answer, gen, case):
    """The result is that of the written-out formula; query, key and value stay as they are."""
    *sizes, causal = CASES[case]
    query, key, value = drawn(gen, *sizes)
    for scale in (None, 2.4567, 1e-4):
        small = scale == 1e-4
        call = f"attention(query, key, value, causal={causal}, scale={scale}), {case}"
        call += ", under no_grad" * small
        wanted = written_out(query, key, value, causal, scale).float()
        with torch.set_grad_enabled(not small), unchanged(call, query=query, key=key, value=value):
            yours = answer.attention(query, key, value, causal, scale)
        # scores of a hundred are off by a hundred roundings, and so are the weights
        expect_close(yours, wanted, call, dims=DIMS, ulps=200 if scale == 2.4567 else None, scale=4.0)


@pytest.mark.parametrize("case", CASES)
def test_gradients(answer, gen, case):
    """Query, key and value get the gradients of the written-out formula."""
    *sizes, causal = CASES[case]
    expect_gradients(
        lambda query, key, value: answer.attention(query, key, value, causal=causal, scale=0.7),
        drawn(gen, *sizes),
        lambda query, key, value: written_out(query, key, value, causal, 0.7),
        gen=gen,
        call=f"attention(query, key, value, causal={causal}, scale=0.7), {case}",
        names="query key value",
        ulps=200.0,
        scale=4.0,
    )
    for number, name in enumerate(("query", "key", "value")):
        inputs = drawn(gen, *sizes)
        inputs[number].requires_grad_()
        yours = answer.attention(*inputs, causal=causal).requires_grad
        call = f"attention(…), where only {name} requires gradients, {case}"
        expect_equal(yours, True, f"requires_grad of {call}")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes(answer, gen, dtype):
    """Each dtype has the precision that it promises."""
    for causal in (False, True):
        query, key, value = drawn(gen, 2, 9, 9, 4, 2, 8, dtype)
        wanted = written_out(query, key, value, causal).to(dtype)
        call = f"attention(…, causal={causal}) in {dtype}"
        # in 16 bits also rounded scores and weights are fine; other 16 bits than those of query are not
        bounds = {"scale": 4.0} if dtype == torch.float64 else {"ulps": 3.0, "scale": 1.0}
        expect_close(answer.attention(query, key, value, causal), wanted, call, dims=DIMS, **bounds)
        call = f"attention(query[:, 4:], key, value, causal={causal}) in {dtype}"
        yours = answer.attention(query[:, 4:], key, value, causal)
        expect_close(yours, wanted[:, 4:], call, dims=DIMS, **bounds)


@pytest.mark.parametrize(
    ("time", "keys", "heads", "causal", "dtype"),
    [
        (1024, 1024, 2, False, torch.float64),
        (1024, 1024, 1, True, torch.float32),
        (2048, 512, 1, False, torch.float32),
    ],
)
def test_memory(answer, gen, time, keys, heads, causal, dtype):
    """No tensor of time * keys numbers is made or kept, forwards or backwards."""
    limit = time * keys
    inputs = [x.requires_grad_() for x in drawn(gen, 1, time, keys, 2, heads, 4, dtype)]

    def forward():
        return answer.attention(*inputs, causal=causal)

    def both():
        torch.autograd.grad(forward().sum(), inputs)

    for what, count in (("takes", peak_bytes(both)), ("keeps for its backward", saved_bytes(forward))):
        expect_that(
            count < limit,
            f"attention(…, causal={causal}) {what} as much memory as the matrix",
            yours=f"{count} bytes for time {time}, keys {keys}, dim 4, in {dtype}",
            wanted=f"less than {limit}: memory that grows with time, not with time * keys",
            likely="the matrix of scores, or a mask of its size",
        )


def test_memory_with_a_mask(answer, gen):
    """A mask for the last queries has no batch and no heads."""
    time, keys = 64, 512
    for batch, heads in ((32, 1), (1, 32)):
        inputs = drawn(gen, batch, time, keys, heads, heads, 2)
        peak = peak_bytes(lambda inputs=inputs: answer.attention(*inputs, causal=True))
        expect_that(
            peak < 32 * time * keys,
            "attention(…, causal=True) of the last queries makes a mask, or scores, for each batch or head",
            yours=f"{peak} bytes for batch {batch}, heads {heads}, time {time}, keys {keys}",
            wanted=f"less than {32 * time * keys}",
        )


def test_large_scores(answer, gen):
    """Scores in the thousands give no inf and no NaN."""
    query, key, value = drawn(gen, 2, 5, 5, 2, 2, 4)
    query, key = 60 * query, 60 * key
    for causal in (False, True):
        wanted = written_out(query, key, value, causal).float()
        yours = answer.attention(query, key, value, causal)
        expect_close(
            yours, wanted, f"attention(…, causal={causal}) of large scores", dims=DIMS, ulps=4e4, scale=1.0
        )
    value[0, 2, 1] = math.nan
    wanted = written_out(query, key, value).float()
    yours = answer.attention(query, key, value)
    expect_equal(yours.isnan(), wanted.isnan(), "where attention(…) is NaN, one value is")


def test_later_keys(answer, gen):
    """A later key reaches no query before it, however well it fits."""
    for time in (4, 7):
        query, key, value = drawn(gen, 2, time, 7, 2, 2, 4)
        key[:, -1] *= 1e12
        wanted = written_out(query, key, value, True).float()
        call = f"attention(…, causal=True), time {time}, keys 7, the last key is huge"
        expect_close(answer.attention(query, key, value, True), wanted, call, dims=DIMS, scale=4.0)


SETTINGS = ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp", "math_sdp")


def test_settings(answer, gen):
    """Which kernels may run is the caller's choice, before and after."""
    cuda = torch.backends.cuda
    before = {name: getattr(cuda, f"{name}_enabled")() for name in SETTINGS}
    try:
        for chosen in (SETTINGS, ("math_sdp",)):
            for name in SETTINGS:
                getattr(cuda, f"enable_{name}")(name in chosen)
            for keys, causal in ((5, False), (5, True), (3, True)):
                inputs = drawn(gen, 1, 3, keys, 2, 2, 4)
                ran = count_operations(lambda i=inputs, c=causal: answer.attention(*i, c))
                others = [name for name in ran if any(k in name for k in ("flash", "efficient", "cudnn"))]
                expect_that(
                    chosen == SETTINGS or not others,
                    f"attention(…, causal={causal}) of {keys} keys runs a kernel that is switched off",
                    yours=", ".join(others),
                    wanted="none but the math path",
                )
            after = tuple(name for name in SETTINGS if getattr(cuda, f"{name}_enabled")())
            expect_equal(after, chosen, f"the kernels that are on after attention(…); before, {chosen} were")
    finally:
        for name, enabled in before.items():
            getattr(cuda, f"enable_{name}")(enabled)


def test_slices_of_one_projection(answer, gen):
    """Slices of one projection and expanded keys are read like any others, with their gradients."""
    together = torch.randn(2, 5, 3, 4, 6, generator=gen)
    for causal in (False, True):
        call = f"attention(*projection.unbind(2), causal={causal})"
        wanted = written_out(*together.unbind(2), causal).float()
        expect_close(answer.attention(*together.unbind(2), causal), wanted, call, dims=DIMS, scale=4.0)
        expect_gradients(
            lambda x, causal=causal: answer.attention(*x.unbind(2), causal),
            [together],
            lambda x, causal=causal: written_out(*x.unbind(2), causal),
            gen=gen,
            call=call,
            names="projection",
            ulps=200.0,
            scale=4.0,
        )
    query, key, value = drawn(gen, 1, 5, 5, 4, 1, 6)
    key, value = key.expand(3, 5, 2, 6), value.expand(3, 5, 2, 6)
    query = query.transpose(1, 2).expand(3, 4, 5, 6).transpose(1, 2)
    wanted = written_out(query, key, value).float()
    expect_close(
        answer.attention(query, key, value), wanted, "attention(…) of expanded inputs", dims=DIMS, scale=4.0
    )


def test_on_a_device(answer, gen, device):
    """On another device the result is there, and the same."""
    for case in ("all keys", "causal", "causal, the last queries", "shared heads, one query"):
        *sizes, causal = CASES[case]
        inputs = drawn(gen, *sizes)
        wanted = written_out(*inputs, causal).float()
        yours = answer.attention(*[x.to(device) for x in inputs], causal)
        expect_that(yours.device == device, "the result is on another device than query", yours=yours)
        expect_close(on_host(yours), wanted, f"attention(…) on another device, {case}", dims=DIMS, scale=4.0)


def oracle(answer, gen):
    results = []
    for *sizes, causal in CASES.values():
        inputs = [x.double().requires_grad_() for x in drawn(gen, *sizes)]
        result = answer.attention(*inputs, causal, 0.4)
        cotangent = torch.randn(result.shape, generator=gen, dtype=torch.float64)
        gradients = torch.autograd.grad(result, inputs, cotangent)
        results += [result.detach().float(), *(g.float() for g in gradients)]
    return results
