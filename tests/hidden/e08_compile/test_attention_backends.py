"""What grades attention: values and gradients of the formula, memory; caches, half precision, settings."""

import pytest
import torch
from torch.nn.attention.bias import CausalBias

from grader.checks import count_operations, expect_equal, expect_that, peak_bytes, saved_bytes
from grader.checks.contract import Contract, device, dtypes, given, strides, untouched, values
from grader.checks.cost.dispatch import unfollowed


@pytest.fixture(autouse=True)
def causal_bias(monkeypatch):
    """Let torch make its causal masks while memory is watched, which fails in torch 2.13."""

    def new(cls, *args, **kwargs):
        with unfollowed():
            return torch.Tensor.__new__(cls)

    monkeypatch.setattr(CausalBias, "__new__", new)


def written_out(query, key, value, causal=False, scale=None, share="repeat_interleave", aligned="last"):
    """The formula of the statement; or with a mistake."""
    (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
    times = heads // kv_heads
    for_all = (
        (lambda x: x.repeat(1, 1, times, 1))
        if share == "repeat"
        else (lambda x: x.repeat_interleave(times, 2))
    )
    scores = (dim**-0.5 if scale is None else scale) * torch.einsum("bthd,bshd->bhts", query, for_all(key))
    if causal:
        seen = torch.ones(time, keys, dtype=torch.bool).tril(keys - time if aligned == "last" else 0)
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), for_all(value))


def exchanged(query, key, value, causal=False, scale=None):
    """Heads attend to heads, at each position."""
    times = query.shape[2] // key.shape[2]
    inputs = (query, key.repeat_interleave(times, 2), value.repeat_interleave(times, 2))
    return written_out(*(x.transpose(1, 2) for x in inputs), causal, scale).transpose(1, 2)


def but(**other):
    return lambda *args, **options: written_out(*args, **{**options, **other})


SUSPECTS = {
    "heads stand where time does: transpose(1, 2) before the call": exchanged,
    "the result is (batch, heads, time, dim): transpose it back": lambda *args, **options: written_out(
        *args, **options
    ).transpose(1, 2),
    "reshape does not bring heads behind time: transpose(1, 2)": lambda *args, **options: (
        written_out(*args, **options).transpose(1, 2).reshape(args[0].shape)
    ),
    "every call is causal": but(causal=True),
    "causal is left out": but(causal=False),
    "scale is left out": but(scale=None),
    "the first query is put at the first key: the queries are the last positions": but(aligned="first"),
    "query head 1 gets key head 1: repeat_interleave, not repeat": but(share="repeat"),
    "there are fewer key heads: enable_gqa=True lets query heads share them": lambda *args, **options: (
        torch.nn.functional.scaled_dot_product_attention(*(x.float().transpose(1, 2) for x in args))
    ),
}


def drawn(gen, batch, time, keys, heads, kv_heads, dim, dtype=torch.float32, **options):
    """query, key and value, and what else goes into the call."""
    sizes = [(batch, time, heads, dim), (batch, keys, kv_heads, dim), (batch, keys, kv_heads, dim)]
    return given(*[torch.randn(size, generator=gen).to(dtype) for size in sizes], **options)


def cached(gen):
    return {
        "the last queries": drawn(gen, 2, 3, 8, 2, 2, 4, causal=True),
        "one query": drawn(gen, 3, 1, 7, 2, 2, 4, causal=True),
        "shared heads, the last queries": drawn(gen, 2, 4, 6, 4, 2, 3, causal=True),
    }


def halves(gen):
    kinds = (torch.bfloat16, torch.float16)
    sizes = (2, 9, 9, 4, 2, 8)
    return {
        f"{kind}, causal={causal}": drawn(gen, *sizes, kind, causal=causal)
        for kind in kinds
        for causal in (False, True)
    }


