"""What grades find_divergence: planted faults, healthy pairs, tolerances, NaN, nested outputs, no traces."""

import copy
import math
from collections import OrderedDict, namedtuple

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_equal,
    expect_raises,
    expect_that,
    global_rng_untouched,
    hooks_of,
    hooks_of_all,
    modes_kept,
    unchanged,
)

CALL = "find_divergence(reference, candidate, x)"
NAN, INF = math.nan, math.inf
Pair = namedtuple("Pair", "first second")


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
    parts = [
        nn.Linear(4, 3),
        nn.BatchNorm1d(3),
        Block(),
        nn.Dropout(0.5),
        nn.Sequential(nn.Linear(3, 2), nn.GELU()),
    ]
    return randomly(nn.Sequential(*parts), gen)


class Returns(nn.Module):
    """Gives what it was made with, whatever comes in."""

    def __init__(self, result):
        super().__init__()
        self.result = result

    def forward(self, *args):
        return self.result


def vector(*values, dtype=torch.float32):
    return Returns(torch.tensor(values, dtype=dtype))


def expect_parting(yours, layer, call, error, note, rel_tol=1e-4):
    what = f"{CALL} {note}"
    expect_that(
        type(yours).__name__ == "Divergence",
        f"{what} does not tell where they part",
        yours=repr(yours),
        wanted=f"Divergence(layer={layer!r}, call={call}, error={error:g})",
    )
    expect_equal((yours.layer, yours.call), (layer, call), f"layer and call of {what}")
    close = type(yours.error) is float and math.isclose(yours.error, error, rel_tol=rel_tol)
    expect_that(close, f"wrong error of {what}", yours=yours.error, wanted=error)


def expect_none(yours, note):
    expect_equal(yours, None, f"{CALL} {note}")


def test_planted_faults(answer, gen):
    """A fault in any layer or block is found where it is, though everything after it differs too."""
    reference, x = network(gen), torch.randn(6, 4, generator=gen)
    for name in ("0", "1", "2.down", "2.up", "4.0"):
        candidate = copy.deepcopy(reference)
        candidate.get_submodule(name).bias.data[1] += 0.75
        yours = answer.find_divergence(reference, candidate, x)
        expect_parting(yours, name, 0, 0.75, f"with a fault in {name!r}")
    candidate = copy.deepcopy(reference)
    candidate[2].scale = 1.5
    h = reference.eval()[1](reference[0](x))
    error = (0.5 * h).abs().max().item()
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, "2", 0, error, "with a fault in a block, between its layers")
    candidate[4][0].bias.data += 1
    candidate[2].down.bias.data -= 2
    yours = answer.find_divergence(reference, candidate, x)
    expect_parting(yours, "2.down", 0, 2.0, "with three faults")


def test_healthy_pairs(answer, gen):
    """Models that compute the same give no alarm, with dropout and batch norm too."""
    reference, x = network(gen).train(), torch.randn(6, 4, generator=gen)
    expect_none(answer.find_divergence(reference, copy.deepcopy(reference), x), "for a copy")
    expect_none(answer.find_divergence(reference, reference, x), "for one and the same")
    nudged = copy.deepcopy(reference)
    nudged[4][0].bias.data += 1e-6
    expect_none(answer.find_divergence(reference, nudged, x), "for a difference of 1e-6")
    shared = nn.Sequential(*reference[:4], copy.deepcopy(reference[4]))
    expect_none(answer.find_divergence(reference, shared, x), "for models that share modules")
    shared[4][0].bias.data += 1
    yours = answer.find_divergence(reference, shared, x)
    expect_parting(yours, "4.0", 0, 1.0, "for models that share all modules but one")
    expect_none(answer.find_divergence(nn.Tanh(), nn.Tanh(), x), "for models without parts")
    expect_parting(
        answer.find_divergence(vector(1.0), vector(1.5), x), "", 0, 0.5, "for models without parts"
    )


class Calls(nn.Module):
    """One layer under two names, called three times, and an offset before one of the calls."""

    def __init__(self, offsets):
        super().__init__()
        self.cell, self.offsets = nn.Linear(3, 3), offsets
        self.again = self.cell

    def forward(self, x):
        for offset in self.offsets:
            x = self.again(x + offset).tanh()
        return x


