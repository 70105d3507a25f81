"""What grades safetensors_roundtrip: tied, strided, any dtype, metadata; views, refusals, the file."""

import json
import resource
import tempfile
from pathlib import Path

import pytest
import safetensors
import torch
from safetensors.torch import save_file
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, shares_storage


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "model.safetensors"


def expect_there_and_back(answer, path, tensors, shared):
    """Save, look into the file, load, and see which names share memory."""
    wanted = {n: t.detach().clone(memory_format=torch.contiguous_format) for n, t in tensors.items()}
    try:
        answer.save_tensors(path, tensors)
    except RuntimeError as error:
        what = "save_tensors hands safetensors what it refuses"
        likely = "not contiguous" if "contiguous" in str(error) else "two names share memory"
        expect_that(False, what, yours=str(error)[:90], likely=likely)
    with safetensors.safe_open(path, "pt") as file:
        found, header = sorted(file.keys()), file.metadata() or {}
    same = "a tensor is in it under each of its names: other Python objects may share its memory"
    once, what = sorted(set(tensors) - set(shared)), "the names of the tensors in the file"
    expect_equal(found, once, what, suspects={same: lambda: sorted(tensors)})
    expect_equal(json.loads(header.get("shared", "{}")), shared, 'header["shared"], from JSON,')
    loaded, about = answer.load_tensors(path)
    expect_equal(about, {}, "the metadata that is loaded where none was given")
    expect_equal(loaded, wanted, "the tensors that are loaded")
    for name in loaded:
        for other in loaded:
            if name < other and loaded[name].numel() and loaded[other].numel():
                together = shared.get(name, name) == shared.get(other, other)
                told = f"loaded[{name!r}] and loaded[{other!r}] {'do not ' if together else ''}share memory"
                expect_that(shares_storage(loaded[name], loaded[other]) == together, told)
    return loaded


def tied(gen):
    model = nn.ModuleDict({"head": nn.Linear(2, 3), "tokens": nn.Embedding(3, 2), "again": nn.Linear(2, 3)})
    for p in model.parameters():
        p.data.copy_(torch.randn(p.shape, generator=gen))
    model["head"].weight = model["again"].weight = model["tokens"].weight
    return model.state_dict(), {"tokens.weight": "head.weight", "again.weight": "head.weight"}


def strided(gen):
    w = torch.randn(4, 3, generator=gen)
    return {"transposed": w.T, "columns": torch.randn(3, 4, generator=gen)[:, 1:3], "plain": w.clone()}


def kinds(gen):
    return {
        "bfloat16": torch.randn(3, generator=gen).to(torch.bfloat16),
        "float64": torch.randn(2, 3, generator=gen).double(),
        "bool": torch.rand(4, generator=gen) > 0.5,
        "int64": torch.tensor(2**60 + 1),
    }


def test_tied(answer, path, gen):
    """Tied weights of a state dict are written once, and share memory when loaded."""
    expect_there_and_back(answer, path, *tied(gen))
    a, b = torch.randn(3, generator=gen), torch.randn(5, generator=gen)
    expect_there_and_back(answer, path, {"z": a, "b1": b, "y": a, "b0": b}, {"y": "z", "b0": "b1"})


def test_strided(answer, path, gen):
    """Tensors that are not contiguous come back."""
    expect_there_and_back(answer, path, strided(gen), {})


def test_dtypes(answer, path, gen):
    """Every dtype comes back, and a tensor without dimensions."""
    expect_there_and_back(answer, path, kinds(gen), {})


ABOUT = {
    "numbers": {"step": 500, "loss": 0.1, "big": 10**30, "none": None, "yes": True, "text": 'a "quoted" ü'},
    "nested": {"classes": ["cat", ["dog"], {}], "config": {"layers": [1, 2.0, None], "deep": {"er": []}}},
    "names of our own": {"shared": {"bias": "weight"}, "metadata": "{}", "format": "pt", "weight": [2]},
}


@pytest.mark.parametrize("kind", ABOUT)
def test_metadata(answer, path, kind):
    """Metadata comes back as it was, types and all, whatever its names."""
    w, given = torch.ones(2), json.loads(json.dumps(ABOUT[kind]))
    answer.save_tensors(path, {"weight": w, "other": w}, metadata=given)
    loaded, about = answer.load_tensors(path)
    expect_equal(about, ABOUT[kind], "the metadata that is loaded")
    expect_equal(sorted(loaded), ["other", "weight"], "the names of the tensors that are loaded")


@pytest.mark.fine
def test_overlapping(answer, path, gen):
    """What shares memory in another way is written in full, and on its own when loaded."""
    w, none = torch.randn(4, 4, generator=gen), torch.zeros(0, 3)
    tensors = {"all": w, "transposed": w.T, "first": w[:2], "last": w[2:], "corner": w[0, 0]}
    tensors |= {"bits": w.view(torch.int32), "equal": w.clone(), "no rows": none, "no rows either": none[:]}
    expect_there_and_back(answer, path, tensors, {})


