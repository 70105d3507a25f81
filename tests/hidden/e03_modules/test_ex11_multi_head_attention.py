"""What grades multi_head_attention: masks, heads, shapes, gradients, precision, use as a module, devices."""

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
    unchanged,
)
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_loads,
    expect_moves,
    expect_trains,
)
from grader.checks.registered import expect_registered, state_of

PARTS = ("query", "key", "value", "out")


def attention(state, x, padding=None, *, heads=2, causal=True, bias=True, over=-1, wrong=""):
    """Head by head, with hidden keys left out of sums; softmax runs over the keys, -1, unless `wrong`."""

    def linear(part, x):
        y = x @ state[f"{part}.weight"].mT
        return y + state[f"{part}.bias"] if bias else y

    time = x.shape[-2]
    visible = torch.ones(time, time, dtype=torch.bool)
    visible = (visible.tril() if causal else visible).expand(*x.shape[:-2], time, time)
    if padding is not None:
        visible = visible & ~padding.unsqueeze(-2)
    gathered, qkv = [], [linear(part, x).chunk(heads, -1) for part in PARTS[:3]]
    if wrong == "split":
        qkv = [torch.cat(t, -1).reshape(*t[0].shape[:-2], heads, time, -1).unbind(-3) for t in qkv]
    for q, k, v in zip(*qkv, strict=True):
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~visible, -1e300)
        peak = scores.detach().max(over, keepdim=True).values if time else scores
        powers = (scores - peak).exp() * visible
        total = powers.sum(over, keepdim=True)
        gathered.append(powers / total.masked_fill(total == 0, 1.0) @ v)
    merged = torch.stack(gathered, -3).reshape(x.shape) if wrong == "merge" else torch.cat(gathered, -1)
    return linear("out", merged)


def random_state(gen, dim=6, bias=True, size=0.4):
    """Parameters that keep scores small, so that rounding is not enlarged."""
    state = {f"{part}.weight": size * torch.randn(dim, dim, generator=gen) for part in PARTS}
    if bias:
        state |= {f"{part}.bias": size * torch.randn(dim, generator=gen) for part in PARTS}
    return state


def build(answer, gen, dim=6, heads=2, size=0.4, bias=True, **options):
    """A layer with random parameters."""
    layer = answer.MultiHeadAttention(dim, heads, bias=bias, **options)
    layer.load_state_dict(random_state(gen, dim, bias, size))
    return layer


def identities(layer):
    """The state of the layer with identities for weights and 0 for biases."""
    return {name: torch.eye(len(t)) if t.dim() == 2 else t * 0 for name, t in state_of(layer).items()}


def expect_right_gradients(layer, gen, x, hidden, note, causal):
    """With other parameters than the layer's own; all on one scale, since those for key.bias are 0."""
    state = random_state(gen)
    expect_gradients(
        lambda x, *ts: functional_call(layer, dict(zip(state, ts, strict=True)), (x, *hidden)),
        [x, *state.values()],
        lambda x, *ts: attention(dict(zip(state, ts, strict=True)), x, *hidden, causal=causal),
        gen=gen,
        call=f"layer(x{', padding' if hidden else ''}){note}, causal={causal}",
        names=" ".join(["x", *state]),
        ulps=100,
        scale=1.0,
    )


def padding_of(gen, shape):
    """Some tokens of each sequence, but never the first."""
    padding = torch.rand(shape, generator=gen) < 0.4
    padding[..., :1] = False
    return padding


def mistakes(state, x, padding, options):
    """What people get wrong, and what it gives."""
    root, causal = math.sqrt(options.get("heads", 2)), options.get("causal", True)

    def given(scale=1.0, **changed):
        """The answer with scores times `scale`, or other options."""
        parts = {"query.weight": scale, "query.bias": scale}
        return lambda: attention(
            {n: t * parts.get(n, 1.0) for n, t in state.items()}, x, padding, **{**options, **changed}
        )

    return {
        "scores are divided by sqrt(dim), not by sqrt(dim / heads)": given(1 / root),
        "scores are not divided by sqrt(dim / heads)": given(math.sqrt(x.shape[-1]) / root),
        "softmax runs over the queries: the keys are dim=-1": given(over=-2),
        f"this is what causal={not causal} gives": given(causal=not causal),
        "heads are split by a reshape alone: unflatten the features, then transpose": given(wrong="split"),
        "heads are merged by a reshape alone: transpose heads and time back before": given(wrong="merge"),
    }


