"""What grades dynamic_int8: error bounds in every dtype, what is saved and held, which layers go."""

import copy
import gc
import math
import weakref

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    held_bytes,
    shares_storage,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated
from grader.checks.registered import expect_registered, state_of

HALVES = [torch.float16, torch.bfloat16]
SIZES = [(3, 5, (2,)), (8, 4, (2, 3)), (1, 1, ()), (64, 7, (5,)), (5, 1, (1, 1, 2)), (1, 6, (4,))]


def linear_of(gen, inputs, outputs, *, bias=True, size=1.0, dtype=torch.float32):
    linear = nn.Linear(inputs, outputs, bias=bias)
    with torch.no_grad():
        linear.weight.copy_(size * torch.randn(outputs, inputs, generator=gen))
        if bias:
            linear.bias.copy_(size * torch.randn(outputs, generator=gen))
    return linear.to(dtype)


def exact_scale(weight):
    scale = weight.detach().double().abs().amax(1) / 127
    return scale.masked_fill(scale == 0, 1.0)


def expect_quantized(layer, linear, call):
    """Fail unless weight and scale have the right dtypes and shapes, and each weight is within scale / 2."""
    shape = tuple(linear.weight.shape)
    expect_equal((layer.weight.dtype, tuple(layer.weight.shape)), (torch.int8, shape), f"weight of {call}")
    expect_equal(
        (layer.scale.dtype, tuple(layer.scale.shape)), (torch.float32, shape[:1]), f"scale of {call}"
    )
    wanted = exact_scale(linear.weight)
    expect_close(
        layer.scale.double(), wanted.float().double(), f"the scale of {call}", ulps=2.0**31, scale=0.0
    )
    wide = layer.weight.double() * layer.scale.double().unsqueeze(1)
    off = (wide - linear.weight.detach().double()).abs() / wanted.unsqueeze(1)
    expect_that(
        float(off.max()) <= 0.5 + 127 * 2.0**-21,
        f"weights of {call} are off by more than half of their scale",
        yours=f"up to {float(off.max()):.4g} scales",
    )


def expect_result(layer, linear, x, call):
    """Fail unless a result is within the bound of the statement, and rounding in x's dtype."""
    weight = linear.weight.detach().double()
    bias = torch.zeros(len(weight)) if linear.bias is None else linear.bias.detach().double()
    exact = x.double() @ weight.mT + bias
    yours = layer(x)
    facts = (x.dtype, (*x.shape[:-1], len(weight)))
    expect_equal((yours.dtype, tuple(yours.shape)), facts, f"(dtype, shape) of {call}")
    info = torch.finfo(x.dtype)
    sizes = x.double().abs()
    steps = sizes @ (exact_scale(weight) / 2).unsqueeze(0).expand(x.shape[-1], -1)
    rounding = 4 * info.eps * (sizes @ weight.abs().mT + bias.abs())
    # what is below the smallest normal number of the dtype has few digits, or none
    rounding += info.smallest_normal * info.eps * (sizes.sum(-1, keepdim=True) + 1)
    off = (yours.detach().double() - exact).abs()
    if off.numel() and not bool((off <= steps + rounding).all()):
        worst = (off / (steps + rounding)).nan_to_num(math.inf).argmax()
        expect_that(
            False,
            f"results of {call} are off by more than the bound",
            yours=f"{float(yours.flatten()[worst]):.6g}",
            exact=f"{float(exact.flatten()[worst]):.6g}",
            bound=f"{float((steps + rounding).flatten()[worst]):.3g}",
        )


