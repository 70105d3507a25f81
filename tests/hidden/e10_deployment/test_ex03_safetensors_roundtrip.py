"""What grades safetensors_roundtrip: sharing, views, dtypes, the file itself, metadata, refusals."""

import builtins
import errno
import io
import json
import math
import os
import pickle
import resource
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import safetensors
import torch
from safetensors.torch import save_file
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, shares_storage, unchanged


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "model.safetensors"


def in_file(path):
    """What another program finds: the names of the tensors with their shapes, and the header's metadata."""
    with safetensors.safe_open(path, "pt") as file:
        names = {name: list(file.get_slice(name).get_shape()) for name in sorted(file.keys())}
        header = file.metadata() or {}
    return names, {name: json.loads(header[name]) for name in ("shared", "metadata") if name in header}


def copied(tensors):
    return {name: t.detach().clone(memory_format=torch.contiguous_format) for name, t in tensors.items()}


def expect_there_and_back(answer, path, tensors, names, shared):
    """Save, look into the file, load, and see which names share memory."""
    wanted, strides = copied(tensors), [t.stride() for t in tensors.values()]
    with unchanged("save_tensors(path, tensors)", **{f"tensors[{n!r}]": t for n, t in tensors.items()}):
        answer.save_tensors(path, tensors)
    expect_equal(
        [t.stride() for t in tensors.values()], strides, "the strides of the inputs after save_tensors"
    )
    found, header = in_file(path)
    expect_equal(list(found), sorted(names), "the names of the tensors in the file")
    expect_equal(header.get("shared", {}), shared, 'header["shared"], from JSON,')
    loaded, about = answer.load_tensors(path)
    expect_equal(about, {}, "the metadata that is loaded where none was given")
    expect_equal(loaded, wanted, "the tensors that are loaded")
    for name, t in loaded.items():
        expect_that(t.is_contiguous(), f"loaded[{name!r}] is not contiguous")
        expect_that(not t.requires_grad, f"loaded[{name!r}] requires a gradient")
    for name in loaded:
        for other in loaded:
            if name < other and loaded[name].numel() and loaded[other].numel():
                together = shared.get(name, name) == shared.get(other, other)
                expect_equal(
                    shares_storage(loaded[name], loaded[other]),
                    together,
                    f"whether loaded[{name!r}] and loaded[{other!r}] share memory",
                )
    return loaded


def test_shared(answer, path, gen):
    """Whatever sees the same memory in the same way is written once, and shares memory when loaded."""
    a, b = torch.randn(3, 4, generator=gen), torch.randn(5, generator=gen)
    tensors = {"z": a, "b1": b, "y": a.detach(), "m": torch.ones(2), "x": a.view(3, 4), "b0": b[:]}
    shared = {"y": "z", "x": "z", "b0": "b1"}
    number = torch.tensor(0.07)
    tensors |= {"scale": number, "again": number.detach()}
    shared["again"] = "scale"
    array = torch.randn(
        2, 3, generator=gen
    ).numpy()  # tensors of the same memory, each with a storage of its own
    tensors |= {"array": torch.from_numpy(array), "array again": torch.from_numpy(array)}
    tensors |= {"array.T": torch.from_numpy(array).T, "array.T again": torch.from_numpy(array.T)}
    shared |= {"array again": "array", "array.T again": "array.T"}
    own = [name for name in tensors if name not in shared]
    loaded = expect_there_and_back(answer, path, tensors, own, shared)
    loaded["x"].zero_()
    expect_equal(loaded["z"], torch.zeros(3, 4), 'loaded["z"] after loaded["x"].zero_()')
    model = nn.ModuleDict({"head": nn.Linear(2, 3), "tokens": nn.Embedding(3, 2)})
    model["head"].weight = model["tokens"].weight
    state = model.state_dict()
    expect_there_and_back(answer, path, state, ["head.weight", "head.bias"], {"tokens.weight": "head.weight"})
    parameters = dict(model.named_parameters(remove_duplicate=False))
    expect_there_and_back(
        answer, path, parameters, ["head.weight", "head.bias"], {"tokens.weight": "head.weight"}
    )


