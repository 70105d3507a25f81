"""What grades latent_attention: one pass, steps with a cache, what it holds; cost, dtypes, devices."""

import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from grader.checks import expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    gradients,
    layer,
    loads,
    registered,
    untouched,
)

CALL = "LatentAttention(dim, heads, latent, head_dim, rope_dim)(x, cache)"


def turned(x, positions):
    """Halves of x as complex numbers, each at its angle."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * 10_000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1)


def attention(
    state,
    x,
    cache=None,
    *,
    heads,
    latent,
    head_dim,
    rope_dim,
    start=lambda past: past,
    size=lambda head_dim, rope_dim: head_dim + rope_dim,
    seen=lambda time, past: torch.ones(time, past + time, dtype=torch.bool).tril(past),
    wrong="",
    **built,
):
    """Head by head, with all keys; from `start` to `wrong` as people get it wrong, `built` is the rest."""
    past, time = 0 if cache is None else cache.shape[1], x.shape[1]
    query, down, rope_key, up_key, up_value, out = (
        state[f"{part}.weight"].mT for part in ("query", "down", "rope_key", "up_key", "up_value", "out")
    )
    positions = start(past) + torch.arange(time)
    plain = x @ rope_key
    r = plain if wrong == "unturned keys" else turned(plain, positions)
    new = torch.cat([x @ down, r], -1)
    whole = new if cache is None else torch.cat([cache, new], 1)
    c, r = whole[..., :latent], whole[..., latent:]
    if wrong == "again" and cache is not None:
        r = turned(torch.cat([cache[..., latent:], plain], 1), torch.arange(past + time))
    found, every = [], (x @ query).split(head_dim + rope_dim, -1)
    for h in range(heads):
        part = slice(h * head_dim, (h + 1) * head_dim)
        q, p = every[h][..., :head_dim], every[h][..., head_dim:]
        if wrong == "rope first":
            p, q = every[h][..., :rope_dim], every[h][..., rope_dim:]
        if wrong == "parts first":
            q = (x @ query)[..., part]
            p = (x @ query)[..., heads * head_dim :][..., h * rope_dim : (h + 1) * rope_dim]
        k, v = c @ up_key[:, part], c @ up_value[:, part]
        p = p if wrong == "unturned queries" else turned(p, positions)
        scores = q @ k.mT + (0.0 if wrong == "no rope" else p @ r.mT)
        hidden = ~seen(time, past)
        weights = (scores / math.sqrt(size(head_dim, rope_dim))).masked_fill(hidden, -math.inf).softmax(-1)
        found.append(weights @ v)
    together = torch.cat(found, -1)
    if wrong == "merged":
        together = torch.stack(found, 1).reshape(together.shape)
    return together @ out, {"new": new, "keys": torch.cat([x @ down, plain], -1)}.get(wrong, whole)


def but(**how):
    return lambda *given, **options: attention(*given, **{**options, **how})


def sizes(dim, heads, latent, head_dim, rope_dim):
    return {
        "query.weight": (heads * (head_dim + rope_dim), dim),
        "down.weight": (latent, dim),
        "rope_key.weight": (rope_dim, dim),
        "up_key.weight": (heads * head_dim, latent),
        "up_value.weight": (heads * head_dim, latent),
        "out.weight": (dim, heads * head_dim),
    }


def latents(gen, batch, past, time, *built):
    """A call of a layer whose weights keep the features' size, with `past` tokens in a cache."""
    state = {name: torch.randn(size, generator=gen) / size[1] ** 0.5 for name, size in sizes(*built).items()}
    x, cache = (
        torch.randn(batch, *size, generator=gen) for size in ((time, built[0]), (past, built[2] + built[4]))
    )
    return layer(*built, state=state)(x, *[cache] if past else [])


def whole(gen):
    return {
        "a text": latents(gen, 2, 0, 5, 6, 2, 4, 3, 2),
        "as many heads as tokens": latents(gen, 2, 0, 3, 5, 3, 6, 4, 4),
        "one head": latents(gen, 3, 0, 4, 4, 1, 3, 5, 2),
    }


