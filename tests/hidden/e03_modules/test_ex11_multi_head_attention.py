"""What grades multi_head_attention: heads, masks, gradients; what is hidden, shapes, dtypes, devices."""

import math

import pytest
import torch
from torch.func import functional_call

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
)
from grader.checks.module_contract import Case, expect_moves

PARTS = ("query", "key", "value", "out")


def attention(state, x, padding=None, *, heads=2, causal=True, over=-1, wrong="", diagonal=0):
    """Head by head; with `over`, `wrong` and `diagonal` as people get it wrong."""

    def linear(part, x):
        return x @ state[f"{part}.weight"].mT + state.get(f"{part}.bias", 0.0)

    time = x.shape[-2]
    visible = torch.ones(time, time, dtype=torch.bool)
    visible = (visible.tril(diagonal) if causal else visible).expand(*x.shape[:-2], time, time)
    if padding is not None:
        visible = visible & ~padding.unsqueeze(-2)
    gathered, qkv = [], [linear(part, x).chunk(heads, -1) for part in PARTS[:3]]
    if wrong == "split":
        qkv = [torch.cat(t, -1).reshape(*t[0].shape[:-2], heads, time, -1).unbind(-3) for t in qkv]
    for q, k, v in zip(*qkv, strict=True):
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~visible, -1e300)
        gathered.append(scores.softmax(over) @ v)
    merged = torch.stack(gathered, -3).reshape(x.shape) if wrong == "merge" else torch.cat(gathered, -1)
    return linear("out", merged)


def build(answer, gen, dim=6, heads=2, size=0.4, **options):
    """A layer with random parameters that keep scores small, so that rounding is not enlarged."""
    layer = answer.MultiHeadAttention(dim, heads, **options)
    with torch.no_grad():
        for _, p in sorted(layer.named_parameters()):
            p.copy_(size * torch.randn(p.shape, generator=gen))
    return layer


def padding_of(gen, *shape):
    """Some tokens of each sequence, but never the first."""
    padding = torch.rand(shape, generator=gen) < 0.4
    padding[..., :1] = False
    return padding


def mistakes(state, x, padding, options):
    """What people get wrong, and what it gives."""
    root, causal = math.sqrt(options.get("heads", 2)), options.get("causal", True)

    def given(scale=1.0, hidden=padding, **changed):
        """The answer with scores times `scale`, or other options."""
        parts = {"query.weight": scale, "query.bias": scale}
        scaled = {n: t * parts.get(n, 1.0) for n, t in state.items()}
        return lambda: attention(scaled, x, hidden, **{**options, **changed})

    told = {
        "scores are divided by sqrt(dim), not by sqrt(dim / heads)": given(1 / root),
        "scores are not divided by sqrt(dim / heads)": given(math.sqrt(x.shape[-1]) / root),
        "softmax runs over the queries: the keys are dim=-1": given(over=-2),
        f"this is what causal={not causal} gives": given(causal=not causal),
        "a position sees one token too far": given(diagonal=1),
        "heads are split by a reshape alone: unflatten the features, then transpose": given(wrong="split"),
        "heads are merged by a reshape alone: transpose heads and time back before": given(wrong="merge"),
        "heads has no effect: all features are one head": given(heads=1),
    }
    if padding is not None:
        told["padding has no effect"] = given(hidden=None)
        told["True marks the real tokens here: it marks padding"] = given(hidden=~padding)
    return told


def expect_right(layer, x, padding=None, note="", ulps=100, **options):
    state = {name: p.detach().double() for name, p in layer.named_parameters()}
    wanted = attention(state, x.double(), padding, **options)
    yours = layer(x) if padding is None else layer(x, padding)

    def free(result):
        """The result, but what was wanted at padded positions, where results are free."""
        return result if padding is None else torch.where(padding.unsqueeze(-1), wanted.to(result), result)

    made = mistakes(state, x.double(), padding, options)
    suspects = {told: lambda make=make: free(make()) for told, make in made.items()}
    named = " with " + ", ".join(f"{name}={value}" for name, value in options.items()) if options else ""
    call = f"layer({'x' if padding is None else 'x, padding'}){named}{note}"
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    yours = free(yours) if isinstance(yours, torch.Tensor) and yours.shape == wanted.shape else yours
    expect_close(yours, wanted.to(x.dtype), call, ulps=ulps, scale=scale, suspects=suspects)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_values(answer, gen, causal, bias):
    """Every head attends on its own features, with and without causal mask and biases."""
    for shape, heads in [((2, 5, 6), 2), ((3, 4, 6), 3), ((1, 3, 4), 4), ((4, 4, 4), 1)]:
        layer = build(answer, gen, shape[-1], heads, causal=causal, bias=bias)
        expect_right(layer, torch.randn(shape, generator=gen), heads=heads, causal=causal)


