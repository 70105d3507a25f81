"""What grades count_flops: small models by a list of their products; caches, exactness, bad sizes."""

import pytest
import torch

from grader.checks import expect_equal, expect_number, expect_raises, expect_that

NAMES = ("layers", "width", "heads", "kv_heads", "head_dim", "hidden", "vocabulary")
MODELS = {
    "plain": (2, 12, 3, 3, 4, 20, 31),
    "shared heads": (3, 16, 6, 2, 5, 28, 17),
    "wide heads": (2, 8, 2, 1, 16, 9, 40),
}
"""The sizes, in the order of NAMES."""
SIZES = [(1, 5), (2, 7), (5, 3)]
KINDS = ("projections", "attention", "mlp", "head")


def products(sizes, batch, time, past=0):
    """Kind, sizes (m, k, n) and number of each product of a forward pass."""
    layers, width, heads, kv_heads, head_dim, hidden, vocabulary = sizes
    rows, keys = batch * time, past + time
    for _ in range(layers):
        yield "projections", (rows, width, heads * head_dim), 1
        yield "projections", (rows, width, kv_heads * head_dim), 2
        yield "projections", (rows, heads * head_dim, width), 1
        yield "attention", (time, head_dim, keys), batch * heads
        yield "attention", (time, keys, head_dim), batch * heads
        yield "mlp", (rows, width, hidden), 2
        yield "mlp", (rows, hidden, width), 1
    yield "head", (rows, width, vocabulary), 1


def forward(sizes, batch, time, past=0):
    table = dict.fromkeys(KINDS, 0)
    for kind, (m, k, n), number in products(sizes, batch, time, past):
        table[kind] += 2 * m * k * n * number
    return {**table, "total": sum(table.values())}


