"""What grades transformer_block: both branches, dropout, gradients; other shapes, dtypes, devices, errors."""

import math

import pytest
import torch
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    global_rng_untouched,
    unchanged,
)
from grader.checks.module_contract import Case, expect_loads, expect_moves
from grader.checks.registered import state_of


def build(answer, gen, dim=6, heads=2, hidden=10, **options):
    """A block whose parameters keep scores small, so that rounding is not enlarged."""
    block = answer.TransformerBlock(dim, heads, hidden, **options)
    with torch.no_grad():
        for name, p in sorted(block.named_parameters()):
            p.copy_(0.4 * torch.randn(p.shape, generator=gen) + (name in ("norm1.weight", "norm2.weight")))
    return block


def linear(state, name, x):
    return x @ state[f"{name}.weight"].mT + state[f"{name}.bias"]


def norm(state, name, x):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]


def attention(state, x, heads, causal=True, root=None):
    """What the attention adds, where x is normalised already."""
    time, gathered = x.shape[-2], []
    later = torch.ones(time, time, dtype=torch.bool).triu(1 if causal else time)
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


def written_out(state, x, heads=2, act=F.gelu, pre=norm, post=plain, **options):
    x = post(state, "norm1", x + attention(state, pre(state, "norm1", x), heads, **options))
    return post(state, "norm2", x + network(state, pre(state, "norm2", x), act))


def mistakes(state, x, heads):
    """What people get wrong, and what it gives."""

    def given(change=lambda name, t: t, heads=heads, **options):
        return lambda: written_out({n: change(n, t) for n, t in state.items()}, x, heads, **options)

    def normed(name):
        return norm(state, name, x)

    rows = torch.arange(3 * x.shape[-1]).view(heads, 3, -1).transpose(0, 1).flatten()
    added = attention(state, normed("norm1"), heads)
    return {
        "the norms come after the sums: here they come before the branches": given(pre=plain, post=norm),
        "the stream itself is normalised: each branch reads a normalised copy": lambda: (
            (y := norm(state, "norm2", normed("norm1") + added)) + network(state, y)
        ),
        "both branches read x: the second one reads the sum of x and attention": lambda: (
            x + added + network(state, normed("norm2"))
        ),
        "norm1 stands before both branches: the network has norm2": given(
            pre=lambda state, name, x: norm(state, "norm1", x)
        ),
        "relu stands where gelu should": given(act=F.relu),
        "gelu is the approximation with tanh: here it is the exact one": given(
            act=lambda h: F.gelu(h, approximate="tanh")
        ),
        "positions see later ones: nothing is masked": given(causal=False),
        "heads has no effect: all features are one head": given(heads=1),
        "scores are divided by sqrt(dim), not by sqrt(dim / heads)": given(root=math.sqrt(x.shape[-1])),
        "scores are not divided by sqrt(dim / heads)": given(root=1.0),
        "qkv(x) is read head by head: first come all queries, then keys, then values": given(
            lambda n, t: t[rows] if n.startswith("qkv") else t
        ),
    }


def expect_right(block, x, note="", heads=2, ulps=100):
    state = {name: t.double() for name, t in state_of(block).items()}
    wanted = written_out(state, x.double(), heads).to(x.dtype)
    suspects = mistakes(state, x.double(), heads)
    expect_close(block(x), wanted, f"block(x){note}", ulps=ulps, scale=4.0, suspects=suspects)


def case(answer, gen):
    return Case(
        lambda: answer.TransformerBlock(6, 2, 5),
        [torch.randn(2, 4, 6, generator=gen)],
        written_out,
        "TransformerBlock(6, 2, 5)",
    )


def test_values(answer, gen):
    """Norms, heads, network and both sums are right."""
    for shape, heads, hidden in [
        ((2, 5, 6), 2, 10),
        ((3, 4, 6), 3, 24),
        ((4, 4, 4), 1, 3),
        ((1, 3, 8), 4, 4),
    ]:
        block = build(answer, gen, shape[-1], heads, hidden)
        expect_right(
            block, 1 + 2 * torch.randn(shape, generator=gen), f" for x of {shape}, {heads} heads", heads
        )


def test_gradients(answer, gen):
    """Gradients flow to x, also straight through both sums, and to every parameter."""
    block = build(answer, gen)
    state = state_of(block)
    expect_gradients(
        lambda x, *ts: functional_call(block, dict(zip(state, ts, strict=True)), (x,)),
        [torch.randn(2, 4, 6, generator=gen), *state.values()],
        lambda x, *ts: written_out(dict(zip(state, ts, strict=True)), x),
        gen=gen,
        call="block(x)",
        names=" ".join(["x", *state]),
        ulps=200,
        scale=4.0,
    )


def test_in_use(answer, gen):
    """Saved and loaded, the block computes with its parameters."""
    expect_loads(case(answer, gen), gen)


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
        block = answer.TransformerBlock(6, 2, dropout=p)
        block.load_state_dict({n: torch.full_like(t, n == last) for n, t in block.state_dict().items()})
        torch.manual_seed(0)
        expect_dropped(block(torch.full((8, 16, 6), 3.0)).detach(), p, branch)