contract = Contract(
    "attention(query, key, value)",
    reference=written_out,
    inputs=lambda gen: {
        "all keys": drawn(gen, 2, 5, 5, 3, 3, 4),
        "a single head": drawn(gen, 2, 4, 5, 1, 1, 6),
        "a single position": drawn(gen, 3, 1, 1, 4, 4, 2),
        "more queries than keys": drawn(gen, 1, 6, 4, 2, 2, 3),
        "causal": drawn(gen, 2, 6, 6, 3, 3, 4, causal=True),
        "causal, as many positions as heads": drawn(gen, 2, 4, 4, 4, 4, 3, causal=True),
        "causal, 300 positions": drawn(gen, 1, 300, 300, 2, 2, 2, causal=True),
        "shared heads": drawn(gen, 2, 5, 5, 6, 2, 4),
        "shared heads, causal": drawn(gen, 1, 7, 7, 6, 3, 4, causal=True),
        "with a scale": drawn(gen, 2, 5, 5, 3, 3, 4, scale=1.3),
        "causal, with a scale": drawn(gen, 2, 5, 5, 3, 3, 4, causal=True, scale=0.2),
    },
    gradient="query key value",
    dims="batch time heads dim",
    suspects=SUSPECTS,
    ulps=200,
    scale=4.0,
    fine=[
        values(
            name="a_cache",
            title="With causal and fewer queries than keys, the queries are the last positions.",
            inputs=cached,
            scale=4.0,
        ),
        values(
            name="half_precision",
            title="bfloat16 and float16 are as precise as they are.",
            inputs=halves,
            ulps=3,
            scale=1.0,
        ),
        dtypes(torch.float64, torch.bfloat16),
        strides(),
        untouched(),
        device(),
    ],
    fine_inputs=lambda gen: {**cached(gen), **halves(gen)},
)


@pytest.mark.parametrize(
    ("time", "keys", "kv_heads", "causal", "dtype"),
    [
        (1024, 1024, 2, False, torch.float64),
        (1024, 1024, 1, True, torch.float32),
        (2048, 512, 1, False, torch.float32),
    ],
)
def test_memory(answer, gen, time, keys, kv_heads, causal, dtype):
    """No tensor of time * keys numbers is made or kept, forwards or backwards."""
    inputs = [x.requires_grad_() for x in drawn(gen, 1, time, keys, 2, kv_heads, 4, dtype).args]

    def forward():
        return answer.attention(*inputs, causal=causal)

    def both():
        torch.autograd.grad(forward().sum(), inputs)

    for what, count in (("takes", peak_bytes(both)), ("keeps for its backward", saved_bytes(forward))):
        expect_that(
            count < time * keys,
            f"attention(…, causal={causal}) {what} as much memory as the matrix",
            yours=f"{count} bytes for time {time}, keys {keys}, dim 4, in {dtype}",
            wanted=f"less than {time * keys}: memory that grows with time, not with time * keys",
            likely="the matrix of scores, or a mask of its size",
        )


@pytest.mark.fine
@pytest.mark.parametrize(("batch", "heads"), [(32, 1), (1, 32)])
def test_memory_with_a_mask(answer, gen, batch, heads):
    """A mask for the last queries has no batch and no heads."""
    time, keys = 64, 512
    inputs = drawn(gen, batch, time, keys, heads, heads, 2).args
    peak = peak_bytes(lambda: answer.attention(*inputs, causal=True))
    expect_that(
        peak < 32 * time * keys,
        "attention(…, causal=True) of the last queries makes a mask, or scores, for each batch or head",
        yours=f"{peak} bytes for batch {batch}, heads {heads}, time {time}, keys {keys}",
        wanted=f"less than {32 * time * keys}",
    )


@pytest.mark.fine
def test_mask_on_the_device(answer, gen, device):
    """On another device a mask is made there as well."""
    inputs = [x.to(device) for x in drawn(gen, 2, 3, 8, 2, 2, 4).args]
    yours = answer.attention(*inputs, causal=True)
    expect_equal(yours.device, device, "the device of attention(…, causal=True) for query on another device")


SETTINGS = ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp", "math_sdp")


@pytest.mark.fine
@pytest.mark.parametrize("chosen", [SETTINGS, ("math_sdp",)], ids=["all", "math"])
def test_settings(answer, gen, chosen):
    """Which kernels may run is the caller's choice, before and after."""
    cuda = torch.backends.cuda
    before = {name: getattr(cuda, f"{name}_enabled")() for name in SETTINGS}
    try:
        for name in SETTINGS:
            getattr(cuda, f"enable_{name}")(name in chosen)
        for causal in (False, True):
            inputs = drawn(gen, 1, 3, 3, 2, 2, 4).args
            ran = count_operations(lambda i=inputs, c=causal: answer.attention(*i, c))
            others = [name for name in ran if any(k in name for k in ("flash", "efficient", "cudnn"))]
            expect_that(
                chosen == SETTINGS or not others,
                f"attention(…, causal={causal}) runs a kernel that is switched off",
                yours=", ".join(others),
                wanted="none but the math path",
            )
        after = tuple(name for name in SETTINGS if getattr(cuda, f"{name}_enabled")())
        expect_equal(after, chosen, f"the kernels that are on after attention(…); before, {chosen} were")
    finally:
        for name, enabled in before.items():
            getattr(cuda, f"enable_{name}")(enabled)
