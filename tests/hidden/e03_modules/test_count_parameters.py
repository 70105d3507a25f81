"""What grades count_parameters: nesting, ties, frozen parameters, bytes by dtype; buffers, views, meta."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that
from grader.checks.devices import count_traffic, expect_no_traffic

CALL = "count_parameters(model)"


def expect_count(answer, model, total, trainable, size, note="", suspects=None):
    wanted = {"total": total, "trainable": trainable, "bytes": size}
    yours = answer.count_parameters(model)
    expect_that(isinstance(yours, dict), f"{CALL} returns no dict", yours=yours)
    expect_equal(sorted(yours), sorted(wanted), f"the keys of {CALL}")
    for name, number in wanted.items():
        likely = {told: other[name] for told, other in (suspects or {}).items() if name in other}
        told = {words: lambda value=value: value for words, value in likely.items()}
        expect_equal(int(yours[name]), number, f"{CALL}[{name!r}]{note}", suspects=told)


def tied(width=2):
    """An embedding of (8, width), a layer, and a head that shares the embedding's weight."""
    embedding, head = nn.Embedding(8, width), nn.Linear(width, 8, bias=False)
    head.weight = embedding.weight
    return nn.Sequential(embedding, nn.Linear(width, width), head)


def test_nested_modules(answer):
    """Modules within modules count, and parameters that a container holds itself."""
    deep = nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Conv2d(1, 2, 3)), nn.LSTM(2, 3))
    count = 6 + 20 + 4 * 3 * (2 + 3 + 2)
    wrong = {
        "names do not tell: an LSTM calls its parameters otherwise than weight and bias": {"total": 26},
        "modules within modules are left out": {"total": 0},
    }
    expect_count(answer, deep, count, count, 4 * count, " of nested modules", wrong)
    outer = nn.Module()
    outer.inner, outer.scale = nn.Linear(3, 2, bias=False), nn.Parameter(torch.tensor(1.0))
    expect_count(answer, outer, 7, 7, 28, " of a model with a parameter of its own, without dimensions")
    expect_count(answer, nn.ReLU(), 0, 0, 0, " of nn.ReLU()")