def expect_as_widened(layer, x, call):
    """Fail unless the result is that of the widened weight, which the layer holds."""
    state = state_of(layer)
    wide = state["weight"].double() * state["scale"].double().unsqueeze(1)
    wanted = x.double() @ wide.mT
    if "bias" in state:
        wanted += state["bias"].double()
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    expect_close(layer(x).detach(), wanted.float(), call, ulps=100, scale=scale)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_error_bound(answer, gen, bias):
    """Weights are within half a scale, and results within the bound, for all sizes and shapes."""
    for inputs, outputs, batch in SIZES:
        for size in (1.0, 1e-4, 1e-20, 1e20):
            linear = linear_of(gen, inputs, outputs, bias=bias, size=size)
            layer = answer.Int8Linear.from_linear(linear)
            call = f"Int8Linear.from_linear(nn.Linear({inputs}, {outputs}, bias={bias}))"
            expect_quantized(layer, linear, call)
            x = torch.randn(*batch, inputs, generator=gen)
            expect_result(layer, linear, x, f"{call}(x)")
            if size == 1.0:
                expect_as_widened(layer, x, f"{call}(x)")
            if bias:
                expect_equal(layer.bias, linear.bias.detach(), f"the bias of {call}")
            else:
                expect_that(layer.bias is None, f"the bias of {call} is not None")


def test_rows(answer, gen):
    """Each row has a scale of its own: large ones spoil no small ones, and rows of zeros stay zeros."""
    linear = linear_of(gen, 6, 5)
    with torch.no_grad():
        linear.weight *= torch.tensor([1e3, 1.0, 0.0, 1e-3, 1e-30]).unsqueeze(1)
    layer = answer.Int8Linear.from_linear(linear)
    expect_quantized(layer, linear, "a layer with rows of all sizes")
    expect_equal(layer.scale[2].item(), 1.0, "the scale of a row of zeros")
    expect_equal(layer.weight[2], torch.zeros(6, dtype=torch.int8), "the weight of a row of zeros")
    x = torch.randn(4, 6, generator=gen)
    expect_result(layer, linear, x, "a layer with rows of all sizes")
    expect_equal(
        layer(x)[:, 2], linear.bias.detach()[2].expand(4).contiguous(), "the result of a row of zeros"
    )


def test_halves_to_even(answer):
    """A weight in the middle of two steps goes to the even one, and -127 is the last step."""
    weight = torch.tensor(
        [[127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -126.5], [-127.0, 3.4, -3.6, 126.5, 0, 1, 2, 3]]
    )
    linear = nn.Linear(8, 2, bias=False)
    linear.weight.data = weight.clone()
    wanted = torch.tensor([[127, 0, 2, 2, 0, -2, -2, -126], [-127, 3, -4, 126, 0, 1, 2, 3]], dtype=torch.int8)
    expect_equal(answer.Int8Linear.from_linear(linear).weight, wanted, "the weight for a scale of 1.0")


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_halves(answer, gen, dtype):
    """x may be in 16 bits, and so may the linear layer: nothing overflows, and no scale vanishes."""
    for kept in (torch.float32, torch.float64, dtype):
        for inputs, outputs, batch in SIZES:
            for size, large in [(1.0, 1.0), (0.05, 200.0), (1e-3, 1.0), (3e-5, 100.0)]:
                linear = linear_of(gen, inputs, outputs, size=size, dtype=kept)
                layer = answer.Int8Linear.from_linear(linear)
                call = f"a layer from {kept}, with weights near {size}"
                expect_quantized(layer, linear, call)
                expect_equal(layer.bias.dtype, kept, f"the dtype of the bias of {call}")
                for used in (dtype, torch.float32):
                    x = (large * torch.randn(*batch, inputs, generator=gen)).to(used)
                    expect_result(layer, linear, x, f"layer(x) for x in {used} near {large}, {call}")
    linear = linear_of(gen, 512, 4, size=0.01)
    x = torch.full((3, 512), 100.0, dtype=dtype)
    expect_result(
        answer.Int8Linear.from_linear(linear), linear, x, f"layer(x) with 512 features of 100 in {dtype}"
    )


