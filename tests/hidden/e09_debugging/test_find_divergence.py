"""What grades find_divergence: planted faults, healthy pairs, tolerances; traces, nested outputs."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_number, expect_that, hooks_of, hooks_of_all, unchanged

CALL = "find_divergence(reference, candidate, x)"
NAN, INF = math.nan, math.inf


def randomly(model, gen):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


class Block(nn.Module):
    """Two layers, called in another order than they stand in, and a residual."""

    def __init__(self):
        super().__init__()
        self.down, self.up, self.scale = nn.Linear(5, 3), nn.Linear(3, 5), 1.0

    def forward(self, x):
        return x * self.scale + self.down(self.up(x).relu())


def network(gen):
    last = nn.Sequential(nn.Linear(3, 2), nn.GELU())
    return randomly(
        nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), Block(), nn.Dropout(0.5), last), gen
    ).eval()


class Returns(nn.Module):
    """Gives what it was made with, whatever comes in."""

    def __init__(self, result):
        super().__init__()
        self.result = result

    def forward(self, *args):
        return self.result


def t(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype)


def judged(answer, a, b, **tolerances):
    """What is told of two models that give a and b."""
    return answer.find_divergence(Returns(a), Returns(b), torch.zeros(1), **tolerances)


def expect_parting(yours, layer, call, error, note, others=None, errors=None, rtol=1e-4):
    """`others`: mistakes in words, and the layer and call that each tells; `errors`: likewise."""
    what = f"{CALL} {note}"
    expect_that(
        hasattr(yours, "layer"), f"{what} does not tell that they part at {layer!r}", yours=repr(yours)
    )
    others = {**(others or {}), "call counts from 0": (layer, call + 1)}
    suspects = {told: lambda other=other: other for told, other in others.items()}
    expect_equal((yours.layer, yours.call), (layer, call), f"layer and call of {what}", suspects=suspects)
    if error is not None:
        suspects = {told: lambda number=number: number for told, number in (errors or {}).items()}
        expect_number(yours.error, error, f"error of {what}", rtol=rtol, suspects=suspects)


def expect_none(yours, note, likely=""):
    facts = {"yours": repr(yours), "wanted": "None"} | ({"likely": likely} if likely else {})
    expect_that(yours is None, f"{CALL} {note} finds a difference that is none", **facts)


ORDER = ("0", "1", "2.up", "2.down", "2", "3", "4.0", "4.1", "4", "")  # in which the calls end


@pytest.mark.parametrize("layer", ["0", "1", "2.down", "2.up", "4.0"])
def test_planted_faults(answer, gen, layer):
    """A fault in any layer is found where it is, though everything after it differs too."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    candidate = copy.deepcopy(reference)
    bias = candidate.get_submodule(layer).bias.data
    sign = -1.0 if layer in ("1", "2.up") else 1.0
    bias[0] += 0.25 * sign
    bias[1] -= 0.75 * sign
    others = {
        "this is the last call that differs, or the order of named_modules(): the model's call ends last": (
            "",
            0,
        ),
        "this holds the layer, whose call ends first: named_modules() has parts of parts": (
            layer.split(".")[0],
            0,
        ),
        "call is to count the calls of this module alone, from 0": (layer, ORDER.index(layer)),
    }
    errors = {
        "the mean of |a - b|": 1.0 / len(bias),
        "the sum of |a - b|": 6.0,
        "a difference may have either sign: the largest |a - b|": 0.25,
    }
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, layer, 0, 0.75, f"with a fault in {layer!r}", others, errors)


def test_fault_between_layers(answer, gen):
    """A fault in a block, between its layers, is found at the block."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    candidate = copy.deepcopy(reference)
    candidate[2].scale = 1.5
    error = (0.5 * reference[1](reference[0](x))).abs().max().item()
    others = {
        "blocks are left out: only layers without parts are compared": ("3", 0),
        "this is the last call that differs": ("", 0),
    }
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, "2", 0, error, "with a fault in a block, between its layers", others)


def test_first_of_several_faults(answer, gen):
    """Of several faults the first that runs is found."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    candidate = copy.deepcopy(reference)
    for name in ("2.down", "2.up", "4.0"):
        candidate.get_submodule(name).bias.data -= 2.0
    others = {
        "this goes by the order of the definition, not by that of the calls": ("2.down", 0),
        "a block comes before its layers here: its call ends after theirs": ("2", 0),
        "this is the last layer that differs": ("4.0", 0),
        "this is the last call that differs": ("", 0),
    }
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, "2.up", 0, 2.0, "with three faults", others)


