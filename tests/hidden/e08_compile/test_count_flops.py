"""What grades count_flops: small models by a list of their products; caches, exactness, bad sizes."""

import pytest
import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, errors, given, values

NAMES = ("layers", "width", "heads", "kv_heads", "head_dim", "hidden", "vocabulary")
KINDS = ("projections", "attention", "mlp", "head")


def products(decoder, batch, time, past=0):
    """Kind, sizes (m, k, n) and number of each product of a forward pass."""
    layers, width, heads, kv_heads, head_dim, hidden, vocabulary = decoder.values()
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


def forward(decoder, batch, time, past=0):
    table = dict.fromkeys(KINDS, 0)
    for kind, (m, k, n), number in products(decoder, batch, time, past):
        table[kind] += 2 * m * k * n * number
    return {**table, "total": sum(table.values())}


def mistakes(decoder, batch, time, past=0):
    """What goes wrong in a forward pass, in words, and the table with it."""
    right = forward(decoder, batch, time, past)
    layers, width, heads, kv_heads, head_dim, _, _ = decoder.values()

    def but(kind, number):
        table = {**right, kind: number}
        return {**table, "total": sum(table[kind] for kind in KINDS)}

    times = lambda by: {kind: int(by * number) for kind, number in right.items()}  # noqa: E731
    inner, shared = heads * head_dim, kv_heads * head_dim
    columns = 2 * layers * batch * time * width
    per_head = right["attention"] // heads
    return {
        "scores and weighted sum both count, and a causal mask saves nothing": but(
            "attention", right["attention"] // 2
        ),
        "a product takes 2·m·k·n FLOPs: an addition for each multiplication": times(0.5),
        "these are the FLOPs of one sequence": times(1 / batch),
        "k and v have kv_heads heads, not heads": but("projections", columns * 4 * inner),
        "the projection of the output is left out": but("projections", columns * (inner + 2 * shared)),
        "all heads together have heads * head_dim columns, not width": but(
            "projections", columns * (2 * width + 2 * shared)
        ),
        "every one of the `heads` has scores, not only every key head": but("attention", per_head * kv_heads),
        "scores are within a sequence, not across the batch": but("attention", right["attention"] * batch),
        "mlp has three matrices, not two": but("mlp", right["mlp"] * 2 // 3),
        "the head stands once behind the layers, not in each": but("head", right["head"] * layers),
        "the embedding is no product": but("head", right["head"] * 2),
        "the cached positions are attended to as well": forward(decoder, batch, time),
        "for the cached positions nothing but attention is computed": forward(decoder, batch, past + time),
    }


def decoder_of(*sizes):
    return dict(zip(NAMES, sizes, strict=True))


def whole(number):
    """The int that a float is: how numbers are kept is fine print."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def table(answer, decoder, *call, **options):
    found = answer.count_flops(answer.Decoder(**decoder), *call, **options)
    return {kind: whole(n) for kind, n in found.items()} if isinstance(found, dict) else found


def training(decoder, batch, time):
    return 3 * forward(decoder, batch, time)["total"]


def share_of(decoder, rate, time, peak, devices=1):
    return training(decoder, 1, time) / time * rate / (peak * devices)


def drawn(gen, make):
    """Calls with three models of any size."""

    def one():
        layers, width, kv, head_dim, hidden, words, *more = torch.randint(
            3, 50, (10,), generator=gen
        ).tolist()
        return make(decoder_of(layers, width, kv * more[0], kv, head_dim, hidden, words), *more[1:])

    return {f"model {number}": one() for number in (1, 2, 3)}


FORWARD = {
    told: lambda *call, told=told: mistakes(*call)[told] for told in mistakes(decoder_of(*range(1, 8)), 1, 1)
}

counts = Contract(
    "count_flops(decoder, batch, time, past)",
    reference=forward,
    use=table,
    inputs=lambda gen: drawn(gen, lambda decoder, batch, time, past: given(decoder, batch, time)),
    fine_inputs=lambda gen: drawn(gen, given),
    suspects=FORWARD,
    job=[values(title="The forward pass has as many FLOPs as its products, of every kind.")],
    fine=[
        values(
            inputs=lambda gen: drawn(gen, given),
            name="with_a_cache",
            title="New positions attend to the cached ones, and nothing else is computed for those.",
        ),
        errors(
            ValueError,
            lambda gen: {
                f"6 heads and {n} kv_heads": given(decoder_of(3, 16, 6, n, 5, 28, 17), 1, 8) for n in (4, 12)
            },
            title="ValueError for heads that cannot be shared out.",
        ),
    ],
)

training_counts = Contract(
    "training_flops(decoder, batch, time)",
    reference=training,
    use=lambda answer, decoder, *call: whole(answer.training_flops(answer.Decoder(**decoder), *call)),
    inputs=lambda gen: drawn(gen, lambda decoder, batch, time, _: given(decoder, batch, time)),
    suspects={
        "this is forward alone": lambda *call: forward(*call)["total"],
        "forward and one product more for each: backward has two": lambda *call: 2 * forward(*call)["total"],
        "attention is left out: 6 FLOPs a parameter are not all": lambda *call: (
            training(*call) - 3 * forward(*call)["attention"]
        ),
    }
    | {told: lambda *call, make=make: 3 * make(*call)["total"] for told, make in FORWARD.items()},
    job=[values(title="Forward and backward together have the FLOPs of three forward passes.")],
)

utilisations = Contract(
    "utilisation(decoder, tokens_per_second, time, peak, devices)",
    reference=share_of,
    use=lambda answer, decoder, *call: answer.utilisation(answer.Decoder(**decoder), *call),
    inputs=lambda gen: drawn(gen, lambda decoder, rate, time, n: given(decoder, 100.0 * rate, time, 1e10, n)),
    suspects={
        "this is in percent": lambda *call: 100 * share_of(*call),
        "these are the FLOPs of forward alone": lambda *call: share_of(*call) / 3,
        "devices are left out": lambda *call: share_of(*call[:4]),
        "tokens_per_second is of all devices together already": lambda *call: share_of(*call) * call[4],
        "these are the FLOPs of a sequence, not of a token": lambda *call: share_of(*call) * call[2],
        "a sequence of one token: scores depend on the length": lambda decoder, rate, _, *call: share_of(
            decoder, rate, 1, *call
        ),
    },
    job=[values(title="Utilisation follows from tokens per second, length, peak and devices.")],
)


@pytest.mark.fine
def test_exact_at_any_size(answer):
    """Large counts are exact to the last digit, as plain Python ints."""
    large = decoder_of(127, 18431, 131, 131, 127, 65537, 262147)
    decoder, wanted = answer.Decoder(**large), forward(large, 4099, 1048583)
    call = "of a large model, on 4099 sequences of 1048583 tokens"
    expect_equal(answer.count_flops(decoder, 4099, 1048583), wanted, f"count_flops {call}")
    expect_equal(answer.training_flops(decoder, 4099, 1048583), 3 * wanted["total"], f"training_flops {call}")
