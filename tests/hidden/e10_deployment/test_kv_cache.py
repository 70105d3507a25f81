"""What grades kv_cache: chunks against one pass, several caches, truncate; memory, graphs, dtypes, errors."""

import math
from itertools import accumulate, pairwise

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from grader.checks import (
    expect_close,
    expect_equal,
    expect_raises,
    expect_that,
    expect_view,
    held_bytes,
    peak_bytes,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated
from grader.checks.registered import expect_registered, randomize, state_of


def turned(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] * 100.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1)


def attention(state, x, heads, positions=None, seen=None, turn="qk", scaled=True, heads_first=False):
    """One pass, in float64, head by head; or with mistakes."""
    time, gathered = x.shape[-2], []
    positions = torch.arange(time) if positions is None else positions
    seen = torch.ones(time, time, dtype=torch.bool).tril() if seen is None else seen
    both = x @ state["qkv.weight"].mT
    qkv = zip(*(part.chunk(heads, -1) for part in both.chunk(3, -1)), strict=True)
    if heads_first:
        qkv = (head.chunk(3, -1) for head in both.chunk(heads, -1))
    for parts in qkv:
        q, k, v = (turned(p, positions) if name in turn else p for name, p in zip("qkv", parts, strict=True))
        scores = q @ k.mT / (math.sqrt(q.shape[-1]) if scaled else 1.0)
        gathered.append(scores.masked_fill(~seen, -math.inf).softmax(-1) @ v)
    return torch.cat(gathered, -1) @ state["out.weight"].mT


def mistakes(sizes):
    """What people get wrong with chunks of these sizes, as options of `attention`."""
    chunk = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    time = torch.arange(len(chunk))
    within = time - torch.tensor([0, *accumulate(sizes)])[chunk]
    known = time[None] <= time[:, None]
    return {
        "each chunk begins at position 0": {"positions": within},
        "the new tokens do not see those in the cache": {"seen": known & (chunk[None] == chunk[:, None])},
        "a token sees those after it in its chunk": {"seen": chunk[None] <= chunk[:, None]},
        "a token sees those after it in a chunk that comes after others": {
            "seen": known | ((chunk[None] == chunk[:, None]) & (chunk[None] > 0))
        },
        "a token sees those after it": {"seen": torch.ones_like(known)},
        "the first new token sees the first key alone: is_causal does not know of those in the cache": {
            "seen": time[None] <= within[:, None]
        },
        "qkv is taken apart by heads first: it holds all queries, then all keys, then all values": {
            "heads_first": True
        },
        "queries and keys are not turned": {"turn": ""},
        "values are turned as well": {"turn": "qkv"},
        "scores are not divided by sqrt(d)": {"scaled": False},
    }


def build(answer, gen, dim=8, heads=2):
    layer = answer.CachedAttention(dim, heads)
    randomize(layer, gen)
    return layer


def in_chunks(layer, x, cache, sizes):
    """The results of decoding x in chunks, side by side; the length is looked at after each."""
    results, before = [], cache.length
    for start, end in pairwise([0, *accumulate(sizes)]):
        results.append(layer(x[:, start:end], cache).detach())
        expect_equal(cache.length, before + end, f"cache.length after chunks of {sizes}")
    return torch.cat(results, 1)


def expect_right(yours, layer, x, call, heads=2, sizes=None, first=0, ulps=100):
    """Fail unless `yours` is what one pass over x gives, from token `first` on."""
    state = {n: t.double() for n, t in state_of(layer).items()}
    made = lambda **mistake: attention(state, x.double(), heads, **mistake)[:, first:].to(yours.dtype)  # noqa: E731
    wanted = made()
    suspects = {told: lambda m=m: made(**m) for told, m in mistakes(sizes or [x.shape[1]]).items()}
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    expect_close(yours, wanted, call, dims="batch time dim", ulps=ulps, scale=scale, suspects=suspects)


def test_one_pass(answer, gen):
    """Without a cache the layer attends to x alone, in all shapes."""
    for batch, time, dim, heads in [(2, 5, 8, 2), (3, 1, 4, 1), (1, 40, 4, 2), (4, 4, 16, 4)]:
        layer, x = build(answer, gen, dim, heads), torch.randn(batch, time, dim, generator=gen)
        call = f"layer(x) for x of {(batch, time, dim)}, {heads} heads"
        expect_right(layer(x).detach(), layer, x, call, heads)
    shapes = {"qkv.weight": [24, 8], "out.weight": [8, 8]}
    expect_registered(answer.CachedAttention(8, 2), "CachedAttention(8, 2)", parameters=shapes)