def test_modules_that_are_called_twice(answer, gen):
    """A module that is called several times is judged call by call, under its first name."""
    x = torch.randn(2, 3, generator=gen)
    reference = randomly(Calls((0.0, 0.0, 0.0)), gen)
    expect_none(answer.find_divergence(reference, copy.deepcopy(reference), x), "with three calls")
    for call in range(3):
        candidate = copy.deepcopy(reference)
        candidate.offsets = tuple(float(i == call) for i in range(3))
        error = reference.cell.weight.sum(1).abs().max().item()
        yours = answer.find_divergence(reference, candidate, x)
        expect_parting(yours, "cell", call, error, f"with a fault before call {call} of three")
    candidate.offsets = (0.0, 0.0)
    expect_parting(answer.find_divergence(reference, candidate, x), "cell", 2, INF, "with a call less")
    expect_parting(answer.find_divergence(candidate, reference, x), "", 0, INF, "with a call more")


class Tells(nn.Module):
    """Calls a part once for each of the outputs, which it passes on: tensors, or text."""

    def __init__(self, *outputs):
        super().__init__()
        self.part, self.outputs = nn.Identity(), outputs

    def forward(self, x):
        for output in self.outputs:
            self.part(output)
        return x


def test_calls_without_tensors(answer):
    """A call that gives no tensor is a call, too: it is counted, and the other model has to make it."""
    x, text = torch.zeros(1), "text"
    yours = answer.find_divergence(Tells(text, t(1.0)), Tells(text, t(1.5)), x)
    expect_parting(yours, "part", 1, 0.5, "after a call that gives text")
    expect_none(answer.find_divergence(Tells(text, None), Tells("another", text), x), "for text alone")
    yours = answer.find_divergence(Tells(text, text), Tells(text), x)
    expect_parting(yours, "part", 1, INF, "with a call less, which gives text")
    yours = answer.find_divergence(Tells(text), Tells(text, text), x)
    expect_parting(yours, "", 0, INF, "with a call more, which gives text")


