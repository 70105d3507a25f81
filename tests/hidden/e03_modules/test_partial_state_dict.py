"""What grades partial_state_dict: names, shapes, what is copied where, the report; order, dtypes, errors."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.devices import is_simulated, on_host

CALL = "load_partial(model, state, rename)"


class Network(nn.Module):
    """A body, a head, a temperature without dimensions, and buffers, one of which is not saved."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
        self.head = nn.Linear(4, 2)
        self.temperature = nn.Parameter(torch.tensor(1.5))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("cache", torch.ones(2), persistent=False)


def random_state(model, gen):
    """Other numbers for everything that the model saves."""
    return {
        name: torch.randn(t.shape, generator=gen) if t.is_floating_point() else torch.full_like(t, 7)
        for name, t in model.state_dict().items()
    }


def snapshot(model):
    return {name: on_host(t) for name, t in model.state_dict().items()}


def expect_state(model, wanted, when, suspects=None):
    for name, t in model.state_dict().items():
        made = {told: lambda name=name, state=state: state[name] for told, state in (suspects or {}).items()}
        expect_equal(on_host(t), wanted[name], f"{name} after {when}", suspects=made)


def expect_report(report, loaded, missing=(), unexpected=(), wrong_shape=None, order=sorted):
    shapes = wrong_shape or {}
    wanted = {"loaded": loaded, "missing": missing, "unexpected": unexpected, "wrong_shape": shapes}
    for name, right in wanted.items():
        yours, likely = getattr(report, name), ""
        if order(yours) == order({*right, *shapes}):
            likely = "what has a wrong shape stands in `wrong_shape` alone"
        same = order(yours) == order(right)
        told = ", ".join(order(yours)), ", ".join(order(right))
        expect_that(same, f"wrong `{name}` in the report", yours=told[0], wanted=told[1], likely=likely)
    pairs, likely = {name: tuple(map(tuple, pair)) for name, pair in report.wrong_shape.items()}, ""
    if pairs == {name: pair[::-1] for name, pair in shapes.items()}:
        likely = "the shape in the model comes first: the one in state should"
    expect_that(pairs == shapes, "wrong shapes in `wrong_shape`", yours=pairs, wanted=shapes, likely=likely)


def mixed(gen):
    """A model, a state with old names, wrong shapes and strangers, and what the report says of it."""
    state = {
        "old.z": torch.zeros(1),
        "old.head.bias": torch.randn(3, generator=gen),
        "cache": torch.zeros(2),
        "old.head.weight": torch.randn(2, 4, generator=gen),
        "body.0.bias": torch.randn(4, generator=gen),
        "a": torch.zeros(2),
        "body.0.weight": torch.randn(4, 4, generator=gen),
        "steps": torch.tensor(5),
        "mean": torch.randn(1, generator=gen),
    }
    report = {
        "loaded": ["body.0.bias", "steps", "head.weight"],
        "missing": ["temperature", "body.1.weight", "body.1.bias"],
        "unexpected": ["old.z", "cache", "a"],
        "wrong_shape": {
            "body.0.weight": ((4, 4), (4, 3)),
            "mean": ((1,), (4,)),
            "head.bias": ((3,), (2,)),
        },
    }
    return Network(), state, report


def test_everything_fits(answer, gen):
    """A state dict of the same model is loaded in full: parameters and buffers."""
    model = Network()
    before, state = snapshot(model), random_state(model, gen)
    wanted = {name: t.clone() for name, t in state.items()}
    expect_report(answer.load_partial(model, state), list(wanted))
    expect_state(model, wanted, "load_partial(model, state)", {"it was not loaded": before})


def test_renamed(answer, gen):
    """Names that begin as in rename are loaded under their new names, others under their own."""
    model = Network()
    before, wanted = snapshot(model), random_state(model, gen)
    for rename, old_name in [
        ({"module.": ""}, lambda name: f"module.{name}"),
        ({"encoder.": "body."}, lambda name: name.replace("body", "encoder")),
        (
            {"classifier.": "head.", "net.b": "b"},
            lambda n: n.replace("head", "classifier").replace("bo", "net.bo"),
        ),
    ]:
        model.load_state_dict(before)
        state = {old_name(name): t.clone() for name, t in wanted.items()}
        answer.load_partial(model, state, rename)
        call = f"load_partial(…) of {', '.join(list(state)[:2])}, … with rename={rename}"
        expect_state(model, wanted, call, {"it was not loaded: it has another name in state": before})


def test_report(answer, gen):
    """Each name of the model is loaded, missing or of a wrong shape, and strangers are unexpected."""
    model, state, wanted = mixed(gen)
    state["z"] = state.pop("old.z")
    report = answer.load_partial(model, state, {"old.": ""})
    expect_report(report, **{**wanted, "unexpected": ["z", "cache", "a"]})


