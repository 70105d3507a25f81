"""What grades training_memory: dtypes, masters, frozen layers, largest batches; buffers, large models."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, modes_kept, peak_bytes
from grader.checks.contract import Contract, errors, given, values

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
    "buffers lie in memory, too": {"held": lambda model: ()},
}


def table(
    model, batch, saved, dtype=SINGLE, master_weights=False, *, trainable=lambda p: p.requires_grad,
    lies=lambda p: True, to=lambda p, dtype: dtype, moments=2, state=lambda dtype, moved: moved,
    gradient=None, asked=False, kept=None, held=lambda model: model.buffers(),
):  # fmt: skip
    """The bytes that training takes; or with a mistake."""
    count = sum(p.numel() for p in model.parameters() if trainable(p))
    has_master = (master_weights or asked) and dtype.itemsize < 4
    moved = SINGLE if has_master else dtype
    buffers = sum(b.numel() * (dtype if b.is_floating_point() else b.dtype).itemsize for b in held(model))
    found = {
        "parameters": buffers + sum(p.numel() * to(p, dtype).itemsize for p in model.parameters() if lies(p)),
        "gradients": count * (gradient or dtype).itemsize,
        "master": 4 * count if has_master else 0,
        "optimizer": moments * count * state(dtype, moved).itemsize,
        "activations": batch * saved * (kept or dtype).itemsize,
    }
    return {**found, "total": sum(found.values())}


def sizes(gen, count):
    return torch.randint(3, 60, (count,), generator=gen).tolist()


def trained(gen, *how, frozen=False, now=SINGLE):
    """A model in the dtype `now`, a batch and how many numbers are saved of each example."""
    a, b, c, batch, saved = sizes(gen, 5)
    model = nn.Sequential(nn.Linear(a, b), nn.Tanh(), nn.Linear(b, c)).to(now)
    model[0].requires_grad_(not frozen)
    return given(model, batch, saved, *how)


def normalised():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model.register_buffer("mask", torch.zeros(6, dtype=torch.bool), persistent=False)
    return model


def tied():
    model = nn.ModuleDict({"embedding": nn.Embedding(9, 4), "head": nn.Linear(4, 9, bias=False)})
    model["head"].weight = model["embedding"].weight
    return model


memory = Contract(
    "training_memory(model, batch, saved, dtype, master_weights)",
    reference=table,
    widens=False,
    inputs=lambda gen: {
        "a model, without dtype": trained(gen),
        **{f"a model in {kind}": trained(gen, kind) for kind in (SINGLE, BRAIN, HALF)},
        "a model with master weights": trained(gen, BRAIN, True),
        "a model with a frozen layer": trained(gen, SINGLE, frozen=True),
        "a model with a frozen layer and master weights": trained(gen, HALF, True, frozen=True),
        "a bfloat16 model in float32": trained(gen, SINGLE, now=BRAIN),
        "a float64 model in bfloat16": trained(gen, BRAIN, now=DOUBLE),
    },
    suspects={told: partial(table, **mistake) for told, mistake in MISTAKES.items()},
    fine=[
        values(
            inputs=lambda gen: [given(normalised(), 2, 3, kind) for kind in (SINGLE, BRAIN)],
            name="buffers",
            title="Buffers count with the parameters: floating ones in dtype, integers in their own.",
        ),
        values(
            inputs=lambda gen: {"tied weights": given(tied(), 2, 3)},
            name="tied_weights",
            title="A weight that two layers share counts once.",
        ),
        values(
            inputs=lambda gen: [trained(gen, kind, True) for kind in (SINGLE, DOUBLE)],
            name="no_master_needed",
            title="In float32 and float64 master weights change nothing.",
        ),
        values(  # n² has more digits than a float
            inputs=lambda gen: {
                f"{n}² parameters": given(nn.Linear(n, n, bias=False, device="meta"), 2, 3)
                for n in [300_000_001]
            },
            name="on_meta",
            title="A model on meta, too large for any machine, is judged like another, to the last byte.",
        ),
        errors(
            (ValueError, TypeError),
            lambda gen: [trained(gen, kind) for kind in (torch.int8, torch.bool)],
            title="A dtype that is not floating raises ValueError (or TypeError, as torch.finfo does).",
        ),
    ],
)


def room(model, saved, budget, *how, **named):
    """The bytes that are left beside the model, and those that an example takes."""
    none, one = (table(model, batch, saved, *how, **named)["total"] for batch in (0, 1))
    return budget - none, one - none


def most(model, saved, budget, *how, count=lambda left, one, budget: max(0, left) // one, **named):
    """How many examples fit; or how many by another `count`."""
    return count(*room(model, saved, budget, *how, **named), budget)


def budgets(gen, *how):
    """Budgets that are just enough for so many examples, and that just are not."""
    a, b, saved, n = sizes(gen, 4)
    model = nn.Linear(a, b)
    left, one = room(model, saved, 0, *how)
    return [given(model, saved, more - left, *how) for more in (n * one, n * one - 1, n * one + one - 1)]


def too_small(gen):
    model = nn.Linear(30, 10)
    left, one = room(model, 13, 0)
    return [given(model, 13, more - left) for more in (one - 1, 0, -1, left // 2)]


def beyond_floats(gen):
    model = nn.Linear(1, 2, bias=False)
    left, one = room(model, 10**17, 0)
    return [given(model, 10**17, 250 * one - left - 1)]


largest = Contract(
    "largest_batch(model, saved, budget, dtype, master_weights)",
    reference=most,
    widens=False,
    inputs=lambda gen: {
        f"budget {number}, {about}": call
        for about, how in {"float32": [], "bfloat16": [BRAIN], "a master": [HALF, True]}.items()
        for number, call in enumerate(budgets(gen, *how), start=1)
    },
    suspects={
        told: partial(most, count=count)
        for told, count in {
            "divided as floats, which round up": lambda left, one, _: int(max(0, left) / one),
            "a float: sizes are ints": lambda left, one, _: float(max(0, left) // one),
            "a negative batch": lambda left, one, _: left // one,
            "at least one": lambda left, one, _: max(1, left // one),
            "one too few where it fits exactly": lambda left, one, _: max(0, left) // one - 1,
            "one too many": lambda left, one, _: max(0, left) // one + 1,
            "the model itself takes its place, too": lambda left, one, budget: budget // one,
        }.items()
    },
    job=[
        values(
            inputs=too_small,
            name="nothing_fits",
            title="Where not one example fits, the largest batch is 0.",
        )
    ],
    fine=[
        values(
            inputs=beyond_floats,
            name="large_numbers",
            title="It is counted to the last byte, where floats would round.",
        )
    ],
)


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