@pytest.mark.parametrize("sizes", [(7,), (1,) * 7, (4, 3), (3, 1, 1, 2)], ids=str)
def test_chunks(answer, gen, sizes):
    """Tokens in chunks of any sizes give what they give at once."""
    for batch, dim, heads in [(2, 8, 2), (1, 4, 1), (3, 12, 3)]:
        layer, x = build(answer, gen, dim, heads), torch.randn(batch, 7, dim, generator=gen)
        for capacity in (7, 20):
            cache = layer.make_cache(batch, capacity)
            expect_equal(cache.length, 0, "the length of a new cache")
            yours = in_chunks(layer, x, cache, sizes)
            expect_right(yours, layer, x, f"layer(…, cache) in chunks of {sizes}", heads, sizes)


def test_append(answer, gen):
    """append returns all keys and values so far, in order."""
    cache, (keys, values) = answer.KVCache(2, 3, 9, 4), torch.randn(2, 2, 3, 7, 4, generator=gen)
    for start, end in pairwise((0, 2, 3, 7)):
        mine = cache.append(keys[:, :, start:end], values[:, :, start:end])
        for name, t, wanted in zip(("keys", "values"), mine, (keys, values), strict=True):
            call, new = f"the {name} from cache.append of tokens {start} to {end}", wanted[:, :, start:end]
            suspects = {f"these are the new {name} alone": lambda new=new: new}
            expect_close(t, wanted[:, :, :end], call, dims="batch heads length head_dim", suspects=suspects)
        expect_equal(cache.length, end, f"cache.length after cache.append of tokens {start} to {end}")


def test_several_caches(answer, gen):
    """One layer serves several caches in turn, and none."""
    layer = build(answer, gen)
    xs = [torch.randn(batch, 6, 8, generator=gen) for batch in (2, 2, 1)]
    caches, results = [layer.make_cache(len(x), 8) for x in xs], [[], [], []]
    for start, end in pairwise((0, 2, 3, 6)):
        for x, cache, mine in zip(xs, caches, results, strict=True):
            mine.append(layer(x[:, start:end], cache).detach())
        expect_right(layer(xs[0]).detach(), layer, xs[0], "layer(x) between steps with caches")
    for x, mine in zip(xs, results, strict=True):
        expect_right(
            torch.cat(mine, 1), layer, x, "layer(…, cache) with three caches in turn", sizes=[2, 1, 3]
        )


def test_truncate(answer, gen):
    """After truncate the next token takes the place of the first one that was dropped."""
    layer, x = build(answer, gen), torch.randn(2, 8, 8, generator=gen)
    cache = layer.make_cache(2, 8)
    layer(x, cache)
    for keep, sizes in [(5, (1, 2)), (7, (1,)), (3, (2, 1, 2)), (0, (8,))]:
        cache.truncate(keep)
        expect_equal(cache.length, keep, f"cache.length after truncate({keep})")
        x = torch.cat([x[:, :keep], torch.randn(2, sum(sizes), 8, generator=gen)], 1)
        yours = in_chunks(layer, x[:, keep:], cache, sizes)
        expect_right(yours, layer, x, f"layer(…, cache) after truncate({keep})", first=keep)


def test_new_tokens_only(answer, gen):
    """A step computes queries, keys and values of the new token only, however many came before."""
    layer, x = build(answer, gen, 64, 2), torch.randn(1, 101, 64, generator=gen)
    cache, counts = layer.make_cache(1, 101), []
    with torch.no_grad():
        layer(x[:, :100], cache)
        for given in ((x[:, 100:], cache), (x,)):
            with FlopCounterMode(display=False) as counter:
                layer(*given)
            counts.append(counter.get_total_flops())
    what = "a step with 100 tokens in the cache computes all of them again"
    yours, wanted = f"{counts[0] / counts[1]:.0%} of one pass over 101 tokens", "about 1 %"
    expect_that(counts[0] < counts[1] / 10, what, yours=yours, wanted=wanted)