def test_layouts_and_empty_batches(answer, gen):
    """x stays as it is, and may lie in memory in any way; a batch may have no rows."""
    linear = linear_of(gen, 6, 4)
    layer = answer.Int8Linear.from_linear(linear)
    layouts = {
        "transposed": torch.randn(6, 3, generator=gen).T,
        "a part": torch.randn(5, 9, generator=gen)[1:4, 2:8],
        "expanded": torch.randn(1, 6, generator=gen).expand(3, 6),
        "three dimensions, permuted": torch.randn(6, 3, 2, generator=gen).permute(2, 1, 0),
    }
    for how, x in layouts.items():
        with unchanged("layer(x)", x=x):
            expect_as_widened(layer, x, f"layer(x) for x that is {how}")
    for shape in [(0, 6), (2, 0, 6), (0, 3, 6)]:
        expect_equal(
            tuple(layer(torch.ones(shape)).shape), (*shape[:-1], 4), f"the shape of layer(x) for {shape}"
        )


def test_gradients(answer, gen):
    """Gradients flow to x as through the widened weight."""
    for bias in (True, False):
        linear = linear_of(gen, 5, 3, bias=bias)
        layer = answer.Int8Linear.from_linear(linear.train(bias))
        wide = layer.weight.double() * layer.scale.double().unsqueeze(1)
        offset = linear.bias.detach().double() if bias else 0.0
        expect_gradients(
            layer,
            [torch.randn(2, 4, 5, generator=gen)],
            lambda x, wide=wide, offset=offset: x @ wide.mT + offset,
            gen=gen,
            call="layer(x)",
            names="x",
        )
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.ones(2, 5, dtype=dtype, requires_grad=True)
        y = layer(x)
        expect_that(y.requires_grad, f"no gradient flows to x in {dtype}")
        y[:, 1].sum().backward()
        row = wide[1].expand(2, 5).to(dtype)
        expect_close(x.grad, row, f"the gradient for x in {dtype}", ulps=4.0, scale=1.0)


def test_buffers(answer, gen):
    """Weight, scale and bias are buffers, and no parameters are left; an empty layer has the same."""
    for bias in (True, False):
        sizes = {"weight": [3, 5], "scale": [3], **({"bias": [3]} if bias else {})}
        linear = linear_of(gen, 5, 3, bias=bias)
        if bias:  # as some start with
            nn.init.zeros_(linear.bias)
        made = answer.Int8Linear.from_linear(linear)
        empty = answer.Int8Linear(5, 3, bias=bias)
        for layer, call in [(made, "from_linear(linear)"), (empty, f"Int8Linear(5, 3, bias={bias})")]:
            expect_registered(layer, call, parameters={}, buffers=sizes)
            expect_equal(layer.weight.dtype, torch.int8, f"the dtype of the weight of {call}")
        expect_equal(empty.weight, torch.zeros(3, 5, dtype=torch.int8), "the weight of an empty layer")
        expect_equal(empty.scale, torch.ones(3), "the scale of an empty layer")
        expect_equal(empty(torch.ones(2, 5)), torch.zeros(2, 3), "the result of an empty layer")
        if bias:
            expect_equal(empty.bias, torch.zeros(3), "the bias of an empty layer")
    told = {"weight": [3, 5], "scale": [3], "bias": [3]}
    expect_registered(answer.Int8Linear(5, 3), "Int8Linear(5, 3)", parameters={}, buffers=told)


