"""What grades partial_state_dict: names, shapes, what is copied where, the report, errors, devices."""

import copy
from collections.abc import Mapping

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, modes_kept, unchanged
from grader.checks.devices import is_simulated, on_host

CALL = "load_partial(model, state, rename)"


class Plain(Mapping):
    """A mapping that can do no more than every mapping can: no copy(), no union by |."""

    def __init__(self, items):
        self.items_of = dict(items)

    def __getitem__(self, name):
        return self.items_of[name]

    def __iter__(self):
        return iter(self.items_of)

    def __len__(self):
        return len(self.items_of)


class Network(nn.Module):
    """A body with a batch norm, a head, a temperature without dimensions, and a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.head = nn.Linear(4, 2)
        self.temperature = nn.Parameter(torch.tensor(1.5))
        self.empty = nn.Parameter(torch.empty(0, 3))
        self.register_buffer("cache", torch.ones(2), persistent=False)


def random_state(model, gen):
    """Other numbers for everything that the model saves."""
    return {
        name: torch.randn(t.shape, generator=gen) if t.is_floating_point() else torch.full_like(t, 7)
        for name, t in model.state_dict().items()
    }


def snapshot(model):
    return {name: on_host(t) for name, t in model.state_dict().items()}


def expect_state(model, wanted, when):
    for name, t in model.state_dict().items():
        expect_equal(on_host(t), wanted[name], f"{name} after {when}")


def expect_report(report, loaded, missing=(), unexpected=(), wrong_shape=None):
    for name, wanted in [("loaded", loaded), ("missing", missing), ("unexpected", unexpected)]:
        expect_equal(getattr(report, name), list(wanted), f"`{name}` in the report")
    yours = report.wrong_shape
    expect_equal(yours, wrong_shape or {}, "`wrong_shape` in the report")
    expect_equal(list(yours), list(wrong_shape or {}), "the order of `wrong_shape` in the report")


def test_everything_fits(answer, gen):
    """A state dict of the same model is loaded in full: parameters, buffers, also empty ones and 0-d ones."""
    model = Network()
    state = random_state(model, gen)
    wanted = {name: t.clone() for name, t in state.items()}
    expect_report(answer.load_partial(model, state), list(wanted))
    expect_state(model, wanted, "load_partial(model, state)")
    state = random_state(model, gen)
    shuffled = dict(reversed(state.items()))
    expect_report(answer.load_partial(model, shuffled, {}), list(state))
    expect_state(model, state, "load_partial(model, state, {}), with the names in another order")


RENAMES = [
    ({"module.": ""}, "module.weight", "weight"),
    ({"module.": ""}, "module.module.weight", None),
    ({"dule.": ""}, "mydule.weight", None),
    ({"Module.": ""}, "module.weight", None),
    ({"dule.": "", "my": ""}, "mydule.weight", None),
    ({"w": "", "weights": "weight"}, "weights", "weight"),
    ({"weights": "weight", "w": ""}, "weights", "weight"),
    ({"model.net": "", "model.": "x.", "model.network.": ""}, "model.network.weight", "weight"),
    ({"": "w"}, "eight", "weight"),
    ({"": "x.", "old_": ""}, "old_weight", "weight"),
    ({"a.": "b.", "b.": ""}, "a.weight", None),
    ({"a.": "b.", "b.": ""}, "b.weight", "weight"),
    ({"encoder": "weight"}, "encoder", "weight"),
    ({"weight": "weight"}, "weight", "weight"),
    ({"w.": "", ".+": ""}, "wxweight", None),
    ({"weight.": ""}, "weight", "weight"),
    ({"module": ""}, "module.weight", None),
    ({"module": "", "module.": ""}, "module.weight", "weight"),
    ({"weight": "other"}, "weight", None),  # though the model has the old name
    ({"old.": "", "old.wei": "hei"}, "old.weight", None),  # though the shorter prefix would do
]


@pytest.mark.parametrize("rename,old,new", RENAMES)
def test_renamed(answer, gen, rename, old, new):
    """Of the prefixes that fit, the longest is replaced: at the start of the name, and once."""
    model = nn.Linear(3, 2)
    state = {"bias": torch.zeros(2), old: torch.randn(2, 3, generator=gen)}
    if "" in rename:
        rename = {**rename, "bias": "bias"}  # "" fits this name too
    before, prefix = model.weight.detach().clone(), max(filter(old.startswith, rename), key=len, default=old)
    wanted, named = state[old].clone() if new else before, rename.get(prefix, old) + old[len(prefix) :]
    kept = dict(rename)
    report = answer.load_partial(model, state, rename)
    why = f"it is {named}" if named != old else "it keeps its name"
    call = f"weight after load_partial(…) of {list(state)} with rename={rename}"
    suspects = {
        f"{old} is loaded as weight, though by rename {why}": lambda: state[old],
        f"{old} is not loaded, though by rename it is weight": lambda: before,
    }
    expect_equal(model.weight.detach(), wanted, call, suspects=suspects)
    if new:
        expect_report(report, ["weight", "bias"])
    else:
        expect_report(report, ["bias"], ["weight"], [old])
    expect_equal(dict(rename), kept, "rename afterwards")


def test_report(answer, gen):
    """Each name of the model is loaded, missing or of a wrong shape, in the model's order."""
    model = Network()
    before = snapshot(model)
    state = {
        "old.z": torch.zeros(1),
        "old.head.bias": torch.zeros(3),
        "old.cache": torch.zeros(2),
        "old.head.weight": torch.zeros(2, 4),
        "body.0.bias": torch.ones(4),
        "old.a": torch.zeros(2),
        "body.0.weight": torch.ones(4, 4),
        "body.1.num_batches_tracked": torch.tensor(5),
        "body.1.running_var": torch.ones(1),
    }
    report = answer.load_partial(model, state, {"old.": ""})
    expect_report(
        report,
        ["body.0.bias", "body.1.num_batches_tracked", "head.weight"],
        ["temperature", "empty", "body.1.weight", "body.1.bias", "body.1.running_mean"],
        ["old.z", "old.cache", "old.a"],
        {
            "body.0.weight": ((4, 4), (4, 3)),
            "body.1.running_var": ((1,), (4,)),
            "head.bias": ((3,), (2,)),
        },
    )
    loaded = {
        "body.0.bias": torch.ones(4),
        "body.1.num_batches_tracked": torch.tensor(5),
        "head.weight": torch.zeros(2, 4),
    }
    expect_state(model, {**before, **loaded}, CALL)
    expect_equal(model.cache, torch.ones(2), "the buffer that is not saved")


