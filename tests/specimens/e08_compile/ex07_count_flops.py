"""Answers to count_flops that people write."""

from grader.authoring.specimen import Right, Works, Wrong

COLUMNS = "2 * inner + 2 * decoder.kv_heads * decoder.head_dim"
ATTENTION = "2 * 2 * rows * (past + time) * inner"
ROWS = "    rows, inner = batch * time,"
TOTAL = '    return {**table, "total": sum(table.values())}\n'
TRAINING = '    return 3 * count_flops(decoder, batch, time)["total"]  # once forwards, twice backwards\n'
PER_TOKEN = "    per_token = training_flops(decoder, 1, time) / time\n"
RAISE = """    if decoder.heads % decoder.kv_heads:
        raise ValueError(f"{decoder.heads} heads are no multiple of {decoder.kv_heads} kv_heads")
"""
DECODER = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Decoder:
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocabulary: int
"""

SPECIMENS = [
    Wrong(
        "multiply-accumulates instead of FLOPs",
        edits=[(TOTAL, "    table = {kind: n // 2 for kind, n in table.items()}\n" + TOTAL)],
        rung="job",
        check="test_forward",
        says="an addition for each multiplication",
    ),
    Wrong(
        "k and v as wide as q",
        edits=[(COLUMNS, "4 * inner")],
        rung="job",
        check="test_forward",
        says="k and v have kv_heads heads",
    ),
    Wrong(
        "all heads of q together are as wide as the model",
        edits=[(COLUMNS, "2 * decoder.width + 2 * decoder.kv_heads * decoder.head_dim")],
        rung="job",
        check="test_forward",
        says="not width",
    ),
    Wrong(
        "scores for each head of k only",
        edits=[(ATTENTION, "2 * 2 * rows * (past + time) * decoder.kv_heads * decoder.head_dim")],
        rung="job",
        check="test_forward",
        says="not only every key head",
    ),
    Wrong(
        "half of the scores, as the mask is causal",
        edits=[(ATTENTION, "2 * rows * (past + time) * inner")],
        rung="job",
        check="test_forward",
        says="a causal mask saves nothing",
    ),
    Wrong(
        "two matrices in the MLP, as in GPT-2",
        edits=[("* 3 * 2 * rows", "* 2 * 2 * rows")],
        rung="job",
        check="test_forward",
        says="three matrices",
    ),
    Wrong(
        "a head in each layer",
        edits=[('"head": 2 * rows', '"head": decoder.layers * 2 * rows')],
        rung="job",
        check="test_forward",
        says="once behind the layers",
    ),
    Wrong(
        "six FLOPs for each parameter and token",
        edits=[
            (
                TRAINING,
                "    table = count_flops(decoder, batch, time)\n"
                '    return 3 * (table["total"] - table["attention"])\n',
            )
        ],
        rung="job",
        check="test_training",
        says="attention is left out",
    ),
    Wrong(
        "ignores devices",
        edits=[("(peak * devices)", "peak")],
        rung="job",
        check="test_utilisation",
        says="devices are left out",
    ),
    Wrong(
        "the FLOPs of a sequence of one token",
        edits=[(PER_TOKEN, "    per_token = training_flops(decoder, 1, 1)\n")],
        rung="job",
        check="test_utilisation",
        says="scores depend on the length",
    ),
    Wrong(
        "computes the cached positions again",
        edits=[(ROWS, "    time, past = time + past, 0\n" + ROWS)],
        rung="fine",
        check="test_with_a_cache",
        says="nothing but attention",
    ),
    Wrong(
        "ignores the cache",
        edits=[("(past + time)", "time")],
        rung="fine",
        check="test_with_a_cache",
        says="attended to as well",
    ),
    Wrong(
        "returns floats",
        edits=[("decoder.layers * 3 * 2 * rows", "decoder.layers * 6.0 * rows")],
        rung="fine",
        check="test_exact_at_any_size",
    ),
    Wrong("no check of the heads", edits=[(RAISE, "")], rung="fine", check="test_bad_sizes"),
    Works(
        "the products one after another, without the fine print",
        code=DECODER
        + """