def test_frozen_parameters(answer):
    """What requires a gradient is trainable, in both modes, with a gradient or without."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    wrong = {
        "frozen parameters count in the total too": {"total": 10},
        "frozen ones do not train": {"trainable": 26},
        "the mode does not tell what trains: requires_grad does": {"trainable": 0},
    }
    expect_count(answer, model, 26, 10, 104, " with a frozen layer", wrong)
    expect_count(answer, model.eval(), 26, 10, 104, " with a frozen layer, in evaluation mode", wrong)
    expect_count(answer, model.requires_grad_(False), 26, 0, 104, " of a frozen model")


def test_ties(answer):
    """A weight or a layer with two names counts once."""
    wrong = {
        "the shared weight counts twice": {"total": 38, "trainable": 38},
        "the shared weight takes its bytes twice": {"bytes": 152},
    }
    expect_count(answer, tied(), 22, 22, 88, " with a tied head", wrong)
    layer = nn.Linear(3, 3)
    expect_count(answer, nn.Sequential(layer, nn.ReLU(), layer), 12, 12, 48, " of one layer in two places")


def test_buffers(answer):
    """Buffers take bytes, and are no parameters."""
    norm = nn.BatchNorm1d(4)
    wrong = {
        "the buffers are counted as parameters": {"total": 17, "trainable": 8},
        "the buffers take no bytes": {"bytes": 32},
        "the int64 counter takes 8 bytes": {"bytes": 68},
    }
    expect_count(answer, norm, 8, 8, 32 + 32 + 8, " of nn.BatchNorm1d(4)", wrong)
    deep = nn.Sequential(nn.Sequential(nn.Sequential(norm)))
    expect_count(answer, deep, 8, 8, 72, " of nn.BatchNorm1d(4), three modules deep", wrong)


def test_bytes_by_dtype(answer):
    """Each tensor takes the bytes of its own dtype."""
    for dtype, width in [(torch.float64, 8), (torch.bfloat16, 2), (torch.float16, 2)]:
        wrong = {"every number is taken to have 4 bytes": {"bytes": 32}}
        expect_count(answer, nn.Linear(3, 2).to(dtype), 8, 8, 8 * width, f" in {dtype}", wrong)
    mixed = nn.Sequential(nn.Linear(3, 2).bfloat16(), nn.LayerNorm(2), nn.Linear(2, 2).double())
    mixed.register_buffer("codes", torch.zeros(3, 7, dtype=torch.int8))
    wrong = {
        "all take the bytes of the first parameter": {"bytes": 78},
        "all parameters take those of the first": {"bytes": 57},
    }
    expect_count(answer, mixed, 18, 18, 16 + 16 + 48 + 21, " in four dtypes", wrong)


@pytest.mark.fine
def test_plain_ints(answer):
    """A dict with three plain ints."""
    wanted = {"total": 8, "trainable": 8, "bytes": 32}
    expect_equal(answer.count_parameters(nn.Linear(3, 2)), wanted, "count_parameters(nn.Linear(3, 2))")


@pytest.mark.fine
def test_unsaved_and_shared_buffers(answer):
    """Buffers that are not saved take bytes, and one with two names counts once."""
    model = nn.Linear(3, 2)
    model.register_buffer("mask", torch.zeros(5, 5, dtype=torch.bool), persistent=False)
    expect_count(answer, model, 8, 8, 32 + 25, " with a buffer that is not saved")
    one, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    other.running_mean = one.running_mean
    expect_count(answer, nn.ModuleList([one, other]), 8, 8, 32 + 24 + 16, " with a buffer of two names")


@pytest.mark.fine
def test_views(answer):
    """Views of one tensor count each, with their own numbers."""
    table = torch.zeros(10, 3)
    views = nn.ParameterList([nn.Parameter(table[:2]), nn.Parameter(table[6:])])
    expect_count(answer, views, 18, 18, 72, " with two views of one tensor")
    alike = nn.ParameterList([nn.Parameter(table), nn.Parameter(table)])
    expect_count(answer, alike, 60, 60, 240, " with two parameters in the same memory")


@pytest.mark.fine
def test_on_meta(answer):
    """A model on meta is counted like any other, ties included."""
    with torch.device("meta"):
        model = tied(300)
    count = 2400 + 90300
    expect_count(answer, model, count, count, 4 * count, ' on "meta"')


@pytest.mark.fine
def test_nothing_is_read_or_changed(answer, device):
    """A model on another device is counted there, and is as it was afterwards."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to(device).eval()
    model[0].bias.requires_grad_(False)
    before = [(name, t, t.requires_grad) for name, t in model.state_dict(keep_vars=True).items()]
    with count_traffic() as traffic:
        expect_count(answer, model, 24, 20, 136, " on another device")
    expect_no_traffic(traffic, CALL, waits=True)
    after = model.state_dict(keep_vars=True)
    for name, t, required in before:
        same = after[name] is t and t.requires_grad is required
        expect_that(same, f"{name} is another tensor, or trains otherwise, after {CALL}")
    expect_that(not model.training, f"the model is in training mode after {CALL}")


def oracle(answer, gen):
    def counted(model):
        counts = answer.count_parameters(model)
        return {name: int(counts[name]) for name in ("total", "trainable", "bytes")}

    a, b, c = torch.randint(2, 200, (3,), generator=gen).tolist()
    frozen = nn.Sequential(nn.Linear(a, b), nn.Sequential(nn.ReLU(), nn.Linear(b, c)))
    frozen[0].requires_grad_(False)
    mixed = nn.Sequential(nn.Linear(a, b).double(), nn.BatchNorm1d(b), nn.Linear(b, c).bfloat16())
    return {
        "one layer": counted(nn.Linear(a, b)),
        "nested, with a frozen layer": counted(frozen),
        "with buffers, in three dtypes": counted(mixed),
        "a tied head": counted(tied(c)),
    }