def expect_right(layer, x, padding=None, note="", **options):
    state = {n: t.double() for n, t in state_of(layer).items()}
    wanted = attention(state, x.double(), padding, **options)
    suspects = mistakes(state, x.double(), None if padding is None else padding.clone(), options)
    yours = layer(x) if padding is None else layer(x, padding)
    call = "layer(x)" if padding is None else "layer(x, padding)"
    named = ", ".join(f"{name}={value}" for name, value in options.items())
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    expect_close(
        yours, wanted.to(x.dtype), f"{call} with {named}{note}", ulps=100, scale=scale, suspects=suspects
    )


def case(answer, x, padding, heads=2, **options):
    return Case(
        lambda: answer.MultiHeadAttention(x.shape[-1], heads, **options),
        [x, padding],
        lambda state, x, padding: attention(state, x, padding, heads=heads, **options),
        f"MultiHeadAttention({x.shape[-1]}, {heads})",
    )


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_values(answer, gen, causal, bias):
    """Every head attends on its own features, for all shapes, with and without mask, padding and bias."""
    options = {"causal": causal, "bias": bias}
    for shape, heads in [
        ((2, 5, 6), 2), ((3, 4, 6), 3), ((1, 3, 4), 4), ((4, 4, 4), 1), ((5, 6), 2), ((2, 3, 4, 6), 3),
        ((1, 1, 2), 2),
        ((3, 1, 4), 2), ((2, 1, 1, 3, 4), 1), ((1, 6), 6), ((1, 3, 16), 16),
    ]:  # fmt: skip
        layer = build(answer, gen, shape[-1], heads, **options)
        x = torch.randn(shape, generator=gen)
        expect_right(layer, x, None, f" for x of {shape}", heads=heads, **options)
        padding = padding_of(gen, shape[:-1])
        expect_right(layer, x, padding, f" for x of {shape}", heads=heads, **options)


def test_defaults(answer, gen):
    """Without another word the layer is causal and has biases; no padding is the same as all False."""
    layer, x = build(answer, gen), torch.randn(2, 4, 6, generator=gen)
    expect_right(layer, x, None, " (the defaults)", heads=2, causal=True, bias=True)
    expect_right(layer, x, torch.zeros(2, 4, dtype=torch.bool), " of all False", heads=2)
    wanted = layer(x).detach()
    expect_equal(layer.eval()(x).detach(), wanted, "layer.eval()(x)")
    expect_close(layer(x, padding=None), wanted, "layer(x, padding=None)")
    lost = layer(x * torch.nan).detach()
    expect_that(bool(lost.isnan().all()), "layer(x) hides that x is NaN", yours=lost)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_hidden_tokens_have_no_influence(answer, gen, causal):
    """However large a padded or later token is, it changes nothing where it is not seen."""
    layer = build(answer, gen, causal=causal, size=1.0)
    x, padding = 0.3 * torch.randn(2, 6, 6, generator=gen), torch.zeros(2, 6, dtype=torch.bool)
    padding[:, 2] = padding[1, 4:] = True
    wanted = attention(
        {n: t.double() for n, t in state_of(layer).items()}, x.double(), padding, causal=causal
    )
    for size in (1e4, -1e4, 300.0):
        large = torch.where(padding.unsqueeze(-1), size * torch.randn(6, generator=gen).abs(), x)
        leaf = large.clone().requires_grad_()
        yours = layer(leaf, padding)
        expect_close(
            yours[~padding].detach(),
            wanted[~padding].float(),
            f"layer(x, padding) with padding of {size:g}",
            ulps=200,
        )
        yours[~padding].sum().backward()
        expect_equal(leaf.grad[padding], torch.zeros(4, 6), "the gradient for padded tokens from all others")
    if causal:
        x[:, 4:] = 1e4
        yours = layer(x, padding)[:, :4]
        keep = ~padding[:, :4]
        expect_close(
            yours[keep].detach(), wanted[:, :4][keep].float(), "layer(x) before tokens of 1e4", ulps=200
        )
    layer, x = build(answer, gen, causal=causal), 1e4 * torch.randn(1, 5, 6, generator=gen)
    x[:, 0] /= 1e4
    only = attention({n: t.double() for n, t in state_of(layer).items()}, x[:, :1].double())
    yours = layer(x, torch.tensor([[False, True, True, True, True]]))
    call = "layer(x, padding), where all but the first token are padding of 1e4, which asks, too"
    expect_close(yours.detach(), only.float().expand(1, 5, 6), call, dims="batch time dim", ulps=200)
    layer = build(answer, gen, 2, 1, causal=causal)
    layer.load_state_dict(identities(layer))
    half = torch.tensor([[8.0, 0.0], [7.0, 1.0], [1e4, 1e4]], dtype=torch.float16)
    wanted = attention(
        {n: t.double() for n, t in state_of(layer).items()}, half[:2].double(), heads=1, causal=causal
    )
    with torch.no_grad():
        yours = layer.to(torch.float16)(half, torch.tensor([False, False, True]))[:2]
    call = "layer(x, padding) in torch.float16 before padding of 1e4, whose scores float16 cannot hold"
    expect_close(yours, wanted.half(), call, ulps=16)


