"""What grades count_parameters: nesting, ties, frozen parameters, bytes by dtype, buffers, no memory."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.devices import count_traffic, expect_no_traffic

CALL = "count_parameters(model)"


def expect_count(answer, model, total, trainable, size, note=""):
    wanted = {"total": total, "trainable": trainable, "bytes": size}
    expect_equal(answer.count_parameters(model), wanted, CALL + note)


def transformer():
    """65 parameters: an embedding of (8, 2), tied to the head, and one encoder layer."""
    layer = nn.TransformerEncoderLayer(2, 1, dim_feedforward=3)
    embedding, head = nn.Embedding(8, 2), nn.Linear(2, 8, bias=False)
    head.weight = embedding.weight
    return nn.Sequential(embedding, layer, head)


class Odd(nn.Module):
    """Parameters and buffers of all kinds."""

    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(1.0))
        self.nothing = nn.Parameter(torch.zeros(0, 3))
        self.cube = nn.Parameter(torch.zeros(2, 3, 4))
        self.register_parameter("bias", None)
        self.register_buffer("mask", torch.zeros(5, 5, dtype=torch.bool), persistent=False)
        self.register_buffer("absent", None)
        self.register_buffer("_hidden", torch.zeros(2, dtype=torch.float16))
        self.register_buffer("scale", torch.tensor(0.5, dtype=torch.float64))
        self.unregistered = torch.zeros(100)
        self.in_a_list = [nn.Parameter(torch.zeros(100))]


def test_shapes_of_all_kinds(answer):
    """0-d parameters are one number, empty ones none, None nothing; buffers take bytes, saved or not."""
    expect_count(answer, Odd(), 25, 25, 100 + 25 + 8 + 4, " with parameters and buffers of all kinds")
    expect_count(answer, nn.ReLU(), 0, 0, 0, " of nn.ReLU()")
    expect_count(answer, nn.Linear(3, 2, bias=False), 6, 6, 24, " of nn.Linear(3, 2, bias=False)")
    expect_count(answer, nn.BatchNorm1d(4, affine=False), 0, 0, 40, " of a batch norm without parameters")
    plain = nn.BatchNorm1d(4, track_running_stats=False)
    expect_count(answer, plain, 8, 8, 32, " of a batch norm without buffers")


def test_nested_modules(answer):
    """Modules within modules count, and parameters in lists and dicts of torch."""
    deep = nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Conv2d(1, 2, 3)), nn.LSTM(2, 3))
    wanted = 6 + 20 + 4 * 3 * (2 + 3 + 2)
    expect_count(answer, deep, wanted, wanted, 4 * wanted, " of nested modules")
    wrapper = nn.ModuleDict({"module": nn.Linear(2, 2), "model": nn.Linear(3, 2), "head": nn.Linear(4, 2)})
    expect_count(answer, wrapper, 24, 24, 96, " of layers named module, model and head")
    for depth in range(6):
        deep = nn.BatchNorm1d(2)
        for _ in range(depth):
            deep = nn.Sequential(deep)
        expect_count(answer, deep, 4, 4, 16 + 16 + 8, f" of a batch norm {depth} modules deep")
    lists = nn.ModuleDict({"a": nn.ModuleList([nn.Linear(2, 3)]), "b": nn.ParameterList([torch.zeros(7)])})
    expect_count(answer, lists, 16, 16, 64, " of modules and parameters in lists")
    outer = nn.Module()
    outer.inner, outer.weight = Odd(), nn.Parameter(torch.zeros(3))
    expect_count(answer, outer, 28, 28, 12 + 137, " of a model with parameters of its own")


def test_ties(answer):
    """A parameter, a buffer or a layer counts once, under however many names."""
    attention, feedforward, norms = (12 + 6) + (4 + 2), (6 + 3) + (6 + 2), 4 + 4
    count = 16 + attention + feedforward + norms
    expect_count(answer, transformer(), count, count, 4 * count, " with a tied head")
    layer = nn.Linear(3, 3)
    expect_count(answer, nn.Sequential(layer, nn.ReLU(), layer), 12, 12, 48, " of one layer in two places")
    norm = nn.BatchNorm1d(2)
    expect_count(answer, nn.ModuleList([norm, norm]), 4, 4, 16 + 16 + 8, " of one batch norm in two places")
    one, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    other.running_mean = one.running_mean
    expect_count(answer, nn.ModuleList([one, other]), 8, 8, 32 + 24 + 16, " with a buffer of two names")
    one.register_buffer("mean", one.running_mean)
    expect_count(answer, one, 4, 4, 16 + 16 + 8, " with a buffer of two names in one module")
    tied = transformer()
    tied[0].weight.requires_grad_(False)
    expect_count(answer, tied, count, count - 16, 4 * count, " with a tied head that is frozen")


def test_equal_is_not_tied(answer):
    """Layers of equal sizes and equal numbers count each, and so do views of one tensor."""
    layer = nn.Linear(3, 2)
    twice = nn.Sequential(layer, copy.deepcopy(layer), nn.Linear(3, 2))
    expect_count(answer, twice, 24, 24, 96, " of three layers of equal sizes, two with equal numbers")
    table = torch.zeros(10, 3)
    views = nn.ParameterList([nn.Parameter(table[:2]), nn.Parameter(table[6:])])
    views.register_buffer("first", table[0])
    expect_count(answer, views, 18, 18, 72 + 12, " with three views of one tensor")
    views.register_buffer("wide", torch.zeros(1, 3).expand(5, 3))
    expect_count(answer, views, 18, 18, 84 + 60, " with an expanded buffer, (5, 3)")
    alike = nn.ParameterList([nn.Parameter(table), nn.Parameter(table)])
    alike.register_buffer("table", table)
    alike.register_buffer("again", table.view(10, 3))
    expect_count(answer, alike, 60, 60, 480, " with four tensor objects in the same memory")
    empty = nn.ParameterList([torch.zeros(0), torch.zeros(0), torch.zeros(2)])
    expect_count(answer, empty, 2, 2, 8, " with empty parameters")


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_frozen_parameters(answer, mode):
    """What requires a gradient is trainable, in every mode, with a gradient or without."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    model.train(mode == "train")
    size = 4 * (16 + 8 + 10) + 16 + 16 + 8
    expect_count(answer, model, 34, 18, size, f" with a frozen layer in {mode} mode")
    for number, p in enumerate(model.parameters()):
        p.grad = torch.ones_like(p)
        if number in (3, 5):
            expect_count(answer, model, 34, 18, size, f" with {number + 1} of 6 gradients")
    with torch.no_grad():
        expect_count(answer, model, 34, 18, size, " under no_grad")
    model.requires_grad_(False)
    expect_count(answer, model, 34, 0, size, " of a frozen model")
    model.register_buffer("learned", torch.zeros(5).requires_grad_())
    expect_count(answer, model, 34, 0, size + 20, " of a frozen model with a buffer that requires a gradient")
    odd = Odd().requires_grad_(False).train(mode == "train")
    expect_count(answer, odd, 25, 0, 137, " of a frozen model with parameters and buffers of all kinds")


