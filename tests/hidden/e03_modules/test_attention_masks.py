"""What grades attention_masks: both ways against the formula; padding before the tokens, dtypes, devices."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.contract import Contract, given, values
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated
from grader.checks.registered import randomize

WAYS = ("by_module", "by_function")


def lower(time, shift=0):
    return torch.ones(time, time, dtype=torch.bool).tril(shift)


def attended(
    layer,
    x,
    real=None,
    causal=False,
    shown=lambda real: real[:, None, None, :],
    before=lower,
    added=False,
    always=False,
):
    """The formula, with zeros at padding; what comes after `causal` is as people get it wrong."""
    qkv = x @ layer.in_proj_weight.mT + layer.in_proj_bias
    q, k, v = qkv.unflatten(-1, (3, layer.num_heads, -1)).permute(2, 0, 3, 1, 4)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    seen = before(x.shape[1]) if causal or always else torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
    if real is not None:
        seen = seen & shown(real)
    hidden = scores + seen if added else scores.masked_fill(~seen, -torch.inf)
    mixed = hidden.softmax(-1).nan_to_num() @ v
    return blank(layer.out_proj(mixed.transpose(1, 2).flatten(2)), real)


def blank(y, real=None):
    return y if real is None else y.masked_fill(~real[..., None], 0.0)


def call(gen, lengths, heads=2, size=3, left=False, **options):
    """Texts of so many tokens, with padding behind or, for `left`, before them; the layer may be any."""
    layer = nn.MultiheadAttention(heads * size, heads, batch_first=True)
    for part in (layer, layer.out_proj):
        randomize(part, gen)
    place, length = torch.arange(max(lengths)), torch.tensor(lengths)[:, None]
    real = place >= max(lengths) - length if left else place < length
    return given(layer, torch.randn(*real.shape, heads * size, generator=gen), real, **options)


def bare(gen, batch, time, heads, **options):
    """No padding."""
    found = call(gen, [time] * batch, heads)
    return given(*found.args[:2], **options)


def inputs(gen):
    return {
        "texts of different lengths": call(gen, [3, 5, 2]),
        "as many texts as heads, causal": call(gen, [4, 2], causal=True),
        "texts of different lengths, causal": call(gen, [2, 6, 4, 1], heads=3, size=2, causal=True),
        "as many texts, heads and tokens": call(gen, [1, 3, 2], heads=3, size=2),
    }


SUSPECTS = {
    "the mask of padding is the wrong way round: real tokens are hidden": partial(
        attended, shown=lambda real: ~real[:, None, None, :]
    ),
    "both masks are the wrong way round": partial(
        attended, shown=lambda real: ~real[:, None, None, :], before=lambda time: ~lower(time)
    ),
    "the causal mask is the wrong way round": partial(attended, before=lambda time: ~lower(time)),
    "the causal mask hides the past": partial(attended, before=lambda time: lower(time).T),
    "a token does not see itself": partial(attended, before=lambda time: lower(time, -1)),
    "a token sees the next one": partial(attended, before=lambda time: lower(time, 1)),
    "padding has no effect": partial(attended, shown=lambda real: real.new_ones(())),
    "causal has no effect": partial(attended, before=lambda time: lower(time, time)),
    "this is what causal=True gives": partial(attended, always=True),
    "True and False are added to the scores as 1 and 0": partial(attended, added=True),
}


def through(name):
    """Calls one of the two ways; what comes out at padding does not count."""

    def use(answer, layer, x, real=None, **options):
        given = [] if real is None else [real]
        return blank(getattr(answer, name)(layer, x, *given, **options), real)

    return use


def other(gen):
    return {
        "no padding": bare(gen, 3, 4, 2),
        "no padding, causal": bare(gen, 2, 5, 2, causal=True),
        "padding before the tokens": call(gen, [3, 5, 2], left=True),
        "padding before the tokens, causal": call(gen, [2, 4, 1], left=True, causal=True),
    }


SEES = values(title="Real tokens see what they should, and nothing else.")
OTHER = values(
    inputs=other, name="other_padding", title="There may be no padding, or it comes before the tokens."
)

by_module = Contract(
    "by_module(layer, x, real, causal)",
    reference=attended,
    use=through("by_module"),
    inputs=inputs,
    gradient="x",
    dims="text time dim",
    ulps=100,
    scale=10.0,
    suspects=SUSPECTS,
    job=[SEES],
    fine=[OTHER],
)
by_function = Contract(
    "by_function(layer, x, real, causal)",
    reference=attended,
    use=through("by_function"),
    inputs=inputs,
    gradient="x",
    dims="text time dim",
    ulps=100,
    scale=10.0,
    suspects=SUSPECTS,
    job=[SEES],
    fine=[OTHER],
)


@pytest.mark.parametrize(("name", "wanted"), [("by_module", 1), ("by_function", 0)])
def test_each_way(answer, gen, name, wanted):
    """by_module calls the layer, and by_function does without its call."""
    layer, x, real = call(gen, [3, 5, 2]).args
    called = []
    layer.register_forward_hook(lambda *_: called.append(1))
    getattr(answer, name)(layer, x, real)
    told = f"{name}(layer, x, real) {'does not call' if wanted else 'calls'} the layer"
    expect_that(len(called) == wanted, told, calls=len(called))


@pytest.mark.fine
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation without gradients"])
def test_nothing_to_see(answer, gen, name, training):
    """Where a position sees nothing, neither results nor gradients are NaN."""
    layer, x, real = call(gen, [2, 4, 1], left=True).args
    x.requires_grad_()
    with torch.set_grad_enabled(training):
        y = getattr(answer, name)(layer.train(training), x, real, causal=True)
    call_ = f"{name}(layer, x, real, causal=True), padded before the tokens,"
    expect_that(not y.isnan().any(), f"{call_} holds NaN", yours=y.detach())
    if training:
        y.sum().backward()
        expect_that(not x.grad.isnan().any(), f"{call_} has gradients that are NaN")


@pytest.mark.fine
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, name, dtype):
    """A layer that is cast works in that dtype."""
    layer, x, real = call(gen, [3, 5, 2]).args
    layer, x = layer.to(dtype), x.to(dtype)
    wanted = attended(layer.double(), x.double(), real, True).detach().to(dtype)
    y = blank(getattr(answer, name)(layer.to(dtype), x, real, causal=True), real).detach()
    expect_equal(y.dtype, dtype, f"the dtype of {name}(layer, x, real, causal=True)")
    expect_close(y, wanted, f"{name}(layer, x, real, causal=True) in {dtype}", ulps=100, scale=10.0)


@pytest.mark.fine
@pytest.mark.parametrize("name", WAYS)
def test_arguments_are_left_alone(answer, gen, name):
    """x and real stay as they are."""
    layer, x, real = call(gen, [3, 5, 2]).args
    with unchanged(f"{name}(layer, x, real, causal=True)", x=x, real=real), torch.no_grad():
        getattr(answer, name)(layer, x, real, causal=True)


@pytest.mark.fine
@pytest.mark.parametrize("name", WAYS)
def test_device(answer, device, gen, name):
    """On another device nothing is copied to or from the CPU."""
    layer, x, real = call(gen, [3, 5, 2]).args
    layer, x, real = layer.to(device), x.to(device), real.to(device)
    with count_traffic() as traffic:
        y = getattr(answer, name)(layer, x, real, causal=True)
    expect_no_traffic(traffic, f"{name}(layer, x, real, causal=True)")
    expect_that(is_simulated(y), f"{name}(layer, x, real, causal=True) is not on the device of x")
