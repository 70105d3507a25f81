"""What grades transformer_block: both branches, dropout, gradients; other shapes, dtypes, devices, errors."""

import math
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_that, global_rng_untouched
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    gradients,
    layer,
    loads,
    untouched,
    values,
)
from grader.checks.registered import state_of


def stack(gen, *shape, heads=2, hidden=10, size=8.0, offset=0.0, silent=(), **options):
    """A block whose parameters keep scores small, so that rounding is not enlarged; some layers give nothing.

    The stream holds numbers so large that the norms' eps, which is fine print, rounds away.
    """
    dim = shape[-1]
    wide = 4 * dim if hidden is None else hidden
    sizes = {"norm1": (dim,), "norm2": (dim,), "qkv": (3 * dim, dim), "out": (dim, dim)}
    sizes |= {"up": (wide, dim), "down": (dim, wide)}
    state = {}
    for name, shaped in sizes.items():
        times = 0.0 if name in silent else 0.4
        state[f"{name}.weight"] = times * torch.randn(shaped, generator=gen) + name.startswith("norm")
        state[f"{name}.bias"] = times * torch.randn(shaped[:1], generator=gen)
    x = offset + size * torch.randn(shape, generator=gen)
    return layer(dim, heads, hidden, state=state, **options), x


def block(gen, *shape, **options):
    built, x = stack(gen, *shape, **options)
    return built(x)


def predicting(gen, *shape, **options):
    built, x = stack(gen, *shape, dropout=0.5, **options)
    return built.eval()(x)


def linear(state, name, x):
    return x @ state[f"{name}.weight"].mT + state[f"{name}.bias"]


def norm(state, name, x):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]


def attention(state, x, heads, causal=True, root=None, rows=lambda t, heads: t):
    """What the attention adds, where x is normalised already."""
    time, gathered = x.shape[-2], []
    later = torch.ones(time, time, dtype=torch.bool).triu(1 if causal else time)
    state = {name: rows(t, heads) if name.startswith("qkv") else t for name, t in state.items()}
    parts = [part.chunk(heads, -1) for part in linear(state, "qkv", x).chunk(3, -1)]
    for q, k, v in zip(*parts, strict=True):
        scores = (q @ k.mT / (root or math.sqrt(q.shape[-1]))).masked_fill(later, -math.inf)
        gathered.append(scores.softmax(-1) @ v)
    return linear(state, "out", torch.cat(gathered, -1))


def network(state, x, act=F.gelu):
    """What the network adds, where x is normalised already."""
    return linear(state, "down", act(linear(state, "up", x)))


def plain(state, name, x):
    return x


def written_out(state, x, heads=2, act=F.gelu, pre=norm, post=plain, reads=lambda x, y: y, adds=attention):
    y = post(state, "norm1", x + adds(state, pre(state, "norm1", x), heads))
    return post(state, "norm2", y + network(state, pre(state, "norm2", reads(x, y)), act))


def wrong(**how):
    return lambda *given, **options: written_out(*given, **{**options, **how})


def of_a_normalised_stream(state, x, heads=2):
    first, second = norm(state, "norm1", x), "norm2"
    y = norm(state, second, first + attention(state, first, heads))
    return y + network(state, y)


def head_by_head(t, heads):
    return t[torch.arange(len(t)).view(heads, 3, -1).transpose(0, 1).flatten()]


def many(gen):
    return {
        "two heads": block(gen, 2, 5, 6, offset=1.0),
        "three heads": block(gen, 3, 4, 6, heads=3, hidden=24, offset=1.0),
        "one head": block(gen, 4, 4, 4, heads=1, hidden=3, offset=1.0),
        "as many heads as hidden features": block(gen, 1, 3, 8, heads=4, hidden=4, offset=1.0),
    }


