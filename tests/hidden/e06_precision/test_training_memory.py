"""What grades training_memory: dtypes, masters, frozen layers, largest batches; buffers, large models."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, modes_kept, peak_bytes

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64

MISTAKES = {
    "frozen parameters have no gradient, no master and no moments": {"trainable": lambda p: True},
    "frozen parameters lie in memory as well": {"lies": lambda p: p.requires_grad},
    "the parameters count in the dtype that they have now: in dtype is asked for": {
        "to": lambda p, dtype: p.dtype
    },
    "beside a master, the moments are those of the master: float32": {"state": lambda dtype, moved: dtype},
    "AdamW keeps two moments of each number": {"moments": 1},
    "without a master, the moments are in dtype": {"state": lambda dtype, moved: SINGLE},
    "gradients are in dtype, also beside a master": {"gradient": SINGLE},
    "there is no master: nobody asked for one": {"asked": True},
    "activations are in dtype": {"kept": SINGLE},
    "saved are numbers, of several bytes each": {"kept": torch.uint8},
}


def table(
    model, batch, saved, dtype=SINGLE, master_weights=False, *, trainable=lambda p: p.requires_grad,
    lies=lambda p: True, to=lambda p, dtype: dtype, moments=2, state=lambda dtype, moved: moved,
    gradient=None, asked=False, kept=None,
):  # fmt: skip
    """The bytes of a model without buffers; or with a mistake."""
    count = sum(p.numel() for p in model.parameters() if trainable(p))
    has_master = (master_weights or asked) and dtype.itemsize < 4
    moved = SINGLE if has_master else dtype
    found = {
        "parameters": sum(p.numel() * to(p, dtype).itemsize for p in model.parameters() if lies(p)),
        "gradients": count * (gradient or dtype).itemsize,
        "master": 4 * count if has_master else 0,
        "optimizer": moments * count * state(dtype, moved).itemsize,
        "activations": batch * saved * (kept or dtype).itemsize,
    }
    return {**found, "total": sum(found.values())}


def perceptron(frozen=False):
    model = nn.Sequential(nn.Linear(7, 5), nn.Tanh(), nn.Linear(5, 3))
    if frozen:
        model[0].requires_grad_(False)
    return model


def expect_table(answer, model, note, *args, buffers=0):
    plain = table(model, *args)
    mistakes = {told: table(model, *args, **mistake) for told, mistake in MISTAKES.items()}
    yours, call = answer.training_memory(model, *args), f"training_memory(…) {note}"
    expect_equal(type(yours).__name__, "dict", f"the type of {call}")
    expect_equal(sorted(yours), sorted(plain), f"the keys of {call}")
    for name, number in plain.items():
        wanted = number + buffers * (name in ("parameters", "total"))
        told = {text: lambda m=m, name=name: m[name] for text, m in mistakes.items() if m[name] != number} | {
            "buffers lie in memory, too": lambda n=number: n
        }
        expect_equal(yours[name], wanted, f"the {name!r} bytes of {call}", suspects=told)


@pytest.mark.parametrize("dtype", [SINGLE, BRAIN, HALF], ids=str)
def test_without_master(answer, dtype):
    """Without master weights all is in dtype."""
    expect_table(answer, perceptron(), f"in {dtype}", 6, 11, dtype)


def test_defaults(answer):
    """Without another word it is float32, without master weights."""
    expect_table(answer, perceptron(), "without dtype", 6, 11)


def test_with_master(answer):
    """A master takes 4 bytes for each trainable parameter, and the moments are float32."""
    expect_table(answer, perceptron(), "in bfloat16, with master weights", 6, 11, BRAIN, True)


def test_frozen(answer):
    """Frozen parameters have neither gradient nor moments nor master, but they take their place."""
    for options in ((SINGLE,), (BRAIN, True)):
        expect_table(
            answer, perceptron(frozen=True), f"with a frozen layer, in {options[0]}", 6, 11, *options
        )


def test_dtype_before(answer):
    """What counts is dtype, not what the model is in now."""
    expect_table(answer, perceptron().bfloat16(), "in float32, of a bfloat16 model", 6, 11, SINGLE)
    expect_table(answer, perceptron().double(), "in bfloat16, of a float64 model", 6, 11, BRAIN)


@pytest.mark.parametrize(
    "options", [(SINGLE,), (BRAIN,), (HALF, True)], ids=["float32", "bfloat16", "master"]
)
def test_largest_batch(answer, options):
    """The batch fills the budget to the last byte, not one byte more."""
    model, saved = nn.Linear(30, 10), 13
    one = saved * options[0].itemsize
    fixed = table(model, 0, saved, *options)["total"]
    for budget in (fixed + 40 * one, fixed + 40 * one - 1, fixed + 41 * one - 1, fixed + one):
        count = (budget - fixed) // one
        told = {
            "a float: sizes are ints": lambda n=count: float(n),
            "one too few where it fits exactly": lambda n=count: n - 1,
            "one too many": lambda n=count: n + 1,
            "the model itself takes its place, too": lambda b=budget: b // one,
        }
        call = f"largest_batch(model, {saved}, {budget}, {', '.join(map(str, options))})"
        expect_equal(answer.largest_batch(model, saved, budget, *options), count, call, suspects=told)


def test_nothing_fits(answer):
    """Where not one example fits, the largest batch is 0."""
    model = nn.Linear(30, 10)
    fixed = table(model, 0, 13)["total"]
    for budget in (fixed + 51, fixed, fixed - 1, fixed // 2):
        told = {"a negative batch": lambda b=budget: (b - fixed) // 52, "at least one": lambda: 1}
        call = f"largest_batch(model, 13, {budget}), beside {fixed} bytes"
        expect_equal(answer.largest_batch(model, 13, budget), 0, call, suspects=told)


@pytest.mark.fine
def test_buffers(answer):
    """Buffers count with the parameters: floating ones in dtype, integers in their own."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model.register_buffer("mask", torch.zeros(6, dtype=torch.bool), persistent=False)
    for dtype in (SINGLE, BRAIN):
        buffers = 8 * dtype.itemsize + 8 + 6
        expect_table(answer, model, f"with buffers, in {dtype}", 2, 3, dtype, buffers=buffers)