class Recursive(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth

    def forward(self, x, level=0):
        return x if level == self.depth else self(x, level + 1)


class InTurn(nn.Module):
    """Calls its two parts by their names, in any order."""

    def __init__(self, order):
        super().__init__()
        self.a, self.b, self.order = nn.Identity(), nn.Identity(), order

    def forward(self, x):
        for name in self.order:
            x = self.get_submodule(name)(x)
        return x


def test_other_calls(answer, gen):
    """Where the models call other modules, or one calls none any more, they part there."""
    x = torch.randn(2, 3, generator=gen)
    reference = randomly(nn.Sequential(nn.Linear(3, 3), nn.Identity(), nn.Linear(3, 3)), gen)
    shorter = reference[:2]
    expect_parting(answer.find_divergence(reference, shorter, x), "2", 0, INF, "with a layer less")
    expect_parting(answer.find_divergence(shorter, reference, x), "", 0, INF, "with a layer more")
    expect_parting(answer.find_divergence(Recursive(1), Recursive(3), x), "", 2, INF, "with two calls more")
    expect_parting(answer.find_divergence(Recursive(3), Recursive(0), x), "", 1, INF, "with three calls less")
    for other in ("aba", "ab"):
        yours = answer.find_divergence(InTurn("abb"), InTurn(other), x)
        expect_parting(yours, "b", 1, INF, f"with calls of a, b, b and of {', '.join(other)}")
    named = nn.Sequential()
    named.add_module("first", reference[0])
    expect_parting(
        answer.find_divergence(nn.Sequential(reference[0]), named, x), "0", 0, INF, "with another name"
    )
    expect_parting(
        answer.find_divergence(named, nn.Sequential(reference[0]), x), "first", 0, INF, "with another name"
    )


def test_tolerances(answer):
    """The allowed difference is atol + rtol × |reference|, number by number."""
    x = torch.zeros(1)
    for a, b, rtol, atol, agree in [
        ((1.0,), (1.4375,), 0.40625, 0.0, False),  # relative to the reference, not to the candidate
        ((1.4375,), (1.0,), 0.40625, 0.0, True),
        ((1.0,), (1.5,), 0.0, 0.5, True),  # exactly what is allowed
        ((-100.0, 0.0), (-100.75, 0.0), 0.01, 0.0, True),
        ((-100.0, 0.0), (-100.75, 0.0), 0.001, 0.0, False),
        ((100.0, 0.0), (100.0, 0.01), 0.01, 0.0, False),  # one large number allows nothing for another
        ((100.0, 0.0), (100.0, 0.01), 0.0, 0.02, True),
        ((100.0, 0.0), (102.0, 0.0), 0.01, 1.5, True),  # both add up
        ((1.0, 2.0), (1.0, 2.0), 0.0, 0.0, True),
        ((1.0, 2.0), (1.0, 2.000001), 0.0, 0.0, False),
    ]:
        yours = answer.find_divergence(vector(*a), vector(*b), x, rtol=rtol, atol=atol)
        note = f"for {a} and {b} with rtol={rtol}, atol={atol}"
        if agree:
            expect_none(yours, note)
        else:
            error = max(abs(p - q) for p, q in zip(a, b, strict=True))
            expect_parting(yours, "", 0, error, note, rel_tol=0.2)
    yours = answer.find_divergence(vector(1.0, 0.0), vector(1.00009, 9e-7), x)
    expect_none(yours, "within the default tolerances")
    for a, b in ((1.0, 1.00012), (0.0, 1.2e-6)):
        note = f"for {a} and {b}, beyond the default tolerances"
        expect_parting(answer.find_divergence(vector(a), vector(b), x), "", 0, b - a, note, 1e-2)


def test_dtypes(answer):
    """Outputs of other dtypes are compared as numbers; small differences of large numbers are seen."""
    x = torch.zeros(1)
    low = vector(1.0, 0.5, dtype=torch.bfloat16)
    expect_none(answer.find_divergence(vector(1.0, 0.5), low, x), "for bfloat16 and float32")
    expect_none(
        answer.find_divergence(low, vector(1.0, 0.5, dtype=torch.float64), x), "for float64 and bfloat16"
    )
    precise = [vector(1.0, 1.0 + d, dtype=torch.float64) for d in (0.0, 1e-12)]
    yours = answer.find_divergence(*precise, x, rtol=0.0, atol=1e-13)
    expect_parting(yours, "", 0, 1e-12, "for float64", rel_tol=1e-3)
    ids = [vector(5, 7, dtype=torch.int64), vector(5, 9, dtype=torch.int64), vector(0, 9, dtype=torch.uint8)]
    expect_parting(answer.find_divergence(ids[0], ids[1], x), "", 0, 2.0, "for integers")
    expect_parting(
        answer.find_divergence(ids[2], vector(9, 0, dtype=torch.uint8), x), "", 0, 9.0, "for bytes"
    )
    masks = [vector(True, False, dtype=torch.bool), vector(True, True, dtype=torch.bool)]
    expect_parting(answer.find_divergence(*masks, x), "", 0, 1.0, "for masks")
    half, single = vector(1.0, dtype=torch.float16), vector(1.0 + 2**-12)  # which float16 cannot hold
    whole, broken = vector(2, dtype=torch.int64), vector(2.5)
    for a, b, error in ((half, single, 2**-12), (whole, broken, 0.5)):
        expect_parting(answer.find_divergence(a, b, x), "", 0, error, "for a candidate in a wider dtype")
        expect_parting(answer.find_divergence(b, a, x), "", 0, error, "for a candidate in a narrower dtype")
    large = [vector(60000.0, dtype=torch.float16), vector(-60000.0, dtype=torch.float16)]
    expect_parting(answer.find_divergence(*large, x), "", 0, 120000.0, "for large numbers in float16")


def test_nan_and_inf(answer):
    """NaN agrees with NaN and inf with inf of its sign; anything else beside them is as far as can be."""
    x = torch.zeros(1)
    for a, b in [((NAN, 1.0, INF, -INF), (NAN, 1.0, INF, -INF)), ((), ())]:
        expect_none(answer.find_divergence(vector(*a), vector(*b), x), f"for {a} and {b}")
    for a, b in [
        ((NAN, 1.0), (1.0, 1.0)),
        ((1.0, 1.0), (NAN, 1.0)),
        ((INF, 1.0), (-INF, 1.0)),
        ((INF, 1.0), (5.0, 1.0)),
        ((2.0, 1.0), (INF, 1.0)),
        ((NAN, 1.0), (INF, 1.0)),
        ((-INF, 1.0), (NAN, 1.0)),
    ]:
        yours = answer.find_divergence(vector(*a), vector(*b), x, rtol=10.0, atol=10.0)
        expect_parting(yours, "", 0, INF, f"for {a} and {b}")
    yours = answer.find_divergence(vector(NAN, INF, 1.0), vector(NAN, INF, 3.0), x)
    expect_parting(yours, "", 0, 2.0, "for a difference beside NaN and inf")


def t(*values):
    return torch.tensor(values, dtype=torch.float32)


def test_nested_outputs(answer):
    """Tuples, lists and dicts of tensors are compared place by place."""
    x = torch.zeros(1)
    nested = {"logits": t(1.0, 2.0), "states": [(t(3.0), None), Pair(t(4.0), "text")], "n": 3}
    nested[7], nested["7"] = t(5.0), t(6.0)  # keys need not be text
    expect_none(
        answer.find_divergence(Returns(nested), Returns(copy.deepcopy(nested)), x), "for nested outputs"
    )
    other_order = {"n": 5, **{k: copy.deepcopy(nested[k]) for k in ("7", 7, "states", "logits")}}
    expect_none(
        answer.find_divergence(Returns(nested), Returns(other_order), x), "for dicts in another order"
    )
    for change, error in [
        (lambda d: d["states"][1].second is None, None),
        (lambda d: d["states"][0][0].add_(0.5), 0.5),
        (lambda d: (d["states"][1].first.sub_(2.0), d["logits"].add_(1.0)), 2.0),
        (lambda d: d.update(logits=t(1.0)), INF),
        (lambda d: d.update(logits=t(1.0, 2.0)[:, None]), INF),
        (lambda d: d.update(more=t(1.0)), INF),
        (lambda d: d.pop("logits"), INF),
        (lambda d: d["states"].append(t(1.0)), INF),
        (lambda d: d.update(states=None), INF),
        (lambda d: d.update(n=t(3.0)), INF),
        (lambda d: d.update(n=t()), INF),
        (lambda d: d[7].sub_(0.25), 0.25),
    ]:
        changed = copy.deepcopy(nested)
        change(changed)
        for given, note in (((nested, changed), "the candidate"), ((changed, nested), "the reference")):
            yours = answer.find_divergence(Returns(given[0]), Returns(given[1]), x)
            if error is None:
                expect_none(yours, "for nested outputs")
            else:
                expect_parting(yours, "", 0, error, f"where nested outputs of {note} are changed")
    ordered = [Returns(OrderedDict(logits=t(1.0), states=[t(n)])) for n in (2.0, 2.5)]
    expect_parting(answer.find_divergence(*ordered, x), "", 0, 0.5, "for outputs in an OrderedDict")
    wide = Returns(torch.zeros(2, 3)), Returns(torch.zeros(1, 3))
    expect_parting(answer.find_divergence(*wide, x), "", 0, INF, "for shapes that broadcast")
    empty = Returns(torch.zeros(0, 3)), Returns(torch.zeros(0, 4))
    expect_parting(answer.find_divergence(*empty, x), "", 0, INF, "for empty outputs of other shapes")


class Doubles(nn.Module):
    """Writes into what it gets."""

    def forward(self, x):
        return x.mul_(2.0)


def test_layers_that_work_in_place(answer, gen):
    """What a layer returned counts, even if the next one writes over it; inputs are not used up."""
    x = -torch.rand(3, 2, generator=gen)
    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 1))
    with torch.no_grad():
        reference[0].weight.copy_(torch.eye(2))
        reference[0].bias.fill_(-1.0)
    candidate = copy.deepcopy(reference)
    candidate[0].bias.data -= 0.5
    for dtype in (torch.float32, torch.float64):
        reference.to(dtype), candidate.to(dtype)
        yours = answer.find_divergence(reference, candidate, x.to(dtype))
        expect_parting(yours, "0", 0, 0.5, f"where ReLU in place hides the difference, in {dtype}")
    reference.float()
    reference = nn.Sequential(Doubles(), nn.Linear(2, 1))
    with unchanged("find_divergence(reference, candidate, x)", x=x):
        yours = answer.find_divergence(reference, copy.deepcopy(reference), x)
    expect_none(yours, "where the first layer writes into its input")