def mistakes(sizes, batch, time, past=0):
    """What goes wrong in a forward pass, in words, and the table with it."""
    right = forward(sizes, batch, time, past)
    layers, width, heads, kv_heads, head_dim, _, _ = sizes

    def but(kind, number):
        table = {**right, kind: number}
        return {**table, "total": sum(table[kind] for kind in KINDS)}

    times = lambda by: {kind: int(by * number) for kind, number in right.items()}  # noqa: E731
    inner, shared = heads * head_dim, kv_heads * head_dim
    columns = 2 * layers * batch * time * width
    per_head = right["attention"] // heads
    return {
        "a product takes 2·m·k·n FLOPs: an addition for each multiplication": times(0.5),
        "these are the FLOPs of one sequence": times(1 / batch),
        "k and v have kv_heads heads, not heads": but("projections", columns * 4 * inner),
        "the projection of the output is left out": but("projections", columns * (inner + 2 * shared)),
        "all heads together have heads * head_dim columns, not width": but(
            "projections", columns * (2 * width + 2 * shared)
        ),
        "every one of the `heads` has scores, not only every key head": but("attention", per_head * kv_heads),
        "scores and weighted sum both count, and a causal mask saves nothing": but(
            "attention", right["attention"] // 2
        ),
        "scores are within a sequence, not across the batch": but("attention", right["attention"] * batch),
        "mlp has three matrices, not two": but("mlp", right["mlp"] * 2 // 3),
        "the head stands once behind the layers, not in each": but("head", right["head"] * layers),
        "the embedding is no product": but("head", right["head"] * 2),
        "the cached positions are attended to as well": forward(sizes, batch, time),
        "for the cached positions nothing but attention is computed": forward(sizes, batch, past + time),
    }


def decoder_of(answer, sizes):
    return answer.Decoder(**dict(zip(NAMES, sizes, strict=True)))


def whole(number):
    """The int that a float is: how numbers are kept is fine print."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def expect_table(answer, name, **options):
    """Fail unless each kind in the answer's table is right."""
    sizes, given = MODELS[name], ", ".join(f"{key}={n}" for key, n in options.items())
    call = f"count_flops(decoder, {given})"
    yours = answer.count_flops(decoder_of(answer, sizes), **options)
    wanted = forward(sizes, **options)
    expect_that(isinstance(yours, dict), f"{call} is no dict", yours=yours)
    expect_equal(sorted(yours), sorted(wanted), f"the keys of {call}")
    tables = mistakes(sizes, **options)
    for kind in (*KINDS, "total"):
        suspects = {told: lambda table=table, kind=kind: table[kind] for told, table in tables.items()}
        expect_equal(whole(yours[kind]), wanted[kind], f'{call}["{kind}"], {name}', suspects=suspects)
        tables = {told: table for told, table in tables.items() if table[kind] == wanted[kind]}


def share_of(sizes, rate, time, peak, devices, share=3):
    return share * forward(sizes, 1, time)["total"] / time * rate / (peak * devices)


@pytest.mark.parametrize("name", MODELS)
def test_forward(answer, name):
    """The forward pass has as many FLOPs as its products, of every kind."""
    for batch, time in SIZES:
        expect_table(answer, name, batch=batch, time=time)


@pytest.mark.parametrize("name", MODELS)
def test_training(answer, name):
    """Forward and backward together have the FLOPs of three forward passes."""
    for batch, time in SIZES:
        table = forward(MODELS[name], batch, time)
        suspects = {
            "this is forward alone": lambda: table["total"],  # noqa: B023
            "forward and one product more for each: backward has two": lambda: 2 * table["total"],  # noqa: B023
            "attention is left out: 6 FLOPs a parameter are not all": lambda: (
                3 * (table["total"] - table["attention"])  # noqa: B023
            ),
        }
        for told, wrong in mistakes(MODELS[name], batch, time).items():
            suspects.setdefault(told, lambda wrong=wrong: 3 * wrong["total"])
        yours = answer.training_flops(decoder_of(answer, MODELS[name]), batch, time)
        call = f"training_flops(decoder, {batch}, {time}), {name}"
        expect_equal(whole(yours), 3 * table["total"], call, suspects=suspects)


@pytest.mark.parametrize("call", [(1000, 16, 1e9, 1), (777.5, 61, 3e8, 1), (250.0, 7, 2 * 10**7, 3)], ids=str)
def test_utilisation(answer, call):
    """Utilisation follows from tokens per second, length, peak and devices."""
    sizes, (rate, time, peak, devices) = MODELS["shared heads"], call
    suspects = {
        "this is in percent": lambda: 100 * share_of(sizes, *call),
        "these are the FLOPs of forward alone": lambda: share_of(sizes, *call, share=1),
        "devices are left out": lambda: devices * share_of(sizes, *call),
        "tokens_per_second is of all devices together already": lambda: devices**2 * share_of(sizes, *call),
        "these are the FLOPs of a sequence, not of a token": lambda: time * share_of(sizes, *call),
        "a sequence of one token: scores depend on the length": lambda: share_of(
            sizes, rate, 1, peak, devices
        ),
    }
    yours = answer.utilisation(decoder_of(answer, sizes), *call)
    expect_number(
        yours, share_of(sizes, *call), f"utilisation(decoder, {', '.join(map(str, call))})", suspects=suspects
    )


@pytest.mark.fine
@pytest.mark.parametrize("name", ["plain", "shared heads"])
def test_with_a_cache(answer, name):
    """New positions attend to the cached ones, and nothing else is computed for those."""
    for batch, time, past in ((1, 1, 9), (3, 4, 6)):
        expect_table(answer, name, batch=batch, time=time, past=past)


@pytest.mark.fine
def test_exact_at_any_size(answer):
    """Large counts are exact to the last digit, as plain Python ints."""
    sizes = (127, 18431, 131, 131, 127, 65537, 262147)
    decoder, wanted = decoder_of(answer, sizes), forward(sizes, 4099, 1048583)
    call = "of a large model, on 4099 sequences of 1048583 tokens"
    expect_equal(answer.count_flops(decoder, 4099, 1048583), wanted, f"count_flops {call}")
    expect_equal(answer.training_flops(decoder, 4099, 1048583), 3 * wanted["total"], f"training_flops {call}")


@pytest.mark.fine
def test_bad_sizes(answer):
    """ValueError for heads that cannot be shared out."""
    for kv_heads in (4, 12):
        odd = decoder_of(answer, (3, 16, 6, kv_heads, 5, 28, 17))
        call = f"count_flops(decoder, 1, 8) of 6 heads and {kv_heads} kv_heads"
        expect_raises(ValueError, lambda odd=odd: answer.count_flops(odd, 1, 8), call)


def drawn(answer, gen):
    layers, width, kv, head_dim, hidden, words = torch.randint(3, 900, (6,), generator=gen).tolist()
    repeats, batch, time, past = torch.randint(2, 60, (4,), generator=gen).tolist()
    return decoder_of(answer, (layers, width, kv * repeats, kv, head_dim, hidden, words)), batch, time, past


def oracle(answer, gen):
    calls = [drawn(answer, gen) for _ in range(3)]
    return {
        "forward": lambda: [
            {kind: float(n) for kind, n in answer.count_flops(d, b, t).items()} for d, b, t, _ in calls
        ],
        "training": lambda: [float(answer.training_flops(d, b, t)) for d, b, t, _ in calls],
        "utilisation": lambda: [answer.utilisation(d, 100.0 * b, t, 1e13, p) for d, b, t, p in calls],
    }


def fine_oracle(answer, gen):
    calls = [drawn(answer, gen) for _ in range(3)]
    return {
        f"a cache in model {i}": lambda call=call: answer.count_flops(*call)
        for i, call in enumerate(calls, start=1)
    }