@pytest.mark.fine
def test_tied_weights(answer):
    """A weight that two layers share counts once."""
    model = nn.ModuleDict({"embedding": nn.Embedding(9, 4), "head": nn.Linear(4, 9, bias=False)})
    model["head"].weight = model["embedding"].weight
    expect_table(answer, model, "with tied weights", 2, 3)


@pytest.mark.fine
def test_no_master_needed(answer):
    """In float32 and float64 master weights change nothing."""
    for dtype in (SINGLE, DOUBLE):
        expect_table(answer, perceptron(), f"in {dtype}, with master weights", 6, 11, dtype, True)


@pytest.mark.fine
def test_on_meta(answer):
    """A model on meta, too large for any machine, is judged like another, to the last byte."""
    n = 300_000_001  # n² has more digits than a float
    model = nn.Linear(n, n, bias=False, device="meta")
    expect_table(answer, model, f"of {n}² parameters on meta", 2, 3)
    small, saved = nn.Linear(1, 2, bias=False), 10**17
    budget = table(small, 250, saved)["total"] - 1
    call = f"largest_batch(nn.Linear(1, 2, bias=False), 10**17, {budget})"
    told = {"divided as floats, which round up to 250": lambda: 250}
    expect_equal(answer.largest_batch(small, saved, budget), 249, call, suspects=told)


@pytest.mark.fine
def test_model_is_left_alone(answer):
    """The model keeps its dtype and mode, and no memory is made."""
    model = nn.Sequential(nn.Linear(100, 50), nn.BatchNorm1d(50))
    model[1].eval()
    with modes_kept("training_memory(…)", model):
        peak = peak_bytes(lambda: answer.training_memory(model, 2, 3, BRAIN, True))
    for name, p in model.named_parameters():
        expect_equal(p.dtype, SINGLE, f"the dtype of {name} after training_memory(…)")
    expect_that(peak < 1000, "training_memory(…) makes memory for the model's numbers", yours=f"{peak} bytes")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.int8, torch.bool], ids=str)
def test_bad_dtype(answer, dtype):
    """A dtype that is not floating raises ValueError (or TypeError, as torch.finfo does)."""
    call = f"training_memory(model, 1, 1, {dtype})"
    expect_raises((ValueError, TypeError), lambda: answer.training_memory(nn.Linear(3, 2), 1, 1, dtype), call)


def oracle(answer, gen):
    def drawn():
        a, b, c, batch, saved = torch.randint(50, 900, (5,), generator=gen).tolist()
        model = nn.Sequential(nn.Linear(a, b, device="meta"), nn.Linear(b, c, device="meta"))
        return model, batch, saved

    def of(*options, frozen=False):
        model, batch, saved = drawn()
        if frozen:
            model[1].requires_grad_(False)
        return lambda: answer.training_memory(model, batch, saved, *options)

    def largest(*options):
        model, batch, saved = drawn()
        budget = 17 * sum(p.numel() for p in model.parameters()) + 4 * saved * batch
        return lambda: answer.largest_batch(model, saved, budget, *options)

    return {
        "float32": of(SINGLE),
        "bfloat16": of(BRAIN),
        "bfloat16 with master weights": of(BRAIN, True),
        "a frozen layer": of(HALF, True, frozen=True),
        "the largest batch": largest(SINGLE),
        "the largest batch with master weights": largest(BRAIN, True),
    }