def test_no_dropout_in_evaluation(answer, gen):
    """In evaluation mode nothing is dropped."""
    block, x = build(answer, gen, dropout=0.5).eval(), torch.randn(2, 4, 6, generator=gen)
    told = "two calls with dropout=0.5 in evaluation mode give different results: something is dropped"
    expect_that(torch.equal(block(x), block(x)), told)
    expect_right(block, x, " in evaluation mode")


@pytest.mark.fine
def test_nothing_else_is_dropped(answer, gen):
    """What each branch adds is dropped or scaled up, but computed without dropout."""
    x = torch.randn(4, 16, 6, generator=gen)
    for silent, branch in [("down", "attention"), ("out", "network")]:
        block = build(answer, gen, dropout=0.5)
        with torch.no_grad():
            for p in getattr(block, silent).parameters():
                p.zero_()
        added = 2 * (written_out(state_of(block), x) - x)
        yours = (block(x) - x).detach()
        wanted = torch.where(yours.abs() > 1e-6, added, 0.0)
        call = f"what the {branch} adds with dropout=0.5, where it is kept"
        expect_close(yours, wanted, call, ulps=200, scale=4.0)


@pytest.mark.fine
def test_evaluation_draws_nothing(answer, gen):
    """In evaluation mode the random stream stays where it is."""
    block = build(answer, gen, dropout=0.5).eval()
    with global_rng_untouched("block.eval()(x)"):
        block(torch.ones(2, 4, 6))


@pytest.mark.fine
def test_other_shapes(answer, gen):
    """There may be other batch dimensions, or none, and sequences of any length."""
    for shape in [(5, 6), (2, 3, 4, 6), (2, 1, 6), (3, 6), (1, 300, 6), (1, 4, 6)]:
        block = build(answer, gen)
        expect_right(block, torch.randn(shape, generator=gen), f" for x of {shape}")
    for time in (3, 300, 4):
        expect_right(block, torch.randn(1, time, 6, generator=gen), f" for {time} positions, after others")


@pytest.mark.fine
def test_empty(answer, gen):
    """No sequences, and sequences of no tokens, give results of their own shape."""
    for shape in [(0, 3, 6), (2, 0, 6)]:
        expect_close(build(answer, gen)(torch.ones(shape)), torch.zeros(shape), f"block(x) for x of {shape}")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """A block that is cast works in its dtype."""
    x = torch.randn(2, 5, 6, generator=gen, dtype=torch.float64).to(dtype)
    expect_right(build(answer, gen).to(dtype), x, f" in {dtype}", ulps=200 if dtype == torch.float64 else 16)


@pytest.mark.fine
def test_eps(answer, gen):
    """The norms take small streams as LayerNorm with eps 1e-5 does."""
    expect_right(build(answer, gen), 1e-3 * torch.randn(2, 4, 6, generator=gen), " for x near 0.001")
    alone = build(answer, gen)
    with torch.no_grad():
        alone.out.weight.zero_(), alone.out.bias.zero_()
    expect_right(alone, 1e-3 * torch.randn(2, 4, 6, generator=gen), " for x near 0.001, attention adds zeros")


@pytest.mark.fine
def test_no_loops(answer):
    """The number of operations depends on no size."""
    for over, size in [
        ("sequences", lambda n: (n, 3, 4, 2)),
        ("tokens", lambda n: (2, n, 4, 2)),
        ("heads", lambda n: (2, 3, 2 * n, n)),
    ]:

        def make(n, size=size):
            *shape, heads = size(n)
            block = answer.TransformerBlock(shape[-1], heads, 5)
            return lambda: block(torch.ones(shape))

        expect_flat_cost(make, "block(x)", over=over)


@pytest.mark.fine
def test_x_stays(answer, gen):
    """x keeps its values."""
    block, x = build(answer, gen), torch.randn(2, 4, 6, generator=gen)
    with unchanged("block(x)", x=x), torch.no_grad():
        block(x)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """The block works on another device, and copies nothing to or from the CPU, its mask included."""
    expect_moves(case(answer, gen), device, gen)


@pytest.mark.fine
def test_bad_input(answer):
    """Heads that do not divide dim raise ValueError."""
    for dim, heads in [(6, 4), (4, 8), (6, 0)]:
        call = f"TransformerBlock({dim}, {heads})"
        expect_raises(ValueError, lambda dim=dim, heads=heads: answer.TransformerBlock(dim, heads), call)


def oracle(answer, gen):
    block = build(answer, gen)
    x = torch.randn(3, 4, 6, generator=gen).requires_grad_()
    out = block(x)
    out.mul(torch.randn(out.shape, generator=gen)).sum().backward()
    gradients = dict(block.named_parameters())
    # in one tensor, on one scale: the gradient for the biases of keys is 0 up to rounding
    flat = torch.cat([gradients[name].grad.flatten() for name in sorted(gradients)])
    more, one = build(answer, gen, 9, 3, 7, dropout=0.5).eval(), build(answer, gen, 4, 1, None)
    return {
        "two heads": out.detach(),
        "the gradients": torch.cat([x.grad.flatten(), flat]),
        "three heads, in evaluation mode": more(torch.randn(2, 5, 9, generator=gen)).detach(),
        "one head, and the usual number of hidden features": one(
            torch.randn(2, 3, 4, generator=gen)
        ).detach(),
    }