def count_flops(decoder, batch, time, past=0):
    L, D, H, K, Q = decoder.layers, decoder.width, decoder.heads, decoder.kv_heads, decoder.head_dim
    N = batch * time
    q = 2 * N * D * H * Q
    kv = 2 * (2 * N * D * K * Q)
    out = 2 * N * H * Q * D
    scores = batch * H * 2 * time * Q * time
    weighted = batch * H * 2 * time * time * Q
    mlp = 2 * (2 * N * D * decoder.hidden) + 2 * N * decoder.hidden * D
    head = 2 * N * D * decoder.vocabulary
    return {
        "projections": L * (q + kv + out),
        "attention": L * (scores + weighted),
        "mlp": L * mlp,
        "head": head,
        "total": L * (q + kv + out + scores + weighted + mlp) + head,
    }

def training_flops(decoder, batch, time):
    forward = count_flops(decoder, batch, time)["total"]
    backward = 2 * forward
    return forward + backward

def utilisation(decoder, tokens_per_second, time, peak, devices=1):
    flops_per_second = training_flops(decoder, 1, time) * (tokens_per_second / time)
    return flops_per_second / (devices * peak)
""",
    ),
    Works(
        "nanoGPT's estimate for training, and floats",
        code=DECODER
        + """
def matrices(d):
    attention = 2 * d.width * d.heads * d.head_dim + 2 * d.width * d.kv_heads * d.head_dim
    return d.layers * (attention + 3 * d.width * d.hidden) + d.width * d.vocabulary

def count_flops(decoder, batch, time, past=0):
    d, tokens = decoder, batch * time
    table = {
        "projections": 2.0 * tokens * d.layers * d.width * d.head_dim * (2 * d.heads + 2 * d.kv_heads),
        "attention": 4.0 * tokens * time * d.layers * d.heads * d.head_dim,
        "mlp": 6.0 * tokens * d.layers * d.width * d.hidden,
        "head": 2.0 * tokens * d.width * d.vocabulary,
    }
    table["total"] = sum(table.values())
    return table

def training_flops(decoder, batch, time):
    L, H, Q, T = decoder.layers, decoder.heads, decoder.head_dim, time
    flops_per_token = 6 * matrices(decoder) + 12 * L * H * Q * T
    return flops_per_token * T * batch

def utilisation(decoder, tokens_per_second, time, peak, devices=1):
    flops_achieved = training_flops(decoder, 1, time) * tokens_per_second / time
    return flops_achieved / (peak * devices)
""",
    ),
    Right(
        "a list of products, each with its sizes",
        code=DECODER
        + """
from collections import Counter
from fractions import Fraction


def _layer(d, b, t, past):
    rows = b * t
    yield "projections", (rows, d.width, d.heads * d.head_dim), 1
    yield "projections", (rows, d.width, d.kv_heads * d.head_dim), 2
    yield "attention", (t, d.head_dim, t + past), b * d.heads
    yield "attention", (t, t + past, d.head_dim), b * d.heads
    yield "projections", (rows, d.heads * d.head_dim, d.width), 1
    yield "mlp", (rows, d.width, d.hidden), 2
    yield "mlp", (rows, d.hidden, d.width), 1


def count_flops(decoder, batch, time, past=0):
    if decoder.heads % decoder.kv_heads != 0:
        raise ValueError("heads")
    counts = Counter()
    for kind, (m, k, n), times in _layer(decoder, batch, time, past):
        counts[kind] += decoder.layers * 2 * m * k * n * times
    counts["head"] = 2 * batch * time * decoder.width * decoder.vocabulary
    return {**counts, "total": counts.total()}


def training_flops(decoder, batch, time):
    kinds = count_flops(decoder, batch, time)
    return sum(3 * kinds[kind] for kind in ("head", "mlp", "attention", "projections"))


def utilisation(decoder, tokens_per_second, time, peak, devices=1):
    sequences = Fraction(tokens_per_second) / time
    return float(training_flops(decoder, 1, time) * sequences / Fraction(peak) / devices)
""",
    ),
    Right(
        "by parameters: two FLOPs for each and token, and the scores beside",
        edits=[
            (
                TRAINING,
                """    d, tokens = decoder, batch * time
    attention = 2 * d.width * d.head_dim * (d.heads + d.kv_heads)
    parameters = d.layers * (attention + 3 * d.width * d.hidden) + d.width * d.vocabulary
    scores = d.layers * d.heads * d.head_dim * time
    return tokens * (6 * parameters + 12 * scores)
""",
            )
        ],
    ),
]