def test_healthy_pairs(answer, gen):
    """Models that compute the same give no alarm, also in training mode with dropout."""
    reference, x = network(gen).train(), torch.randn(6, 4, generator=gen)
    dropout = "dropout draws other numbers in each run: both are to run in evaluation mode"
    expect_none(answer.find_divergence(reference, copy.deepcopy(reference), x), "for a copy", dropout)
    reference.eval()
    both = "the hooks of both runs are on one model: record the runs one after the other"
    expect_none(answer.find_divergence(reference, reference, x), "for one and the same model", both)
    nudged = copy.deepcopy(reference)
    nudged[4][0].bias.data += 1e-6
    expect_none(answer.find_divergence(reference, nudged, x), "for a difference of 1e-6")


class Calls(nn.Module):
    """One layer that is called three times, and an offset before one of the calls."""

    def __init__(self, offsets):
        super().__init__()
        self.cell, self.offsets = nn.Linear(3, 3), list(offsets)

    def cells(self, x):
        outputs = []
        for offset in self.offsets:
            outputs.append(self.cell(x + offset))
            x = outputs[-1].tanh()
        return outputs

    def forward(self, x):
        return self.cells(x)[-1].tanh()


@pytest.mark.parametrize("call", [0, 1, 2])
def test_modules_that_are_called_again(answer, gen, call):
    """A module that is called several times is judged call by call."""
    x, reference = torch.randn(2, 3, generator=gen), randomly(Calls([0.0] * 3), gen)
    candidate = copy.deepcopy(reference)
    candidate.offsets[call] = 1.0
    error = reference.cell.weight.sum(1).abs().max().item()
    others = {"call is always 0, or one output is kept for each name": ("cell", 0)} if call else {}
    last = (reference.cells(x)[2] - candidate.cells(x)[2]).abs().max().item()
    errors = {"one output is kept for each name: a later call overwrites it": last}
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, "cell", call, error, f"with a fault before call {call} of three", others, errors)


TOLERANCES = [
    ((100.0, 0.0), (100.5, 0.0), 0.01, 0.0, True, "rtol is ignored"),
    ((100.0, 0.0), (100.5, 0.0), 0.0, 1.0, True, "atol is ignored"),
    ((-100.0, 0.0), (-100.5, 0.0), 0.01, 0.0, True, "rtol · |a| wants the absolute value of a"),
    ((100.0, 0.0), (101.5, 0.0), 0.01, 1.0, True, "atol and rtol · |a| add up"),
    ((100.0, 0.0), (100.5, 0.0), 1e-3, 0.1, False, "a tolerance is too wide"),
    ((100.0, 0.0), (100.0, 0.5), 0.01, 0.0, False, "one large number allows nothing for another"),
    ((1.0, -1.0), (1.5, -1.5), 0.0, 0.1, False, "means or sums are compared, not the numbers"),
]


@pytest.mark.parametrize(("a", "b", "rtol", "atol", "agree", "likely"), TOLERANCES)
def test_tolerances(answer, a, b, rtol, atol, agree, likely):
    """The allowed difference is atol + rtol · |a|, number by number."""
    yours, note = judged(answer, t(*a), t(*b), rtol=rtol, atol=atol), f"for {a} and {b}, {rtol=}, {atol=}"
    if agree:
        expect_none(yours, note, likely)
    else:
        expect_that(yours is not None, f"{CALL} {note} overlooks the difference", likely=likely)


def test_nan_is_a_difference(answer, gen):
    """A layer of the candidate that gives NaN, where the reference gives numbers, is found."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    candidate = copy.deepcopy(reference)
    candidate[2].up.bias.data[1] = NAN
    yours = answer.find_divergence(reference, candidate, x)
    likely = "no comparison with NaN is True: ask whether all numbers are within, not whether one is beyond"
    expect_that(yours is not None, f"{CALL} overlooks NaN", likely=likely)
    expect_parting(yours, "2.up", 0, None, "with NaN in '2.up'")


def test_no_hook_is_left(answer, gen):
    """Afterwards there is no hook on either model."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    candidate = copy.deepcopy(reference)
    answer.find_divergence(reference, candidate, x)
    left = sum(len(hooks_of(m)) for m in (*reference.modules(), *candidate.modules())) + len(hooks_of_all())
    likely = "each `register_…` returns a handle, and its `remove()` takes the hook off"
    expect_that(left == 0, f"hooks are left after {CALL}", yours=left, wanted=0, likely=likely)


def traces(model):
    """The modes and hooks of each module."""
    return [(name, m.training, [kind for kind, _ in hooks_of(m)]) for name, m in model.named_modules()]


class Logs(nn.Module):
    """Notes whether gradients are recorded, also if it is a copy; raises if told to."""

    def __init__(self, log, fails=False):
        super().__init__()
        self.note, self.fails = log.append, fails

    def forward(self, x):
        self.note(torch.is_grad_enabled() and x.requires_grad)
        if self.fails:
            raise KeyError("no such weight")
        return x * 1.0


