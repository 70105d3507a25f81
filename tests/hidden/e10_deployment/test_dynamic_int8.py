"""What grades dynamic_int8: weights, results, buffers, which layers go; 16 bits, memory, twins, refusals."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, held_bytes
from grader.checks.devices import is_simulated
from grader.checks.registered import expect_registered

HALVES = [torch.float16, torch.bfloat16]
SIZES = [(3, 5, (2,), True), (8, 4, (2, 3), False), (64, 7, (5,), True), (1, 6, (4,), False)]


def linear_of(gen, inputs, outputs, *, bias=True, size=1.0, dtype=torch.float32):
    linear = nn.Linear(inputs, outputs, bias=bias)
    for p in linear.parameters():
        p.data.copy_(size * torch.randn(p.shape, generator=gen))
    return linear.to(dtype)


def quantized(weight):
    """Scale and weight, in float64."""
    scale = weight.detach().double().abs().amax(1) / 127
    scale = scale.masked_fill(scale == 0, 1.0).float().double()
    return scale, (weight.detach().double() / scale[:, None]).round().clamp(-127, 127)


def exact(layer, x, bias):
    """The result of the layer as it is stored, in float64."""
    return x.double() @ (layer.weight.double() * layer.scale.double().view(-1, 1)).mT + bias


def expect_result(layer, linear, x, call, ulps=200):
    bias = 0.0 if linear.bias is None else linear.bias.detach().double()
    wanted, (scale, weight) = exact(layer, x, bias), quantized(linear.weight)
    suspects = {"the weight is not multiplied by the scale": lambda: (x.double() @ weight.mT).to(x.dtype)}
    if linear.bias is not None:
        suspects["the bias is left out"] = lambda: (wanted - bias).to(x.dtype)
        suspects["the bias is multiplied by the scale, too"] = lambda: (wanted - bias + bias * scale).to(
            x.dtype
        )
    size = float(wanted.abs().max()) if wanted.numel() else 1.0
    expect_close(layer(x).detach(), wanted.to(x.dtype), call, ulps=ulps, scale=size, suspects=suspects)


def test_weights(answer, gen):
    """Each row of the weight has its own scale, and is rounded to the nearest of its steps."""
    for inputs, outputs, _, bias in SIZES:
        linear = linear_of(gen, inputs, outputs, bias=bias)
        linear.weight.data *= torch.logspace(-3, 3, outputs)[:, None]
        layer, (scale, weight) = answer.Int8Linear.from_linear(linear), quantized(linear.weight)
        call = f"Int8Linear.from_linear(nn.Linear({inputs}, {outputs}))"
        suspects = {
            "there is one scale for all rows": lambda s=scale: s.max().expand_as(s).float(),
            "it is the largest value, not the largest size": lambda w=linear.weight: w.detach().amax(1) / 127,
        }
        expect_close(
            layer.scale.flatten(), scale.float(), f"the scale of {call}", scale=0.0, suspects=suspects
        )
        expect_equal(layer.weight.dtype, torch.int8, f"the dtype of the weight of {call}")
        off = float((layer.weight.double() - weight).abs().max())  # what is half way may go either way
        told = {"likely": "the fraction is cut off: round first"} if off == 1 else {}
        same = off == 0 or (
            off == 1
            and torch.allclose(
                (linear.weight.double() / scale[:, None] % 1)[layer.weight != weight],
                torch.tensor(0.5).double(),
                atol=1e-3,
            )
        )
        expect_that(
            same, f"weights of {call} are not the nearest steps", yours=f"up to {off:g} steps off", **told
        )


def test_results(answer, gen):
    """The result is that of the widened weight and the bias, near that of the linear layer."""
    for inputs, outputs, batch, bias in SIZES:
        linear, x = linear_of(gen, inputs, outputs, bias=bias), torch.randn(*batch, inputs, generator=gen)
        layer, call = answer.Int8Linear.from_linear(linear), f"layer(x) for x of {(*batch, inputs)}"
        expect_result(layer, linear, x, call)
        expect_that(bias or layer.bias is None, "the bias of a layer without is not None")


def test_buffers(answer, gen):
    """Weight, scale and bias are buffers, and no parameters are left; an empty layer has the same."""
    for bias in (True, False):
        sizes = {"weight": [3, 5], "scale": [3], **({"bias": [3]} if bias else {})}
        made = answer.Int8Linear.from_linear(linear_of(gen, 5, 3, bias=bias))
        for layer, call in (
            (made, "from_linear(linear)"),
            (answer.Int8Linear(5, 3, bias), "Int8Linear(5, 3, bias)"),
        ):
            expect_registered(layer, call, parameters={}, buffers=sizes)


def model_of(gen):
    block = nn.Sequential(linear_of(gen, 6, 8), nn.Tanh(), nn.Sequential(linear_of(gen, 8, 8, bias=False)))
    return nn.ModuleDict({"embed": nn.Embedding(5, 6), "body": block, "head": linear_of(gen, 8, 2)})


def kinds_of(model, answer):
    return {n: isinstance(m, answer.Int8Linear) for n, m in model.named_modules() if not list(m.children())}


def run(model, x):
    return model["head"](model["body"](x)).detach()


def test_replaces(answer, gen):
    """Linear layers at any depth are replaced in place, those in skip stay, and the model works."""
    linears = ["body.0", "body.2.0", "head"]
    for skip in ([], ["head"], ["body.2.0", "head"], ("body.0",)):
        model, x = model_of(gen), torch.randn(4, 6, generator=gen)
        before = copy.deepcopy(model)
        yours, call = answer.quantize_linears(model, skip), f"quantize_linears(model, skip={skip})"
        expect_that(yours is model, f"{call} returns another model", yours=type(yours).__name__)
        for name, is_int8 in kinds_of(model, answer).items():
            goes = name in linears and name not in skip
            expect_that(is_int8 == goes, f"{name} is {'not ' if goes else ''}replaced by {call}")
        expect_close(run(model, x), run(before, x), f"model(x) after {call}", ulps=1e6)
        if not skip:
            expect_equal(
                [n for n, _ in model.named_parameters()], ["embed.weight"], f"parameters after {call}"
            )


def test_saved_and_loaded(answer, gen, tmp_path):
    """The file is about a quarter as large, and an empty layer that is loaded computes the same."""
    linear, x = linear_of(gen, 256, 128), torch.randn(3, 256, generator=gen)
    layer = answer.Int8Linear.from_linear(linear)
    torch.save(layer.state_dict(), tmp_path / "layer.pt")
    share = (tmp_path / "layer.pt").stat().st_size / linear.weight.nbytes
    expect_that(share < 0.3, "the state dict in int8 is too large", yours=f"{share:.0%} of the wide one")
    empty = answer.Int8Linear(256, 128)
    empty.load_state_dict(torch.load(tmp_path / "layer.pt", weights_only=True))
    expect_close(empty(x), layer(x), "the result of an empty layer that is loaded")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_halves(answer, gen, dtype):
    """x may be in 16 bits, and so may the linear layer: nothing overflows, and no scale vanishes."""
    for kept in (torch.float32, dtype):
        for size, large in ((1.0, 1.0), (0.05, 200.0), (3e-5, 100.0)):
            linear = linear_of(gen, 64, 7, size=size, dtype=kept)
            layer, call = (
                answer.Int8Linear.from_linear(linear),
                f"a layer from {kept}, with weights near {size}",
            )
            expect_close(
                layer.scale, quantized(linear.weight)[0].float(), f"the scale of {call}", ulps=8, scale=0.0
            )
            expect_equal(layer.bias.dtype, kept, f"the dtype of the bias of {call}")
            for used in (dtype, torch.float32):
                x = (large * torch.randn(5, 64, generator=gen)).to(used)
                expect_result(layer, linear, x, f"layer(x) for x in {used} near {large}, {call}", ulps=4)


@pytest.mark.fine
def test_rows_and_shapes(answer, gen):
    """Rows of zeros, any batch dimensions and gradients to x."""
    linear = linear_of(gen, 6, 4)
    linear.weight.data[2] = 0.0
    layer = answer.Int8Linear.from_linear(linear)
    expect_equal(layer.scale[2].item(), 1.0, "the scale of a row of zeros")
    for shape in ((6,), (2, 1, 3, 6)):
        expect_result(layer, linear, torch.randn(shape, generator=gen), f"layer(x) for x of {shape}")
    x = torch.randn(3, 6, generator=gen).requires_grad_()
    layer(x).sum().backward()
    scale, weight = quantized(linear.weight)
    wanted = (weight * scale[:, None]).sum(0).expand(3, 6).float()
    expect_close(x.grad, wanted, "the gradient for x", scale=10.0)


@pytest.mark.fine
def test_nothing_wide_is_held(answer, gen):
    """A layer holds its int8 weight and scales alone, also after calls without gradients."""
    linear, x, made = linear_of(gen, 512, 256), torch.randn(2, 512, generator=gen), []

    def use():
        made.append(answer.Int8Linear.from_linear(linear).eval())
        with torch.no_grad():
            made[0](x)

    yours = held_bytes(use)
    expect_that(yours < 1.5 * linear.weight.numel(), "a layer holds a wide weight", yours=f"{yours:,} bytes")


@pytest.mark.fine
def test_modes_and_devices(answer, gen, device):
    """A new layer is where the old one was, and in its mode."""
    model = model_of(gen).to(device)
    model["head"].eval()
    layer = answer.quantize_linears(model)["head"]
    there = all(is_simulated(t) for t in layer.buffers())
    expect_that(there, "buffers of a new layer are not where the linear layer was")
    modes = layer.training, model["body"][0].training, model.training
    expect_equal(modes, (False, True, True), "the modes of the head, a layer of the body and the model")


@pytest.mark.fine
def test_which_layers(answer, gen):
    """Subclasses stay, and what is below skip; a layer that occurs twice becomes one."""
    model = nn.ModuleDict({"attention": nn.MultiheadAttention(4, 2), "a": linear_of(gen, 4, 4)})
    model["b"], model["c"] = nn.Sequential(model["a"]), nn.Sequential(linear_of(gen, 4, 4))
    x = torch.ones(3, 4)
    before = model["attention"](x, x, x)[0]
    answer.quantize_linears(model, skip=["c"])
    expect_that(isinstance(model["a"], answer.Int8Linear), "a layer that occurs twice is not replaced")
    expect_that(model["b"][0] is model["a"], "a layer that occurs twice is two layers, or replaced once")
    expect_that(type(model["c"][0]) is nn.Linear, 'c.0, which is below skip=["c"], is replaced')
    expect_close(model["attention"](x, x, x)[0], before, "nn.MultiheadAttention")


@pytest.mark.fine
def test_refused(answer, gen):
    """NaN and infinity, and unknown names, are a ValueError, before anything is replaced."""
    for bad, skip in ((torch.nan, []), (-torch.inf, []), (1.0, ["tail"])):
        model, call = model_of(gen), f"quantize_linears(model, skip={skip}) with {bad} in its last weight"
        model["head"].weight.data[0, 1] = bad
        expect_raises(ValueError, lambda m=model, s=skip: answer.quantize_linears(m, s), call)
        replaced = any(kinds_of(model, answer).values())
        expect_that(not replaced, f"layers are replaced after the error from {call}")


def oracle(answer, gen):
    def layer(gen, bias=True):
        linear = linear_of(gen, 6, 5, bias=bias)
        linear.weight.data *= torch.tensor([1e3, 1.0, 5.0, 1e-3, 0.1])[:, None]
        return answer.Int8Linear.from_linear(linear)

    def model(gen):
        return answer.quantize_linears(model_of(gen), skip=["body.0"])

    def result_of_a_model(gen):
        quantized = model(gen)
        return run(quantized, torch.randn(4, 6, generator=gen))

    def loaded(gen):
        saved, fresh = layer(gen), answer.Int8Linear(6, 5, True)
        fresh.load_state_dict(saved.state_dict())
        return fresh(torch.randn(4, 6, generator=gen)).detach()

    def exact(gen):
        """Of weights that int8 holds without a loss, however they are scaled."""
        linear = linear_of(gen, 6, 5)
        linear.weight.data.copy_(0.5 * torch.randint(-1, 2, (5, 6), generator=gen))
        linear.weight.data[:, 0] = 0.5
        return answer.Int8Linear.from_linear(linear)(torch.randn(4, 6, generator=gen)).detach()

    return {
        "weight": lambda gen: layer(gen).weight,
        "scale": lambda gen: layer(gen).scale.flatten(),
        "result": lambda gen: layer(gen)(torch.randn(4, 6, generator=gen)).detach(),
        "result of weights of one size and either sign": exact,
        "result without a bias": lambda gen: layer(gen, False)(torch.randn(2, 3, 6, generator=gen)).detach(),
        "result of a model": result_of_a_model,
        "state of a model": lambda gen: dict(sorted(model(gen).state_dict().items())),
        "result of a layer that has loaded": loaded,
    }
