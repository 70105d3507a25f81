"""What grades transformer_block: both branches, the stream, dropout, gradients, use as a module, devices."""

import copy
import itertools
import math

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    global_rng_untouched,
    unchanged,
)
from grader.checks.module_contract import Case, expect_copies, expect_loads, expect_moves, expect_trains
from grader.checks.registered import expect_registered, state_of


def shapes(dim, hidden):
    return {
        "norm1.weight": [dim], "norm1.bias": [dim], "norm2.weight": [dim], "norm2.bias": [dim],
        "qkv.weight": [3 * dim, dim], "qkv.bias": [3 * dim], "out.weight": [dim, dim], "out.bias": [dim],
        "up.weight": [hidden, dim], "up.bias": [hidden], "down.weight": [dim, hidden], "down.bias": [dim],
    }  # fmt: skip


def random_state(gen, dim=6, hidden=10, size=0.4):
    """Parameters that keep scores small, so that rounding is not enlarged."""
    state = {name: size * torch.randn(s, generator=gen) for name, s in shapes(dim, hidden).items()}
    for name in ("norm1.weight", "norm2.weight"):
        state[name] += 1
    return state


def without(state, layer):
    """The same parameters, with a layer that gives zeros."""
    return {name: torch.zeros_like(t) if name.startswith(layer) else t for name, t in state.items()}


def build(answer, gen, dim=6, heads=2, hidden=10, **options):
    block = answer.TransformerBlock(dim, heads, hidden, **options)
    block.load_state_dict(random_state(gen, dim, hidden))
    return block


def linear(state, name, x):
    return x @ state[f"{name}.weight"].mT + state[f"{name}.bias"]


def norm(state, name, x):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]


def attention(state, x, heads, causal=True):
    """What the attention adds, where x is normalised already."""
    time = x.shape[-2]
    later = torch.ones(time, time, dtype=torch.bool).triu(1 if causal else time)
    gathered = []
    q, k, v = linear(state, "qkv", x).chunk(3, -1)
    for q, k, v in zip(*(part.chunk(heads, -1) for part in (q, k, v)), strict=True):  # noqa: B020
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(later, -math.inf)
        gathered.append(scores.softmax(-1) @ v)
    return linear(state, "out", torch.cat(gathered, -1))


def network(state, x, act=F.gelu):
    """What the network adds, where x is normalised already."""
    return linear(state, "down", act(linear(state, "up", x)))


def plain(state, name, x):
    return x


def written_out(state, x, heads=2, act=F.gelu, causal=True, pre=norm, post=plain):
    x = post(state, "norm1", x + attention(state, pre(state, "norm1", x), heads, causal))
    return post(state, "norm2", x + network(state, pre(state, "norm2", x), act))


def exact(block, x):
    return written_out({name: t.double() for name, t in state_of(block).items()}, x.double())