@pytest.mark.fine
def test_memory(answer, gen):
    """All memory is there when the cache is built; what append returns are views of it."""
    made, wanted = [], 2 * 2 * 2 * 200 * 8 * 4
    yours = held_bytes(lambda: made.append(answer.KVCache(2, 2, 200, 8)))
    what = "KVCache(2, 2, 200, 8) allocates another amount of memory"
    expect_that(wanted <= yours <= wanted + 4096, what, yours=f"{yours} bytes", wanted=f"{wanted} bytes")
    cache, k = made[0], torch.randn(2, 2, 100, 8, generator=gen)
    first, token = cache.append(k, k), torch.randn(2, 2, 1, 8, generator=gen)
    for _ in range(2):
        results = []
        grown = peak_bytes(lambda results=results: results.extend(cache.append(token, token)))
        what = "cache.append of one token copies what is there already"
        expect_that(grown < k.nbytes // 8, what, yours=f"{grown} bytes are allocated", likely="torch.cat")
        for name, mine, base in zip(("keys", "values"), results, first, strict=True):
            expect_view(mine, base, f"cache.append(…), {name} after another token,")
        cache.truncate(50)


@pytest.mark.fine
def test_graphs(answer, gen):
    """The cache holds no graph, whatever comes in; gradients flow through layer(x)."""
    layer, x = build(answer, gen), torch.randn(2, 6, 8, generator=gen).requires_grad_()
    layer(x).sum().backward()
    expect_that(
        x.grad is not None and layer.qkv.weight.grad is not None, "no gradients flow through layer(x)"
    )
    cache = layer.make_cache(2, 6)
    results = [layer(x[:, :2], cache)]
    with torch.inference_mode():
        results.append(layer(x[:, 2:3], cache))
    results.append(layer(x[:, 3:], cache))
    yours = torch.cat([r.detach().clone() for r in results], 1)
    expect_right(yours, layer, x.detach(), "layer(…, cache) with and without inference mode", sizes=[2, 1, 3])
    k = torch.randn(1, 2, 2, 4, generator=gen).requires_grad_()
    held = any(t.requires_grad for t in answer.KVCache(1, 2, 9, 4).append(k * 2, k * 3))
    expect_that(not held, "what append(…) returns requires gradients: the cache holds a graph")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes(answer, gen, dtype):
    """make_cache follows the layer's weights; results are right in 16 bits, too."""
    layer, x = build(answer, gen).to(dtype), torch.randn(1, 5, 8, generator=gen).to(dtype)
    cache = layer.make_cache(1, 5)
    yours = in_chunks(layer, x, cache, (2, 3))
    expect_equal(yours.dtype, dtype, f"the dtype of layer(…, cache) in {dtype}")
    ulps = 1e10 if dtype == torch.float64 else 100  # rotate itself computes in float32
    expect_right(yours, layer, x, f"layer(…, cache) in {dtype}", sizes=[2, 3], ulps=ulps)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A moved layer makes caches where it is, and nothing is copied to or from the CPU."""
    layer, x = build(answer, gen), torch.randn(1, 4, 8, generator=gen)
    moved, there = build(answer, gen).to(device), x.to(device)
    moved.load_state_dict(layer.state_dict())
    with count_traffic() as traffic:
        cache = moved.make_cache(1, 4)
        moved(there[:, :2], cache)
        yours = moved(there[:, 2:], cache)
        moved(there)
    expect_that(is_simulated(yours), "layer(x, cache) leaves the device")
    expect_no_traffic(traffic, "layer(x, cache)")
    expect_right(yours.detach().cpu(), layer, x, "layer(…, cache) on a device", sizes=[2, 2], first=2)


@pytest.mark.fine
def test_refused(answer, gen):
    """No room, other sizes and impossible lengths are a ValueError, and the cache is as it was."""
    cache, k = answer.KVCache(2, 3, 4, 6), torch.randn(2, 3, 3, 6, generator=gen)
    cache.append(k, k)
    one, two = torch.ones(2, 3, 1, 6), torch.ones(2, 3, 2, 6)
    for what, keys, values in (
        ("2 tokens with room for 1", two, two),
        ("one sequence for two", one[:1], one[:1]),
        ("one head for three", one, one[:, :1]),
        ("one feature for six", one[..., :1], one[..., :1]),
    ):
        call = f"cache.append of {what}"
        expect_raises(ValueError, lambda k=keys, v=values: cache.append(k, v), call)
    for length in (-1, 4):
        expect_raises(ValueError, lambda n=length: cache.truncate(n), f"truncate({length}) of 3 tokens")
    expect_equal(cache.length, 3, "cache.length after errors")
    expect_equal(cache.append(one, one)[0].clone(), torch.cat([k, one], 2), "the keys after errors")


def oracle(answer, gen):
    def one_pass(gen):
        return build(answer, gen)(torch.randn(2, 7, 8, generator=gen)).detach()

    def chunks(*sizes):
        def case(gen):
            layer = build(answer, gen)
            cache = layer.make_cache(2, 9)
            found = in_chunks(layer, torch.randn(2, sum(sizes), 8, generator=gen), cache, sizes)
            return [found, cache.length]

        return case

    def truncated(gen):
        layer, sizes = build(answer, gen), (3, 1, 1, 2)
        cache = layer.make_cache(2, 9)
        in_chunks(layer, torch.randn(2, 7, 8, generator=gen), cache, sizes)
        cache.truncate(1 + int(torch.randint(5, (), generator=gen)))
        return [cache.length, layer(torch.randn(2, 3, 8, generator=gen), cache).detach()]

    def append(gen):
        cache = build(answer, gen).make_cache(2, 9)
        for _ in range(2):
            found = cache.append(*torch.randn(2, 2, 2, 1, 4, generator=gen))
        return [t.detach().clone() for t in found]

    return {
        "one pass": one_pass,
        "token by token": chunks(*(1,) * 7),
        "a prompt, and then tokens": chunks(3, 1, 1, 2),
        "one chunk": chunks(4),
        "after truncate": truncated,
        "append": append,
    }