def test_bytes_by_dtype(answer):
    """Each parameter takes the bytes of its own dtype."""
    for dtype, width in [(torch.float64, 8), (torch.bfloat16, 2), (torch.float16, 2)]:
        expect_count(answer, nn.Linear(3, 2).to(dtype), 8, 8, 8 * width, f" in {dtype}")
    complex_one = nn.ParameterList([torch.zeros(3, 2, dtype=torch.complex64)])
    expect_count(answer, complex_one, 6, 6, 48, " in complex64")
    mixed = nn.Sequential(nn.Linear(3, 2).bfloat16(), nn.LayerNorm(2), nn.Linear(2, 2).double())
    mixed.register_buffer("codes", torch.zeros(3, 7, dtype=torch.int8))
    mixed.register_buffer("steps", torch.zeros((), dtype=torch.int64))
    expect_count(answer, mixed, 18, 18, 16 + 16 + 48 + 21 + 8, " in three dtypes")
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).half()
    expect_count(answer, model, 12, 12, 24 + 8 + 8, " of a batch norm in float16, whose counter is int64")
    kinds = [torch.complex128, torch.complex64, torch.float64, torch.float8_e4m3fn, torch.int32, torch.int16]
    for dtype in [*kinds, torch.uint8, torch.uint16, torch.bool]:
        plain = nn.Module()
        plain.register_buffer("codes", torch.empty(3, 5, dtype=dtype))
        expect_count(answer, plain, 0, 0, 15 * dtype.itemsize, f" of a buffer in {dtype}")
    quantized = nn.Module()
    quantized.weight = nn.Parameter(torch.zeros(4, 4, dtype=torch.int8), requires_grad=False)
    expect_count(answer, quantized, 16, 0, 16, " of an int8 weight")