def test_saved_and_loaded(answer, gen, tmp_path):
    """The file is about a quarter as large, and another process's empty model computes the same from it."""
    for bias in (True, False):

        def build(bias=bias):
            return nn.Sequential(
                nn.Linear(256, 512, bias), nn.ReLU(), nn.Sequential(nn.Linear(512, 64, bias))
            )

        model = build()
        wide, narrow = tmp_path / f"wide{bias}.pt", tmp_path / f"narrow{bias}.pt"
        torch.save(model.state_dict(), wide)
        x = torch.randn(3, 256, generator=gen)
        model = answer.quantize_linears(model)
        wanted = model(x)
        torch.save(model.state_dict(), narrow)
        share = narrow.stat().st_size / wide.stat().st_size
        expect_that(
            share < 0.3, "the file with int8 weights is too large", yours=f"{share:.0%} of the wide one"
        )
        other = answer.quantize_linears(build())
        expect_that(not torch.equal(other(x), wanted), "two models with other weights compute the same")
        other.load_state_dict(torch.load(narrow, weights_only=True))
        expect_equal(other(x), wanted, "the result of a model that is loaded from the file")
        empty = answer.Int8Linear(256, 512, bias)
        state = {
            name.removeprefix("0."): t for name, t in model.state_dict().items() if name.startswith("0.")
        }
        empty.load_state_dict(state)
        expect_equal(empty(x), model[0](x), "the result of an empty layer that is loaded")
        other = copy.deepcopy(empty)
        other(x.clone().requires_grad_())  # as in training, where a call may hold what backward needs
        other.scale.mul_(2.0)
        expect_equal(empty(x), model[0](x), "the result of a layer whose deep copy was changed")
        expect_as_widened(other, x, "layer(x) after its scale was changed")


def test_nothing_wide_is_held(answer, gen):
    """A layer holds a byte for each weight, after from_linear and a call, and a model lets wide ones go."""
    linear = linear_of(gen, 300, 200)
    made = []
    held = held_bytes(lambda: made.append(answer.Int8Linear.from_linear(linear)))
    most = 300 * 200 + 2 * 4 * 200
    expect_that(
        held <= most + 64, "from_linear holds more than its buffers", yours=f"{held} bytes", wanted=f"{most}"
    )
    x = torch.randn(2, 300, generator=gen)
    with torch.no_grad():
        for call in ("the first call", "the second call", "a call in evaluation mode"):
            layer = made[0].train("evaluation" not in call)
            held = held_bytes(lambda layer=layer: layer(x))
            expect_that(
                held <= 2 * 200 * 4 + 64, f"{call} of a layer leaves something behind", yours=f"{held} bytes"
            )
    model = nn.Sequential(nn.Linear(30, 20), nn.Linear(20, 10))
    gone = [weakref.ref(layer.weight) for layer in model]
    kept = answer.quantize_linears(model)
    gc.collect()
    expect_that(
        all(one() is None for one in gone), "a wide weight is still held after quantize_linears", model=kept
    )


def test_the_linear_is_left_alone(answer, gen):
    """from_linear changes nothing in the layer that it is given, and shares no memory with it."""
    for training in (True, False):
        linear = linear_of(gen, 5, 3).train(training)
        with unchanged("from_linear(linear)", weight=linear.weight, bias=linear.bias):
            layer = answer.Int8Linear.from_linear(linear)
        expect_equal(layer.training, training, f"layer.training for a layer in training={training}")
        expect_that(
            not shares_storage(layer.bias, linear.bias), "the bias shares the memory of the linear layer's"
        )
        expect_that(not layer.bias.requires_grad, "the bias requires a gradient")
        before = layer(torch.ones(1, 5))
        with torch.no_grad():
            linear.weight.zero_()
            linear.bias.zero_()
        expect_equal(layer(torch.ones(1, 5)), before, "layer(x) after the linear layer has changed")