class Overwrites(nn.Module):
    """Gets a pair, a list or a dict from its layer, and writes over the tensors in it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        out = self.layer(x)
        first, rest = (out[0], out[1]["b"]) if isinstance(out, tuple | list) else (out["a"], out["b"][0])
        return first.mul_(0.0) + rest.mul_(0.0)


def test_nested_outputs_that_are_written_over(answer):
    """Tensors within tuples, lists and dicts count as they were when the call ended, too."""
    outputs = {
        "a pair": lambda a, b: (t(a), {"b": t(b)}),
        "a list": lambda a, b: [t(a), {"b": t(b)}],
        "a dict": lambda a, b: {"a": t(a), "b": (t(b),)},
    }
    x = torch.zeros(1)
    for what, make in outputs.items():
        for other, error in [((1.0, 5.0), 3.0), ((3.0, 2.0), 2.0)]:
            models = (Overwrites(Returns(make(*numbers))) for numbers in ((1.0, 2.0), other))
            yours = answer.find_divergence(*models, x)
            expect_parting(yours, "layer", 0, error, f"where a later layer writes over {what}")


def test_largest_error_of_a_call(answer):
    """The error is the largest in the outputs of the call, also in a tensor that agrees."""
    reference, candidate = Returns([t(1e6), t(1.0)]), Returns([t(1e6 + 50), t(2.0)])
    yours = answer.find_divergence(reference, candidate, torch.zeros(1))
    expect_parting(yours, "", 0, 50.0, "where a large number differs by more, but is close enough")
    reference, candidate = Returns([t(), t(1.0)]), Returns([t(), t(1.5)])
    yours = answer.find_divergence(reference, candidate, torch.zeros(1))
    expect_parting(yours, "", 0, 0.5, "beside an empty tensor")


class Takes(nn.Module):
    """Takes nested inputs, and writes into all of them."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, batch, pair, flag):
        batch["x"].mul_(3.0)
        for part in (*batch["more"], pair.first, pair.second):
            part.add_(1.0)
        batch["seen"] = True
        total = batch["x"] + batch["more"][0] + pair.first * pair.second
        return self.layer(total if flag == "plus" else -total)