SUSPECTS = {
    "scores are divided by sqrt(head_dim): a query has head_dim + rope_dim features": but(
        size=lambda head_dim, rope_dim: head_dim
    ),
    "scores are not divided by sqrt(head_dim + rope_dim)": but(size=lambda head_dim, rope_dim: 1),
    "new tokens begin at position 0: they come after those in the cache": but(start=lambda past: 0),
    "the keys r are not turned": but(wrong="unturned keys"),
    "the parts p of the queries are not turned": but(wrong="unturned queries"),
    "keys in the cache are turned again": but(wrong="again"),
    "p @ rᵀ is left out": but(wrong="no rope"),
    "p is taken from the first features of a head: it has the last ones": but(wrong="rope first"),
    "query(x) holds no q of all heads, and then p: each head has its q and its p": but(wrong="parts first"),
    "heads are merged by a reshape alone: transpose heads and time back before": but(wrong="merged"),
    "the cache that is returned holds the new tokens alone": but(wrong="new"),
    "tokens see those that come after them": but(
        seen=lambda time, past: torch.ones(time, past + time, dtype=torch.bool)
    ),
    "the first new token sees the first key alone: is_causal does not know of those in the cache": but(
        seen=lambda time, past: torch.ones(time, past + time, dtype=torch.bool).tril()
    ),
    "the new tokens do not see those in the cache": but(
        seen=lambda time, past: (
            torch.ones(time, past + time, dtype=torch.bool).tril(past).triu()
            & (torch.arange(past + time) >= past)
        )
    ),
}

contract = Contract(
    CALL,
    reference=attention,
    inputs=lambda gen: (
        whole(gen)
        | {
            "one token and a cache": latents(gen, 2, 6, 1, 6, 2, 4, 3, 2),
            "three tokens and a cache": latents(gen, 3, 4, 3, 5, 3, 6, 4, 4),
        }
    ),
    dims=("batch time dim", "batch keys cached"),
    ulps=400,
    scale=4.0,
    suspects=SUSPECTS,
    job=[
        registered(
            inputs=lambda gen: [
                layer(5, 3, 4, 6, 2, state={n: torch.zeros(size) for n, size in sizes(5, 3, 4, 6, 2).items()})
            ]
        ),
        loads(),
    ],
    fine=[
        untouched(inputs=lambda gen: [latents(gen, 2, 3, 2, 6, 2, 4, 3, 2)]),
        empties(),
        dtypes(
            *(torch.float16, torch.bfloat16),
            ulps=32,
            name="half_precision",
            title="A layer that is cast to half precision works in it.",
        ),
        dtypes(torch.float64, name="float64", title="A layer that is cast to float64 works in it."),
        device(inputs=lambda gen: [latents(gen, 2, past, 3, 6, 2, 4, 3, 2) for past in (0, 4)]),
        flat_cost(
            {
                "sequences": lambda n: layer(4, 2, 3, 2, 2)(torch.ones(n, 3, 4)),
                "tokens": lambda n: layer(4, 2, 3, 2, 2)(torch.ones(2, n, 4), torch.ones(2, n, 5)),
                "heads": lambda n: layer(4, n, 3, 2, 2)(torch.ones(2, 3, 4)),
            }
        ),
    ],
)

result = Contract(
    CALL,
    reference=lambda *given, **options: attention(*given, **options)[0],
    use=lambda attend, x: attend(x)[0],
    job=[
        gradients(
            "x state",
            inputs=whole,
            ulps=400,
            scale=4.0,
            title="Gradients flow from the result to x and all weights.",
        )
    ],
)


@pytest.mark.fine
def test_no_keys_of_the_past(answer, gen):
    """A step makes no keys and values of the tokens in the cache."""
    call = latents(gen, 1, 512, 1, 8, 4, 16, 32, 4)
    attend = contract.layer(answer, call)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        attend(*call.args)
    yours, keys = counter.get_total_flops(), 2 * 512 * 16 * 4 * 32
    expect_that(
        yours < keys,
        "a step makes keys or values of all tokens in the cache",
        yours=f"{yours} operations of products for one token and 512 in the cache, latent=16, head_dim=32",
        wanted=f"less than {keys}, what the keys alone take",
        likely="q @ (c @ up_key)ᵀ is (q @ up_keyᵀ) @ cᵀ: the weight of up_key can go to the query",
    )