contract = Contract(
    "TransformerBlock(dim, heads, hidden)(x)",
    reference=written_out,
    inputs=lambda gen: {
        "two heads": block(gen, 3, 4, 6),
        "three heads, in evaluation mode": predicting(gen, 2, 5, 9, heads=3, hidden=7),
        "one head, and the usual number of hidden features": block(gen, 2, 3, 4, heads=1, hidden=None),
        "a single token": predicting(gen, 4, 1, 6),
        "attention alone: the network adds nothing": predicting(gen, 3, 4, 6, silent=["down"]),
        "the network alone: attention adds nothing": predicting(gen, 3, 4, 6, silent=["out"]),
    },
    gradient="x state",
    ulps=100,
    scale=4.0,
    suspects={
        "the norms come after the sums: here they come before the branches": wrong(pre=plain, post=norm),
        "the stream itself is normalised: each branch reads a normalised copy": of_a_normalised_stream,
        "both branches read x: the second one reads the sum of x and attention": wrong(reads=lambda x, y: x),
        "norm1 stands before both branches: the network has norm2": wrong(
            pre=lambda state, name, x: norm(state, "norm1", x)
        ),
        "relu stands where gelu should": wrong(act=F.relu),
        "gelu is the approximation with tanh: here it is the exact one": wrong(
            act=lambda h: F.gelu(h, approximate="tanh")
        ),
        "positions see later ones: nothing is masked": wrong(adds=partial(attention, causal=False)),
        "heads has no effect: all features are one head": wrong(heads=1),
        "scores are divided by sqrt(dim), not by sqrt(dim / heads)": wrong(
            adds=lambda state, x, heads: attention(state, x, heads, root=math.sqrt(x.shape[-1]))
        ),
        "scores are not divided by sqrt(dim / heads)": wrong(adds=partial(attention, root=1.0)),
        "qkv(x) is read head by head: first come all queries, then keys, then values": wrong(
            adds=partial(attention, rows=head_by_head)
        ),
    },
    job=[
        values(inputs=many, title="Norms, heads, network and both sums are right."),
        gradients(
            "x state",
            inputs=lambda gen: {"two heads": block(gen, 2, 4, 6)},
            ulps=200,
            title="Gradients flow to x, also straight through both sums, and to every parameter.",
        ),
        loads(inputs=many),
        values(
            inputs=lambda gen: {
                "sequences": predicting(gen, 2, 4, 6),
                "the same again": predicting(gen, 2, 4, 6),
            },
            name="evaluation",
            title="In evaluation mode nothing is dropped.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {
                f"x of {shape}": block(gen, *shape)
                for shape in [(5, 6), (2, 3, 4, 6), (2, 1, 6), (3, 6), (1, 300, 6), (1, 4, 6)]
            },
            name="other_shapes",
            title="There may be other batch dimensions, or none, and sequences of any length.",
        ),
        empties(
            inputs=lambda gen: {f"x of {shape}": block(gen, *shape) for shape in [(0, 3, 6), (2, 0, 6)]},
            title="No sequences, and sequences of no tokens, give results of their own shape.",
        ),
        dtypes(torch.float16, torch.bfloat16, ulps=16, title="A block that is cast works in its dtype."),
        dtypes(torch.float64, ulps=200, name="float64", title="A block in float64 works in it."),
        values(
            inputs=lambda gen: {
                "x near 0.001": block(gen, 2, 4, 6, size=1e-3),
                "x near 0.001, where attention adds zeros": block(gen, 2, 4, 6, size=1e-3, silent=["out"]),
            },
            name="eps",
            title="The norms take small streams as LayerNorm with eps 1e-5 does.",
        ),
        flat_cost(
            {
                "sequences": lambda n: layer(4, 2, 5)(torch.ones(n, 3, 4)),
                "tokens": lambda n: layer(4, 2, 5)(torch.ones(2, n, 4)),
                "heads": lambda n: layer(2 * n, n, 5)(torch.ones(2, 3, 2 * n)),
            }
        ),
        untouched(),
        device(),
        errors(
            ValueError,
            lambda gen: [layer(6, 4), layer(4, 8), layer(6, 0)],
            title="Heads that do not divide dim raise ValueError.",
        ),
    ],
)


def expect_dropped(yours, p, branch):
    """Fail unless `yours`, where x is 3 and the branch adds 1, has lost a share p of the ones."""
    wanted = torch.where((yours - 3).abs() < 1e-3, 3.0, 3 + 1 / (1 - p))
    suspects = {
        f"nothing of what the {branch} adds is dropped": lambda: torch.full_like(yours, 4.0),
        "what remains is not divided by 1 - p": lambda: wanted.clamp(max=4.0),
        "the stream is dropped as well: dropout is for what is added": lambda: torch.where(
            yours == 0, 0.0, 4 / (1 - p)
        ),
    }
    call = f"block(x) with dropout={p}, where x is 3 and the {branch} adds 1"
    expect_close(yours, wanted, call, suspects=suspects)
    whole = float((yours == 3).all(-1).double().mean())
    told = f"dropout={p} drops whole positions of what the {branch} adds, not single elements"
    expect_that(whole < 0.2, told, yours=f"{whole:.0%} of all positions lose every feature")
    share = float((yours == 3).double().mean())
    told = f"dropout={p} drops another share of what the {branch} adds"
    expect_that(abs(share - p) < 0.1, told, yours=f"{share:.0%}", wanted=f"about {p:.0%}")


@pytest.mark.parametrize("branch", ["attention", "network"])
def test_dropout_in_training(answer, branch):
    """In training, dropout takes elements of what each branch adds, and scales up the rest."""
    last = "out.bias" if branch == "attention" else "down.bias"
    for p in (0.5, 0.2):
        dropping = answer.TransformerBlock(6, 2, dropout=p)
        state = dropping.state_dict().items()
        dropping.load_state_dict({name: torch.full_like(t, name == last) for name, t in state})
        torch.manual_seed(0)
        expect_dropped(dropping(torch.full((8, 16, 6), 3.0)).detach(), p, branch)


@pytest.mark.fine
def test_nothing_else_is_dropped(answer, gen):
    """What each branch adds is dropped or scaled up, but computed without dropout."""
    for silent, branch in [("down", "attention"), ("out", "network")]:
        call = block(gen, 4, 16, 6, silent=[silent], dropout=0.5)
        dropping, (x,) = contract.layer(answer, call), call.args
        added = 2 * (written_out(state_of(dropping), x) - x)
        yours = (dropping(x) - x).detach()
        wanted = torch.where(yours.abs() > 1e-6, added, 0.0)
        told = f"what the {branch} adds with dropout=0.5, where it is kept"
        expect_close(yours, wanted, told, ulps=200, scale=4.0)


@pytest.mark.fine
def test_evaluation_draws_nothing(answer):
    """In evaluation mode the random stream stays where it is."""
    predicts = answer.TransformerBlock(6, 2, dropout=0.5).eval()
    with global_rng_untouched("block.eval()(x)"):
        predicts(torch.ones(2, 4, 6))
