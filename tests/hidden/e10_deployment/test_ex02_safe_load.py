"""What grades safe_load: strangers' files, devices of other machines, misfits, a model left as it was."""

import os
import pickle
import tempfile
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, modes_kept
from grader.checks.devices import count_traffic, is_simulated, on_host


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "weights.pt"


def network(gen):
    """3 features, 4 hidden units with batch norm, 2 outputs, all of its state at random."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    with torch.no_grad():
        for t in model.state_dict().values():
            t.copy_(torch.rand(t.shape, generator=gen) + 0.5 if t.is_floating_point() else torch.tensor(11))
    return model


def state_of(model):
    return {name: on_host(t) for name, t in model.state_dict().items()}


def modes_of(model):
    return [layer.training for layer in model.modules()]


def expect_state(model, wanted, when):
    for name, right in wanted.items():
        expect_equal(on_host(model.state_dict()[name]), right, f"{name} {when}")


class Harmless:
    """A class of one's own."""


class Hostile:
    """Has whoever unpickles it call a function."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def payloads(target):
    """Ways to make `target` exist, none of which a list of forbidden names holds all."""
    return {
        "exec": Hostile(exec, f"open({str(target)!r}, 'w').close()"),
        "os.mkdir": Hostile(os.mkdir, str(target)),
        "pathlib": Hostile(Path.touch, target),
        "a pickle in a pickle": Hostile(pickle.loads, pickle.dumps(Hostile(os.mkdir, str(target)))),
    }


def write(place, bad, state, path):
    """A file with a hostile object somewhere."""
    if place == "a weight":
        torch.save({**state, "0.bias": bad}, path)
    elif place == "beside the weights":
        torch.save({"info": [1, {"by": bad}], **state}, path)
    elif place == "the old format":
        torch.save({**state, "0.bias": bad}, path, _use_new_zipfile_serialization=False)
    elif place == "a bare pickle":
        path.write_bytes(pickle.dumps(bad, protocol=2))


PLACES = ["a weight", "beside the weights", "the old format", "a bare pickle"]


def expect_refused(answer, model, path, target, what):
    call = f"safe_load(model, path) of {what}"
    before, environment = state_of(model), dict(os.environ)
    with modes_kept(call, model):
        try:
            expect_raises(pickle.UnpicklingError, lambda: answer.safe_load(model, path), call)
        finally:
            expect_that(not target.exists(), f"code from the file has run in {call}")
        expect_state(model, before, f"after {call}")
    expect_that(dict(os.environ) == environment, f"the environment (os.environ) has changed after {call}")


@pytest.fixture
def admitted():
    """What torch.load admits: one class, not more."""
    before = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals([Harmless])
    yield [Harmless]
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals(before)


def test_what_is_admitted_stays(answer, gen, path, admitted):
    """Whatever torch.load admits elsewhere in the program is neither more nor less afterwards."""
    model, target = network(gen), path.parent / "pwned"
    torch.save(network(gen).state_dict(), path)
    answer.safe_load(model, path)
    same = torch.serialization.get_safe_globals() == admitted
    expect_that(same, "torch.serialization.get_safe_globals() is another after safe_load(model, path)")
    write("a weight", payloads(target)["os.mkdir"], model.state_dict(), path)
    expect_refused(answer, model, path, target, "a hostile file")
    same = torch.serialization.get_safe_globals() == admitted
    expect_that(same, "torch.serialization.get_safe_globals() is another after a file is refused")


@pytest.mark.parametrize("kind", ["exec", "os.mkdir", "pathlib", "a pickle in a pickle"])
def test_no_code_runs(answer, gen, path, kind):
    """Whatever a hostile file would call, and wherever in it: it is refused, and the model is as it was."""
    model, target = network(gen), path.parent / "pwned"
    for place in PLACES:
        write(place, payloads(target)[kind], model.state_dict(), path)
        expect_refused(answer, model, path, target, f"a file with {kind}, {place}")


def test_forced_by_the_environment(answer, gen, path, monkeypatch):
    """A hostile file is refused where TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set, too."""
    model, target = network(gen), path.parent / "pwned"
    write("a weight", payloads(target)["exec"], model.state_dict(), path)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    what = "a hostile file, with TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1"
    expect_refused(answer, model, path, target, what)


def test_harmless_objects(answer, gen, path):
    """A whole pickled model, or an object of some class, is refused like all other code."""
    model, target = network(gen), path.parent / "pwned"
    torch.save(model, path)
    expect_refused(answer, model, path, target, "a whole pickled model")
    torch.save({**model.state_dict(), "made_by": Harmless()}, path)
    expect_refused(answer, model, path, target, "a file with an object of some class")


def test_loads(answer, gen, path):
    """All weights and buffers of the file arrive; the model is in evaluation mode in all layers."""
    for as_path, train in ((str, True), (Path, False)):
        saved, model = network(gen), network(gen)
        saved[0].weight.requires_grad_(False)
        model.register_buffer("angles", torch.arange(3.0), persistent=False)  # which no state dict holds
        model.train(train)
        model[1].train()
        torch.save(saved.state_dict(), path)
        loaded = answer.safe_load(model, as_path(path))
        expect_that(loaded is model, "safe_load(model, path) returns something else than the model")
        expect_equal(model.angles, torch.arange(3.0), "a buffer that is not persistent, after safe_load")
        expect_state(model, state_of(saved), "after safe_load(model, path)")
        expect_equal(modes_of(model), [False] * 5, "the training flags after safe_load(model, path)")
        x = torch.randn(5, 3, generator=gen)
        expect_close(model(x).detach(), saved.eval()(x).detach(), "safe_load(model, path)(x)")
    torch.save({}, path)
    model = nn.Dropout(0.5)
    loaded = answer.safe_load(model, path)
    expect_that(loaded is model and not model.training, "safe_load(nn.Dropout(0.5), a file of {}) fails")


def test_into_the_model_s_own_tensors(answer, gen, path):
    """Optimizers and tied layers see the new weights; dtypes and requires_grad are the model's."""
    saved, model = network(gen), network(gen)
    state = saved.to(torch.bfloat16).state_dict()
    torch.save({**state, "1.num_batches_tracked": torch.tensor(13, dtype=torch.int32)}, path)
    model[1].weight.requires_grad_(False)
    held, buffers = list(model.parameters()), list(model.named_buffers())
    required = [p.requires_grad for p in model.parameters()]
    answer.safe_load(model, path)
    for name, p, now in zip(dict(model.named_parameters()), held, model.parameters(), strict=True):
        expect_that(p is now, f"{name} is another tensor after safe_load(model, path)", likely="assign=True")
        expect_equal(p.detach(), saved.get_parameter(name).detach().float(), f"{name}, loaded from bfloat16,")
    for name, b in buffers:
        expect_that(b is model.get_buffer(name), f"{name} is another tensor after safe_load(model, path)")
    expect_equal(model[1].num_batches_tracked, torch.tensor(13), "num_batches_tracked, loaded from int32,")
    after = [p.requires_grad for p in model.parameters()]
    expect_equal(after, required, "requires_grad of the parameters after safe_load(model, path)")
    tied = nn.ModuleList([nn.Embedding(3, 2), nn.Linear(2, 3, bias=False)]).double()
    tied[1].weight = tied[0].weight
    thirds = torch.arange(6.0, dtype=torch.float64).view(3, 2) / 3  # which float32 does not hold
    state = {"0.weight": thirds, "1.weight": thirds}
    torch.save(state, path)
    answer.safe_load(tied, path)
    expect_that(tied[0].weight is tied[1].weight, "tied weights are two tensors after safe_load(model, path)")
    expect_equal(tied[0].weight.detach(), thirds, "the weight of a tied float64 model")
    torch.save({"0.weight": thirds}, path)
    call = "safe_load(model, path) of a file with one of the two names of a tied weight"
    expect_raises(RuntimeError, lambda: answer.safe_load(tied, path), call, words="1.weight")


