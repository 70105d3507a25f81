"""What grades export_program: the file alone in another process, any number of rows, modes, refusals."""

import contextlib
import io
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_raises, expect_that
from grader.checks.distributed.elsewhere import elsewhere

SIZES = (1, 2, 3, 5, 7, 64, 5000)


class Sensor(nn.Module):
    """Sequences of 4 steps with 6 features, in float64; batch norm and dropout change in training mode."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 5)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Sequential(nn.Linear(20, 8), nn.Tanh(), nn.Linear(8, 3))
        self.double()
        self.register_buffer("runs", torch.zeros(()))  # counts in evaluation mode, too

    def forward(self, readings):
        self.runs += 1
        steps = readings.view(-1, 6)  # which an expanded row does not allow
        steps = steps + torch.linspace(0, 1, 6, dtype=readings.dtype)  # that dtype is in the graph
        hidden = self.drop(self.norm(self.embed(steps).view(-1, 4, 5)))  # (rows, 4, 5)
        return self.head(hidden.reshape(hidden.shape[0], -1))

    def draw(self, rows, gen):
        return torch.randn(rows, 4, 6, generator=gen, dtype=torch.float64)


class Words(nn.Module):
    """The mean over 5 token ids each."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, tokens):
        return self.drop(self.table(tokens)).mean(1).softmax(-1)

    def draw(self, rows, gen):
        return torch.randint(11, (rows, 5), generator=gen)


class Branching(nn.Module):
    """What it computes depends on values."""

    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)

    def forward(self, x):
        return self.part(x) if x.sum() > 0 else -x


class FiveRows(nn.Module):
    """Works for five rows only."""

    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)
        self.register_buffer("offsets", torch.arange(5.0)[:, None])

    def forward(self, x):
        return self.part(x + self.offsets)


class RowByRow(nn.Module):
    """Works for any number of rows, but its graph has a part for each row of the example."""

    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)

    def forward(self, x):
        return torch.stack([self.part(row) for row in x])


def warm_up():
    """Make torch import what its first export and its first file need."""
    torch.export.save(torch.export.export(nn.Linear(2, 3).eval(), (torch.ones(4, 2),)), io.BytesIO())


def build(kind, gen):
    """In training mode but for one part, with running statistics of some batches."""
    model = kind()
    with torch.no_grad():
        for t in model.state_dict().values():
            if t.is_floating_point():
                t.copy_(0.5 + torch.rand(t.shape, generator=gen))
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    model.train()
    list(model.children())[1].eval()
    next(model.parameters()).requires_grad_(False)
    return model


def flags(model):
    return {name or "the model": module.training for name, module in model.named_modules()}


def evaluated(model, x):
    """In float64, without touching the model."""
    other = type(model)()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        return other.double().eval()(x.double() if x.is_floating_point() else x)


def resulting(model, x):
    """As the model itself would give it."""
    return evaluated(model, x).to(next(model.parameters()).dtype)


class TorchError(Exception):
    """Whatever torch raises where it cannot export: one of its own classes, or a RuntimeError."""


def of_torch(export, *args):
    try:
        export(*args)
    except NotImplementedError:
        raise
    except Exception as error:
        if isinstance(error, RuntimeError) or type(error).__module__.partition(".")[0] == "torch":
            raise TorchError(str(error)) from None
        raise


def looks(model, example):
    """All that must not change."""
    values = {name: t.clone() for name, t in {**model.state_dict(), "the example": example}.items()}
    required = {name: p.requires_grad for name, p in [*model.named_parameters(), ("the example", example)]}
    return flags(model), {name: t.detach() for name, t in values.items()}, required


@cache
def exported(answer, kind, rows):
    """Exported once for all checks: the model, the file's bytes, and what was there before and after."""
    gen = torch.Generator().manual_seed(5)
    model = build(kind, gen)
    example = model.draw(rows, gen)
    if example.is_floating_point():
        example.requires_grad_()
    before = looks(model, example)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.pt2"
        path.write_bytes(b"an older file")
        answer.export_program(model, example, path)
        files = {file.name: file.read_bytes() for file in Path(name).rglob("*") if file.is_file()}
    return model, files, before, looks(model, example)


def written(answer, kind, rows, folder):
    """The exported model and a path to its file, in another folder than it was made in."""
    model, files, _, _ = exported(answer, kind, rows)
    path = Path(folder) / "model.pt2"
    path.write_bytes(files.get("model.pt2", b""))
    return model, path


CASES = {"one row": (Sensor, 1), "three rows": (Words, 3)}