def test_shapes_are_exact(answer):
    """Nothing is broadcast, reshaped or cut to fit."""
    for shape, given in [
        ((5,), (1,)),
        ((5,), (5, 1)),
        ((1,), ()),
        ((2, 3), (3, 2)),
        ((2, 3), (6,)),
        ((4,), (5,)),
    ]:
        model = nn.ParameterDict({"a": torch.full(shape, 3.0), "b": torch.zeros(2)})
        report = answer.load_partial(model, {"a": torch.full(given, 1.7), "b": torch.ones(2)})
        suspects = {
            "it is broadcast or reshaped until it fits: the shapes are to be the same": lambda shape=shape: (
                torch.full(shape, 1.7)
            )
        }
        call = f"a tensor of {shape} after one of {given}"
        expect_equal(model["a"].detach(), torch.full(shape, 3.0), call, suspects=suspects)
        expect_report(report, ["b"], wrong_shape={"a": (given, shape)})


def test_optimizer_goes_on(answer, gen):
    """The model's tensors stay the same objects: an optimizer from before moves them."""
    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    state = random_state(model, gen)
    wanted = state["head.bias"] - 1
    answer.load_partial(model, state)
    now = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for name, t in held.items():
        expect_that(now[name] is t, f"{name} is another object after {CALL}: an optimizer holds the old one")
    model.head.bias.grad = torch.ones(2)
    optimizer.step()
    expect_close(model.head.bias.detach(), wanted, "head.bias after a step of the optimizer from before")


RENAMES = [
    ({"module.": "", "module.we": "we"}, "module.weight", "weight"),
    ({"module.": "x.", "module.encoder.": ""}, "module.encoder.weight", "weight"),
    ({"module.": ""}, "module.module.weight", None),
    ({"dule.": ""}, "mydule.weight", None),
    ({"a.": "b.", "b.": ""}, "a.weight", None),
    ({"w": "", "weights": "weight"}, "weights", "weight"),
    ({"": "w"}, "eight", "weight"),
]


@pytest.mark.fine
@pytest.mark.parametrize("rename, old, new", RENAMES)
def test_several_fit(answer, gen, rename, old, new):
    """The longest beginning that fits is replaced: at the start of the name, and once."""
    model, t = nn.Linear(3, 2), torch.randn(2, 3, generator=gen)
    state = {"bias": torch.zeros(2), old: t}
    before, wanted = model.weight.detach().clone(), t.clone() if new else model.weight.detach().clone()
    answer.load_partial(model, state, {"bias": "bias", **rename})
    suspects = {
        f"{old} is loaded as weight, though by rename it has another name": lambda: t,
        f"{old} is not loaded, though by rename it is weight": lambda: before,
    }
    call = f"weight after load_partial(…) of {old} with rename={rename}"
    expect_equal(model.weight.detach(), wanted, call, suspects=suspects)


@pytest.mark.fine
def test_order(answer, gen):
    """The report is in the model's order, `unexpected` in that of state and by the names there."""
    model, state, wanted = mixed(gen)
    order = list(snapshot(model))
    for name in ("loaded", "missing"):
        wanted[name].sort(key=order.index)
    wanted["wrong_shape"] = {
        name: wanted["wrong_shape"][name] for name in order if name in wanted["wrong_shape"]
    }
    expect_report(answer.load_partial(model, state, {"old.": ""}), **wanted, order=list)


@pytest.mark.fine
def test_what_tensors_keep(answer, gen):
    """The model's tensors keep their memory, requires_grad and gradients, whatever comes in."""
    model = Network()
    model.head.weight.requires_grad_(False)
    model.head.bias.grad = torch.ones(2)
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    kept = {name: (t.data_ptr(), t.requires_grad) for name, t in held.items()}
    state = random_state(model, gen)
    state = {name: nn.Parameter(t) if t.is_floating_point() else t for name, t in state.items()}
    state["body.0.bias"] = state["body.0.bias"] * 1  # with a graph
    answer.load_partial(model, state)
    for name, t in held.items():
        place, learns = kept[name]
        expect_that(t.data_ptr() == place, f"{name} is elsewhere in memory after {CALL}")
        expect_equal(t.requires_grad, learns, f"requires_grad of {name} after {CALL}")
    expect_equal(model.head.bias.grad, torch.ones(2), "the gradient of head.bias afterwards")


@pytest.mark.fine
@pytest.mark.parametrize("mine, theirs", [(torch.float32, torch.float16), (torch.bfloat16, torch.float32)])
def test_own_dtype(answer, gen, mine, theirs):
    """Numbers are converted to the dtype that the model's tensor has."""
    model = Network().to(mine)
    state = {n: t.to(theirs) if t.is_floating_point() else t for n, t in random_state(model, gen).items()}
    wanted = {name: t.to(model.state_dict()[name].dtype) for name, t in state.items()}
    answer.load_partial(model, state)
    expect_state(model, wanted, f"a {theirs} state came into a {mine} model")