def test_defaults(answer, gen):
    """Without another word the layer is causal and has biases; no padding is the same as all False."""
    layer, x = build(answer, gen), torch.randn(2, 4, 6, generator=gen)
    expect_right(layer, x, None, " (the defaults)")
    expect_right(layer, x, torch.zeros(2, 4, dtype=torch.bool), " of all False")


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_padding(answer, gen, causal):
    """No position sees a padded one, with and without causal mask."""
    for shape, heads in [((2, 5, 6), 2), ((4, 4, 6), 3)]:
        layer, padding = build(answer, gen, shape[-1], heads, causal=causal), padding_of(gen, *shape[:-1])
        padding[:, 1] = True
        expect_right(layer, torch.randn(shape, generator=gen), padding, heads=heads, causal=causal)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_gradients(answer, gen, causal):
    """Gradients flow to x and to every parameter."""
    layer, padding = build(answer, gen, causal=causal), padding_of(gen, 2, 4)
    state = {name: p.detach() for name, p in layer.named_parameters()}

    def real(result):
        return result.masked_fill(padding.unsqueeze(-1), 0.0)

    expect_gradients(
        lambda x, *ts: real(functional_call(layer, dict(zip(state, ts, strict=True)), (x, padding))),
        [torch.randn(2, 4, 6, generator=gen), *state.values()],
        lambda x, *ts: real(attention(dict(zip(state, ts, strict=True)), x, padding, causal=causal)),
        gen=gen,
        call=f"layer(x, padding), causal={causal}",
        names=" ".join(["x", *state]),
        ulps=100,
        scale=1.0,  # those for key.bias are 0
    )


def test_in_use(answer, gen):
    """A layer that has been used computes with what is loaded into it."""
    layer, other, x = build(answer, gen), build(answer, gen), torch.randn(2, 4, 6, generator=gen)
    layer(x)
    layer.load_state_dict(other.state_dict())
    expect_right(layer, x, None, " after load_state_dict(…)")


@pytest.mark.fine
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_nothing_to_see(answer, gen, causal):
    """Where a position sees no key, neither results nor gradients are NaN, and real tokens get theirs."""
    left = torch.tensor([[True, True, False, False], [False, True, True, False], [True] * 4])
    layer, x = build(answer, gen, causal=causal), torch.randn(3, 4, 6, generator=gen)
    expect_right(layer, x, left, ", padded on the left", causal=causal)
    leaf = x.clone().requires_grad_()
    result = layer(leaf, left)
    told = "layer(x, padding) holds NaN, padded on the left"
    expect_that(not result.isnan().any(), told, yours=result.detach())
    result.sum().backward()
    torn = [name for name, p in [("x", leaf), *layer.named_parameters()] if p.grad.isnan().any()]
    expect_that(not torn, "gradients are NaN, padded on the left", yours=", ".join(torn))


@pytest.mark.fine
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_hidden_tokens(answer, gen, causal):
    """However large a padded token is, it changes nothing where it is not seen, and has no gradient."""
    layer, padding = build(answer, gen, causal=causal), torch.zeros(2, 6, dtype=torch.bool)
    padding[:, 2] = padding[1, 4:] = True
    x = torch.randn(2, 6, 6, generator=gen)
    for size in (1e4, -1e4):
        large = torch.where(padding.unsqueeze(-1), size * torch.randn(6, generator=gen).abs(), x)
        expect_right(layer, large, padding, f" and padding of {size:g}", causal=causal)
    leaf = x.requires_grad_()
    layer(leaf, padding)[~padding].sum().backward()
    expect_equal(leaf.grad[padding], torch.zeros(4, 6), "the gradient for padded tokens from all others")


@pytest.mark.fine
def test_other_shapes(answer, gen):
    """There may be other batch dimensions, or none, and sequences of any length."""
    layer = build(answer, gen)
    for shape in [(5, 6), (2, 3, 4, 6), (2, 1, 6), (1, 1100, 6), (1, 4, 6)]:
        x, padding = torch.randn(shape, generator=gen), padding_of(gen, *shape[:-1])
        expect_right(layer, x, None, f" for x of {shape}")
        expect_right(layer, x, padding, f" for x of {shape}")