def with_traces(gen, log, fails=False):
    """A model with modes of all kinds, and somebody's hook."""
    model = nn.Sequential(network(gen).train(), Logs(log, fails))
    model[0][1].eval()
    model[0][4].eval()[0].train()
    model.register_forward_hook(lambda *_: log.append("hook"))
    return model


@pytest.mark.fine
@pytest.mark.parametrize("fails", ["neither", "reference", "candidate"])
def test_no_trace_is_left(answer, gen, fails):
    """Each module has its own mode back, hooks of others stay, and an error comes out."""
    models = {name: with_traces(gen, [], fails == name) for name in ("reference", "candidate")}
    before, raised = {name: traces(model) for name, model in models.items()}, False
    try:
        answer.find_divergence(*models.values(), torch.randn(4, 4, generator=gen))
    except KeyError:
        raised = True
    expect_equal(raised, fails != "neither", f"whether an error comes out where {fails} raises")
    for name, model in models.items():
        note = f"modes and hooks of the {name} afterwards, where {fails} raises"
        expect_equal(traces(model), before[name], note)
    expect_equal(hooks_of_all(), [], "the hooks for all modules afterwards")


@pytest.mark.fine
def test_each_runs_once(answer, gen):
    """Each model runs once, without a graph, and hooks of others run."""
    logs = [], []
    answer.find_divergence(*(with_traces(gen, log) for log in logs), torch.randn(4, 4, generator=gen))
    for name, log in zip(("reference", "candidate"), logs, strict=True):
        expect_equal(log.count("hook"), 1, f"how often somebody's hook on the {name} runs")
        expect_equal(len(log) - 1, 1, f"how often the {name} runs")
        expect_that(not log[0], f"the {name} records a graph", likely="`torch.no_grad()` is missing")


@pytest.mark.fine
def test_in_place(answer, gen):
    """What a layer returned counts, even if the next one writes over it in place."""
    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 1))
    with torch.no_grad():
        reference[0].weight.copy_(torch.eye(2))
        reference[0].bias.fill_(-1.0)
    for dtype in (torch.float32, torch.float64):
        reference.to(dtype)
        candidate = copy.deepcopy(reference)
        candidate[0].bias.data -= 0.5
        x = -torch.rand(3, 2, generator=gen).to(dtype)
        yours = answer.find_divergence(reference, candidate, x)
        expect_parting(yours, "0", 0, 0.5, f"where a ReLU in place hides the difference, in {dtype}")


