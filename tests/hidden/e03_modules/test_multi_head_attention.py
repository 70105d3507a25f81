"""What grades multi_head_attention: heads, masks, gradients; what is hidden, shapes, dtypes, devices."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that
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
    values,
)

PARTS = ("query", "key", "value", "out")


def attention(
    state,
    x,
    padding=None,
    heads=2,
    causal=True,
    over=-1,
    wrong="",
    diagonal=0,
    fill=-1e300,
    hides=lambda padding: padding,
):
    """Head by head, with zeros at padded positions; what comes after `causal` is as people get it wrong."""

    def linear(part, x):
        return x @ state[f"{part}.weight"].mT + state.get(f"{part}.bias", 0.0)

    time = x.shape[-2]
    visible = torch.ones(time, time, dtype=torch.bool)
    visible = (visible.tril(diagonal) if causal else visible).expand(*x.shape[:-2], time, time)
    if padding is not None:
        visible = visible & ~hides(padding).unsqueeze(-2)
    gathered, qkv = [], [linear(part, x).chunk(heads, -1) for part in PARTS[:3]]
    if "split" in wrong:
        qkv = [torch.cat(t, -1).reshape(*t[0].shape[:-2], heads, time, -1).unbind(-3) for t in qkv]
    for q, k, v in zip(*qkv, strict=True):
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if wrong == "late":
            weights = scores.softmax(over).masked_fill(~visible, 0.0)
        else:
            weights = scores.masked_fill(~visible, fill).softmax(over)
        gathered.append(weights @ v)
    merged = torch.stack(gathered, -3).reshape(x.shape) if "merge" in wrong else torch.cat(gathered, -1)
    return real(linear("out", merged), padding)


def padding_of(gen, *shape):
    """Some tokens of each sequence, but never the first."""
    padding = torch.rand(shape, generator=gen) < 0.4
    padding[..., :1] = False
    return padding


def real(result, padding):
    """The result with zeros at padded positions, where results are free."""
    there = padding is not None and getattr(result, "shape", (0,))[:-1] == padding.shape
    return result.masked_fill(padding.unsqueeze(-1), 0.0) if there else result


def attentive(gen, *shape, padding=None, heads=2, **options):
    """A call of a layer whose parameters keep scores small, so that rounding is not enlarged."""
    dim, kinds = shape[-1], ("weight", "bias") if options.get("bias", True) else ("weight",)
    names = [(part, kind) for part in PARTS for kind in kinds]
    state = {
        f"{part}.{kind}": 0.4 * torch.randn([dim, dim] if kind == "weight" else [dim], generator=gen)
        for part, kind in names
    }
    x = torch.randn(shape, generator=gen)
    return layer(dim, heads, state=state, **options)(x, *[] if padding is None else [padding])


def plain(gen):
    return {
        "two heads": attentive(gen, 2, 5, 6),
        "three heads": attentive(gen, 3, 4, 6, heads=3),
        "one head": attentive(gen, 4, 4, 4, heads=1),
        "two heads, not causal": attentive(gen, 1, 3, 4, causal=False),
        "three heads, neither causal nor with biases": attentive(
            gen, 2, 5, 9, heads=3, causal=False, bias=False
        ),
        "a single position": attentive(gen, 5, 1, 6),
    }


def padded(gen):
    def hiding(*shape, **options):
        padding = padding_of(gen, *shape[:-1])
        padding[:, 1] = True
        return attentive(gen, *shape, padding=padding, **options)

    return {
        "two sequences with padding": hiding(2, 5, 6),
        "as many sequences as tokens, with padding": hiding(4, 4, 6, heads=3),
        "two sequences with padding, not causal": hiding(2, 5, 6, causal=False),
        "as many sequences as tokens, with padding, not causal": hiding(4, 4, 6, heads=3, causal=False),
    }


def unpadded(gen):
    return {"no padding": attentive(gen, 2, 4, 6, padding=torch.zeros(2, 4, dtype=torch.bool))}


def of_shapes(*shapes):
    """Calls with and without padding."""

    def calls(gen):
        return {f"x of {shape}": attentive(gen, *shape) for shape in shapes} | {
            f"x of {shape}, with padding": attentive(gen, *shape, padding=padding_of(gen, *shape[:-1]))
            for shape in shapes
        }

    return calls


def large(gen, size, **options):
    """Large numbers in padded tokens."""
    padding = torch.zeros(2, 6, dtype=torch.bool)
    padding[:, 2] = padding[1, 4:] = True
    call = attentive(gen, 2, 6, 6, padding=padding, **options)
    call.args[0][padding] = size * torch.randn(6, generator=gen).abs()
    return call


def wrong(**how):
    return lambda *given, **options: attention(*given, **{**options, **how})


def scaled(by):
    """Scores times `by(dim, heads)`."""

    def make(state, x, padding=None, heads=2, **options):
        times = {"query.weight": by(x.shape[-1], heads), "query.bias": by(x.shape[-1], heads)}
        state = {name: t * times.get(name, 1.0) for name, t in state.items()}
        return attention(state, x, padding, heads=heads, **options)

    return make


def without_three_biases(state, *given, **options):
    kept = {name: t for name, t in state.items() if name.endswith("weight") or name == "out.bias"}
    return attention(kept, *given, **options)


contract = Contract(
    "MultiHeadAttention(dim, heads)(x, padding)",
    reference=attention,
    use=lambda attend, x, padding=None: real(attend(x) if padding is None else attend(x, padding), padding),
    inputs=lambda gen: (
        plain(gen) | {"three sequences, with padding": padded(gen)["two sequences with padding"]}
    ),
    gradient="x state",
    ulps=100,
    scale=1.0,  # the gradients for key.bias are 0
    suspects={
        "scores are divided by sqrt(dim), not by sqrt(dim / heads)": scaled(lambda dim, heads: heads**-0.5),
        "scores are not divided by sqrt(dim / heads)": scaled(lambda dim, heads: (dim / heads) ** 0.5),
        "softmax runs over the queries: the keys are dim=-1": wrong(over=-2),
        "this is what causal=False gives": wrong(causal=False),
        "this is what causal=True gives": wrong(causal=True),
        "a position sees one token too far": wrong(diagonal=1),
        "heads are split by a reshape alone: unflatten the features, then transpose": wrong(wrong="split"),
        "heads are merged by a reshape alone: transpose heads and time back before": wrong(wrong="merge"),
        "heads are split and merged by a view alone: transpose time and heads, before and after": wrong(
            wrong="split, merge"
        ),
        "heads has no effect: all features are one head": wrong(heads=1),
        "hidden scores become 0, which still counts: fill in the lowest number": wrong(fill=0.0),
        "the mask comes after the softmax: mask the scores before": wrong(wrong="late"),
        "the biases of query, key and value are left out": without_three_biases,
        "padding has no effect": wrong(hides=torch.zeros_like),
        "True marks the real tokens here: it marks padding": wrong(hides=torch.logical_not),
    },
    job=[
        values(inputs=plain, title="Every head attends on its own features, with and without causal mask."),
        values(inputs=unpadded, name="defaults", title="No padding is the same as all False."),
        values(inputs=padded, name="padding", title="No position sees a padded one."),
        gradients(
            "x state",
            inputs=lambda gen: [*padded(gen).values()][::2],
            title="Gradients flow to x and to every parameter.",
        ),
        loads(inputs=unpadded, title="A layer that has been used computes with what is loaded into it."),
    ],
    fine=[
        values(
            inputs=of_shapes((5, 6), (2, 3, 4, 6), (2, 1, 6), (1, 1100, 6), (1, 4, 6)),
            name="other_shapes",
            title="There may be other batch dimensions, or none, and any length.",
        ),
        values(
            inputs=lambda gen: {
                f"padding of {size:g}": large(gen, size, causal=causal)
                for size in (1e4, -1e4)
                for causal in (True, False)
            },
            name="hidden_tokens",
            title="However large a padded token is, it changes nothing where it is not seen.",
        ),
        empties(
            inputs=of_shapes((0, 3, 6), (2, 0, 6)),
            title="No sequences, and sequences of no tokens, give results of their own shape.",
        ),
        dtypes(
            *(torch.float16, torch.bfloat16),
            inputs=padded,
            ulps=16,
            name="half_precision",
            title="A layer that is cast to half precision works in it.",
        ),
        dtypes(
            torch.float64, inputs=plain, name="float64", title="A layer that is cast to float64 works in it."
        ),
        device(
            inputs=lambda gen: (
                unpadded(gen) | {"two heads, not causal": attentive(gen, 2, 4, 6, causal=False)}
            )
        ),
        errors(
            ValueError,
            lambda gen: [layer(6, 4), layer(4, 8), layer(6, 0)],
            name="bad_heads",
            title="Heads that do not divide dim raise ValueError.",
        ),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                f"x of (2, 3, 4) and padding of {shape}": layer(4, 2)(
                    torch.ones(2, 3, 4), torch.zeros(shape, dtype=torch.bool)
                )
                for shape in [(3,), (1, 3), (2, 1), (2, 4), (2, 3, 1)]
            },
            name="bad_padding",
            title="Padding of another shape raises ValueError, also one that would broadcast.",
        ),
        flat_cost(
            {
                "sequences": lambda n: layer(4, 2)(torch.ones(n, 3, 4)),
                "tokens": lambda n: layer(4, 2)(torch.ones(2, n, 4), torch.zeros(2, n, dtype=torch.bool)),
                "heads": lambda n: layer(2 * n, n)(torch.ones(2, 3, 2 * n)),
            }
        ),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not causal"])
def test_nothing_to_see(answer, gen, causal):
    """Where a position sees no key, neither results nor gradients are NaN, and real tokens get theirs."""
    left = torch.tensor([[True, True, False, False], [False, True, True, False], [True] * 4])
    call = attentive(gen, 3, 4, 6, padding=left, causal=causal)
    attend, (x, padding) = contract.layer(answer, call), call.args
    leaf = x.requires_grad_()
    result = attend(leaf, padding)
    told = "layer(x, padding) holds NaN, padded on the left"
    expect_that(not result.isnan().any(), told, yours=result.detach())
    result.sum().backward()
    torn = [name for name, p in [("x", leaf), *attend.named_parameters()] if p.grad.isnan().any()]
    expect_that(not torn, "gradients are NaN, padded on the left", yours=", ".join(torn))


@pytest.mark.fine
def test_gradient_of_hidden_tokens(answer, gen):
    """A padded token has no gradient from others."""
    call = large(gen, 1.0)
    attend, (x, padding) = contract.layer(answer, call), call.args
    attend(x.requires_grad_(), padding)[~padding].sum().backward()
    expect_equal(x.grad[padding], torch.zeros(4, 6), "the gradient for padded tokens from all others")


@pytest.mark.fine
def test_state_dict(answer):
    """The state dict holds the parameters, and nothing else."""
    attend = answer.MultiHeadAttention(6, 2)
    names = sorted(name for name, _ in attend.named_parameters())
    expect_equal(sorted(attend.state_dict()), names, "the names in the state dict")