def test_overlapping(answer, path, gen):
    """What shares memory in another way is written in full, and on its own when loaded."""
    w = torch.randn(4, 4, generator=gen)
    tensors = {
        "all": w,
        "transposed": w.T,
        "flat": w.view(-1),
        "first": w[:2],
        "last": w[2:],
        "column": w[:, 1],
        "every second": w[::2],
        "corner": w[0, 0],
        "repeated": w[0].expand(3, 4),
        "windows of two": w.view(-1)[:4].unfold(0, 2, 1),  # (3, 2), with strides (1, 1)
        "windows of three": w.view(-1)[:4].unfold(0, 3, 1),  # (2, 3), with strides (1, 1)
        "bits": w.view(torch.int32),
        "equal": w.clone(),
        "block": w[:2, :2],
        "block, transposed": w[:2, :2].T,
    }
    expect_there_and_back(answer, path, tensors, tensors, {})


def test_shapes_and_dtypes(answer, path, gen):
    """All shapes and dtypes come back: halves, bools, no dimensions, no elements, strided memory."""
    tensors = {
        "bfloat16": torch.randn(3, generator=gen).to(torch.bfloat16),
        "float16": torch.randn(3, 2, generator=gen).half().T,
        "float64": torch.randn(2, 3, 4, generator=gen).double().permute(2, 0, 1),
        "bool": torch.tensor([True, False]),
        "uint8": torch.tensor([0, 255], dtype=torch.uint8),
        "int64": torch.tensor(2**60 + 1),
        "fp8": torch.tensor([0.5, 2.0]).to(torch.float8_e4m3fn).view(torch.uint8),
        "no elements": torch.zeros(0),
        "no rows": torch.zeros(0, 3),
        "no rows either": torch.zeros(0, 3),
        "no columns": torch.zeros(2, 0, dtype=torch.int64),
        "odd name / ü": torch.tensor([float("inf"), -0.0]),
        "channels last": torch.randn(1, 3, 2, 2, generator=gen).to(memory_format=torch.channels_last),
    }
    expect_there_and_back(answer, path, tensors, tensors, {})
    expect_there_and_back(answer, path, {}, {}, {})


def test_bytes_on_disk(answer, path, gen):
    """The file holds each tensor once, and of a view only its own elements."""
    huge = torch.randn(200, 500, generator=gen)
    row = huge[3]
    answer.save_tensors(path, {"row": row, "table": torch.zeros(100, 100), "again": row}, {"n": 1})
    size, needed = path.stat().st_size, 4 * (500 + 100 * 100)
    expect_that(
        size < needed + 1500,
        "the file is larger than its tensors",
        yours=f"{size:,} bytes",
        wanted=f"{needed:,} bytes and a header",
    )


def test_loaded_memory(answer, path, gen):
    """Each load has memory of its own; and what was loaded can be saved over its file."""
    w = torch.randn(3, 4, generator=gen)
    answer.save_tensors(path, {"w": w, "v": w}, {"step": 1})
    first, _ = answer.load_tensors(path)
    first["w"].zero_()
    second, _ = answer.load_tensors(path)
    expect_equal(second["v"], w, "what is loaded after a loaded tensor was changed")
    second["w"] += 1
    answer.save_tensors(str(path), second, {"step": 2})
    third, about = answer.load_tensors(str(path))
    expect_equal(third, {"w": w + 1, "v": w + 1}, "what is loaded after saving over the file")
    expect_equal(about, {"step": 2}, "the metadata after saving over the file")
    expect_equal(second["w"], w + 1, "what was loaded before, after its file was replaced")


ABOUT = {
    "numbers": {"step": 500, "loss": 0.1, "tiny": 5e-324, "big": 10**30, "minus": -0.5, "inf": math.pi},
    "plain": {"none": None, "yes": True, "no": False, "text": 'a "quoted" ü\n', "empty": ""},
    "nested": {"classes": ["cat", ["dog"], {}], "config": {"layers": [1, 2.0, None], "deep": {"er": []}}},
    "names of our own": {
        "shared": {"bias": "weight"},
        "metadata": "{}",
        "format": "pt",
        "": 1,
        "weight": [2],
    },
    "none": {},
}


@pytest.mark.parametrize("kind", ABOUT)
def test_metadata(answer, path, kind):
    """Metadata comes back as it was, types and all, whatever its names."""
    w = torch.ones(2)
    given = json.loads(json.dumps(ABOUT[kind]))
    answer.save_tensors(path, {"weight": w, "other": w}, metadata=given)
    expect_equal(given, ABOUT[kind], "the metadata that was given, after save_tensors")
    _, header = in_file(path)
    expect_equal(header.get("metadata", {}), ABOUT[kind], 'header["metadata"], from JSON,')
    loaded, about = answer.load_tensors(path)
    expect_equal(about, ABOUT[kind], "the metadata that is loaded")
    expect_equal(sorted(loaded), ["other", "weight"], "the names of the tensors that are loaded")