@pytest.mark.fine
def test_plain_results(answer, path, gen):
    """Parameters are saved; what is loaded is contiguous, without gradient."""
    w = nn.Parameter(torch.randn(4, 3, generator=gen))
    answer.save_tensors(path, {"w": w, "w.T": w.T})
    for name, t in answer.load_tensors(path)[0].items():
        expect_that(t.is_contiguous(), f"loaded[{name!r}] is not contiguous")
        expect_that(not t.requires_grad, f"loaded[{name!r}] requires a gradient")


REFUSED = {"an object": {"a": object()}, "numbers as names": {"a": [{0: "cat", 1: "dog"}]}}


@pytest.mark.fine
@pytest.mark.parametrize("kind", REFUSED)
def test_refused(answer, path, kind):
    """What would not come back is refused."""
    tensors, call = {"w": torch.ones(2)}, f"save_tensors with {kind} in metadata"
    expect_raises((TypeError, ValueError), lambda: answer.save_tensors(path, tensors, REFUSED[kind]), call)
    expect_equal([f.name for f in path.parent.iterdir()], [], f"the files in the folder after {call}")


@pytest.mark.fine
def test_when_saving_fails(answer, path):
    """Where save_tensors raises, the file that was there is still there, and nothing is beside it."""
    answer.save_tensors(path, {"old": torch.ones(3)}, {"old": 1})
    before, (soft, hard) = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))  # as if the disk were full
        with pytest.raises(Exception):  # noqa: B017
            answer.save_tensors(path, {"w": torch.ones(400_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    same = path.exists() and path.read_bytes() == before
    expect_that(same, "the file that was there is another after save_tensors has raised on a full disk")
    names = [f.name for f in path.parent.iterdir()]
    expect_equal(names, [path.name], "the files in the folder after save_tensors has raised on a full disk")


@pytest.mark.fine
def test_other_programs(answer, path, gen):
    """Files without our entries in the header, or with others, can be read."""
    w = torch.randn(3, 2, generator=gen)
    headers = {
        "no metadata": (None, {}, {"w": w}),
        "other entries": ({"format": "pt", "note": "not JSON {"}, {}, {"w": w}),
        "metadata alone": ({"metadata": '{"step": 3}'}, {"step": 3}, {"w": w}),
        "shared alone": ({"shared": '{"v": "w"}'}, {}, {"w": w, "v": w}),
    }
    for what, (header, metadata, wanted) in headers.items():
        save_file({"w": w}, path, header)
        found = answer.load_tensors(path)
        expect_equal(found, (wanted, metadata), f"load_tensors of a file with {what}")


@pytest.mark.fine
def test_no_safetensors(answer, path):
    """A damaged file raises SafetensorError, no file FileNotFoundError."""
    expect_raises(FileNotFoundError, lambda: answer.load_tensors(path), "load_tensors of no file")
    answer.save_tensors(path, {"w": torch.ones(9)})
    path.write_bytes(path.read_bytes()[:-20])
    expect_raises(
        safetensors.SafetensorError, lambda: answer.load_tensors(path), "load_tensors of half a file"
    )


def oracle(answer, gen):
    def there_and_back(made, about=lambda _gen: None):
        def case(gen):
            with tempfile.TemporaryDirectory() as folder:
                path, tensors = Path(folder) / "model.safetensors", made(gen)
                answer.save_tensors(path, tensors, about(gen))
                with safetensors.safe_open(path, "pt") as file:
                    names = sorted(file.keys())
                loaded, metadata = answer.load_tensors(path)
                found = {name: loaded[name].clone() for name in sorted(loaded)}
                if "head.weight" in loaded:
                    loaded["head.weight"].zero_()  # what of the names that it shares memory with?
                return [names, found, {name: loaded[name] for name in sorted(loaded)}, metadata]

        return case

    def words(gen):
        drawn = torch.randint(26, (3, 5), generator=gen).tolist()
        return ["".join(chr(ord("a") + letter) for letter in word) for word in drawn]

    def one(gen):
        return {"w": torch.randn(3, generator=gen)}

    def own_names(gen):
        """Those of metadata that are ours, too."""
        return {"shared": words(gen), "metadata": {"shared": words(gen)}, "format": words(gen)[0]}

    return {
        "tied weights": there_and_back(lambda gen: tied(gen)[0]),
        "strided tensors": there_and_back(strided),
        "dtypes": there_and_back(kinds),
        "metadata": there_and_back(
            one, lambda gen: {"step": sum(map(ord, words(gen)[0])), "classes": words(gen)}
        ),
        "metadata with names of our own": there_and_back(one, own_names),
    }