def test_on_meta(answer):
    """A model on meta is counted like any other, ties included."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(300, 200), nn.Linear(200, 200), nn.BatchNorm1d(200))
    count = 60200 + 40200 + 400
    expect_count(answer, model, count, count, 4 * count + 1608, ' on "meta"')
    with torch.device("meta"):
        tied = nn.Sequential(nn.Linear(30, 20), nn.Linear(30, 20, dtype=torch.bfloat16))
    tied[1].weight = tied[0].weight
    expect_count(answer, tied, 640, 640, 2400 + 80 + 40, ' on "meta" with a tied weight')
    huge = nn.ParameterList([torch.empty(2**52 + 1, device="meta"), torch.empty(1, device="meta")])
    huge.register_buffer("codes", torch.empty(2**54 + 1, dtype=torch.int8, device="meta"))
    count = 2**52 + 2
    expect_count(answer, huge, count, count, 4 * count + 2**54 + 1, ' on "meta" with 2⁵² numbers and more')


def test_on_a_device(answer, device):
    """A model on another device is counted there: nothing is fetched, and nobody waits."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 4, dtype=torch.float16)).to(device)
    with count_traffic() as traffic:
        expect_count(answer, model, 44, 44, 96 + 40 + 40, " on another device")
    expect_no_traffic(traffic, CALL, waits=True)


def test_model_is_left_alone(answer):
    """The model is as it was afterwards, and no memory is made for its numbers."""
    model = nn.Sequential(nn.Linear(50, 40), nn.BatchNorm1d(40)).eval()
    model[0].bias.requires_grad_(False)
    before = {name: (t, t.clone(), t.requires_grad) for name, t in model.state_dict(keep_vars=True).items()}
    peak = peak_bytes(lambda: answer.count_parameters(model))
    gradient = model[0].weight.grad = torch.ones(40, 50)
    answer.count_parameters(model)
    expect_that(model[0].weight.grad is gradient, f"a gradient is gone after {CALL}")
    expect_that(bool((gradient == 1).all()), f"a gradient is another after {CALL}", yours=gradient)
    expect_that(peak < 1000, f"{CALL} copies the model's numbers", yours=f"{peak} bytes")
    for name, t in model.state_dict(keep_vars=True).items():
        same, values, required = before[name]
        expect_that(t is same, f"{name} is another tensor after {CALL}")
        expect_equal((t.detach(), t.requires_grad), (values.detach(), required), f"{name} after {CALL}")
    expect_equal([m.training for m in model.modules()], [False] * 3, f"the modes after {CALL}")
    # changed since the last call
    model[1] = nn.Identity()
    expect_count(answer, model, 2040, 2000, 8160, " after a layer was taken out")


def oracle(answer, gen):
    results = []
    for _ in range(5):
        a, b, c = torch.randint(1, 9, (3,), generator=gen).tolist()
        model = nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.Linear(b, c).bfloat16())
        model[2].bias.requires_grad_(False)
        model.append(model[0])
        results.append(answer.count_parameters(model))
    return results