REFUSED = {
    "an object": ({"w": torch.ones(2)}, {"a": object()}),
    "a tensor as metadata": ({"w": torch.ones(2)}, {"a": torch.ones(2)}),
    "a set": ({"w": torch.ones(2)}, {"a": {1, 2}}),
    "a tuple": ({"w": torch.ones(2)}, {"a": (1, 2)}),
    "a tuple inside": ({"w": torch.ones(2)}, {"a": [{"b": (1,)}]}),
    "a number as a name": ({"w": torch.ones(2)}, {1: "a"}),
    "a number as a name inside": ({"w": torch.ones(2)}, {"a": {0: "cat", 1: "dog"}}),
    "None as a name inside": ({"w": torch.ones(2)}, {"a": {None: 1}}),
    "True as a name inside": ({"w": torch.ones(2)}, {"a": [{True: 2}]}),
    "NaN": ({"w": torch.ones(2)}, {"a": float("nan")}),
    "infinity inside": ({"w": torch.ones(2)}, {"a": [-float("inf")]}),
    "a list for a tensor": ({"w": torch.ones(2), "v": [1.0, 2.0]}, {}),
    "None for a tensor": ({"w": torch.ones(2), "bias": None}, {}),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(answer, path, kind):
    """What would not come back is refused, and then no file has changed."""
    tensors, metadata = REFUSED[kind]
    call = f"save_tensors with {kind}"
    expect_raises((TypeError, ValueError), lambda: answer.save_tensors(path, tensors, metadata), call)
    expect_equal([f.name for f in path.parent.iterdir()], [], f"the files in the folder after {call}")
    answer.save_tensors(path, {"old": torch.ones(3)}, {"old": 1})
    before = path.read_bytes()
    expect_raises((TypeError, ValueError), lambda: answer.save_tensors(path, tensors, metadata), call)
    expect_that(
        path.exists() and path.read_bytes() == before, f"the file that was there is another after {call}"
    )
    expect_equal(
        [f.name for f in path.parent.iterdir()], [path.name], f"the files in the folder after {call}"
    )


def test_when_writing_fails(answer, path, monkeypatch):
    """Where a file cannot be written, the one that was there is still there, and nothing is beside it."""
    answer.save_tensors(path, {"old": torch.ones(3)}, {"old": 1})
    before = path.read_bytes()

    def expect_as_before(call):
        yours = path.read_bytes() if path.is_file() else None
        expect_that(yours == before, f"the file that was there is another after {call}, which has raised")
        names = [f.name for f in path.parent.iterdir()]
        expect_equal(names, [path.name], f"the files in the folder after {call}, which has raised")

    strange = {"w": torch.ones(2, dtype=torch.complex128)}
    try:
        answer.save_tensors(path, strange)
    except Exception:
        expect_as_before("save_tensors of complex128 numbers")
    else:  # somebody has found a way
        expect_equal(answer.load_tensors(path)[0], strange, "the complex128 numbers that are loaded")
        path.write_bytes(before)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    large = {"w": torch.ones(400_000)}
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))  # as if the disk were full
        for where in (path, path.with_name("new.safetensors")):
            with pytest.raises(Exception) as caught:
                answer.save_tensors(where, large)
    except pytest.fail.Exception:
        expect_that(False, "no error from save_tensors where the disk is full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    del caught
    expect_as_before("save_tensors on a full disk")

    def refuse(*_, **__):
        raise error

    for error in (PermissionError("the file is open elsewhere"), KeyboardInterrupt()):
        for name in ("rename", "replace"):
            monkeypatch.setattr(os, name, refuse)
        with suppress(Exception, KeyboardInterrupt):
            answer.save_tensors(path, {"w": torch.ones(2)})
            path.write_bytes(before)  # written without either
        expect_as_before(f"save_tensors where os.replace and os.rename fail with {type(error).__name__}")
        monkeypatch.undo()
    real = {name: getattr(os, name) for name in ("rename", "replace")}

    def within(name):
        def move(source, target, **more):
            if path.parent.resolve() not in Path(source).resolve().parents:  # /tmp is often on another disk
                raise OSError(errno.EXDEV, f"{source} is in another folder, which may lie on another disk")
            return real[name](source, target, **more)

        return move

    for name in real:
        monkeypatch.setattr(os, name, within(name))
    answer.save_tensors(path, {"old": torch.ones(3)}, {"old": 1})

    def fill(source, target, **_):
        Path(target).write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fill)
    before = path.read_bytes()
    with suppress(OSError):
        answer.save_tensors(path, {"w": torch.ones(2)})
        path.write_bytes(before)
    expect_as_before("save_tensors where shutil finds the disk full")
    monkeypatch.undo()

    def filling(real):
        def opened(file, mode="r", *rest, **more):
            writes = mode.strip("rbt") and not isinstance(file, int)
            if writes and Path(os.fsdecode(file)).resolve() == path.resolve():
                with real(file, "wb") as half:
                    half.write(b"half of it")
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(file, mode, *rest, **more)

        return opened

    for module in (builtins, io):
        monkeypatch.setattr(module, "open", filling(module.open))
    with suppress(OSError):
        answer.save_tensors(path, {"w": torch.ones(2)})
        monkeypatch.undo()
        path.write_bytes(before)
    monkeypatch.undo()
    expect_as_before("save_tensors where the disk is full once the file itself is opened")
    path.unlink()
    path.mkdir()
    expect_raises(
        Exception, lambda: answer.save_tensors(path, {"w": torch.ones(2)}), "save_tensors to a folder"
    )
    names = [f.name for f in path.parent.rglob("*")]
    expect_equal(names, [path.name], "the files in the folder after save_tensors to a folder")