def test_nothing_to_see(answer, gen):
    """A position that sees no key gets the bias of `out`, and no gradient is NaN."""
    left = torch.tensor([[True, True, False, False], [False, True, True, False], [True] * 4])
    for causal in (True, False):
        for bias in (True, False):
            layer = build(answer, gen, causal=causal, bias=bias)
            x = torch.randn(3, 4, 6, generator=gen)
            expect_right(layer, x, left, ", padded on the left", heads=2, causal=causal, bias=bias)
            note = ", sequences of one token"
            expect_right(layer, x[:, :1], left[:, :1], note, heads=2, causal=causal, bias=bias)
        layer = build(answer, gen, causal=causal).eval()
        expect_right_gradients(layer, gen, x, (left,), ", padded on the left", causal)
        layer = build(answer, gen, causal=causal)
        layer.load_state_dict({**state_of(layer), "key.weight": -4 * layer.query.weight.detach()})
        layer, half = layer.to(torch.float16), (1 + x.abs()).to(torch.float16).requires_grad_()
        layer(half, left).sum().backward()
        torn = [name for name, p in [("x", half), *layer.named_parameters()] if not p.grad.isfinite().all()]
        expect_that(
            not torn,
            "gradients are NaN or inf in torch.float16, padded on the left, with scores of about -100",
            yours=", ".join(torn),
            likely="the lowest number is added to a hidden score, not put in its place: that is -inf",
        )


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_empty(answer, gen, causal):
    """No sequences, and sequences of no tokens, give results of their own shape."""
    for shape in [(0, 3, 6), (2, 0, 6), (0, 6), (0, 0, 6), (2, 0, 3, 6), (2, 3, 0, 6)]:
        layer = build(answer, gen, causal=causal)
        x, padding = torch.ones(shape), torch.zeros(shape[:-1], dtype=torch.bool)
        expect_close(layer(x), torch.zeros(shape), f"layer(x) for x of {shape}")
        yours = layer(x, padding)
        expect_close(yours, torch.zeros(shape), f"layer(x, padding) for x of {shape}")
        expect_that(yours.requires_grad, f"layer(x, padding) for x of {shape} is not part of the graph")