def mistakes(state, x, heads):
    """What people get wrong, and what it gives."""

    def given(change=lambda name, t: t, heads=heads, **options):
        return lambda: written_out({n: change(n, t) for n, t in state.items()}, x, heads, **options)

    rows = torch.arange(3 * x.shape[-1]).view(heads, 3, -1).transpose(0, 1).flatten()
    return {
        "the norms come after the sums: here they come before the branches": given(pre=plain, post=norm),
        "both branches read x: the second one reads the sum of x and attention": lambda: (
            x + attention(state, norm(state, "norm1", x), heads) + network(state, norm(state, "norm2", x))
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
        "qkv(x) is read head by head: first come all queries, then keys, then values": given(
            lambda n, t: t[rows] if n.startswith("qkv") else t
        ),
    }


def expect_right(block, x, heads, note, ulps=100):
    state = {name: t.double() for name, t in state_of(block).items()}
    wanted, suspects = written_out(state, x.double(), heads).to(x.dtype), mistakes(state, x.double(), heads)
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    expect_close(block(x), wanted, f"block(x){note}", ulps=ulps, scale=scale, suspects=suspects)


def case(answer, x, heads=2, hidden=5):
    dim = x.shape[-1]
    return Case(
        lambda: answer.TransformerBlock(dim, heads, hidden),
        [x],
        lambda state, x: written_out(state, x, heads),
        f"TransformerBlock({dim}, {heads}, {hidden})",
    )


def test_values(answer, gen):
    """Norms, heads, network and both sums are right for all shapes."""
    for shape, heads, hidden in [
        ((2, 5, 6), 2, 10), ((3, 4, 6), 3, 24), ((4, 4, 4), 1, 3), ((1, 3, 4), 4, 4), ((5, 6), 2, 7),
        ((2, 3, 4, 6), 6, 1), ((3, 1, 4), 2, 16), ((1, 1, 2), 2, 8), ((2, 1, 1, 3, 4), 2, 5), ((1, 6), 3, 6),
    ]:  # fmt: skip
        block = build(answer, gen, shape[-1], heads, hidden)
        expect_right(block, torch.randn(shape, generator=gen), heads, f" for x of {shape}, {heads} heads")
    for time in (3, 300, 4):
        x = torch.randn(1, time, 6, generator=gen)
        expect_right(block, x, heads, f" for {time} positions, after others")
    x[:, -1] = math.nan
    shown = bool(block(x)[:, -1].isnan().all())
    expect_that(shown, "block(x)[:, -1] hides it where x[:, -1] is NaN", yours="other numbers", wanted="NaN")
    block = block.to("meta")  # shapes alone
    for time in (5, 70_000):  # few first: a mask that is made on the CPU for many takes gigabytes there
        x = torch.empty(1, time, 6, device="meta")
        expect_equal(block(x).shape, x.shape, f'the shape of block(x) for {time} positions on "meta"')


def test_branches(answer, gen):
    """Each branch by itself reads a normalised copy, and adds to the stream as it is."""
    x = 3 + 2 * torch.randn(2, 4, 6, generator=gen)
    for silent, branch in [("down", "attention"), ("out", "network")]:
        block = build(answer, gen)
        block.load_state_dict(without(random_state(gen), silent))
        expect_right(block, x, 2, f" with the {branch} alone")
    block.load_state_dict(without(without(random_state(gen), "out"), "down"))
    for size in (1.0, 1e4, 1e-4):
        expect_equal(block(size * x).detach(), size * x, "block(x) of branches that add zeros")
        ones = torch.full((2, 3, 6), size)
        yours = block(ones)
        expect_equal(yours.detach(), ones, "block(x) of branches that add zeros, all features equal")
        expect_copy(yours, ones, "block(x)")


def test_large_scores(answer, gen):
    """Later positions stay hidden, however well their keys match, and the best of the others wins."""
    for size in (30.0, 300.0):
        block, x = build(answer, gen), torch.randn(2, 5, 6, generator=gen)
        state = random_state(gen)
        state["qkv.weight"][:12] *= size
        block.load_state_dict(without(state, "down"))
        if size == 30.0:
            exactly = copy.deepcopy(block).double()
            expect_right(exactly, x.double(), 2, f" with scores near {size**2:g}", ulps=1e5)
        for place in range(1, 5):
            start = block(x[:, :place]).detach()
            call = f"block(x)[:, :{place}] with scores near {size**2:g}"
            expect_close(block(x)[:, :place].detach(), start, call, ulps=1e4, scale=10.0)


@pytest.mark.parametrize("size", [1e-3, 1e4])
def test_large_and_small_streams(answer, gen, size):
    """The norms take small and large streams as LayerNorm with eps 1e-5 does."""
    x = size * torch.randn(2, 4, 6, generator=gen)
    block = build(answer, gen)
    expect_right(block, x, 2, f" for x near {size:g}")
    block.load_state_dict(without(random_state(gen), "out"))
    expect_right(block, x, 2, f" for x near {size:g}, where attention adds zeros")


def test_empty(answer, gen):
    """No sequences, and sequences of no tokens, give results of their own shape."""
    for shape in [(0, 3, 6), (2, 0, 6), (0, 6), (0, 0, 6), (2, 0, 3, 6)]:
        expect_close(build(answer, gen)(torch.ones(shape)), torch.zeros(shape), f"block(x) for x of {shape}")


def expect_stream_with_gaps(answer, gen):
    """Fail where the network does not read the stream as the first dropout has left it."""
    block, x = build(answer, gen, 3, 1, 5, dropout=0.5).double(), torch.randn(8, 1, 3, generator=gen).double()
    state, yours = state_of(block), block(x).detach()
    masks = [torch.tensor(mask).double() for mask in itertools.product((0, 2), repeat=3)]
    added = attention(state, norm(state, "norm1", x), 1)
    streams = [x + mask * added for mask in masks]
    possible = [s + mask * network(state, norm(state, "norm2", s)) for s in streams for mask in masks]
    error = torch.stack([(yours - right).abs().amax(-1) for right in possible]).amin(0)  # (8, 1)
    expect_that(
        bool((error < 1e-6).all()),
        "block(x) with dropout=0.5 is no sum of x, what remains of the attention, and what remains of the "
        "network's answer to both",
        yours=f"{int((error >= 1e-6).sum())} of 8 tokens fit no choice of dropped elements",
        likely="the network reads the sum of x and attention as it is after the dropout",
    )


def test_dropout_in_training(answer, gen):
    """Dropout takes elements of what each branch adds, scales up the rest, and touches nothing else."""
    x = torch.randn(4, 16, 6, generator=gen)
    for silent, branch in [("down", "attention"), ("out", "network")]:
        for p in (0.5, 0.2):
            block = build(answer, gen, dropout=p)
            block.load_state_dict(without(random_state(gen), silent))
            added = (exact(block, x) - x.double()).float() / (1 - p)
            yours = (block(x) - x).detach()
            kept = yours.abs() > 1e-6
            call = f"what the {branch} adds with dropout={p}, where it is kept"
            expect_close(yours, torch.where(kept, added, 0.0), call, ulps=200, scale=4.0)
            partly = float((kept.any(-1) & ~kept.all(-1)).float().mean())
            expect_that(
                partly > 0.3,
                f"dropout={p} drops whole positions of what the {branch} adds, not single elements",
                yours=f"{partly:.0%} of all positions lose some of their features, and keep others",
            )
            partly = float((kept.flatten(0, 1).any(0) & ~kept.flatten(0, 1).all(0)).float().mean())
            expect_that(partly > 0.5, f"dropout={p} drops whole features of what the {branch} adds")
            partly = float((kept.any(0) & ~kept.all(0)).float().mean())
            expect_that(
                partly > 0.3, f"dropout={p} drops the same of what the {branch} adds to each sequence"
            )
            share = float(kept.float().mean())
            expect_that(
                abs(share - (1 - p)) < 0.12,
                f"dropout={p} keeps a wrong share of what the {branch} adds",
                yours=f"{share:.2f}",
                wanted=f"about {1 - p:.2f}",
            )
    block = build(answer, gen, dropout=1.0)
    expect_equal(block(x).detach(), x, "block(x) with dropout=1.0, which drops both branches")
    expect_right(block.eval(), x, 2, " with dropout=1.0 in evaluation mode")
    block = build(answer, gen, dropout=0.5)
    ones = {
        name: torch.full_like(t, float(name in ("out.bias", "down.bias")))
        for name, t in block.state_dict().items()
    }
    block.load_state_dict(ones)
    once = float((block(torch.zeros(4, 16, 6)) == 2).float().mean())
    expect_that(
        abs(once - 0.5) < 0.12,
        "the branches do not drop their elements independently",
        yours=f"one of the two is kept at {once:.0%} of all elements",
        wanted="about 50%",
    )
    expect_stream_with_gaps(answer, gen)
    rare = build(answer, gen, dropout=0.002)  # far below what random numbers in bfloat16 resolve
    rare.load_state_dict({**ones, "down.bias": torch.zeros(6)})
    kept = rare.bfloat16()(torch.zeros(5000, 2, 6, dtype=torch.bfloat16)) == 1
    share = 1 - float(kept.double().mean())
    expect_that(
        abs(share - 0.002) < 0.0012,
        "dropout=0.002 drops a wrong share in bfloat16",
        yours=f"{share:.2%}",
        wanted="about 0.20%",
    )


def test_dropout_streams(answer, gen):
    """Each call draws anew from the global stream, a seed repeats it, and evaluation draws nothing."""
    block, x = build(answer, gen, dropout=0.5), torch.randn(2, 4, 6, generator=gen)
    torch.manual_seed(3)
    first, second = block(x).detach(), block(x).detach()
    torch.manual_seed(3)
    expect_equal(block(x).detach(), first, "block(x) with dropout after the same seed")
    expect_that(not torch.equal(first, second), "two calls in training mode drop the same elements")
    nn.Sequential(block).eval()
    with global_rng_untouched("block.eval()(x)"):
        expect_right(block, x, 2, " in evaluation mode")
    plain = build(answer, gen)
    expect_right(plain, x, 2, " in training mode, with the default dropout")
    block.train()
    with torch.no_grad():
        expect_that(not torch.equal(block(x), block(x)), "back in training mode the block drops nothing")


@pytest.mark.parametrize("shape", [(2, 4, 6), (3, 6), (2, 1, 6)], ids=str)
def test_gradients(answer, gen, shape):
    """Gradients flow to x, also straight through both sums, and to every parameter."""
    block, state = build(answer, gen).train(len(shape) > 2), random_state(gen)
    with torch.inference_mode():  # no tensor that is made here can be part of a graph later
        block(torch.ones(shape))
    expect_gradients(
        lambda x, *ts: functional_call(
            block, dict(zip(state, ts, strict=True)), (x if len(shape) > 2 else x * 1.0,)
        ),
        [torch.randn(shape, generator=gen), *state.values()],
        lambda x, *ts: written_out(dict(zip(state, ts, strict=True)), x),
        gen=gen,
        call="block(x), after a call in inference_mode",
        names=" ".join(["x", *state]),
        ulps=200,
        scale=4.0,
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """A block that is cast works in its dtype."""
    block = build(answer, gen).to(dtype)
    for name, p in block.named_parameters():
        expect_equal(p.dtype, dtype, f"the dtype of {name} after block.to({dtype})")
    x = torch.randn(2, 5, 6, generator=gen, dtype=torch.float64).to(dtype)
    expect_right(block, x, 2, f" in {dtype}", ulps=200 if dtype == torch.float64 else 16)


def test_registered(answer):
    """The layers have the sizes asked for, and start as PyTorch's own do."""
    expect_registered(answer.TransformerBlock(6, 3), "TransformerBlock(6, 3)", parameters=shapes(6, 24))
    block = answer.TransformerBlock(32, 4, 50, 0.3)
    expect_registered(block, "TransformerBlock(32, 4, 50, 0.3)", parameters=shapes(32, 50))
    for name, p in block.named_parameters():
        if name.startswith("norm"):
            expect_equal(
                p.detach(), torch.full((32,), float(name.endswith("weight"))), f"{name} at the start"
            )
            continue
        bound = (50 if name.startswith("down") else 32) ** -0.5
        spread = float(p.detach().std()) / (bound / 3**0.5)
        expect_that(
            float(p.detach().abs().max()) <= bound and abs(spread - 1) < (0.1 if p.dim() == 2 else 0.5),
            f"{name} does not start as that of an nn.Linear",
            yours=p.detach(),
            wanted=f"uniform between -{bound:.3f} and {bound:.3f}",
        )
    same = torch.equal(block.qkv.weight, answer.TransformerBlock(32, 4, 50, 0.3).qkv.weight)
    expect_that(not same, "qkv.weight starts with the same numbers in two blocks")


def test_in_use(answer, gen):
    """Saved, loaded, copied and trained, alone and in a stack, the block computes with its parameters."""
    one = case(answer, torch.randn(2, 4, 6, generator=gen), heads=3)
    expect_loads(one, gen)
    expect_copies(one, gen)
    expect_trains(one, gen, lr=1e-3)  # a larger step would enlarge the rounding
    x = torch.randn(2, 4, 6, generator=gen)
    first, second = build(answer, gen), build(answer, gen)
    wanted = exact(second, exact(first, x)).float()
    stack = copy.deepcopy(nn.Sequential(first, second))
    expect_close(stack(x), wanted, "a stack of two blocks", ulps=200)


def test_on_a_device(answer, gen, device):
    """The block works on another device, and copies nothing to or from the CPU, its mask included."""
    for time in (4, 1):
        expect_moves(case(answer, torch.randn(2, time, 6, generator=gen)), device, gen)
    dropping = build(answer, gen, dropout=1.0).to(device)
    x = torch.randn(2, 4, 6, generator=gen)
    expect_equal(dropping(x.to(device)).cpu().detach(), x, "block(x) with dropout=1.0 on another device")


def test_stream_is_left_alone(answer, gen):
    """x keeps its values, and may lie in memory in any way."""
    layouts = {
        "transposed": torch.randn(6, 4, 3, generator=gen).permute(2, 1, 0),
        "in the middle of a larger tensor": torch.randn(5, 7, 9, generator=gen)[1:4, 2:6, 3:],
        "expanded": torch.randn(1, 4, 6, generator=gen).expand(3, 4, 6),
        "contiguous": torch.randn(3, 4, 6, generator=gen),
        "two batch dimensions swapped": torch.randn(2, 3, 4, 6, generator=gen).transpose(0, 1),
    }
    for how, x in layouts.items():
        block = build(answer, gen)
        with unchanged("block(x)", x=x), torch.no_grad():
            expect_right(block, x, 2, f", {how}")


def test_bad_input(answer):
    """Heads that do not divide dim raise ValueError."""
    for dim, heads in [(6, 4), (4, 8), (6, 0), (6, -2), (5, 2)]:
        expect_raises(
            ValueError,
            lambda dim=dim, heads=heads: answer.TransformerBlock(dim, heads),
            f"TransformerBlock({dim}, {heads})",
        )


def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    for over, shape, heads in [
        ("sequences", lambda n: (n, 3, 4), lambda n: 2),
        ("tokens", lambda n: (2, n, 4), lambda n: 2),
        ("heads", lambda n: (2, 3, 2 * n), lambda n: n),
    ]:

        def make(n, shape=shape, heads=heads):
            block, x = (
                answer.TransformerBlock(shape(n)[-1], heads(n), 5),
                torch.randn(shape(n), generator=gen),
            )
            return lambda: block(x)

        expect_flat_cost(make, "block(x)", over=over)


def oracle(answer, gen):
    results = []
    for heads, hidden in [(2, 10), (3, 7)]:
        block = build(answer, gen, heads=heads, hidden=hidden).double()
        x = torch.randn(3, 4, 6, generator=gen, dtype=torch.float64).requires_grad_()
        out = block(x)
        out.mul(torch.randn(out.shape, generator=gen, dtype=torch.float64)).sum().backward()
        gradients = dict(block.named_parameters())
        # in one tensor, on one scale: the gradient for the biases of keys is 0 up to rounding
        flat = torch.cat([gradients[name].grad.flatten() for name in sorted(gradients)])
        results += [out.detach(), x.grad, flat]
    return results
