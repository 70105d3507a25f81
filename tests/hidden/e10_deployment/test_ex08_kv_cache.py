"""What grades kv_cache: chunks against one pass, positions, memory, graphs, several caches, errors."""

import copy
import math
from itertools import pairwise

import pytest
import torch
from torch.func import functional_call
from torch.utils.flop_counter import FlopCounterMode

from grader.checks import (
    CheckFailure,
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    expect_view,
    held_bytes,
    peak_bytes,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated
from grader.checks.registered import expect_registered, state_of


def turned(x):
    """x (batch, time, d), turned at positions from 0."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * 100.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    pairs = torch.complex(x[..., :half].double(), x[..., half:].double())
    pairs = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1)


def rotate(x, positions):
    """As given."""
    half = x.shape[-1] // 2
    angles = positions.unsqueeze(-1) * 100.0 ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], -1
    )


def attention(state, x, heads):
    """One pass, in float64, head by head."""
    time, gathered = x.shape[-2], []
    later = torch.ones(time, time, dtype=torch.bool).triu(1)
    q, k, v = (x @ state["qkv.weight"].mT).chunk(3, -1)
    for q, k, v in zip(*(part.chunk(heads, -1) for part in (q, k, v)), strict=True):  # noqa: B020
        scores = turned(q) @ turned(k).mT / math.sqrt(q.shape[-1])
        gathered.append(scores.masked_fill(later, -math.inf).softmax(-1) @ v)
    return torch.cat(gathered, -1) @ state["out.weight"].mT


def random_state(gen, dim):
    return {
        "qkv.weight": 0.5 * torch.randn(3 * dim, dim, generator=gen),
        "out.weight": 0.5 * torch.randn(dim, dim, generator=gen),
    }


def build(answer, gen, dim=8, heads=2):
    layer = answer.CachedAttention(dim, heads)
    layer.load_state_dict(random_state(gen, dim))
    return layer


def exact(layer, x, heads=2):
    return attention({n: t.double() for n, t in state_of(layer).items()}, x.detach().double(), heads)


def in_chunks(layer, x, cache, sizes):
    """The results of decoding x in chunks, side by side; the length is looked at after each."""
    results, start, before = [], 0, cache.length
    for size in sizes:
        results.append(layer(x[:, start : start + size], cache).detach())
        start += size
        expect_equal(cache.length, before + start, f"cache.length after chunks of {sizes}")
    return torch.cat(results, 1)


def expect_right(yours, wanted, call, ulps=100):
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    expect_close(yours, wanted.to(yours.dtype), call, dims="batch time dim", ulps=ulps, scale=scale)


SPLITS = [
    (7,), (1,) * 7, (3, 4), (4, 3), (1, 6), (6, 1), (2, 0, 3, 1, 1), (0, 7), (5, 1, 1), (2, 2, 3),
    (0, 0, 7, 0),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SPLITS, ids=str)
def test_chunks(answer, gen, sizes):
    """Tokens in chunks of any sizes give what they give at once."""
    for batch, dim, heads in [(2, 8, 2), (1, 4, 1), (3, 12, 3)]:
        layer = build(answer, gen, dim, heads)
        x = torch.randn(batch, 7, dim, generator=gen)
        wanted = exact(layer, x, heads)
        for capacity in (7, 20):
            cache = layer.make_cache(batch, capacity)
            expect_equal(cache.length, 0, "the length of a new cache")
            expect_right(in_chunks(layer, x, cache, sizes), wanted, f"layer(…, cache) in chunks of {sizes}")


def test_one_pass(answer, gen):
    """Without a cache the layer attends to x alone, in all shapes and also between steps with a cache."""
    for batch, time, dim, heads in [(2, 5, 8, 2), (3, 1, 4, 1), (1, 40, 4, 2), (4, 4, 16, 4), (2, 3, 6, 1)]:
        layer = build(answer, gen, dim, heads)
        x = torch.randn(batch, time, dim, generator=gen)
        wanted = exact(layer, x, heads)
        expect_right(layer(x).detach(), wanted, f"layer(x) for x of {(batch, time, dim)}, {heads} heads")
        cache = layer.make_cache(batch=batch, capacity=time)
        layer(torch.randn(batch, 1, dim, generator=gen), cache=cache)
        expect_right(layer(x).detach(), wanted, "layer(x) after a step with a cache")
        expect_equal(cache.length, 1, "the length of the cache after layer(x) without it")
    layer, x = build(answer, gen, 4, 1), 200 * torch.randn(1, 3, 4, generator=gen)
    same = torch.eye(4)
    layer.load_state_dict({"qkv.weight": torch.cat([-same, same, same]), "out.weight": same})
    call = "token 0 of layer(x), which sees itself alone, with scores of -20 000"
    expect_right(layer(x)[:, :1].detach(), x[:, :1], call)
    for batch, time in [(0, 3), (2, 0), (0, 0)]:
        layer = build(answer, gen)
        cache = layer.make_cache(batch, 3)
        x = torch.ones(batch, time, 8)
        for yours in (layer(x), layer(x, cache)):
            expect_close(yours.detach(), x, f"the result for {batch} sequences of {time} tokens")


def test_long(answer, gen):
    """The hundredth token is still at its position, and the layer knows no longest sequence."""
    layer = build(answer, gen, 4, 2)
    x = torch.randn(1, 150, 4, generator=gen)
    with torch.no_grad():
        yours = in_chunks(layer, x, layer.make_cache(1, 150), (90, *[1] * 20, 40))
    expect_right(yours, exact(layer, x), "layer(…, cache) up to token 150", ulps=2000)
    cache = layer.make_cache(1, 5000)
    cache.append(*torch.randn(2, 1, 2, 4999, 2, generator=gen))
    q, k, v = (x[:, :1] @ layer.qkv.weight.mT.detach()).view(3, 1, 2, 1, 2).unbind()
    q, k = (rotate(t, torch.tensor([4999])) for t in (q, k))
    yours = layer(x[:, :1], cache).detach()
    keys, values = (t.detach() for t in cache.append(k[:, :, :0], v[:, :, :0]))
    wanted = (q @ keys.mT / math.sqrt(2)).softmax(-1) @ values
    wanted = wanted.transpose(1, 2).flatten(2) @ layer.out.weight.mT.detach()
    expect_right(yours, wanted, "layer(…, cache) for token 4999", ulps=2000)


def test_append(answer, gen):
    """append returns all keys and values so far, in order, and leaves what it is given alone."""
    cache = answer.KVCache(2, 3, 9, 4)
    keys = torch.randn(4, 9, 3, 2, generator=gen).permute(3, 2, 1, 0)
    values = torch.randn(2, 3, 1, 4, generator=gen).expand(2, 3, 9, 4)
    for start, end in pairwise((0, 0, 2, 3, 3, 7, 9)):
        k, v = keys[:, :, start:end], values[:, :, start:end]
        with unchanged("cache.append(keys, values)", keys=k, values=v):
            mine = cache.append(k, v)
        call = f"cache.append of tokens {start} to {end}"
        expect_equal(len(mine), 2, f"the number of results of {call}")
        expect_equal(mine[0].clone(), keys[:, :, :end].contiguous(), f"the keys from {call}")
        expect_equal(mine[1].clone(), values[:, :, :end].contiguous(), f"the values from {call}")
        expect_equal(cache.length, end, f"cache.length after {call}")
    for capacity in (5, 4):  # with some room, and full
        k = keys[:, :, :4].clone()
        cache = answer.KVCache(2, 3, capacity, 4)
        cache.append(k, k)
        k.zero_()
        for mine in cache.append(k[:, :, :0], k[:, :, :0]):
            wanted = keys[:, :, :4].contiguous()
            expect_equal(mine.clone(), wanted, "what is stored, after the caller's keys and values changed")


def test_views(answer, gen):
    """Keys and values are views of memory that stays where it is, and appending allocates nothing."""
    cache = answer.KVCache(2, 2, 200, 8)
    k, v = torch.randn(2, 2, 100, 8, generator=gen), torch.randn(2, 2, 100, 8, generator=gen)
    first = cache.append(k, v)
    kept = [t.clone() for t in first]
    for _ in range(3):
        token = torch.randn(2, 2, 1, 8, generator=gen)
        results = []
        grown = peak_bytes(lambda token=token, results=results: results.extend(cache.append(token, token)))
        expect_that(
            grown < k.nbytes // 8,
            "cache.append of one token copies what is there already",
            yours=f"{grown} bytes are allocated, with {2 * k.nbytes} bytes in the cache",
            wanted="none: the new ones are written into memory that is there",
            likely="torch.cat: it copies all",
        )
        for name, mine, base in zip(("keys", "values"), results, first, strict=True):
            expect_view(mine, base, f"cache.append(…), {name} after another token,")
            expect_equal(mine.data_ptr(), base.data_ptr(), f"where the {name} begin after another token")
    for name, mine, base in zip(("keys", "values"), first, kept, strict=True):
        expect_equal(mine.clone(), base, f"{name} that an earlier append has returned")
    for name, mine, base in zip(("keys", "values"), cache.append(*[token[:, :, :0]] * 2), first, strict=True):
        expect_view(mine, base, f"cache.append(…) of no tokens, {name},")
    grown = peak_bytes(lambda: cache.truncate(50))
    expect_that(grown == 0, "truncate allocates memory", yours=f"{grown} bytes", wanted="none")
    for name, mine, base in zip(("keys", "values"), cache.append(token, token), first, strict=True):
        expect_equal(mine.data_ptr(), base.data_ptr(), f"where the {name} begin after truncate and append")


@pytest.mark.parametrize("capacity", [10, 1000])
def test_allocated_once(answer, capacity):
    """All memory is there when the cache is built, as much as `capacity` tokens take."""
    for dtype, size in ((torch.float32, 4), (torch.bfloat16, 2)):
        wanted = 2 * 3 * 2 * capacity * 4 * size
        made = []
        yours = held_bytes(
            lambda made=made, dtype=dtype: made.append(answer.KVCache(3, 2, capacity, 4, dtype=dtype))
        )
        expect_that(
            wanted <= yours <= wanted + 4096,
            f"KVCache(3, 2, {capacity}, 4, dtype={dtype}) allocates another amount of memory",
            yours=f"{yours} bytes",
            wanted=f"{wanted} bytes",
        )


def test_truncate(answer, gen):
    """After truncate the next token takes the place of the first one that was dropped."""
    layer = build(answer, gen)
    x, other = torch.randn(2, 8, 8, generator=gen), 3 * torch.randn(2, 8, 8, generator=gen)
    cache = layer.make_cache(2, 8)
    layer(x, cache)
    for keep, sizes in [(5, (1, 2)), (7, (1,)), (8, ()), (3, (2, 1, 2)), (0, (8,)), (2, (0, 6)), (0, (1, 1))]:
        cache.truncate(keep)
        expect_equal(cache.length, keep, f"cache.length after truncate({keep})")
        if not sizes:
            continue
        x = torch.cat([x[:, :keep], other[:, keep : keep + sum(sizes)]], 1)
        x[:, keep:] += torch.randn(2, sum(sizes), 8, generator=gen)
        yours = in_chunks(layer, x[:, keep:], cache, sizes)
        expect_right(yours, exact(layer, x)[:, keep:], f"layer(…, cache) after truncate({keep})")
    with default_dtype(torch.float64):
        cache = answer.KVCache(1, 1, 1, 2)
    cache.truncate(0)
    kinds = [t.dtype for t in cache.append(torch.ones(1, 1, 1, 2), torch.ones(1, 1, 1, 2))]
    call = "KVCache(1, 1, 1, 2), built while torch's default is float64"
    expect_equal(kinds, [torch.float32] * 2, f"the dtypes of keys and values of {call}")


def test_no_graph(answer, gen):
    """The cache holds no graph, whatever comes in, and takes steps with and without gradients."""
    cache = answer.KVCache(1, 2, 9, 4)
    k = torch.randn(1, 2, 2, 4, generator=gen).requires_grad_()
    for note in ("first", "second"):
        for mine in cache.append(k * 2, k * 3):
            expect_that(
                not mine.requires_grad,
                f"what the {note} append(…) returns requires gradients: the cache holds a graph",
                likely="keys and values are stored without `.detach()`",
            )
    layer = build(answer, gen)
    x = torch.randn(2, 6, 8, generator=gen)
    wanted = exact(layer, x)
    cache = layer.make_cache(2, 6)
    early = x[:, :2].clone().requires_grad_()
    results = [layer(early, cache)]
    with torch.inference_mode():
        results.append(layer(x[:, 2:3], cache))
    with torch.no_grad():
        results.append(layer(x[:, 3:4], cache))
    results.append(layer(x[:, 4:], cache))
    yours = torch.cat([r.detach().clone() for r in results], 1)
    expect_right(yours, wanted, "layer(…, cache) in inference mode, under no_grad and without")
    if results[-1].requires_grad:
        (found,) = torch.autograd.grad(results[-1].sum(), early, allow_unused=True)
        expect_that(found is None, "a step has a gradient for the tokens of an earlier step")


def test_several_caches(answer, gen):
    """One layer serves several caches in turn, of several sizes, and a deep copy goes on by itself."""
    layer = build(answer, gen)
    xs = [torch.randn(batch, 6, 8, generator=gen) for batch in (2, 2, 1)]
    caches = [layer.make_cache(len(x), 6 + 2 * len(x)) for x in xs]
    results = [[], [], []]
    for start, end in pairwise((0, 2, 3, 6)):
        for x, cache, mine in zip(xs, caches, results, strict=True):
            mine.append(layer(x[:, start:end], cache).detach())
    for x, mine in zip(xs, results, strict=True):
        expect_right(torch.cat(mine, 1), exact(layer, x), "layer(…, cache) with three caches in turn")
    fork = copy.deepcopy(caches[0])
    a, b = torch.randn(2, 2, 8, generator=gen), torch.randn(2, 3, 8, generator=gen)
    mine = [(a, layer(a, caches[0]).detach()), (b, layer(b, fork).detach())]
    for tail, yours in mine:
        wanted = exact(layer, torch.cat([xs[0], tail], 1))[:, 6:]
        expect_right(yours, wanted, "layer(…, cache) with a cache and its deep copy")
    expect_registered(layer, "a layer after use", parameters={"qkv.weight": [24, 8], "out.weight": [8, 8]})


def test_new_tokens_only(answer, gen):
    """A step computes queries, keys and values of the new token only, however many came before."""
    flops = {}
    for length in (16, 256):
        layer = build(answer, gen, 64, 2)
        cache = layer.make_cache(2, length + 2)
        with torch.no_grad():
            layer(torch.randn(2, length, 64, generator=gen), cache)
            x = torch.randn(2, 1, 64, generator=gen)
            with FlopCounterMode(display=False) as counter:
                layer(x, cache)
        flops[length] = counter.get_total_flops()
    attend = 2 * 4 * 64 * (256 - 16)  # batch x (a product for scores, one for values)
    expect_that(
        flops[256] - flops[16] <= 4 * attend,
        "a step of one token costs more the more came before",
        yours=f"{flops[16]} multiplications and additions after 16 tokens, {flops[256]} after 256",
        likely="earlier tokens are computed again",
    )


def test_inputs_are_left_alone(answer, gen):
    """x keeps its values, and may lie in memory in any way."""
    layouts = {
        "transposed": torch.randn(8, 4, 3, generator=gen).permute(2, 1, 0),
        "in the middle of a larger tensor": torch.randn(5, 7, 11, generator=gen)[1:4, 2:6, 3:],
        "expanded": torch.randn(1, 4, 8, generator=gen).expand(3, 4, 8),
    }
    for how, x in layouts.items():
        layer = build(answer, gen)
        cache = layer.make_cache(3, 4)
        with unchanged("layer(x, cache)", x=x), torch.no_grad():
            expect_right(in_chunks(layer, x, cache, (3, 1)), exact(layer, x), f"layer(x, cache), {how}")
            expect_right(layer(x), exact(layer, x), f"layer(x), {how}")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes(answer, gen, dtype):
    """A layer that is cast makes caches of its dtype, and decodes in it."""
    layer = build(answer, gen).to(dtype)
    x = torch.randn(2, 6, 8, generator=gen).to(dtype)
    wanted = exact(layer, x)
    cache = layer.make_cache(2, 6)
    yours = in_chunks(layer, x, cache, (3, 1, 2))
    ulps = 2.0**30 if dtype == torch.float64 else 16  # the angles of `rotate` are in float32
    expect_equal(yours.dtype, dtype, f"the dtype of layer.to({dtype})(x, cache)")
    expect_right(yours, wanted, f"layer.to({dtype})(x, cache)", ulps=ulps)
    expect_right(layer(x).detach(), wanted, f"layer.to({dtype})(x)", ulps=ulps)
    if dtype == torch.bfloat16:  # which has no 257
        x = torch.randn(1, 300, 8, generator=gen).to(dtype)
        yours = in_chunks(layer, x, layer.make_cache(1, 300), (290, 10))
        call = f"layer.to({dtype})(x, cache) of 300 tokens, more than bfloat16 can count"
        expect_right(yours, exact(layer, x), call, ulps=2 * ulps)
    cache = layer.make_cache(2, 3)
    token = torch.randn(2, 2, 1, 4, generator=gen, dtype=torch.float64).to(dtype)
    for made, call in (
        (cache, "layer.make_cache(…)"),
        (answer.KVCache(2, 2, 3, 4, dtype=dtype), "KVCache(…)"),
    ):
        for mine in made.append(token, token):
            expect_equal(mine.clone(), token, f"what is in {call} in {dtype}")


def test_on_a_device(answer, gen, device):
    """Layer and cache work on another device, and copy nothing to or from the CPU."""
    layer = build(answer, gen)
    x = torch.randn(2, 6, 8, generator=gen)
    wanted = exact(layer, x).float()
    layer, there = layer.to(device), x.to(device)
    results = []
    with count_traffic() as traffic, torch.no_grad():
        cache = layer.make_cache(2, 8)
        for start, end in pairwise((0, 3, 4, 6)):
            results.append(layer(there[:, start:end], cache))
        cache.truncate(2)
        whole = layer(there)
        kept = answer.KVCache(1, 1, 2, 4, device=device).append(*[torch.ones(1, 1, 1, 4, device=device)] * 2)
    expect_no_traffic(traffic, "layer(x, cache)")
    for mine in (*results, whole, *kept):
        expect_that(is_simulated(mine), "a result on a device is not there", yours=mine)
    expect_right(torch.cat([r.cpu() for r in results], 1), wanted, "layer(x, cache) on another device")
    expect_right(whole.cpu(), wanted, "layer(x) on another device")


@pytest.mark.parametrize("shape", [(2, 5, 8), (1, 1, 8)], ids=str)
def test_gradients(answer, gen, shape):
    """Gradients flow through layer(x) to x and to both weights."""
    layer, state = build(answer, gen), random_state(gen, 8)
    layer(torch.ones(1, 2, 8), layer.make_cache(1, 4))
    with torch.inference_mode():  # nothing is kept from here that autograd could not use
        layer(torch.ones(shape))
    for mode, training in (("evaluation", False), ("training", True)):
        layer.train(training)
        expect_gradients(
            lambda x, *ts: functional_call(layer, dict(zip(state, ts, strict=True)), (x,)),
            [torch.randn(shape, generator=gen), *state.values()],
            lambda x, *ts: attention(dict(zip(state, ts, strict=True)), x, 2),
            gen=gen,
            call=f"layer(x) in {mode} mode",
            names=" ".join(["x", *state]),
            ulps=200,
            scale=4.0,
        )
    alone = layer(torch.randn(shape, generator=gen)).requires_grad  # as in the first layer
    expect_equal(
        alone, True, "requires_grad of layer(x), where the weights require gradients and x does not,"
    )


def test_no_room(answer, gen):
    """Tokens that the cache has no room for raise ValueError, and leave the cache as it was."""
    layer = build(answer, gen)
    x = torch.randn(2, 5, 8, generator=gen)
    wanted = exact(layer, x)
    cache = layer.make_cache(2, 5)
    layer(x[:, :3], cache)
    too_many = torch.ones(2, 3, 8)
    expect_raises(ValueError, lambda: layer(too_many, cache), "layer(x, cache) of 3 tokens with room for 2")
    token = torch.ones(2, 2, 3, 4)
    expect_raises(ValueError, lambda: cache.append(token, token), "cache.append of 3 tokens with room for 2")
    expect_equal(cache.length, 3, "cache.length after an error")
    expect_right(layer(x[:, 3:], cache).detach(), wanted[:, 3:], "layer(x, cache) after an error")
    expect_raises(ValueError, lambda: layer(x[:, :1], cache), "layer(x, cache) with a full cache")
    expect_equal(cache.length, 5, "cache.length after an error")
    for length in (-1, 6):
        expect_raises(ValueError, lambda length=length: cache.truncate(length), f"truncate({length}) of 5")
    expect_equal(cache.length, 5, "cache.length after an error")
    cache.truncate(4)
    expect_raises(ValueError, lambda: cache.truncate(5), "truncate(5) of 4, with room for 5")
    expect_right(layer(x[:, 4:], cache).detach(), wanted[:, 4:], "layer(x, cache) after errors")


def test_wrong_sizes(answer, gen):
    """Keys, values and x of other sizes raise ValueError, also those that would broadcast."""
    right = (2, 3, 1, 4)
    for k, v in [
        ((1, 3, 1, 4), (1, 3, 1, 4)), ((2, 1, 1, 4), (2, 1, 1, 4)), ((2, 3, 1, 1), (2, 3, 1, 1)),
        (right, (1, 3, 1, 4)),
        ((2, 3, 2, 4), right), (right, (2, 3, 2, 4)), (right, (2, 3, 1, 1)), ((3, 3, 1, 4), (3, 3, 1, 4)),
        ((2, 1, 1, 4), right), ((2, 3, 0, 4), right), (right, (2, 3, 0, 4)), ((2, 3, 2, 4), (2, 3, 1, 4)),
    ]:  # fmt: skip
        cache = answer.KVCache(2, 3, 5, 4)
        kept = torch.randn(2, 3, 2, 4, generator=gen)
        cache.append(kept, kept + 1)
        call = f"append of keys {k} and values {v} to a cache of (2, 3, 5, 4)"
        expect_raises(
            ValueError, lambda k=k, v=v, cache=cache: cache.append(torch.ones(k), torch.ones(v)), call
        )
        expect_equal(cache.length, 2, f"cache.length after {call}")
        for mine, base in zip(
            cache.append(torch.ones(right), torch.ones(right)), (kept, kept + 1), strict=True
        ):
            expect_equal(
                mine.clone(), torch.cat([base, torch.ones(right)], 2), f"the next token after {call}"
            )
    layer = build(answer, gen)
    cache = layer.make_cache(2, 4)
    for batch, time in ((1, 2), (3, 2), (3, 0)):
        x = torch.ones(batch, time, 8)
        expect_raises(
            ValueError,
            lambda x=x: layer(x, cache),
            f"layer(x, cache) of {time} tokens with batches of {batch} and 2",
        )
        expect_equal(cache.length, 0, "cache.length after an error")


def test_bad_heads(answer):
    """Heads that do not divide dim into even sizes raise ValueError."""
    for dim, heads in [(6, 4), (4, 8), (6, 0), (8, -2), (6, 2), (3, 1), (12, 4)]:
        expect_raises(
            ValueError,
            lambda dim=dim, heads=heads: answer.CachedAttention(dim, heads),
            f"CachedAttention({dim}, {heads})",
        )


def test_no_loops(answer, gen):
    """The number of operations depends neither on the tokens that are new nor on those that came before."""

    def chunk(n):
        layer = build(answer, gen)
        x = torch.randn(2, n, 8, generator=gen)
        return lambda: layer(x, layer.make_cache(2, 40))

    def step(n):
        layer = build(answer, gen)
        cache, x = layer.make_cache(2, n + 4), torch.randn(2, 1, 8, generator=gen)
        for _ in range(n):
            layer(x, cache)
        return lambda: layer(x, cache)

    def store(n):
        k = torch.randn(2, 3, n, 4, generator=gen)
        return lambda: answer.KVCache(2, 3, 40, 4).append(k, k)

    expect_flat_cost(chunk, "layer(x, cache)", over="the number of new tokens")
    expect_flat_cost(step, "layer(x, cache)", over="the number of earlier steps")
    expect_flat_cost(store, "cache.append(keys, values)", over="the number of new tokens")


def oracle(answer, gen):
    layer = build(answer, gen, 12, 3)
    if not isinstance(layer, torch.nn.Module):
        raise CheckFailure("CachedAttention(12, 3) is no module")
    x = torch.randn(2, 9, 12, generator=gen)
    cache = layer.make_cache(2, 9)
    chunks = [layer(part, cache).detach() for part in x.split([4, 1, 3, 1], 1)]
    cache.truncate(5)
    again = layer(x[:, :4] + 1, cache).detach()
    small = answer.KVCache(1, 2, 3, 2)
    k = torch.randn(1, 2, 2, 2, generator=gen)
    return [*chunks, again, layer(x).detach(), cache.length, *(t.clone() for t in small.append(k, -k))]