def test_long_and_large(answer, gen):
    """There is no longest sequence, and scores of 1e5 give finite results and gradients."""
    layer = build(answer, gen, 2, 1)
    for tokens in (3, 1100, 4):
        layer.train(tokens < 1000)
        x = torch.randn(1, tokens, 2, generator=gen)
        expect_right(layer, x, None, f" for {tokens} tokens, after others", heads=1)
    on_meta = build(answer, gen, 2, 1).to("meta")  # shapes alone
    for tokens in (5000, 70_000):
        x = torch.empty(1, tokens, 2, device="meta")
        expect_equal(on_meta(x).shape, x.shape, f'the shape of layer(x) for {tokens} tokens on "meta"')
    layer = build(answer, gen)
    layer.load_state_dict({n: t * 0 if "query" in n else t for n, t in layer.state_dict().items()})
    expect_right(layer, 1e6 * torch.randn(3, 6, generator=gen), None, " for x near 1e6 and scores of 0")
    layer = build(answer, gen, 4, 2, size=1.0)
    x = (200 * torch.randn(2, 5, 4, generator=gen)).requires_grad_()
    yours = layer(x, padding_of(gen, (2, 5)))
    yours.sum().backward()
    expect_that(bool(yours.isfinite().all()), "layer(x) is not finite for large scores", yours=yours.detach())
    expect_that(bool(x.grad.isfinite().all()), "the gradient is not finite for large scores", yours=x.grad)
    x = torch.tensor([[400.0, 0.0], [300.0, 100.0], [-400.0, 0.0]])
    for causal in (True, False):
        for sign in (1, -1):
            layer = build(answer, gen, 2, 1, causal=causal)
            layer.load_state_dict({**identities(layer), "query.weight": sign * torch.eye(2)})
            for hidden in (None, torch.tensor([False, False, True])):
                expect_right(layer, x, hidden, f" with scores of {sign}e5", heads=1, causal=causal)


