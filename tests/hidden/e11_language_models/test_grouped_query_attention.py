"""What grades grouped_query_attention: groups, the mask, gradients; copies, dtypes, devices, errors."""

import math

import pytest
import torch
from torch.nn.attention.bias import CausalBias

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    strides,
    untouched,
    values,
)
from grader.checks.cost.dispatch import unfollowed


@pytest.fixture(autouse=True)
def causal_bias(monkeypatch):
    """Let torch make its causal masks while operations are watched, which fails in torch 2.13."""

    def new(cls, *args, **kwargs):
        with unfollowed():
            return torch.Tensor.__new__(cls)

    monkeypatch.setattr(CausalBias, "__new__", new)


def attention(
    q,
    k,
    v,
    of=lambda h, heads, kv_heads: h // (heads // kv_heads),
    seen=lambda time, keys: keys - time,
    scale=lambda dim, heads: dim**-0.5,
    over=-1,
    fill=-math.inf,
    late=False,
):
    """Head by head; what comes after `v` is as people get it wrong."""
    (heads, time, dim), (kv_heads, keys) = q.shape[1:], k.shape[1:3]
    hidden, results = ~torch.ones(time, keys, dtype=torch.bool).tril(seen(time, keys)), []
    for h in range(heads):
        one = of(h, heads, kv_heads)
        scores = scale(dim, heads) * q[:, h] @ k[:, one].mT
        if late:
            weights = scores.softmax(over).masked_fill(hidden, 0.0)
        else:
            weights = scores.masked_fill(hidden, fill).softmax(over)
        results.append(weights @ v[:, one])
    return torch.stack(results, 1)


def wrong(**how):
    return lambda q, k, v: attention(q, k, v, **how)


def merged(q, k, v):
    """Results with time before heads, taken for heads before time."""
    return attention(q, k, v).transpose(1, 2).reshape(q.shape)


def heads(gen, batch, heads, kv_heads, time, keys, dim):
    sizes = [(batch, heads, time, dim), (batch, kv_heads, keys, dim), (batch, kv_heads, keys, dim)]
    return given(*[torch.randn(size, generator=gen) for size in sizes])


contract = Contract(
    "grouped_attention(q, k, v)",
    reference=attention,
    inputs=lambda gen: {
        "4 heads share 2": heads(gen, 2, 4, 2, 5, 5, 6),
        "6 heads share 2": heads(gen, 2, 6, 2, 4, 4, 3),
        "6 heads share 3, as many tokens": heads(gen, 3, 6, 3, 6, 6, 4),
        "one head of keys for all": heads(gen, 2, 4, 1, 5, 5, 8),
        "a head of keys for each": heads(gen, 2, 3, 3, 4, 4, 5),
        "one query and a cache": heads(gen, 3, 4, 2, 1, 7, 6),
        "three queries and a cache": heads(gen, 2, 6, 3, 3, 8, 4),
    },
    gradient="q k v",
    dims="batch heads time dim",
    ulps=200,
    scale=4.0,
    suspects={
        "head h uses head h % kv_heads of the keys: repeat_interleave, not repeat": wrong(
            of=lambda h, heads, kv_heads: h % kv_heads
        ),
        "head h uses head h // kv_heads of the keys: divide by the size of a group": wrong(
            of=lambda h, heads, kv_heads: h // kv_heads % kv_heads
        ),
        "all heads use the first head of keys": wrong(of=lambda h, heads, kv_heads: 0),
        "tokens see those that come after them": wrong(seen=lambda time, keys: keys),
        "the first query is put at the first key: the queries are the last tokens": wrong(
            seen=lambda time, keys: 0
        ),
        "a token sees one token too far": wrong(seen=lambda time, keys: keys - time + 1),
        "scores are not divided by sqrt(dim)": wrong(scale=lambda dim, heads: 1.0),
        "scores are divided by dim, not by its root": wrong(scale=lambda dim, heads: 1 / dim),
        "scores are divided by sqrt(heads * dim): each head has dim features": wrong(
            scale=lambda dim, heads: (heads * dim) ** -0.5
        ),
        "softmax runs over the queries: the keys are dim=-1": wrong(over=-2),
        "hidden scores become 0, which still counts: fill in -inf": wrong(fill=0.0),
        "the mask comes after the softmax: mask the scores before": wrong(late=True),
        "time stands before heads: the result is (batch, heads, time, dim)": merged,
    },
    fine=[
        dtypes(torch.float64, torch.bfloat16, torch.float16, ulps=16),
        strides(),
        empties(),
        untouched(),
        values(
            inputs=lambda gen: {
                "one token": heads(gen, 1, 2, 1, 1, 1, 4),
                "long": heads(gen, 1, 4, 2, 300, 300, 2),
            },
            name="other_sizes",
            title="There may be a single token, and hundreds.",
        ),
        device(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                f"{n} heads of queries and {m} of keys": heads(gen, 1, n, m, 2, 2, 4)
                for n, m in [(3, 2), (4, 3), (2, 4)]
            },
            title="Heads that do not share evenly raise an error.",
        ),
        flat_cost(
            {
                "sequences": lambda n: given(*[torch.ones(n, h, 3, 2) for h in (4, 2, 2)]),
                "tokens": lambda n: given(*[torch.ones(1, h, n, 2) for h in (4, 2, 2)]),
                "heads": lambda n: given(*[torch.ones(1, h, 3, 2) for h in (2 * n, n, n)]),
            }
        ),
    ],
)


@pytest.mark.fine
def test_no_copies(answer, gen):
    """Keys and values are not copied for each head of queries."""
    for batch, many, few in [(2, 8, 2), (1, 4, 1)]:
        q, k, v = heads(gen, batch, many, few, 1, 512, 64).args
        peak = peak_bytes(lambda t=(q, k, v): answer.grouped_attention(*t))
        expect_that(
            peak < k.nbytes,
            "grouped_attention(q, k, v) copies keys or values",
            yours=f"{peak} bytes of new memory, for one query, {many} heads and {few} of keys",
            wanted=f"less than the {k.nbytes} bytes of k",
            likely="repeat_interleave, expand and reshape, or a product that broadcasts: "
            "one matrix of queries for each head of keys needs none",
        )
