"""What grades safe_load: weights, hostile files, other machines, misfits; a model left as it was."""

import os
import pickle
import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, modes_kept
from grader.checks.devices import is_simulated, on_host


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "weights.pt"


def network(gen):
    """3 features, 4 hidden units with batch norm, 2 outputs, all of its state at random."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    for t in model.state_dict().values():
        t.copy_(torch.rand(t.shape, generator=gen) + 0.5 if t.is_floating_point() else torch.tensor(11))
    return model


def state_of(model):
    return {name: on_host(t) for name, t in model.state_dict().items()}


def expect_state(model, wanted, when, before=None):
    for name, right in wanted.items():
        suspects = {"it was not loaded": lambda name=name: before[name]} if before else None
        expect_equal(on_host(model.state_dict()[name]), right, f"{name} {when}", suspects=suspects)


def expect_refused(answer, model, path, errors, what, words="", device="cpu"):
    """The error, and a model that is what it was."""
    call, before = f"safe_load(model, path) of {what}", state_of(model)
    with modes_kept(call, model):
        expect_raises(errors, lambda: answer.safe_load(model, path, device), call, words=words)
    expect_state(model, before, f"after {call}")


class Harmless:
    """A class of one's own."""


class Hostile:
    """Has whoever unpickles it call a function."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def write(kind, state, path):
    """A file that makes `pwned` exist beside it where it is unpickled; or a model, as such."""
    target = path.parent / "pwned"
    bad = Hostile(os.mkdir, str(target)) if "mkdir" in kind else Hostile(Path.touch, target)
    if kind == "a whole pickled model":
        torch.save(nn.Linear(2, 1), path)
    elif kind == "an object of some class":
        torch.save({**state, "made_by": Harmless()}, path)
    elif kind == "a bare pickle":
        path.write_bytes(pickle.dumps(bad, protocol=2))
    else:
        torch.save(
            {"info": [1, {"by": bad}], **state}, path, _use_new_zipfile_serialization="old" not in kind
        )


KINDS = ("mkdir", "pathlib", "the old format", "a bare pickle")
KINDS += ("a whole pickled model", "an object of some class")


def test_loads(answer, gen, path):
    """All weights and buffers of the file arrive in the model, which is returned in evaluation mode."""
    for given in (str(path), path):
        saved, model = network(gen), network(gen).train()
        before, x = state_of(model), torch.randn(5, 3, generator=gen)
        torch.save(saved.state_dict(), path)
        loaded = answer.safe_load(model, given)
        expect_that(loaded is model, "safe_load(model, path) returns something else than the model")
        expect_state(model, state_of(saved), "after safe_load(model, path)", before)
        modes = {layer.training for layer in model.modules()}
        expect_that(modes == {False}, "layers are in training mode after safe_load(model, path)")
        expect_close(model(x).detach(), saved.eval()(x).detach(), "safe_load(model, path)(x)")


@pytest.mark.parametrize("kind", KINDS)
def test_no_code_runs(answer, gen, path, kind):
    """A file with more than tensors and plain data is refused, and nothing in it runs."""
    write(kind, network(gen).state_dict(), path)
    call = f"safe_load(model, path) of a file with code: {kind}"
    try:
        expect_raises(pickle.UnpicklingError, lambda: answer.safe_load(network(gen), path), call)
    finally:
        target = path.parent / "pwned"
        expect_that(not target.exists(), f"code from the file has run in {call}", likely="weights_only=False")


@pytest.mark.parametrize("tag", ["cuda:7", "mps"])
def test_from_another_machine(answer, gen, path, monkeypatch, tag):
    """Weights that were saved on a device which this machine lacks arrive."""
    saved, model = network(gen), network(gen)
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: tag)
    torch.save(saved.state_dict(), path)
    monkeypatch.undo()
    try:
        answer.safe_load(model, path)
    except RuntimeError as error:
        if "deserialize" not in str(error):
            raise
        what = f"a file that was saved on {tag} does not load here"
        expect_that(False, what, yours=str(error)[:100], likely="map_location is missing")
    expect_state(model, state_of(saved), f"after safe_load of a file that was saved on {tag}")


MISFITS = {
    "a missing weight": ({"0.weight": None}, "0.weight"),
    "a missing buffer": ({"1.running_var": None}, "1.running_var"),
    "a name that the model lacks": ({"4.weight": torch.ones(2)}, "4.weight"),
    "another shape": ({"3.weight": torch.ones(2, 5)}, "3.weight"),
    "a shape that would broadcast": ({"3.weight": torch.ones(1, 4)}, "3.weight"),
}
FINE_MISFITS = {
    "a list for a tensor": ({"3.bias": [1.0, 2.0]}, "3.bias"),
    "several at once": ({"0.bias": torch.ones(5), "9": torch.ones(1), "3.bias": None}, "0.bias 9 3.bias"),
}


def misfit(gen, changes, path):
    state = {**network(gen).state_dict(), **changes}
    torch.save({name: t for name, t in state.items() if t is not None}, path)


def test_misfits(answer, gen, path):
    """A missing, an unknown or a misshapen entry is a RuntimeError."""
    for what, (changes, _) in MISFITS.items():
        misfit(gen, changes, path)
        call = f"safe_load(model, path) of a file with {what}"
        expect_raises(RuntimeError, lambda: answer.safe_load(network(gen), path), call)


def test_on_a_device(answer, gen, path, device):
    """The model goes to the device that is asked for; without asking, to the CPU."""
    saved = network(gen)
    torch.save(saved.state_dict(), path)
    for start, given in (("cpu", [device]), (device, [])):
        model, when = network(gen).to(start), f"after safe_load(model, path{', device' if given else ''})"
        answer.safe_load(model, path, *given)
        for name, t in model.state_dict().items():
            what = f"{name} is {'not on the device' if given else 'not on the CPU'} {when}"
            expect_that(is_simulated(t) == bool(given), what)
        expect_state(model, state_of(saved), when)


@pytest.mark.fine
def test_refused_as_a_whole(answer, gen, path, device):
    """Where a file does not fit, every fault is named, and the model is what it was and where it was."""
    for what, (changes, words) in {**MISFITS, **FINE_MISFITS}.items():
        misfit(gen, changes, path)
        expect_refused(answer, network(gen), path, RuntimeError, f"a file with {what}", words)
    write("mkdir", network(gen).state_dict(), path)
    expect_refused(answer, network(gen), path, pickle.UnpicklingError, "a hostile file")
    misfit(gen, {"3.bias": None}, path)
    model = network(gen)
    expect_refused(answer, model, path, RuntimeError, "a file without a bias", device=device)
    expect_that(not is_simulated(model[0].weight), "a model that is refused has moved to the device")


@pytest.mark.fine
def test_no_state_dict(answer, gen, path):
    """A list, a damaged file and no file raise."""
    expect_refused(answer, network(gen), path, FileNotFoundError, "a file that is not there")
    torch.save([torch.ones(3)], path)
    expect_refused(answer, network(gen), path, (TypeError, RuntimeError), "a file that holds a list")
    torch.save(network(gen).state_dict(), path)
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(Exception) as raised:
        torch.load(path, weights_only=True)
    expect_refused(answer, network(gen), path, raised.type, "half a file")


@pytest.mark.fine
def test_no_such_device(answer, gen, path):
    """If the device is not there, the error comes before anything has changed."""
    torch.save(network(gen).state_dict(), path)
    for name in ("cuda:99", "a gpu"):
        expect_refused(answer, network(gen), path, Exception, f"a good file to {name!r}", device=name)


@pytest.mark.fine
def test_forced_by_the_environment(answer, gen, path, monkeypatch):
    """TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD admits no code."""
    write("mkdir", network(gen).state_dict(), path)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    what = "a hostile file, with TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1"
    expect_refused(answer, network(gen), path, pickle.UnpicklingError, what)


@pytest.mark.fine
def test_into_the_models_own_tensors(answer, gen, path):
    """Optimizers see the new weights; dtypes and requires_grad are the model's."""
    saved, model = network(gen).to(torch.bfloat16), network(gen)
    torch.save(saved.state_dict(), path)
    model[1].weight.requires_grad_(False)
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    required = [p.requires_grad for p in model.parameters()]
    answer.safe_load(model, path)
    for name, t in held.items():
        same = t is model.state_dict(keep_vars=True)[name]
        expect_that(same, f"{name} is another tensor after safe_load(model, path)", likely="assign=True")
        wanted = saved.state_dict()[name]
        expect_equal(t.detach(), wanted.to(held[name].dtype), f"{name}, loaded from bfloat16,")
    expect_equal(model[0].weight.dtype, torch.float32, "the dtype of a model, loaded from bfloat16")
    after = [p.requires_grad for p in model.parameters()]
    expect_equal(after, required, "requires_grad of the parameters after safe_load(model, path)")