def serve(path, inputs):
    """What a server does that has torch and the file."""
    program = torch.export.load(path).module()
    results = []
    with torch.no_grad():
        for x in inputs:
            try:
                results.append(program(x))
            except Exception as error:
                results.append(f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150]}")
    return results


@pytest.mark.multi_process
def test_in_another_process(answer, gen):
    """In a process without your code, the file gives what the model gives, for any number of rows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (kind, rows) in CASES.items():
            model, path = written(answer, kind, rows, folder)
            inputs = [model.draw(size, gen) for size in SIZES]
            results = elsewhere(serve, str(path), inputs, call="torch.export.load of your file")
            for x, yours in zip(inputs, results, strict=True):
                call = f"the program for {len(x)} rows, exported with an example of {name},"
                if isinstance(yours, str):
                    raise CheckFailure(
                        f"an error from {call}\n  yours   {yours}\n  wanted  any number of rows"
                    )
                expect_close(yours, resulting(model, x), call, dims="rows outputs", scale=4.0)


def test_load_program(answer, gen):
    """load_program needs nothing but the file, takes any number of rows, and records no graph."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, rows in CASES.values():
            model, path = written(answer, kind, rows, folder)
            many = () if kind is Sensor else (70_000,)  # ids take little memory
            wanted = {size: model.draw(size, gen) for size in (1, 4, 33, *many)}
            wanted = {size: (x, resulting(model, x)) for size, x in wanted.items()}
            program = answer.load_program(str(path))
            shutil.move(path, path.with_suffix(".moved.pt2"))
            for size, (x, right) in wanted.items():
                call = f"load_program(path)(x) for {size} rows, {kind.__name__} in a file that is new at path"
                try:
                    yours = program(x)
                except Exception as error:
                    said = f"{type(error).__name__}: {str(error).strip()[:150]}"
                    raise CheckFailure(
                        f"an error from {call}\n  yours   {said}\n  wanted  its rows"
                    ) from None
                expect_close(yours, right, call, dims="rows outputs", scale=4.0)
                expect_that(not yours.requires_grad, f"the result of {call} requires a gradient")
                expect_that(torch.is_grad_enabled(), f"gradients are off for all after {call}")
                with torch.no_grad():
                    program(x.flip(0))
                    expect_that(
                        not torch.is_grad_enabled(), f"gradients are on in a caller's no_grad after {call}"
                    )
                expect_close(yours, right, f"{call}, when another batch has been served", scale=4.0)
            with contextlib.suppress(Exception):
                program(x[:, :1])  # not the size of the example
            call = "load_program(path)(x) of too few features, whether that raises an error or not"
            expect_that(torch.is_grad_enabled(), f"gradients are off for all after {call}")
            torch.set_grad_enabled(True)


def test_nothing_changes(answer):
    """Modes, state and example are afterwards what they were, and there is one file."""
    for name, (kind, rows) in CASES.items():
        _, files, before, after = exported(answer, kind, rows)
        expect_equal(sorted(files), ["model.pt2"], f"the files after export_program with {name}")
        expect_equal(after[0], before[0], f"the training flags after export_program with {name}")
        for key, was in before[1].items():
            expect_equal(after[1][key], was, f"{key} after export_program with {name}")
        expect_equal(after[2], before[2], f"requires_grad after export_program with {name}")


@pytest.mark.parametrize("kind", [Branching, FiveRows, RowByRow])
def test_refused(answer, gen, kind):
    """A model that cannot be exported for any number of rows is an error, and no file is written."""
    model, example = kind(), torch.rand(5, 3, generator=gen)
    model.train()
    model.training = False
    before = flags(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        for older in (None, b"an older file") if kind is Branching else (b"an older file",):
            if older is not None:
                path.write_bytes(older)
            call = f"export_program of a {kind.__name__} model with five rows"
            expect_raises(TorchError, lambda: of_torch(answer.export_program, model, example, path), call)
            now = path.read_bytes() if path.exists() else None
            expect_that(now == older, f"the file at path is another after the error from {call}")
            left = [file.name for file in Path(folder).iterdir() if file != path]
            expect_equal(left, [], f"the other files after the error from {call}")
            expect_equal(flags(model), before, f"the training flags after the error from {call}")


def oracle(answer, gen):
    model = build(Sensor, gen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        answer.export_program(model, model.draw(1, gen), path)
        program = torch.export.load(path).module()
        again = answer.load_program(path)
        xs = [model.draw(size, gen) for size in (1, 3, 9)]
        return [[program(x).detach(), again(x).detach()] for x in xs], list(flags(model).values())