@pytest.mark.parametrize(
    "shape,given",
    [((5,), (1,)), ((5,), ()), ((5,), (5, 1)), ((5,), (1, 5)), ((), (1,)), ((1,), ()), ((2, 3), (3, 2)),
     ((2, 3), (6,)), ((2, 3), (3,)), ((0, 3), (0, 2)), ((4,), (5,)), ((1, 1), (1,))],
)  # fmt: skip
def test_shapes_are_exact(answer, shape, given):
    """Nothing is broadcast, reshaped, cut or transposed to fit."""
    model = nn.ParameterDict({"a": torch.full(shape, 3.0), "b": torch.zeros(2)})
    state = {"a": torch.ones(given), "b": torch.ones(2)}
    report = answer.load_partial(model, state)
    expect_report(report, ["b"], wrong_shape={"a": (given, shape)})
    expect_equal(model["a"].detach(), torch.full(shape, 3.0), f"a tensor of {shape} after one of {given}")


def test_in_place(answer, gen):
    """The model's tensors stay the same objects in the same memory, keep gradients, and go on learning."""
    model = Network()
    model.table = nn.Parameter(torch.zeros(80, 80))
    model.head.weight.requires_grad_(False)
    model.head.bias.grad = torch.ones(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    places = {name: t.data_ptr() for name, t in held.items()}
    required = {name: t.requires_grad for name, t in held.items()}
    state = random_state(model, gen)
    wanted = state["head.bias"] - 1
    state["head.bias"] = nn.Parameter(state["head.bias"])
    state["head.weight"] = nn.Parameter(state["head.weight"])  # the model's is frozen
    state["temperature"] = nn.Parameter(state["temperature"], requires_grad=False)
    state["body.0.bias"] = state["body.0.bias"].requires_grad_() * 1  # with a graph
    state["body.1.running_mean"].requires_grad_()  # the model's is a buffer
    answer.load_partial(model, state)
    now = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for name, t in held.items():
        expect_that(now[name] is t, f"{name} is another object after {CALL}")
        expect_equal(t.data_ptr() == places[name], True, f"whether {name} is where it was in memory")
        expect_equal(t.requires_grad, required[name], f"requires_grad of {name} after {CALL}")
        expect_that(t.is_leaf, f"{name} hangs on a graph after {CALL}")
    expect_equal(model.table.detach(), state["table"], f"table, of shape (80, 80), after {CALL}")
    frozen = state["head.weight"].detach()
    expect_equal(model.head.weight.detach(), frozen, f"head.weight, which is frozen, after {CALL}")
    expect_equal(model.head.bias.grad, torch.ones(2), "the gradient of head.bias afterwards")
    optimizer.step()
    expect_close(model.head.bias.detach(), wanted, "head.bias after a step of the optimizer from before")


def test_tied_parameters(answer, gen):
    """Tied parameters stay tied, also where only one of their names is given."""
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    weight = torch.randn(5, 3, generator=gen)
    for state, loaded in [
        ({"0.weight": weight, "1.weight": weight}, ["0.weight", "1.weight"]),
        ({"1.weight": weight + 1}, ["1.weight"]),
    ]:
        report = answer.load_partial(model, state)
        expect_equal(report.loaded, loaded, "`loaded` in the report of a model with tied weights")
        expect_that(model[1].weight is model[0].weight, f"tied weights are two tensors after {CALL}")
        expect_equal(model[0].weight.detach(), state["1.weight"], "the tied weight")


def test_own_dtype(answer, gen):
    """Numbers are converted to the dtype that the model's tensor has, whatever comes in."""
    for mine, theirs in [
        (torch.float32, torch.float64),
        (torch.float32, torch.bfloat16),
        (torch.bfloat16, torch.float32),
        (torch.float64, torch.float16),
        (torch.float32, torch.int64),
    ]:
        model = Network().to(mine)
        state = random_state(model, gen)
        state = {name: t.to(theirs) if t.is_floating_point() else t.int() for name, t in state.items()}
        wanted = {name: t.to(model.state_dict()[name].dtype) for name, t in state.items()}
        places = {name: t.data_ptr() for name, t in model.state_dict().items()}
        answer.load_partial(model, state)
        for name, t in model.state_dict().items():
            call = f"whether {name} of a {mine} model is where it was in memory, after a {theirs} state"
            expect_equal(t.data_ptr() == places[name], True, call)
        expect_state(model, wanted, f"a {theirs} state came into a {mine} model")


def test_exact_numbers(answer):
    """Numbers arrive as they are, also where float32 or float64 could not hold them."""
    close = 1 + 2.0**-40
    for dtype, number in [(torch.int64, 2**60 + 1), (torch.int32, 2**24 + 1), (torch.float64, close)]:
        for theirs in {dtype, torch.int64 if dtype == torch.int32 else dtype}:
            model = nn.Module()
            model.register_buffer("steps", torch.zeros(2, dtype=dtype))
            state = {"steps": torch.tensor([number, -number], dtype=theirs)}
            answer.load_partial(model, state)
            expect_equal(model.steps, state["steps"].to(dtype), f"a buffer of {dtype} afterwards")
        model.register_buffer("step", torch.zeros((), dtype=dtype))
        answer.load_partial(model, {"step": torch.tensor(number, dtype=dtype)})
        wanted = torch.tensor(number, dtype=dtype)
        expect_equal(model.step, wanted, f"a buffer of {dtype} without dimensions afterwards")
    model = nn.Module()
    model.register_buffer("mask", torch.tensor([True, False]))
    answer.load_partial(model, {"mask": torch.tensor([False, True])})
    expect_equal(model.mask, torch.tensor([False, True]), "a buffer of bools afterwards")


def test_state_is_left_alone(answer, gen):
    """state may be any mapping of views and parameters; it keeps them as they are, in memory of their own."""
    model = Network()
    large = torch.randn(9, 9, generator=gen)
    state = {
        "x.body.0.weight": large[2:6, 3:6],
        "x.body.0.bias": large[0, ::2][:4],
        "x.head.weight": torch.randn(4, 2, generator=gen).T,
        "x.head.bias": torch.tensor([2.5]).expand(2),
        "x.extra": nn.Parameter(torch.ones(2)),
        "x.temperature": nn.Parameter(torch.tensor(9.0)),
    }
    wanted = {name[2:]: t.detach().clone() for name, t in state.items()}
    kept = list(state.items())
    with unchanged(CALL, **{name: t for name, t in state.items()}):
        answer.load_partial(model, Plain(state), {"x.": ""})
    expect_state(model, {**snapshot(model), **{k: v for k, v in wanted.items() if k != "extra"}}, CALL)
    answer.load_partial(model, state, Plain({"x.": ""}))
    expect_that(
        len(state) == len(kept) and all(state[name] is t for name, t in kept),
        f"state has other entries after {CALL}",
        yours=", ".join(state),
    )
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    for name, right in wanted.items():
        expect_equal(state[f"x.{name}"].detach(), right, f"{name} of state after the model has trained on")


def test_mode_and_shared_copies(answer, gen):
    """The mode of each layer, and other models, stay as they are."""
    model = Network()
    model.body.eval()
    other = copy.deepcopy(model)
    before, state = snapshot(other), other.state_dict()
    state["head.bias"] = torch.randn(2, generator=gen)
    for recording in (True, False):
        with torch.set_grad_enabled(recording), modes_kept(CALL, model):
            report = answer.load_partial(model, state)
            what = f"whether gradients are recorded after {CALL}"
            expect_equal(torch.is_grad_enabled(), recording, what)
    expect_equal(report.missing, [], "`missing` in the report")
    with torch.no_grad():
        for p in model.parameters():
            p.add_(1.0)
    expect_state(other, before, "another model loaded its state and trained on")


def test_on_a_device(answer, gen, device):
    """A model on another device gets a CPU checkpoint there, and a CPU model one from a device."""
    for here, there in [(device, "cpu"), ("cpu", device), (device, device)]:
        model = Network().to(here)
        state = random_state(Network(), gen)
        wanted = {name: t.clone() for name, t in state.items()}
        answer.load_partial(model, {name: t.to(there) for name, t in state.items()})
        for name, t in model.state_dict().items():
            expect_equal(is_simulated(t), here == device, f"whether {name} is on its device after {CALL}")
        expect_state(model, wanted, f"{CALL} from {there} to {here}")


def test_bad_values(answer, gen):
    """A value that is no tensor raises TypeError, known to the model or not, and loads nothing."""
    array = torch.zeros(2).numpy()
    for name, value in [
        ("epoch", 3), ("head.bias", [0.0, 0.0]), ("note", "best"), ("old.none", None),
        ("old.head.bias", array),
    ]:  # fmt: skip
        model = Network()
        before = snapshot(model)
        state = {**random_state(model, gen), name: value}
        if value is array:
            del state["head.bias"]  # which it becomes
        expect_raises(
            TypeError,
            lambda model=model, state=state: answer.load_partial(model, state, {"old.": ""}),
            f"load_partial with {name}={value!r}",
            words=name,
        )
        expect_state(model, before, "a TypeError")
        recording = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        expect_equal(recording, True, "whether gradients are recorded after a TypeError")


@pytest.mark.parametrize(
    "pair,new", [(("a.weight", "weight"), "weight"), (("b.x", "a.x"), "new.x"), (("old", "older"), "weight")]
)
def test_two_names_become_one(answer, gen, pair, new):
    """Two names that become one raise ValueError, also if the model lacks it, and nothing is loaded."""
    for (first, second), shape in [(pair, (2, 3)), (pair[::-1], (5,))]:
        model = nn.Linear(3, 2)
        before = snapshot(model)
        one = torch.ones(2, 3)  # it does not help if both are the same tensor
        state = {"bias": torch.ones(2), first: one, second: one if shape == (2, 3) else torch.ones(shape)}
        expect_raises(
            ValueError,
            lambda model=model, state=state: answer.load_partial(
                model, state, {"a.": "", "a.x": "new.x", "b.": "new.", "old": "weight", "older": "weight"}
            ),
            f"load_partial of {first!r} and {second!r}, which rename makes {new!r} both,",
            words=new,
        )
        expect_state(model, before, "a ValueError")


def test_nothing_fits(answer):
    """A state of which nothing can be loaded raises ValueError: a wrong prefix, wrong shapes, no names."""
    for state in ({"module.weight": torch.ones(2, 3)}, {"weight": torch.ones(2, 4)}, {}):
        model = nn.Linear(3, 2)
        expect_raises(
            ValueError,
            lambda model=model, state=state: answer.load_partial(model, state),
            f"load_partial(model, {{{', '.join(map(repr, state))}: …}})",
        )
    expect_raises(
        ValueError,
        lambda: answer.load_partial(nn.Tanh(), {"a": torch.ones(1)}),
        "load_partial(nn.Tanh(), state)",
    )


def oracle(answer, gen):
    model = Network()
    first = random_state(model, gen)
    model.load_state_dict(first)
    state = {f"module.{name}": t for name, t in random_state(model, gen).items() if "weight" in name}
    state["module.head.bias"] = torch.randn(3, generator=gen)
    report = answer.load_partial(model, state, {"module.": "", "module.body.1": "norm"})
    fields = [report.loaded, report.missing, report.unexpected, report.wrong_shape]
    return [fields, {name: t.clone() for name, t in model.state_dict().items()}]