class Net(nn.Module):
    """Linear layers at several depths, one of them in four places, and one of a subclass."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 6)
        self.header = nn.Linear(6, 6)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"up": nn.Linear(6, 8), "act": nn.ReLU(), "down": nn.Linear(8, 6, bias=False)})
            for _ in range(2)
        )
        self.first = nn.Sequential(nn.Linear(6, 6), nn.Tanh())
        self.first.append(self.first[0])
        self.tied = self.first[0]
        self.again = nn.Sequential(self.tied)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.norm = nn.LayerNorm(6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = self.header(self.up(x))
        for block in self.blocks:
            x = x + block["down"](block["act"](block["up"](x)))
        x = self.tied(self.first(x))
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.head(self.norm(x))


LINEARS = [
    "up", "header", "blocks.0.up", "blocks.0.down", "blocks.1.up", "blocks.1.down", "first.0", "first.2",
    "tied", "again.0", "head",
]  # fmt: skip


def names_of(answer, model):
    modules = model.named_modules(remove_duplicate=False)
    return sorted(name for name, module in modules if type(module) is answer.Int8Linear)


@pytest.mark.parametrize(
    ("skip", "kept"),
    [
        ((), []),
        (["head"], ["head"]),
        (("blocks.1", "up"), ["blocks.1.up", "blocks.1.down", "up"]),
        ({"blocks"}, LINEARS[2:6]),
        (["blocks.0.down", "norm"], ["blocks.0.down"]),
        (["tied"], LINEARS[6:10]),
        (["first"], LINEARS[6:10]),
        (["again"], LINEARS[6:10]),
        ([""], LINEARS),
    ],
    ids=str,
)
def test_which_layers(answer, gen, skip, kept):
    """Every nn.Linear is replaced but for those in skip, and nothing else is."""
    torch.manual_seed(1)
    model = Net()
    original, others = (
        copy.deepcopy(model),
        {n: m for n, m in model.named_modules() if type(m) is not nn.Linear},
    )
    call = f"quantize_linears(model, skip={skip!r})"
    result = answer.quantize_linears(model, skip) if skip else answer.quantize_linears(model)
    expect_that(result is model, f"{call} returns another model", yours=result)
    found = set(names_of(answer, model))
    expect_that(
        found >= set(LINEARS) - set(kept),
        f"{call} does not replace all layers",
        replaced=", ".join(sorted(found)),
    )
    expect_that(
        found <= set(LINEARS) - set(kept),
        f"{call} replaces layers that are to stay",
        replaced=", ".join(sorted(found)),
    )
    expect_that(
        model.tied is model.first[0] is model.first[2],
        f"a layer that occurs twice is two layers after {call}",
    )
    for name, module in others.items():
        expect_that(model.get_submodule(name) is module, f"{call} replaces {name}, a {type(module).__name__}")
    for name in LINEARS:
        mine, linear = model.get_submodule(name), original.get_submodule(name)
        if name in kept:
            expect_equal(mine.weight.detach(), linear.weight.detach(), f"the weight of {name} after {call}")
        else:
            expect_quantized(mine, linear, f"{name} after {call}")
    x = torch.randn(2, 5, 4, generator=gen)
    off = float((model(x) - original(x)).detach().abs().max())
    expect_that(off < 0.1, f"the results of the model after {call} are far off", yours=f"{off:.3g}")


def test_the_model_itself(answer, gen):
    """A model that is an nn.Linear comes back as its Int8Linear; one without linear layers as it is."""
    linear = linear_of(gen, 5, 3)
    layer = answer.quantize_linears(linear)
    expect_that(
        isinstance(layer, answer.Int8Linear), "quantize_linears(linear) is no Int8Linear", yours=layer
    )
    expect_quantized(layer, linear, "quantize_linears(linear)")
    linear = linear_of(gen, 5, 3)
    call = 'quantize_linears(linear, skip=[""])'
    expect_that(answer.quantize_linears(linear, skip=[""]) is linear, f"{call} does not leave it as it is")
    model = nn.Sequential(nn.ReLU(), nn.LayerNorm(3))
    expect_that(
        answer.quantize_linears(model) is model, "a model without linear layers comes back as another one"
    )
    twice = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    answer.quantize_linears(twice)
    before = {name: t.clone() for name, t in twice.state_dict().items()}
    answer.quantize_linears(twice)
    for name, t in twice.state_dict().items():
        expect_equal(t, before[name], f"{name} after quantize_linears for the second time")


def test_modes(answer):
    """Each new layer is in the mode of the old one, and the model's modes stay."""
    model = Net()
    model.eval()
    model.blocks[1].train()
    model.head.train()
    wanted = {name: module.training for name, module in model.named_modules()}
    answer.quantize_linears(model)
    for name, module in model.named_modules():
        expect_equal(
            module.training, wanted[name], f"training of {name or 'the model'} after quantize_linears"
        )