class Takes(nn.Module):
    """Writes into all that it gets."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x, batch):
        return self.layer(x.mul_(3.0) + batch["x"].add_(1.0))


@pytest.mark.fine
def test_inputs(answer, gen):
    """Each model gets copies of the inputs, and yours stay as they are."""
    x, y = torch.randn(3, 2, generator=gen), torch.randn(2, generator=gen)
    reference = randomly(Takes(), gen)
    with unchanged("find_divergence(reference, candidate, x, batch)", x=x, y=y):
        yours = answer.find_divergence(reference, copy.deepcopy(reference), x, {"x": y})
    expect_none(yours, "of models that write into their inputs")


@pytest.mark.fine
def test_relative_to_the_reference(answer):
    """rtol is relative to the reference, not to the candidate."""
    likely = "rtol is taken of the candidate: `torch.allclose(b, a)` takes it of a"
    expect_none(
        judged(answer, t(1.4375), t(1.0), rtol=0.40625, atol=0.0), "for 1.4375 and 1, rtol=0.40625", likely
    )
    yours = judged(answer, t(1.0), t(1.4375), rtol=0.40625, atol=0.0)
    expect_that(yours is not None, f"{CALL} for 1 and 1.4375, rtol=0.40625, overlooks it", likely=likely)


@pytest.mark.fine
def test_nan_and_inf(answer):
    """NaN agrees with NaN and inf with inf of its sign; beside another number the error is inf."""
    expect_none(judged(answer, t(NAN, 1.0, INF, -INF), t(NAN, 1.0, INF, -INF)), "for NaN and inf")
    for a, b in [
        ((NAN, 1.0), (1.0, 1.0)),
        ((1.0, 1.0), (NAN, 1.0)),
        ((INF, 1.0), (-INF, 1.0)),
        ((INF,), (5.0,)),
    ]:
        expect_parting(judged(answer, t(*a), t(*b)), "", 0, INF, f"for {a} and {b}")
    yours = judged(answer, t(NAN, INF, 1.0), t(NAN, INF, 3.0))
    expect_parting(yours, "", 0, 2.0, "for a difference beside NaN and inf")


@pytest.mark.fine
def test_dtypes(answer):
    """Outputs of other dtypes are compared as numbers, in float64."""
    half = {"dtype": torch.bfloat16}
    expect_none(judged(answer, t(1.0, 0.5), t(1.0, 0.5, **half)), "for float32 and bfloat16")
    expect_parting(
        judged(answer, t(1.0, **half), t(1.001)), "", 0, 0.001, "for bfloat16 and float32", rtol=1e-3
    )
    expect_parting(
        judged(answer, t(1.001), t(1.0, **half)), "", 0, 0.001, "for float32 and bfloat16", rtol=1e-3
    )
    expect_parting(
        judged(answer, t(5, 7, dtype=torch.int64), t(5, 9, dtype=torch.int64)), "", 0, 2.0, "for integers"
    )
    masks = t(True, False, dtype=torch.bool), t(True, True, dtype=torch.bool)
    expect_parting(judged(answer, *masks), "", 0, 1.0, "for masks")


def nested():
    return {"logits": t(1.0, 2.0), "states": [(t(3.0), None), t(4.0)], "n": 3}


CHANGES = {
    "a tensor in a tuple in a list": (lambda d: d["states"][0][0].add_(0.5), 0.5),
    "two tensors": (lambda d: (d["states"][1].sub_(2.0), d["logits"].add_(1.0)), 2.0),
    "a shape that broadcasts": (lambda d: d.update(logits=t(1.0)), INF),
    "one tensor more": (lambda d: d.update(more=t(1.0)), INF),
    "one tensor less": (lambda d: d.pop("logits"), INF),
}


@pytest.mark.fine
@pytest.mark.parametrize("change", CHANGES)
def test_nested_outputs(answer, change):
    """Tuples, lists and dicts of tensors are compared place by place."""
    other_order = dict(reversed(nested().items())) | {"n": 5}
    expect_none(judged(answer, nested(), other_order), "for a dict in another order")
    changed, (alter, error) = nested(), CHANGES[change]
    alter(changed)
    expect_parting(judged(answer, nested(), changed), "", 0, error, f"where {change} of an output differs")


@pytest.mark.fine
def test_other_calls(answer, gen):
    """Where the models call modules of other names, they part there."""
    x = torch.randn(2, 3, generator=gen)
    longer = randomly(nn.Sequential(nn.Linear(3, 3), nn.Identity(), nn.Linear(3, 3)), gen)
    shorter = longer[:2]
    expect_parting(answer.find_divergence(longer, shorter, x), "2", 0, INF, "with a layer less")
    expect_parting(answer.find_divergence(shorter, longer, x), "", 0, INF, "with a layer more")
    three = randomly(Calls([0.0] * 3), gen)
    two = copy.deepcopy(three)
    two.offsets.pop()
    expect_parting(answer.find_divergence(three, two, x), "cell", 2, INF, "with a call less")
    named = nn.Sequential()
    named.add_module("first", longer[0])
    yours = answer.find_divergence(named, nn.Sequential(longer[0]), x)
    expect_parting(yours, "first", 0, INF, "with another name, of a module that both have")


def oracle(answer, gen):
    def off(part):
        """Networks in which a layer's weight or bias is off."""
        layers = ("0", "1", "2.up", "2.down", "4.0")

        def tries(gen):
            for place in torch.randint(len(layers), (6,), generator=gen).tolist():
                reference, x = network(gen), torch.randn(5, 4, generator=gen)
                candidate = copy.deepcopy(reference)
                numbers = candidate.get_submodule(layers[place]).get_parameter(part).data
                numbers += 0.5 + torch.rand(numbers.shape, generator=gen)
                yield reference, candidate, x

        return tries

    def off_in_a_call(gen):
        """A layer that is called three times, with something added before one call, or before none."""
        for number in torch.randint(4, (6,), generator=gen).tolist():
            reference = randomly(Calls([0.0] * 3), gen)
            candidate = copy.deepcopy(reference)
            if number < 3:
                candidate.offsets[number] = 0.5 + torch.rand((), generator=gen).item()
            yield reference, candidate, torch.randn(2, 3, generator=gen)

    def places(tries):
        """Layer and call of each parting."""

        def case(gen):
            found = [answer.find_divergence(*models) for models in tries(gen)]
            return [None if parting is None else [parting.layer, parting.call] for parting in found]

        return case

    def errors(tries):
        return lambda gen: [answer.find_divergence(*models).error for models in tries(gen)]

    return {
        "the layer with another bias": places(off("bias")),
        "by how much outputs differ by another bias": errors(off("bias")),
        "the layer with another weight": places(off("weight")),
        "by how much outputs differ by another weight": errors(off("weight")),
        "another input in one of three calls, or in none": places(off_in_a_call),
    }