def test_other_programs(answer, path, gen):
    """Files without our entries in the header, or with others, can be read."""
    w, b = torch.randn(3, 2, generator=gen), torch.randn(3, generator=gen)
    headers = {
        "no metadata": (None, {}, False),
        "other entries": ({"format": "pt", "note": "not JSON {"}, {}, False),
        "metadata alone": ({"metadata": '{"step": 3}'}, {"step": 3}, False),
        "shared alone": ({"shared": '{"v": "w"}', "by": "others"}, {}, True),
    }
    for what, (header, metadata, is_shared) in headers.items():
        save_file({"w": w, "b": b}, path, header)
        loaded, about = answer.load_tensors(path)
        expect_equal(about, metadata, f"the metadata from a file with {what}")
        wanted = {"w": w, "b": b, "v": w} if is_shared else {"w": w, "b": b}
        expect_equal(loaded, wanted, f"the tensors from a file with {what}")
    for name in ("model.bin", "model"):
        loaded, about = answer.load_tensors(path.rename(path.with_name(name)))
        expect_equal(loaded, wanted, f"the tensors from a file called {name}")
        path = path.with_name(name)


class Hostile:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.mkdir, (self.target,)


def test_no_safetensors(answer, path):
    """A damaged file or a pickle raises SafetensorError, and nothing in it runs."""
    expect_raises(FileNotFoundError, lambda: answer.load_tensors(path), "load_tensors of no file")
    for name in ("model.tmp", "model"):  # torch.load itself takes a .safetensors for what its name says
        path = path.with_name(name)
        answer.save_tensors(path, {"w": torch.ones(9)}, {"a": 1})
        told = f"there is no file at path after save_tensors, where path ends in /{name}"
        expect_that(path.exists(), told)
    whole, target = path.read_bytes(), path.parent / "pwned"
    torch.save({"w": torch.ones(2)}, path)
    archive = path.read_bytes()
    contents = {
        "a cut file": whole[:-4],
        "the first bytes": whole[:20],
        "an empty file": b"",
        "a checkpoint of torch.save": archive,
        "a pickle": pickle.dumps({"w": Hostile(target)}),
        "text": b"hello world, this is no header",
    }
    for what, content in contents.items():
        path.write_bytes(content)
        call = f"load_tensors of {what}"
        expect_raises(safetensors.SafetensorError, lambda: answer.load_tensors(path), call)
        expect_that(not target.exists(), f"code from the file has run in {call}")


def oracle(answer, gen):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        w = torch.randn(4, 3, generator=gen)
        tensors = {"w": w, "tied": w.detach(), "t": w.T, "none": torch.zeros(0, 2), "row": w[1]}
        answer.save_tensors(path, tensors, {"step": 5, "names": ["a", None]})
        found = [list(map(list, in_file(path)[0].items())), in_file(path)[1]]
        loaded, about = answer.load_tensors(path)
        loaded["w"][0] = 9.0
        found += [{name: loaded[name] for name in sorted(loaded)}, about]
        for bad in ({"a": (1,)}, {"a": {2: 3}}):
            try:
                answer.save_tensors(path, tensors, bad)
                found.append("saved")
            except (TypeError, ValueError):
                found.append("refused")
        return found