@pytest.mark.parametrize("tag", ["cuda:7", "cuda:0", "mps"])
@pytest.mark.parametrize("zipped", [True, False], ids=["new format", "old format"])
def test_from_another_machine(answer, gen, path, monkeypatch, tag, zipped):
    """Weights that were saved on a device which this machine lacks arrive."""
    saved, model = network(gen), network(gen)
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: tag)
    torch.save(saved.state_dict(), path, _use_new_zipfile_serialization=zipped)
    monkeypatch.undo()
    try:
        answer.safe_load(model, path)
    except RuntimeError as error:
        if "deserialize" not in str(error):
            raise
        expect_that(False, f"a file that was saved on {tag} does not load here", yours=str(error)[:100])
    expect_state(model, state_of(saved), f"after safe_load of a file that was saved on {tag}")


def in_rows(t):
    """As a sparse tensor in CSR form, without the warning that torch gives for it, once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return t.to_sparse_csr()


NAMES = [f"{i}.{name}" for i in (0, 1, 3) for name in ("weight", "bias")]
NAMES += [f"1.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")]
MISFITS = {
    "a missing weight": ({"0.weight": None}, "0.weight"),
    "two missing buffers": ({"1.running_mean": None, "1.running_var": None}, "1.running_mean 1.running_var"),
    "a name that the model lacks": ({"4.weight": torch.ones(2)}, "4.weight"),
    "another prefix": ({"3.bias": None, "module.3.bias": torch.ones(2)}, "3.bias module.3.bias"),
    "another shape": ({"3.weight": torch.ones(2, 5)}, "3.weight"),
    "a shape that would broadcast": ({"3.weight": torch.ones(1, 4)}, "3.weight"),
    "a shape of the same size": ({"0.weight": torch.ones(3, 4)}, "0.weight"),
    "two numbers for a single one": (
        {"1.num_batches_tracked": torch.tensor([3, 4])},
        "1.num_batches_tracked",
    ),
    "a missing count of batches": ({"1.num_batches_tracked": None}, "1.num_batches_tracked"),
    "a shape of (1,) for one of ()": (
        {"1.num_batches_tracked": torch.tensor([3])},
        "1.num_batches_tracked",
    ),
    "a number for a name": ({1234: torch.ones(2)}, "1234"),
    "numbers and words for names": ({1234: torch.ones(2), "head": torch.ones(2)}, "1234 head"),
    "a tensor on meta": ({"3.bias": torch.ones(2, device="meta")}, "3.bias"),
    "a sparse tensor": ({"3.weight": torch.eye(4)[:2].to_sparse()}, "3.weight"),
    "a sparse tensor in CSR form": ({"3.weight": in_rows(torch.eye(4)[:2])}, "3.weight"),
    "all of it one level deeper": ("state_dict", "0.weight 1.running_mean 3.bias state_dict"),
    "a list for a tensor": ({"3.bias": [1.0, 2.0]}, "3.bias"),
    "misfits after a missing weight": (
        {"0.weight": None, "1.bias": torch.ones(5), "3.weight": [1.0]},
        "0.weight 1.bias 3.weight",
    ),
    "nothing in it": (dict.fromkeys(NAMES), " ".join(NAMES)),
    "several at once": ({"0.bias": torch.ones(5), "9": torch.ones(1), "3.bias": None}, "0.bias 9 3.bias"),
}


ALIKE = {
    "a shape of (1,) for one of ()": (nn.PReLU(), {"weight": torch.tensor(0.5)}, "weight"),
    "a number for a name": (nn.ParameterList([torch.ones(2)]), {0: torch.zeros(2)}, 0),
    "another prefix": (
        nn.Linear(2, 1),
        {"module.weight": torch.ones(1, 2), "module.bias": torch.ones(1)},
        "module.weight",
    ),
}
"""Files that are taken for right ones where small differences are overlooked."""


@pytest.mark.parametrize("misfit", MISFITS)
def test_misfits(answer, gen, path, misfit):
    """Missing, unknown and misshapen entries are all named, and not one weight of the model has changed."""
    saved, model = network(gen), network(gen)
    model[2].eval()
    before = state_of(model)
    changes, words = MISFITS[misfit]
    state = saved.state_dict()
    state = {changes: state} if isinstance(changes, str) else {**state, **changes}
    torch.save({name: t for name, t in state.items() if t is not None}, path)
    call = f"safe_load(model, path) of a file with {misfit}"
    with modes_kept(call, model):
        expect_raises(RuntimeError, lambda: answer.safe_load(model, path), call, words=words)
    expect_state(model, before, f"after {call}")
    if misfit in ALIKE:
        single, state, name = ALIKE[misfit]
        before = state_of(single)
        torch.save(state, path)
        call = f"safe_load(model, path) of {{{name!r}: a tensor of {tuple(state[name].shape)}}} for {single}"
        expect_raises(RuntimeError, lambda: answer.safe_load(single, path), call, words=str(name))
        expect_state(single, before, f"after {call}")


def test_no_state_dict(answer, gen, path):
    """A list, a number, a damaged file and no file raise, and the model is as it was."""
    model = network(gen)
    before = state_of(model)

    def expect_error(errors, what):
        call = f"safe_load(model, path) of {what}"
        with modes_kept(call, model):
            expect_raises(errors, lambda: answer.safe_load(model, path), call)
        expect_state(model, before, f"after {call}")

    expect_error(FileNotFoundError, "a file that is not there")
    for content in ([torch.ones(3)], 7):
        torch.save(content, path)
        expect_error((TypeError, RuntimeError), f"a file that holds {content!r}")
    torch.save(network(gen).state_dict(), path)
    whole = path.read_bytes()
    for what, content in {
        "half a file": whole[: len(whole) // 2],
        "an empty file": b"",
        "noise": b"\x00\xff" * 99,
    }.items():
        path.write_bytes(content)
        try:
            torch.load(path, weights_only=True)
        except Exception as error:
            expect_error(type(error), what)


def test_devices(answer, gen, path, device):
    """The model goes to the device that is asked for, from wherever it is; without asking, to the CPU."""
    saved = network(gen)
    torch.save(saved.state_dict(), path)
    for start, target in (
        ("cpu", device),
        (device, device),
        ("cpu", str(device)),
        (device, "cpu"),
        (device, None),
    ):
        model = network(gen).to(start)
        given = () if target is None else (target,)
        with count_traffic() as traffic:
            answer.safe_load(model, path, *given)
        there = str(target or "cpu") != "cpu"
        when = f"after safe_load to {target or 'the default'} of a model on {start}"
        if start == "cpu":
            told = f"weights are copied back to the host, where the model is, {when}"
            copies = f"{traffic.to_host} copies"  # one may try the device
            expect_that(traffic.to_host <= 1, told, yours=copies, wanted="no copies")
        for name, t in model.state_dict().items():
            expect_equal(is_simulated(t), there, f"whether {name} is on the other device {when}")
        expect_state(model, state_of(saved), when)
        expect_equal(modes_of(model), [False] * 5, f"the training flags {when}")


def test_refused_for_a_device(answer, gen, path, device):
    """A model that does not fit the file stays where it is."""
    model = network(gen).train()
    torch.save({**network(gen).state_dict(), "3.weight": torch.ones(2, 5)}, path)
    call = "safe_load(model, path, device) of a file with another shape"
    with modes_kept(call, model):
        expect_raises(RuntimeError, lambda: answer.safe_load(model, path, device), call, words="3.weight")
        expect_that(not is_simulated(model[0].weight), f"the model has moved to the device after {call}")


def test_no_such_device(answer, gen, path):
    """If the device is not there, the error comes before anything has changed."""
    model = network(gen).train()
    before = state_of(model)
    torch.save(network(gen).state_dict(), path)
    for device in ("cuda:99", "a gpu"):
        call = f"safe_load(model, path, {device!r}), where there is no such device"
        with modes_kept(call, model):
            expect_raises(Exception, lambda device=device: answer.safe_load(model, path, device), call)
        expect_state(model, before, f"after {call}")
    model = torch.nn.BatchNorm1d(3, affine=False)
    before = state_of(model)
    torch.save({name: t + 1 for name, t in before.items()}, path)
    call = "safe_load(a model of buffers alone, path, 'cuda:99'), where there is no such device"
    with modes_kept(call, model):
        expect_raises(Exception, lambda: answer.safe_load(model, path, "cuda:99"), call)
    expect_state(model, before, f"after {call}")


def oracle(answer, gen):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.pt"
        saved, model = network(gen), network(gen)
        torch.save(saved.state_dict(), path)
        x = torch.randn(5, 3, generator=gen)
        found.append(answer.safe_load(model, path)(x).detach())
        target = path.parent / "pwned"
        for bad in payloads(target).values():
            for place in PLACES:
                write(place, bad, saved.state_dict(), path)
                try:
                    answer.safe_load(model, path)
                    found.append("loaded")
                except pickle.UnpicklingError:
                    found.append("refused")
                except Exception:
                    found.append("another error")
        torch.save({**network(gen).state_dict(), "3.weight": torch.ones(2, 5)}, path)
        try:
            answer.safe_load(model, path)
        except RuntimeError:
            found.append("misfit")
        found.append([model[0].weight.detach().clone(), target.exists(), modes_of(model)])
    return found