def oracle(answer, gen):
    def loaded(gen):
        with tempfile.TemporaryDirectory() as folder:
            path, model, saved = Path(folder) / "weights.pt", network(gen), network(gen)
            torch.save(saved.state_dict(), path)
            returned = answer.safe_load(model, path)
            return returned, model, torch.randn(5, 3, generator=gen)

    def results(gen):
        returned, _, x = loaded(gen)
        return returned(x).detach()

    def tried(path, gen):
        """The weights that are loaded, or that the file is refused; and whether something in it has run."""
        model = network(gen)
        try:
            parameters = {name: p.detach() for name, p in model.named_parameters()}  # buffers have their case
            found = [answer.safe_load(model, path) is model, parameters]
        except (pickle.UnpicklingError, RuntimeError) as error:
            found = type(error).__name__
        return [found, (path.parent / "pwned").exists()]

    def some_bad(spoil):
        """What becomes of six files, of which one in two is bad."""

        def case(gen):
            found = []
            for is_bad in (torch.rand(6, generator=gen) < 0.5).tolist():
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "weights.pt"
                    torch.save(network(gen).state_dict(), path)
                    if is_bad:
                        spoil(gen, path)
                    found.append(tried(path, gen))
            return found

        return case

    def hostile(*kinds):
        return lambda gen, path: write(one_of(gen, kinds), network(gen).state_dict(), path)

    def misfits(*kinds):
        return lambda gen, path: misfit(gen, MISFITS[one_of(gen, kinds)][0], path)

    return {
        "results of the model": results,
        "weights and buffers": lambda gen: state_of(loaded(gen)[1]),
        "six files, some with code": some_bad(hostile(*KINDS[:4])),
        "six files, some with objects": some_bad(hostile(*KINDS[4:])),
        "six files, some without an entry, or with an unknown one": some_bad(misfits(*list(MISFITS)[:3])),
        "six files, some with entries of another shape": some_bad(misfits(*list(MISFITS)[3:])),
    }


def one_of(gen, kinds):
    return kinds[int(torch.randint(len(kinds), (), generator=gen))]