@pytest.mark.fine
def test_empty(answer, gen):
    """No sequences, and sequences of no tokens, give results of their own shape."""
    for shape in [(0, 3, 6), (2, 0, 6)]:
        layer, padding = build(answer, gen), torch.zeros(shape[:-1], dtype=torch.bool)
        expect_close(layer(torch.ones(shape)), torch.zeros(shape), f"layer(x) for x of {shape}")
        call = f"layer(x, padding) for x of {shape}"
        expect_close(layer(torch.ones(shape), padding), torch.zeros(shape), call)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """A layer that is cast works in its dtype, with and without padding."""
    layer, ulps = build(answer, gen).to(dtype), 100 if dtype == torch.float64 else 16
    x = torch.randn(2, 5, 6, generator=gen, dtype=torch.float64).to(dtype)
    for padding in (None, padding_of(gen, 2, 5)):
        expect_right(layer, x, padding, f" in {dtype}", ulps)


@pytest.mark.fine
def test_state_dict(answer):
    """The state dict holds the parameters, and nothing else."""
    layer = answer.MultiHeadAttention(6, 2)
    names = sorted(name for name, _ in layer.named_parameters())
    expect_equal(sorted(layer.state_dict()), names, "the names in the state dict")


@pytest.mark.fine
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_on_a_device(answer, gen, device, causal):
    """The layer works on another device, and copies nothing to or from the CPU, masks included."""
    x, nothing = 0.3 * torch.randn(2, 4, 6, generator=gen), torch.zeros(2, 4, dtype=torch.bool)
    reference = lambda state, x, padding: attention(state, x, causal=causal)  # noqa: E731
    make = lambda: answer.MultiHeadAttention(6, 2, causal=causal)  # noqa: E731
    expect_moves(
        Case(make, [x, nothing], reference, f"MultiHeadAttention(6, 2, causal={causal})"), device, gen
    )


@pytest.mark.fine
def test_bad_heads(answer):
    """Heads that do not divide dim raise ValueError."""
    for dim, heads in [(6, 4), (4, 8), (6, 0)]:
        call = f"MultiHeadAttention({dim}, {heads})"
        expect_raises(ValueError, lambda dim=dim, heads=heads: answer.MultiHeadAttention(dim, heads), call)


@pytest.mark.fine
def test_bad_padding(answer):
    """Padding of another shape raises ValueError, also one that would broadcast."""
    layer = answer.MultiHeadAttention(4, 2)
    for shape in [(3,), (1, 3), (2, 1), (2, 4), (2, 3, 1)]:
        padding, call = (
            torch.zeros(shape, dtype=torch.bool),
            f"layer(x, padding) for x of (2, 3, 4) and padding of {shape}",
        )
        expect_raises((ValueError, RuntimeError), lambda p=padding: layer(torch.ones(2, 3, 4), p), call)


@pytest.mark.fine
def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    for over, size in [
        ("sequences", lambda n: (n, 3, 4, 2)),
        ("tokens", lambda n: (2, n, 4, 2)),
        ("heads", lambda n: (2, 3, 2 * n, n)),
    ]:

        def make(n, size=size):
            *shape, heads = size(n)
            layer, padding = answer.MultiHeadAttention(shape[-1], heads), padding_of(gen, *shape[:-1])
            return lambda: layer(torch.ones(shape), padding)

        expect_flat_cost(make, "layer(x, padding)", over=over)


def oracle(answer, gen):
    x = torch.randn(3, 4, 6, generator=gen).requires_grad_()
    layer, padding = build(answer, gen), padding_of(gen, 3, 4)
    out = layer(x)
    out.mul(torch.randn(out.shape, generator=gen)).sum().backward()
    gradients = dict(layer.named_parameters())
    # in one tensor, on one scale: the gradient for key.bias is 0 up to rounding
    flat = torch.cat([gradients[name].grad.flatten() for name in sorted(gradients)])
    three, one = build(answer, gen, 9, 3, causal=False, bias=False), build(answer, gen, 4, 1)
    every = torch.randn(2, 5, 9, generator=gen)
    return {
        "two heads, causal": out.detach(),
        "the gradients": torch.cat([x.grad.flatten(), flat]),
        "two heads, causal, with padding": layer(x.detach(), padding).detach()[~padding],
        "three heads, neither causal nor with biases": three(every).detach(),
        "one head": one(torch.randn(2, 3, 4, generator=gen)).detach(),
    }
