"""What grades export_program: the file alone in another process, any number of rows; modes, refusals."""

import io
import tempfile
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.distributed.elsewhere import elsewhere
from grader.checks.registered import randomize

SIZES = (1, 2, 3, 4, 5, 64)


class Sensor(nn.Module):
    """Sequences of 4 steps with 6 features; batch norm and dropout change in training mode."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.drop = nn.Linear(6, 5), nn.BatchNorm1d(4), nn.Dropout(0.5)
        self.head = nn.Sequential(nn.Linear(20, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, readings):
        steps = readings.view(-1, 6)  # which an expanded row does not allow
        hidden = self.drop(self.norm(self.embed(steps).view(-1, 4, 5)))  # (rows, 4, 5)
        return self.head(hidden.reshape(hidden.shape[0], -1))

    def draw(self, rows, gen):
        return torch.randn(rows, 4, 6, generator=gen)


class Words(nn.Module):
    """The mean over 5 token ids each, in float64."""

    def __init__(self):
        super().__init__()
        self.table, self.drop = nn.Embedding(11, 4, dtype=torch.float64), nn.Dropout(0.5)

    def forward(self, tokens):
        return self.drop(self.table(tokens)).mean(1).softmax(-1)

    def draw(self, rows, gen):
        return torch.randint(11, (rows, 5), generator=gen)


class Branching(nn.Module):
    """What it computes depends on values."""

    def forward(self, x):
        return x if x.sum() > 0 else -x


class FiveRows(nn.Module):
    """Works for five rows only."""

    def forward(self, x):
        return x + torch.arange(5.0)[:, None]


def warm_up():
    """Make torch import what its first export and its first file need."""
    torch.export.save(torch.export.export(nn.Linear(2, 3).eval(), (torch.ones(4, 2),)), io.BytesIO())


def build(kind, gen):
    """In training mode but for one part."""
    model = kind()
    randomize(model, gen)
    model.train()
    list(model.children())[1].eval()
    return model


def flags(model):
    return {name or "the model": module.training for name, module in model.named_modules()}


def evaluated(model, x):
    other = type(model)()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        return other.eval()(x)


@cache
def exported(answer, kind, rows):
    """Exported once for all checks: the model, the file's bytes, the modes before and after."""
    gen = torch.Generator().manual_seed(5)
    model = build(kind, gen)
    example = model.draw(rows, gen)
    before = flags(model)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.pt2"
        path.write_bytes(b"an older file")
        answer.export_program(model, example, path)
        return model, path.read_bytes(), before, flags(model)


def served(program, inputs):
    """The results, or what an error says."""
    results = []
    for x in inputs:
        try:
            results.append(program(x).detach())
        except Exception as error:
            results.append(f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150]}")
    return results


def serve(path, inputs):
    """What a server does that has torch and the file."""
    return served(torch.export.load(path).module(), inputs)


def expect_results(model, inputs, results, call):
    for x, yours in zip(inputs, results, strict=True):
        what = f"{call} does not take {len(x)} rows"
        expect_that(not isinstance(yours, str), what, yours=yours, wanted="any number of rows")
        expect_close(yours, evaluated(model, x), f"{call}, for {len(x)} rows", scale=4.0)


CASES = {"four rows": (Sensor, 4), "three texts": (Words, 3)}


def test_any_number_of_rows(answer, gen):
    """load_program gives what the model gives in evaluation mode, for any number of rows."""
    for name, (model, content, *_) in {name: exported(answer, *CASES[name]) for name in CASES}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "served.pt2"
            path.write_bytes(content)
            program = answer.load_program(str(path))
            inputs = [model.draw(size, gen) for size in SIZES]
            call = f"load_program(path), exported with an example of {name},"
            expect_results(model, inputs, served(program, inputs), call)


@pytest.mark.multi_process
def test_in_another_process(answer, gen):
    """In a process without your code, torch.export.load reads the file."""
    model, content, *_ = exported(answer, *CASES["four rows"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        path.write_bytes(content)
        inputs = [model.draw(size, gen) for size in (2, 7)]
        results = elsewhere(serve, str(path), inputs, call="torch.export.load of your file")
        expect_results(model, inputs, results, "your file in another process")


@pytest.mark.fine
def test_modes_come_back(answer):
    """Afterwards each layer has the mode that it had before."""
    _, _, before, after = exported(answer, *CASES["four rows"])
    expect_equal(after, before, "the training flags after export_program")


@pytest.mark.fine
def test_one_row(answer, gen):
    """An example of one row will do, and there may be very many rows."""
    model, content, *_ = exported(answer, Sensor, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        path.write_bytes(content)
        inputs = [model.draw(size, gen) for size in (1, 3, 70_000)]
        call = "load_program(path), exported with an example of one row,"
        expect_results(model, inputs, served(answer.load_program(path), inputs), call)


@pytest.mark.fine
@pytest.mark.parametrize("kind", [Branching, FiveRows])
def test_refused(answer, gen, kind):
    """A model that cannot be exported for any number of rows is an error, and the file stays."""
    model, example = nn.Sequential(nn.Dropout(0.5), kind()).train(), torch.rand(5, 3, generator=gen)
    model.training = False
    before = flags(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        path.write_bytes(b"an older file")
        call = f"export_program of a {kind.__name__} model with five rows"

        def of_torch():
            try:
                answer.export_program(model, example, path)
            except Exception as error:
                if type(error).__module__.partition(".")[0] == "torch":
                    raise RuntimeError(str(error)) from None
                raise

        expect_raises(RuntimeError, of_torch, call)
        same = path.exists() and path.read_bytes() == b"an older file"
        expect_that(same, f"the file at path is another after the error from {call}")
        expect_equal(flags(model), before, f"the training flags after the error from {call}")


@pytest.mark.fine
def test_no_graph(answer, gen, tmp_path):
    """What load_program returns records no graph."""
    model, content, *_ = exported(answer, *CASES["four rows"])
    path = tmp_path / "model.pt2"
    path.write_bytes(content)
    yours = answer.load_program(path)(model.draw(2, gen))
    expect_that(not yours.requires_grad, "the result of load_program(path)(x) requires a gradient")


def oracle(answer, gen):
    drawn = {}
    for name, (kind, rows) in CASES.items():
        model = build(kind, gen)
        drawn[name] = model, model.draw(rows, gen), {size: model.draw(size, gen) for size in (1, 5)}

    @cache
    def exported(name, by_torch):
        """The program, as torch or the answer loads it."""
        model, example, _ = drawn[name]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pt2"
            answer.export_program(model, example, path)
            return torch.export.load(path).module() if by_torch else answer.load_program(path)

    def run(name, by_torch, size):
        return lambda: exported(name, by_torch)(drawn[name][2][size]).detach()

    return {
        f"{name}, loaded by {'torch' if by_torch else 'load_program'}, on {size}": run(name, by_torch, size)
        for name in CASES
        for by_torch in (True, False)
        for size in (1, 5)
    }