@pytest.mark.fine
def test_state_is_left_alone(answer, gen):
    """state keeps its entries and numbers, in memory of its own."""
    model = Network()
    state = {f"x.{name}": t for name, t in random_state(model, gen).items()}
    kept, names = dict(state), list(state)
    with unchanged(CALL, **kept):
        answer.load_partial(model, state, {"x.": ""})
        with torch.no_grad():
            for p in model.parameters():
                p.zero_()
    expect_equal(list(state), names, f"the names in state after {CALL}")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A model on another device gets a CPU checkpoint there, and a CPU model one from a device."""
    for here, there in [(device, "cpu"), ("cpu", device)]:
        model = Network().to(here)
        wanted = random_state(Network(), gen)
        answer.load_partial(model, {name: t.to(there) for name, t in wanted.items()})
        for name, t in model.state_dict().items():
            expect_equal(is_simulated(t), here == device, f"whether {name} is on its device after {CALL}")
        expect_state(model, wanted, f"{CALL} from {there} to {here}")


def expect_refusal(answer, error, model, state, rename, call, words=""):
    before = snapshot(model)
    expect_raises(error, lambda: answer.load_partial(model, state, rename), call, words=words)
    expect_state(model, before, f"{call} has raised")


@pytest.mark.fine
def test_no_tensor(answer, gen):
    """A value that is no tensor raises TypeError, and nothing is loaded."""
    for name, value in [("epoch", 3), ("head.bias", [0.0, 0.0])]:
        model = Network()
        state = {**random_state(model, gen), name: value}
        expect_refusal(answer, TypeError, model, state, None, f"load_partial with {name}={value!r}", name)


@pytest.mark.fine
def test_two_names_become_one(answer, gen):
    """Two names that become one raise ValueError, also where the model lacks it; nothing is loaded."""
    for first, second, new in [("a.weight", "weight", "weight"), ("a.x", "b.x", "new.x")]:
        state = {"bias": torch.ones(2), first: torch.ones(2, 3), second: torch.ones(2, 3)}
        call, rename = (
            f"load_partial of {first!r} and {second!r}, which become one,",
            {"b.": "new.", "a.x": "new.x", "a.": ""},
        )
        expect_refusal(answer, ValueError, nn.Linear(3, 2), state, rename, call, new)


@pytest.mark.fine
def test_nothing_fits(answer):
    """A state of which nothing can be loaded raises ValueError."""
    for state in ({"module.weight": torch.ones(2, 3)}, {"weight": torch.ones(2, 4)}, {}):
        call = f"load_partial(model, {{{', '.join(map(repr, state))}: …}})"
        expect_refusal(answer, ValueError, nn.Linear(3, 2), state, None, call)


def oracle(answer, gen):
    def told(report):
        shapes = {name: [tuple(a), tuple(b)] for name, (a, b) in report.wrong_shape.items()}
        names = sorted(report.loaded), sorted(report.missing), sorted(report.unexpected)
        return [*names, dict(sorted(shapes.items()))]

    def fitting(gen, model):
        return random_state(model, gen), {}

    def parts(gen, model):
        state = {f"module.{name}": t for name, t in random_state(model, gen).items() if "weight" in name}
        wrong = torch.randn(3, generator=gen)
        return state | {"module.head.bias": wrong, "queue": torch.ones(2)}, {"module.": ""}

    def renamed(gen, model):
        state = {name.replace("body.", "encoder."): t for name, t in random_state(model, gen).items()}
        return state, {"encoder.": "body."}

    def parameters(gen, model):
        names = dict(model.named_parameters())
        return {name: t for name, t in random_state(model, gen).items() if name in names}, {}

    def weights(draw):
        def case(gen):
            model = Network()
            answer.load_partial(model, *draw(gen, model))
            return snapshot(model)

        return case

    def reports(gen):
        """What is told of states that lack some entries, have some too many, and some of another shape."""
        found = []
        for _ in range(4):
            model = Network()
            state = random_state(model, gen)
            for name in sorted(state):
                kind = int(torch.randint(4, (), generator=gen))
                if kind == 0:
                    del state[name]
                elif kind == 1:
                    state[f"{name}_too"] = state[name]
                elif kind == 2:
                    state[name] = torch.zeros(*state[name].shape, 2)
            found.append(told(answer.load_partial(model, state)))
        return found

    return {
        "the weights where everything fits": weights(fitting),
        "the weights where parameters alone were saved": weights(parameters),
        "the weights of parts, saved under DDP": weights(parts),
        "the weights where the body has another name": weights(renamed),
        "what is told of states that do not fit": reports,
    }
