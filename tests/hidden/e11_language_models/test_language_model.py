"""What grades language_model: logits, gradients, names, the start, checkpoints; eps, dtypes, devices."""

import math

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    given,
    layer,
    loads,
    registered,
    untouched,
    values,
)

SIZES = (11, 12, 2, 2, 10)  # vocab, dim, heads, layers, hidden


def drawn(gen, vocab, dim, heads, layers, hidden, embed=16.0, norms=0.4):
    """Numbers for all parameters, so large that every part is seen in the logits."""
    sizes = {"qkv": (3 * dim, dim), "out": (dim, dim), "mlp.gate_proj": (hidden, dim)}
    sizes |= {"mlp.up_proj": (hidden, dim), "mlp.down_proj": (dim, hidden), "norm1": (dim,), "norm2": (dim,)}
    state = {"embed": embed * torch.randn(vocab, dim, generator=gen)}
    for i in range(layers):
        for name, size in sizes.items():
            times = 8.0 if name in ("out", "mlp.down_proj") else norms if len(size) == 1 else 1.0
            state[f"blocks.{i}.{name}"] = times * torch.randn(size, generator=gen) / size[-1] ** 0.5
            state[f"blocks.{i}.{name}"] += len(size) == 1
    state["norm"] = 1 + norms * torch.randn(dim, generator=gen)
    return {f"{name}.weight": t for name, t in state.items()}


def called(gen, batch, time, sizes=SIZES, **options):
    """A call of a model that has loaded such numbers."""
    ids = torch.randint(sizes[0], (batch, time), generator=gen)
    return layer(*sizes, state=drawn(gen, *sizes, **options))(ids)


def turned(x):
    """Rotary embedding by complex numbers; time is the last dimension but one."""
    time, dim = x.shape[-2:]
    angles = torch.arange(time)[:, None] * 1e4 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    pairs = torch.complex(*x.double().chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1).to(x.dtype)


def normed(x, weight, eps=1e-5):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def attention(x, heads, causal=True, turn="qk", turned=turned, parts=lambda qkv, heads: qkv):
    """What is seen, head by head, in one matrix of queries, keys and values."""
    time, gathered = x.shape[1], []
    seen = torch.ones(time, time, dtype=torch.bool).tril() if causal else torch.ones(()).bool()
    for head in zip(*(part.chunk(heads, -1) for part in parts(x, heads).chunk(3, -1)), strict=True):
        q, k, v = (turned(t) if name in turn else t for name, t in zip("qkv", head, strict=True))
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -math.inf)
        gathered.append(scores.softmax(-1) @ v)
    return torch.cat(gathered, -1)


def decoder(
    state, ids, heads=2, attend=attention, last=True, pre=True, scale=1.0, same=False, norm2="norm2", eps=1e-5
):
    """The model, and what people make of it."""
    x = state["embed.weight"][ids] * scale
    layers = sum("qkv" in name for name in state)
    for i in range(layers):
        w = {name: state[f"blocks.{0 if same else i}.{name}.weight"] for name in BLOCK}
        first = normed(x, w["norm1"], eps) if pre else x
        x = x + attend(first @ w["qkv"].mT, heads) @ w["out"].mT
        x = x if pre else normed(x, w["norm1"])
        second = normed(x, w[norm2], eps) if pre else x
        mixed = F.silu(second @ w["mlp.gate_proj"].mT) * (second @ w["mlp.up_proj"].mT)
        x = x + mixed @ w["mlp.down_proj"].mT
        x = x if pre else normed(x, w["norm2"])
    return (normed(x, state["norm.weight"], eps) if last else x) @ state["embed.weight"].mT