def test_not_finite(answer, gen):
    """A weight with NaN or inf raises ValueError, which names the layer, and nothing is replaced."""
    for value in (math.nan, math.inf, -math.inf):
        linear = nn.Linear(3, 2)
        linear.weight.data[1, 2] = value
        expect_raises(
            ValueError, lambda linear=linear: answer.Int8Linear.from_linear(linear), "from_linear(linear)"
        )
        model = Net()
        model.blocks[1]["down"].weight.data[2, 1] = value
        call = f"quantize_linears(model), where blocks.1.down holds {value}"
        expect_raises(
            ValueError, lambda model=model: answer.quantize_linears(model), call, words="blocks.1.down"
        )
        expect_equal(names_of(answer, model), [], f"the layers that are replaced after {call}")
        answer.quantize_linears(model, skip=["blocks.1"])
    linear = linear_of(gen, 3, 2)
    linear.bias.data[1] = -math.inf  # as for a token that is never to come: the weight is finite
    layer = answer.quantize_linears(nn.Sequential(linear))[0]
    expect_equal(layer(torch.ones(3))[1].item(), -math.inf, "the result for a bias of -inf")
    for dtype, value in ((torch.float32, 3e38), (torch.float16, 6e4)):
        linear = nn.Linear(3, 2).to(dtype)
        linear.weight.data.fill_(value)  # finite, though their sum is not
        call = f"from_linear(linear) with finite weights of {value:g} in {dtype}"
        try:
            yours = answer.Int8Linear.from_linear(linear).weight
        except ValueError as error:
            expect_that(False, f"a ValueError from {call}", yours=str(error), wanted="an Int8Linear")
        expect_equal(yours, torch.full((2, 3), 127, dtype=torch.int8), f"the weight of {call}")


def test_unknown_names(answer):
    """A name in skip that is no layer of the model raises ValueError, and nothing is replaced."""
    for skip in (["hed"], ["head", "blocks.2"], ["block"], ["up.weight"], ["down"]):
        model = Net()
        call = f"quantize_linears(model, skip={skip})"
        expect_raises(ValueError, lambda model=model, skip=skip: answer.quantize_linears(model, skip), call)
        expect_equal(names_of(answer, model), [], f"the layers that are replaced after {call}")


def test_on_a_device(answer, gen, device):
    """A layer is where the linear layer was, moves with the model, and copies nothing in a call."""
    linear = linear_of(gen, 5, 3)
    x = torch.randn(2, 5, generator=gen)
    wanted = answer.Int8Linear.from_linear(linear)(x)
    there = answer.quantize_linears(nn.Sequential(copy.deepcopy(linear)).to(device))
    moved = nn.Sequential(answer.Int8Linear.from_linear(linear)).to(device)
    for model, how in [(there, "made on a device"), (moved, "moved to a device")]:
        for name, t in model.named_buffers():
            expect_that(is_simulated(t), f"{name} of a layer that was {how} is not there", yours=t)
        far = x.to(device)
        with count_traffic() as traffic:
            yours = model(far)
        expect_no_traffic(traffic, f"a call of a layer that was {how}")
        expect_close(yours.cpu().detach(), wanted, f"layer(x) of a layer that was {how}")


def oracle(answer, gen):
    model = nn.Sequential(linear_of(gen, 6, 8), nn.ReLU(), linear_of(gen, 8, 3, bias=False, size=0.1))
    x = torch.randn(4, 6, generator=gen)
    model = answer.quantize_linears(model)
    single = answer.Int8Linear.from_linear(linear_of(gen, 6, 2, dtype=torch.bfloat16))
    state = {**model.state_dict(), **{f"single.{n}": t for n, t in single.state_dict().items()}}
    # without the steps: a quotient near a half may go to either side
    told = {name: t for name, t in state.items() if t.dtype != torch.int8}
    return [
        told,
        sorted(state),
        [str(t.dtype) for _, t in sorted(state.items())],
        single(x),
        model(x).detach(),
    ]