def test_inputs_are_left_alone(answer, gen):
    """x and padding keep their values, and may lie in memory in any way."""
    layouts = {
        "(dim, time, batch) in memory": torch.randn(6, 4, 3, generator=gen).permute(2, 1, 0),
        "in the middle of a larger tensor": torch.randn(5, 7, 9, generator=gen)[1:4, 2:6, 3:],
        "expanded": torch.randn(1, 4, 6, generator=gen).expand(3, 4, 6),
        "two batch dimensions swapped": torch.randn(2, 3, 4, 6, generator=gen).transpose(0, 1),
    }
    for how, x in layouts.items():
        padding = padding_of(gen, x.shape[:-1]).mT.contiguous().mT
        layer = build(answer, gen).eval()
        with unchanged("layer(x, padding)", x=x, padding=padding):
            expect_right(layer, x, padding, f", {how}", heads=2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """A layer that is cast works in its dtype, with and without padding."""
    ulps = 100 if dtype == torch.float64 else 16
    for causal in (True, False):
        layer = build(answer, gen, causal=causal).to(dtype)
        x = torch.randn(2, 5, 6, generator=gen, dtype=torch.float64).to(dtype)
        padding = padding_of(gen, (2, 5))
        padding[0, :2] = True
        state = {name: t.double() for name, t in state_of(layer).items()}
        for hidden in (None, padding):
            wanted = attention(state, x.double(), hidden, causal=causal).to(dtype)
            yours = layer(x) if hidden is None else layer(x, hidden)
            call = f"layer.to({dtype})({'x' if hidden is None else 'x, padding'}), causal={causal}"
            expect_close(yours, wanted, call, dims="batch time dim", ulps=ulps)
    expect_casts(
        case(answer, 0.3 * torch.randn(2, 4, 6, generator=gen), padding_of(gen, (2, 4))),
        torch.float64,
        gen,
        ulps=200,
    )


def test_registered(answer):
    """Four linear layers are registered, with biases or without, and start as nn.Linear's do."""
    for bias in (True, False):
        shapes = {f"{part}.weight": [32, 32] for part in PARTS}
        if bias:
            shapes |= {f"{part}.bias": [32] for part in PARTS}
        layer = answer.MultiHeadAttention(32, 4, bias=bias)
        expect_registered(layer, f"MultiHeadAttention(32, 4, bias={bias})", parameters=shapes)
        bound = 32**-0.5
        seen = []
        for name, p in layer.named_parameters():
            spread = float(p.detach().std()) / (bound / 3**0.5)
            tolerance = 0.1 if p.dim() == 2 else 0.5
            expect_that(
                float(p.detach().abs().max()) <= bound and abs(spread - 1) < tolerance,
                f"{name} does not start as that of nn.Linear(32, 32)",
                yours=p.detach(),
                wanted=f"uniform between -{bound:.3f} and {bound:.3f}",
            )
            expect_that(not any(torch.equal(p, q) for q in seen), f"{name} starts like another parameter")
            seen.append(p)
        other = answer.MultiHeadAttention(32, 4, bias=bias)
        same = torch.equal(layer.query.weight, other.query.weight)
        expect_that(not same, "query.weight starts with the same numbers in two layers")


def test_in_use(answer, gen):
    """Saved, loaded, copied, trained and given other parameters, the layer computes with its parameters."""
    one = case(answer, 0.3 * torch.randn(2, 4, 6, generator=gen), padding_of(gen, (2, 4)), heads=3)
    expect_loads(one, gen)
    expect_copies(one, gen)
    expect_trains(one, gen, lr=0.02)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_gradients(answer, gen, causal):
    """Gradients flow to x and to every parameter."""
    for shape, padded in [((2, 4, 6), True), ((3, 6), False)]:
        hidden = (padding_of(gen, shape[:-1]),) if padded else ()
        layer, x = build(answer, gen, causal=causal), torch.randn(shape, generator=gen)
        with torch.inference_mode():  # no tensor that is made here can be part of a graph later
            layer(x, *hidden)
        expect_right_gradients(layer, gen, x, hidden, ", after a call in inference_mode", causal)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_on_a_device(answer, gen, device, causal):
    """The layer works on another device, and copies nothing to or from the CPU, masks included."""
    padding = padding_of(gen, (2, 4))
    padding[1, :2] = True
    x = 0.3 * torch.randn(2, 4, 6, generator=gen)
    expect_moves(case(answer, x, padding, causal=causal), device, gen)
    alone = Case(
        lambda: answer.MultiHeadAttention(6, 2, causal=causal),
        [x],
        lambda state, x: attention(state, x, causal=causal),
        "MultiHeadAttention(6, 2)",
    )
    expect_moves(alone, device, gen)


def test_bad_input(answer):
    """Heads that do not divide dim, and padding of another shape, raise ValueError."""
    for dim, heads in [(6, 4), (4, 8), (6, 0), (6, -2), (5, 2)]:
        expect_raises(
            ValueError,
            lambda dim=dim, heads=heads: answer.MultiHeadAttention(dim, heads),
            f"MultiHeadAttention({dim}, {heads})",
        )
    layer = answer.MultiHeadAttention(4, 2)
    for x, padding in [
        ((2, 3, 4), (3,)), ((2, 3, 4), (1, 3)), ((2, 3, 4), (2, 1)), ((2, 3, 4), (3, 2)), ((2, 3, 4), (2, 4)),
        ((2, 3, 4), (2, 3, 1)), ((3, 4), (1, 3)), ((2, 3, 4), (2, 3, 4)), ((3, 3, 4), (3,)), ((2, 3, 4), ()),
        ((0, 3, 4), (1, 3)), ((0, 3, 4), (3,)), ((2, 0, 4), (2, 1)), ((0, 4), (2,)),
    ]:  # fmt: skip
        expect_raises(
            ValueError,
            lambda x=x, padding=padding: layer(torch.ones(x), torch.zeros(padding, dtype=torch.bool)),
            f"layer(x, padding) for x of {x} and padding of {padding}",
        )


def test_no_loops(answer, gen):
    """The number of operations depends on no size."""
    for over, shape, heads in [
        ("sequences", lambda n: (n, 3, 4), lambda n: 2),
        ("tokens", lambda n: (2, n, 4), lambda n: 2),
        ("heads", lambda n: (2, 3, 2 * n), lambda n: n),
    ]:

        def make(n, shape=shape, heads=heads):
            layer = answer.MultiHeadAttention(shape(n)[-1], heads(n))
            x, padding = torch.randn(shape(n), generator=gen), padding_of(gen, shape(n)[:-1])
            return lambda: layer(x, padding)

        expect_flat_cost(make, "layer(x, padding)", over=over)


def oracle(answer, gen):
    results = []
    for causal, bias, heads in [(True, True, 2), (False, False, 3)]:
        layer = build(answer, gen, heads=heads, causal=causal, bias=bias).double()
        x = torch.randn(3, 4, 6, generator=gen, dtype=torch.float64).requires_grad_()
        padding = torch.rand(3, 4, generator=gen) < 0.4
        out = layer(x, padding)
        out.mul(torch.randn(out.shape, generator=gen, dtype=torch.float64)).sum().backward()
        gradients = dict(layer.named_parameters())
        # in one tensor, on one scale: the gradient for key.bias is 0 up to rounding
        flat = torch.cat([gradients[name].grad.flatten() for name in sorted(gradients)])
        results += [out.detach(), x.grad, flat]
    return results