BLOCK = ("norm1", "qkv", "out", "norm2", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")


def wrong(**how):
    return lambda *given, **options: decoder(*given, **options, **how)


def attends(**how):
    return wrong(attend=lambda x, heads: attention(x, heads, **how))


def whole(qkv, heads):
    """Queries and keys turned before they are split into heads."""
    q, k, v = qkv.chunk(3, -1)
    return torch.cat([turned(q), turned(k), v], -1)


def heads_first(qkv, heads):
    return qkv.unflatten(-1, (heads, 3, -1)).transpose(-3, -2).flatten(-3)


contract = Contract(
    "LanguageModel(vocab, dim, heads, layers, hidden)(ids)",
    reference=decoder,
    inputs=lambda gen: {
        "two layers of two heads": called(gen, 2, 5),
        "three layers of one head, with new norms": called(gen, 3, 4, (7, 6, 1, 3, 9), norms=0.0),
        "as many tokens as heads": called(gen, 2, 4, (9, 16, 4, 2, 12)),
        "a single token": called(gen, 3, 1),
    },
    gradient="state",
    ulps=400,
    dims="batch time vocab",
    suspects={
        "a token sees those after it": attends(causal=False),
        "queries and keys are not turned by time: rotary wants (batch, heads, time, d)": attends(turn=""),
        "values are turned as well": attends(turn="qkv"),
        "queries are turned, keys are not": attends(turn="q"),
        "rotary comes before the heads are split: each head is turned by itself": attends(
            turn="", parts=whole
        ),
        "qkv(x) is read head by head: first come all queries, then keys, then values": attends(
            parts=heads_first
        ),
        "the last norm is left out": wrong(last=False),
        "norms come after the sums: here they come before the branches": wrong(pre=False),
        "the embedding is multiplied by sqrt(dim)": lambda state, ids, heads=2: decoder(
            state, ids, heads, scale=state["norm.weight"].numel() ** 0.5
        ),
        "all blocks have the weights of the first": wrong(same=True),
        "norm1 stands before both branches: the mlp has norm2": wrong(norm2="norm1"),
    },
    job=[
        registered(inputs=lambda gen: [called(gen, 1, 2)]),
        loads(),
    ],
    fine=[
        values(
            inputs=lambda gen: {"numbers near 0.01": called(gen, 2, 4, embed=0.01)},
            suspects={
                "eps is not that of LLaMA, 1e-5": wrong(eps=1.1920929e-07),
                "eps is not 1e-6, but 1e-5": wrong(eps=1e-6),
            },
            ulps=1000,
            name="eps",
            title="The norms have the eps 1e-5.",
        ),
        dtypes(
            torch.bfloat16, ulps=64, name="half_precision", title="A model that is cast works in its dtype."
        ),
        device(),
    ],
)


def hugging_face(state, dtype=torch.float32):
    """The same numbers under the names of transformers."""
    names = {"norm1": "input_layernorm", "norm2": "post_attention_layernorm", "out": "self_attn.o_proj"}
    named = {}
    for name, t in state.items():
        new = "model." + name.replace("embed.", "embed_tokens.").replace("blocks.", "layers.")
        for old, theirs in names.items():
            new = new.replace(f".{old}.", f".{theirs}.")
        if ".qkv." in new:
            parts = zip("qkv", t.chunk(3), strict=True)
            named |= {new.replace("qkv", f"self_attn.{part}_proj"): rows.clone() for part, rows in parts}
        else:
            named[new] = t.clone()
    return {name: t.to(dtype) for name, t in named.items()}


def known(state):
    """The names of this exercise again."""
    names = {"input_layernorm": "norm1", "post_attention_layernorm": "norm2", "self_attn.o_proj": "out"}
    found = {}
    for name, t in state.items():
        new = name.removeprefix("model.").replace("embed_tokens", "embed").replace("layers", "blocks")
        for theirs, ours in names.items():
            new = new.replace(theirs, ours)
        found[new] = t
    for i in range(sum("q_proj" in name for name in state)):
        parts = [found.pop(f"blocks.{i}.self_attn.{part}_proj.weight") for part in "qkv"]
        found[f"blocks.{i}.qkv.weight"] = torch.cat(parts)
    return {name: t for name, t in found.items() if "lm_head" not in name and "inv_freq" not in name}


def loaded(answer, state, ids, sizes=SIZES):
    """Logits of a model that has loaded a checkpoint."""
    model = answer.LanguageModel(*sizes)
    answer.load_llama(model, state)
    return model(ids).detach()


def after_loading(change=lambda state: state):
    """The logits of a model whose weights were changed."""

    def logits(state, ids, sizes=SIZES):
        return decoder(change(known(state)), ids, sizes[2])

    return logits


def changed(match, change):
    """The state with some weights changed."""
    return after_loading(lambda state: {n: change(t) if match in n else t for n, t in state.items()})


def rows(order):
    def put(t):
        parts = dict(zip("qkv", t.chunk(3), strict=True))
        return torch.cat([parts[part] for part in order])

    return changed("qkv", put)


def swapped(one, other):
    def put(state):
        return {
            n: state[n.replace(one, "?").replace(other, one).replace("?", other)]
            if one in n or other in n
            else t
            for n, t in state.items()
        }

    return after_loading(put)


def checkpoint(gen, sizes=SIZES, dtype=torch.float32, old=False):
    state = hugging_face(drawn(gen, *sizes), dtype)
    if old:
        state["lm_head.weight"] = state["model.embed_tokens.weight"].clone()
        for i in range(sizes[3]):
            state[f"model.layers.{i}.self_attn.rotary_emb.inv_freq"] = torch.ones(sizes[1] // sizes[2] // 2)
    return given(state, torch.randint(sizes[0], (2, 5), generator=gen), sizes)


load_llama = Contract(
    "load_llama(model, state)",
    use=loaded,
    reference=after_loading(),
    inputs=lambda gen: {
        "the logits after loading two layers": checkpoint(gen),
        "the logits after loading three layers of one head": checkpoint(gen, (7, 6, 1, 3, 6)),
        "the logits after loading a layer": checkpoint(gen, (9, 8, 2, 1, 8)),
    },
    ulps=400,
    suspects={
        "queries, keys and values are in another order: qkv holds them in that of its name": rows("kqv"),
        "values come first": rows("vqk"),
        "keys and values are swapped": rows("qvk"),
        "o_proj is transposed: nn.Linear has it as it stands": changed("out.", lambda t: t.mT),
        "the two norms of a block are swapped": swapped("norm1", "norm2"),
        "gate_proj and up_proj are swapped": swapped("gate_proj", "up_proj"),
        "the norms are not loaded": changed("norm", torch.ones_like),
    },
    fine=[
        values(
            inputs=lambda gen: {"an old checkpoint": checkpoint(gen, old=True)},
            name="old_checkpoints",
            title="lm_head and inv_freq of old checkpoints are passed over.",
        ),
        errors(
            (KeyError, RuntimeError),
            lambda gen: [
                given({n: t for n, t in call.args[0].items() if name not in n}, *call.args[1:])
                for call in [checkpoint(gen)]
                for name in ("embed_tokens", "1.self_attn.v_proj", "0.post_attention", "model.norm")
            ],
            title="A name that is missing raises an error.",
        ),
        untouched(),
    ],
)


@pytest.mark.parametrize("layers", [1, 8])
def test_start(answer, layers):
    """Matrices begin with a deviation of 0.02; those that add to the stream with less in deeper models."""
    torch.manual_seed(0)
    model = answer.LanguageModel(300, 64, 2, layers, 96)
    for name, weight in model.state_dict().items():
        if weight.dim() == 1:
            expect_that(bool((weight == 1).all()), f"{name} of a new model is not 1", yours=weight)
            continue
        residual = name.endswith(("out.weight", "down_proj.weight"))
        wanted = 0.02 / math.sqrt(2 * layers) if residual else 0.02
        std, mean = float(weight.std()), float(weight.mean())
        mistakes = {
            "this is PyTorch's own start": weight.shape[1] ** -0.5 / 3**0.5,
            "this is PyTorch's own start of an embedding": 1.0,
            "what adds to the stream is to begin smaller, by sqrt(2 * layers)": 0.02,
            "two branches in each layer add to the stream: sqrt(2 * layers)": 0.02 / math.sqrt(layers),
            "this is 0.02 / (2 * layers), without the root": 0.01 / layers,
            "every matrix is smaller: only out and mlp.down_proj are to be": 0.02 / math.sqrt(2 * layers),
        }
        likely = next((told for told, value in mistakes.items() if abs(std / value - 1) < 0.05), "")
        told = f"{name} of a new model of {layers} layers has another deviation"
        expect_that(abs(std / wanted - 1) < 0.08, told, yours=std, wanted=wanted, likely=likely)
        expect_that(abs(mean) < wanted / 8, f"{name} of a new model does not lie around 0", yours=mean)


@pytest.mark.fine
def test_half_checkpoints(answer, gen):
    """A checkpoint in half precision leaves the model in float32."""
    state, ids, _ = checkpoint(gen, dtype=torch.bfloat16).args
    wanted = after_loading()({name: t.float() for name, t in state.items()}, ids)
    expect_close(
        loaded(answer, state, ids), wanted, "the logits after loading a checkpoint in bfloat16", ulps=400
    )


@pytest.mark.fine
def test_own_memory(answer, gen):
    """Training the model leaves the checkpoint alone."""
    state, *_ = checkpoint(gen).args
    before = {name: t.clone() for name, t in state.items()}
    model = answer.LanguageModel(*SIZES)
    answer.load_llama(model, state)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    shared = [name for name, t in state.items() if not torch.equal(t, before[name])]
    expect_that(not shared, "the model shares its memory with the checkpoint", yours=", ".join(shared))
