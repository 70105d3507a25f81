"""What grades count_flops: real models under PyTorch's counter, caches, frozen layers, utilisation."""

from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from grader.checks import count_operations, expect_close, expect_equal, expect_raises, expect_that

NAMES = ("layers", "width", "heads", "kv_heads", "head_dim", "hidden", "vocabulary")
MODELS = {
    "plain": (2, 12, 3, 3, 4, 20, 31),
    "grouped": (3, 16, 6, 2, 5, 28, 17),
    "one head of k and v": (1, 10, 4, 1, 3, 7, 11),
    "wide heads": (2, 8, 2, 2, 16, 9, 40),
}
"""The sizes, in the order of NAMES."""


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, head_dim):
        super().__init__()
        self.head_dim, self.repeats = head_dim, heads // kv_heads
        self.q = nn.Linear(width, heads * head_dim, bias=False)
        self.k, self.v = (nn.Linear(width, kv_heads * head_dim, bias=False) for _ in range(2))
        self.out = nn.Linear(heads * head_dim, width, bias=False)

    def forward(self, x, past):
        q, k, v = (m(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for m in (self.q, self.k, self.v))
        cache = k.new_zeros(*k.shape[:2], past, self.head_dim)
        k, v = (torch.cat([cache, t], dim=2).repeat_interleave(self.repeats, dim=1) for t in (k, v))
        scores = q @ k.mT
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril(past)
        result = scores.masked_fill(~mask, -1e9).softmax(-1) @ v
        return self.out(result.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Model(nn.Module):
    """What the statement describes, to be counted."""

    def __init__(self, layers, width, heads, kv_heads, head_dim, hidden, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.attentions = nn.ModuleList(Attention(width, heads, kv_heads, head_dim) for _ in range(layers))
        self.mlps = nn.ModuleList(Mlp(width, hidden) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, past=0):
        x = self.embedding(tokens)
        for attention, mlp in zip(self.attentions, self.mlps, strict=True):
            x = x + attention(F.rms_norm(x, x.shape[-1:]), past)
            x = x + mlp(F.rms_norm(x, x.shape[-1:]))
        return self.head(F.rms_norm(x, x.shape[-1:]))


def counted(sizes, batch, time, past=0):
    """What PyTorch counts in a forward pass, by kind."""
    model, tokens = Model(*sizes), torch.zeros(batch, time, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tokens, past)
    counts, table = counter.get_flop_counts(), {}
    products = {kind: counts["Global"].get(kind, 0) for kind in (torch.ops.aten.bmm, torch.ops.aten.mm)}
    table["mlp"] = sum(sum(counts.get(f"Model.mlps.{i}", {}).values()) for i in range(sizes[0]))
    table["head"] = sum(counts.get("Model.head", {}).values())
    table["attention"] = products[torch.ops.aten.bmm]
    table["projections"] = products[torch.ops.aten.mm] - table["mlp"] - table["head"]
    return {**table, "total": counter.get_total_flops()}


@cache
def counted_training(sizes, batch, time, frozen=0):
    """What PyTorch counts in forward and backward."""
    model, tokens = Model(*sizes), torch.zeros(batch, time, dtype=torch.long)
    if frozen:
        for part in (model.embedding, *model.attentions[:frozen], *model.mlps[:frozen]):
            part.requires_grad_(False)
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    return counter.get_total_flops()


def decoder_of(answer, sizes):
    return answer.Decoder(**dict(zip(NAMES, sizes, strict=True)))


def expect_share(yours, wanted, call):
    expect_that(isinstance(yours, float), f"{call} is no float", yours=yours, wanted=wanted)
    yours, wanted = (torch.tensor(share, dtype=torch.float64) for share in (yours, wanted))
    expect_close(yours, wanted, call, ulps=2.0**20)


@pytest.mark.parametrize("name", MODELS)
def test_forward(answer, name):
    """The forward pass of real models has as many FLOPs as PyTorch counts, of every kind."""
    for batch, time in ((1, 1), (2, 7), (5, 3)):
        wanted = counted(MODELS[name], batch, time)
        yours = answer.count_flops(decoder_of(answer, MODELS[name]), batch, time)
        expect_equal(yours, wanted, f"count_flops(decoder, {batch}, {time}), {name}")
        yours.clear()  # it is the caller's now
        yours = answer.count_flops(decoder_of(answer, MODELS[name]), batch, time)
        call = f"count_flops(decoder, {batch}, {time}), called again as the first table is emptied, {name}"
        expect_equal(yours, wanted, call)


@pytest.mark.parametrize("name", ["plain", "grouped"])
def test_with_a_cache(answer, name):
    """New positions attend to the cached ones, and nothing else is computed for those."""
    for batch, time, past in ((1, 1, 9), (3, 4, 6), (2, 5, 1), (1, 2, 1100)):
        wanted = counted(MODELS[name], batch, time, past)
        yours = answer.count_flops(decoder_of(answer, MODELS[name]), batch, time, past)
        expect_equal(yours, wanted, f"count_flops(decoder, {batch}, {time}, past={past}), {name}")


@pytest.mark.parametrize("name", MODELS)
def test_training(answer, name):
    """Forward and backward together have as many FLOPs as PyTorch counts."""
    for batch, time in ((1, 1), (2, 7), (5, 3)):
        wanted = counted_training(MODELS[name], batch, time)
        yours = answer.training_flops(decoder_of(answer, MODELS[name]), batch, time)
        expect_equal(yours, wanted, f"training_flops(decoder, {batch}, {time}), {name}")


@pytest.mark.parametrize("name", MODELS)
def test_frozen_layers(answer, name):
    """With frozen layers, only the gradients that something trained needs are counted."""
    for frozen in range(1, MODELS[name][0] + 1):
        wanted = counted_training(MODELS[name], 2, 7, frozen)
        yours = answer.training_flops(decoder_of(answer, MODELS[name]), 2, 7, frozen)
        expect_equal(yours, wanted, f"training_flops(decoder, 2, 7, frozen={frozen}), {name}")


def test_nothing_to_do(answer):
    """No sequences, no tokens or no layers have the FLOPs that are left."""
    sizes = MODELS["grouped"]
    zero = dict.fromkeys(("projections", "attention", "mlp", "head", "total"), 0)
    for batch, time, past in ((0, 7, 0), (3, 0, 0), (3, 0, 9)):
        call = f"count_flops(decoder, {batch}, {time}, past={past})"
        expect_equal(answer.count_flops(decoder_of(answer, sizes), batch, time, past), zero, call)
        for frozen in (0, 1, 3):
            call = f"training_flops(decoder, {batch}, {time}, frozen={frozen})"
            yours = answer.training_flops(decoder_of(answer, sizes), batch, time, frozen)
            expect_equal(yours, 0, call)
    bare = decoder_of(answer, (0, *sizes[1:]))
    expect_equal(answer.training_flops(bare, 2, 7), 3 * 2 * 14 * 16 * 17, "training_flops without layers")


def test_exact_at_any_size(answer):
    """Large counts are exact to the last digit, as plain Python ints."""
    sizes = (127, 18431, 131, 131, 127, 65537, 262147)
    decoder = decoder_of(answer, sizes)
    projections = 127 * 2 * 4099 * 1048583 * 18431 * 4 * 131 * 127
    attention = 127 * 4 * 4099 * 1048583 * 1048583 * 131 * 127
    mlp = 127 * 3 * 2 * 4099 * 1048583 * 18431 * 65537
    head = 2 * 4099 * 1048583 * 18431 * 262147
    total = projections + attention + mlp + head
    wanted = {"projections": projections, "attention": attention, "mlp": mlp, "head": head, "total": total}
    call = "of a large model, on 4099 sequences of 1048583 tokens"
    expect_equal(answer.count_flops(decoder, 4099, 1048583), wanted, f"count_flops {call}")
    expect_equal(answer.training_flops(decoder, 4099, 1048583), 3 * total, f"training_flops {call}")
    # backward: 124 layers and the head, but for what the first of them is given
    backward = 2 * (124 * (total - head) // 127 + head) - 2 * 4099 * 1048583 * 18431 * 3 * 131 * 127
    yours = answer.training_flops(decoder, 4099, 1048583, frozen=3)
    expect_equal(yours, total + backward, f"training_flops {call}, frozen=3")


def test_by_formula(answer):
    """No operation of PyTorch runs."""
    decoder = decoder_of(answer, MODELS["grouped"])
    calls = {
        "count_flops": lambda: answer.count_flops(decoder, 2, 3, 4),
        "training_flops": lambda: answer.training_flops(decoder, 2, 3, 1),
        "utilisation": lambda: answer.utilisation(decoder, 100.0, 3, 1e9),
    }
    for name, call in calls.items():
        ran = count_operations(call)
        expect_that(not ran, f"{name} runs operations of PyTorch", yours=", ".join(ran), wanted="none")


@pytest.mark.parametrize("name", ["plain", "grouped"])
def test_utilisation(answer, name):
    """Utilisation follows from tokens per second, sequence length, peak, devices and frozen layers."""
    decoder = decoder_of(answer, MODELS[name])
    for rate, time, peak, devices, frozen in (
        (1000, 16, 1e9, 1, 0),
        (777.5, 16, 1e9, 1, 0),
        (1000, 61, 1e9, 1, 0),
        (1000, 16, 3e8, 1, 0),
        (1000, 16, 10**9, 8, 0),
        (1000, 16, 1e9, 1, 1),
        (250.0, 7, 2e7, 3, 2),
        (0.25, 16, 1e15, 4096, 0),
    ):
        wanted = counted_training(MODELS[name], 1, time, frozen) / time * rate / (peak * devices)
        yours = answer.utilisation(decoder, rate, time, peak, devices, frozen)
        expect_share(yours, wanted, f"utilisation(decoder, {rate}, {time}, {peak}, {devices}, {frozen})")
    expect_share(answer.utilisation(decoder, 0, 16, 1e9), 0.0, "utilisation(decoder, 0, 16, 1e9)")


def test_bad_input(answer):
    """ValueError for heads that cannot be shared out, too many frozen layers, hardware that does nothing."""
    fine, odd, fewer = (decoder_of(answer, (3, 16, 6, kv, 5, 28, 17)) for kv in (2, 4, 12))
    for name, call in {
        "count_flops(odd, 1, 8)": lambda: answer.count_flops(odd, 1, 8),
        "training_flops(odd, 1, 8)": lambda: answer.training_flops(odd, 1, 8),
        "count_flops(decoder, 1, 8), 6 heads and 12 kv_heads": lambda: answer.count_flops(fewer, 1, 8),
        "count_flops(odd, 0, 8)": lambda: answer.count_flops(odd, 0, 8),
        "training_flops(decoder, 0, 8, frozen=4)": lambda: answer.training_flops(fine, 0, 8, 4),
        "utilisation(odd, 100, 8, 1e9)": lambda: answer.utilisation(odd, 100, 8, 1e9),
        "training_flops(decoder, 1, 8, frozen=4)": lambda: answer.training_flops(fine, 1, 8, 4),
        "training_flops(decoder, 1, 8, frozen=-1)": lambda: answer.training_flops(fine, 1, 8, -1),
        "utilisation(…, frozen=4)": lambda: answer.utilisation(fine, 100, 8, 1e9, 1, 4),
        "utilisation(…, frozen=-1)": lambda: answer.utilisation(fine, 100, 8, 1e9, 1, -1),
        "utilisation(…, peak=0)": lambda: answer.utilisation(fine, 100, 8, 0),
        "utilisation(…, peak=0.0)": lambda: answer.utilisation(fine, 100, 8, 0.0),
        "utilisation(…, peak=-1.0)": lambda: answer.utilisation(fine, 100, 8, -1.0),
        "utilisation(…, devices=0)": lambda: answer.utilisation(fine, 100, 8, 1e9, 0),
        "utilisation(…, devices=-2)": lambda: answer.utilisation(fine, 100, 8, 1e9, -2),
        "utilisation(…, peak=-1.0, devices=-2)": lambda: answer.utilisation(fine, 100, 8, -1.0, -2),
    }.items():
        expect_raises(ValueError, call, name)


def oracle(answer, gen):
    results = []
    for _ in range(4):
        layers, width, kv, head_dim, hidden, words = torch.randint(1, 9, (6,), generator=gen).tolist()
        repeats, batch, time, past = torch.randint(1, 6, (4,), generator=gen).tolist()
        decoder = decoder_of(answer, (layers, width, kv * repeats, kv, head_dim, hidden, words))
        results.append(answer.count_flops(decoder, batch, time, past))
        results += [answer.training_flops(decoder, batch, time, frozen) for frozen in range(layers + 1)]
        results.append(answer.utilisation(decoder, 10.0 * past, time, 1e4, batch))
    return results