def test_nested_inputs(answer, gen):
    """Inputs may be nested and several; each model gets copies, and yours stay as they are."""
    x, y = torch.randn(3, 2, generator=gen), torch.randn(2, generator=gen)
    # an input that hangs in a graph, as the output of another model does
    w = torch.ones(2, requires_grad=True)
    batch, pair = {"x": x, "more": [y]}, Pair(w * 2.0, torch.randn(3, 2, generator=gen))
    reference = randomly(Takes(), gen)
    candidate = copy.deepcopy(reference)
    with unchanged(
        "find_divergence(reference, candidate, *inputs)", x=x, y=y, first=pair.first, second=pair.second
    ):
        expect_none(answer.find_divergence(reference, candidate, batch, pair, "plus"), "with nested inputs")
    expect_equal(sorted(batch), ["more", "x"], "the keys of an input after find_divergence(…)")
    candidate.layer.bias.data += 0.25
    yours = answer.find_divergence(reference, candidate, batch, pair, "minus")
    expect_parting(yours, "layer", 0, 0.25, "with nested inputs")


class Reads(nn.Module):
    """Looks token numbers up, and writes into all that it gets."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 2)

    def forward(self, tokens, pair, parts, nothing):
        tokens.add_(1)
        pair[0].add_(1.0)
        parts[0].add_(1.0)
        parts.append(nothing)
        return self.table(tokens) * pair[0] + parts[0]


def test_inputs_of_all_kinds(answer, gen):
    """Token numbers, tuples, lists and None are passed on as they are, and copied for each model."""
    tokens, first, part = torch.tensor([0, 3]), torch.tensor(2.0), torch.randn(2, 2, generator=gen)
    parts, reference = [part], randomly(Reads(), gen)
    candidate = copy.deepcopy(reference)
    with unchanged("find_divergence(reference, candidate, *inputs)", tokens=tokens, first=first, part=part):
        yours = answer.find_divergence(reference, candidate, tokens, (first, 7), parts, None)
    expect_none(yours, "with token numbers, a tuple, a list and None")
    expect_equal(len(parts), 1, "the length of a list that is an input, after find_divergence(…)")


def traces(model):
    """All that a tool could leave behind on a model, or on all modules."""
    found = []
    for name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute not in ("log", "result"):
                found.append((name, attribute, value if type(value) in (bool, int) else None))
        found += [(name, *hook) for hook in hooks_of(module)]
    return found + hooks_of_all()


class Logs(nn.Module):
    """Notes its mode and whether gradients are recorded; raises if told to."""

    def __init__(self, fails=False):
        super().__init__()
        self.log, self.fails = [], fails

    def forward(self, x):
        self.log.append((self.training, torch.is_grad_enabled() and x.requires_grad))
        if self.fails:
            raise KeyError("no such weight")
        return x * 1.0


def test_one_model_twice(answer, gen):
    """A model that is compared with itself does not part from itself, and runs: its errors pass through."""
    x = torch.randn(4, 4, generator=gen)
    healthy, broken = (nn.Sequential(network(gen), Logs(fails)) for fails in (False, True))
    part = nn.Identity().eval()
    healthy.append(nn.Sequential(part)).append(nn.Sequential(part))
    with modes_kept("find_divergence(model, model, x) of a model that holds one layer twice", healthy):
        yours = answer.find_divergence(healthy, healthy, x)
    expect_none(yours, "a model beside itself")
    call = "find_divergence(model, model, x) of a model that raises"
    expect_raises(KeyError, lambda: answer.find_divergence(broken, broken, x), call)
    healthy, broken = (nn.Sequential(network(gen), Logs(fails)) for fails in (False, True))
    call = "find_divergence(reference, candidate, x) of a candidate that raises after they have parted"
    expect_raises(KeyError, lambda: answer.find_divergence(healthy, broken, x), call)
    other = nn.Sequential(nn.Linear(4, 3), nn.Linear(2, 3))
    call = "find_divergence(reference, candidate, x) of a candidate whose layers do not fit together"
    expect_raises(
        RuntimeError, lambda: answer.find_divergence(nn.Sequential(nn.Linear(4, 3)), other, x), call
    )


@pytest.mark.parametrize("fails", ["neither", "reference", "candidate"])
def test_no_trace_is_left(answer, gen, fails):
    """Both run once in evaluation mode without a graph; modes and hooks are as before, after errors too."""
    models = [nn.Sequential(network(gen), Logs(fails == name)) for name in ("reference", "candidate")]
    models[1].load_state_dict(models[0].state_dict())
    calls = []
    for model in models:
        model.train()
        model[0][1].eval()
        model[0][4].eval()
        model[0][4][0].train()
        model[0][0].register_forward_pre_hook(lambda *_: calls.append("before"))
        model.register_forward_hook(lambda *_: calls.append("after"))
    before = [traces(model) for model in models]
    state = [{k: v.clone() for k, v in model.state_dict().items()} for model in models]
    raised, x = False, torch.randn(4, 4, generator=gen)
    try:
        with global_rng_untouched("find_divergence(reference, candidate, x)"):
            answer.find_divergence(*models, x)
    except KeyError:
        raised = True
    graph = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    expect_that(graph, f"find_divergence(…) leaves gradients switched off where {fails} raises")
    expect_equal(raised, fails != "neither", f"whether an error comes out where {fails} raises")
    for name, model, old, tensors in zip(("reference", "candidate"), models, before, state, strict=True):
        when = f"of the {name} after find_divergence(…), where {fails} raises"
        expect_equal(traces(model), old, f"modes, hooks and attributes {when}")
        for key, value in model.state_dict().items():
            expect_equal(value, tensors[key], f"{key} {when}")
        runs = model[1].log
        expect_that(len(runs) <= 1, f"the {name} runs more than once", yours=len(runs))
        for training, graph in runs:
            expect_that(not training, f"the {name} runs in training mode")
            expect_that(not graph, f"the {name} runs with a graph")
    if fails == "neither":
        expect_equal(calls, ["before", "after"] * 2, "the calls of others' hooks")
    for model in models:
        for p in model.parameters():
            expect_that(
                p.requires_grad and p.grad is None, "requires_grad or .grad of a parameter is another"
            )


def oracle(answer, gen):
    def told(reference, candidate, x):
        found = answer.find_divergence(reference, candidate, x)
        return None if found is None else [found.layer, found.call, torch.tensor(found.error)]

    def off(layer, part):
        """What is told of a network in which a layer's weight or bias is off."""
        reference, x = network(gen), torch.randn(5, 4, generator=gen)
        candidate = copy.deepcopy(reference)
        numbers = candidate.get_submodule(layer).get_parameter(part).data
        numbers += 0.5 + torch.rand(numbers.shape, generator=gen)
        return told(reference, candidate, x)

    def off_in_call(number):
        """What is told of a layer that is called three times, with something added before one call."""
        reference = randomly(Calls([0.0] * 3), gen)
        candidate = copy.deepcopy(reference)
        candidate.offsets[number] = 0.5 + torch.rand((), generator=gen).item()
        return told(reference, candidate, torch.randn(2, 3, generator=gen))

    layers = ("0", "1", "2.up", "2.down", "4.0")
    same = network(gen)
    return {
        "a bias is off": [off(layer, "bias") for layer in layers],
        "a weight is off": [off(layer, "weight") for layer in layers],
        "another input in one of three calls": [off_in_call(number) for number in range(3)],
        "two equal models": told(same, copy.deepcopy(same), torch.randn(5, 4, generator=gen)),
    }
