"""What grades onnx_parity: the file for other batches, differences, tolerances; modes, NaN, shapes."""

import io
import math
import re
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, modes_kept
from grader.checks.registered import randomize

pytestmark = [
    pytest.mark.needs("onnx", "onnxruntime", "onnxscript"),
    pytest.mark.filterwarnings("ignore"),  # of the exporters of PyTorch
]


class Net(nn.Module):
    """Sequences of 4 steps with 6 features; in training mode it computes something else, in Python, too.

    One matrix has more than 1 kB, from where `onnx.save_model` puts weights into another file if asked to.
    """

    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.drop = nn.Linear(6, 5), nn.BatchNorm1d(4), nn.Dropout(0.5)
        self.head = nn.Sequential(nn.Linear(20, 24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, x):
        x = 1.5 * x if self.training else x
        return self.head(self.drop(torch.relu(self.norm(self.embed(x)))).flatten(1))


def warm_up():
    """Make torch import what its first export to ONNX needs."""
    torch.onnx.export(nn.Linear(2, 3).eval(), (torch.ones(4, 2),), io.BytesIO(), dynamo=True, verbose=False)


def build(gen):
    """In training mode but for one part."""
    model = Net()
    randomize(model, gen)
    model.train()
    model.head.eval()
    return model


def modes_of(model):
    return {name or "the model": module.training for name, module in model.named_modules()}


@cache
def exported(answer, rows):
    """One export for all checks: the folder, the model, what was there before and after."""
    gen = torch.Generator().manual_seed(5)
    model, example = build(gen), torch.randn(rows, 4, 6, generator=gen)
    folder = tempfile.TemporaryDirectory()
    before = modes_of(model)
    answer.export_onnx(model, example, Path(folder.name) / "net.onnx")
    return folder, model, before, modes_of(model)


def session_of(folder):
    import onnxruntime

    path = Path(folder) / "net.onnx"
    expect_that(path.exists(), "export_onnx writes no file at path")
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(session, x):
    try:
        return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
    except Exception as error:
        what = f"the exported model does not run on a batch of {len(x)}"
        raise CheckFailure(what, yours=str(error)[:200], likely="the batch size is burnt in") from None


def test_names_and_sizes(answer):
    """There are one input and one output, with their names, and a free batch."""
    session = session_of(exported(answer, 3)[0].name)
    for ends, name in ((session.get_inputs(), "input"), (session.get_outputs(), "output")):
        expect_equal([end.name for end in ends], [name], f"the names of each {name} of the file")
        batch = ends[0].shape[0]
        expect_that(
            not isinstance(batch, int), f"the batch of the {name} is fixed: it is burnt in", yours=batch
        )


def expect_results(folder, model, gen):
    session, twin = session_of(folder), Net().eval()
    twin.load_state_dict(model.state_dict())
    for size in (1, 2, 3, 8):
        x = torch.randn(size, 4, 6, generator=gen)
        wanted, call = twin(x).detach(), f"the exported model on a batch of {size}"
        yours, scale = run(session, x), max(1.0, float(wanted.abs().max()))
        suspects = {"it was exported in training mode: 1.5 times x": lambda x=x: twin(1.5 * x).detach()}
        expect_close(yours, wanted, call, ulps=500, scale=scale, suspects=suspects)


def test_other_batches(answer, gen):
    """The file computes what the model computes in evaluation mode, for batches of any size."""
    folder, model, *_ = exported(answer, 3)
    expect_results(folder.name, model, gen)


# --- parity, with files that are written by hand


class Affine(nn.Module):
    """x @ weight + offset; and something else in training mode."""

    def __init__(self, weight, offset=0.0, shape=(-1,)):
        super().__init__()
        self.weight = nn.Parameter(torch.as_tensor(weight, dtype=torch.float32))
        self.register_buffer("offset", torch.as_tensor(offset, dtype=torch.float32))
        self.drop, self.shape = nn.Dropout(0.9), shape

    def forward(self, x):
        return self.drop(x @ self.weight + self.offset).unflatten(1, self.shape)


def write(path, weight, offset=0.0, *, shape=()):
    """An ONNX file of x @ weight + offset, in the given shape for each row."""
    from onnx import TensorProto, helper, numpy_helper, save

    weight = np.asarray(weight, np.float32)
    offset = np.broadcast_to(np.asarray(offset, np.float32), weight.shape[1:]).copy()
    rows = np.array([-1, *(shape or weight.shape[1:])], np.int64)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["input", "w"], ["product"]),
            helper.make_node("Add", ["product", "b"], ["sum"]),
            helper.make_node("Reshape", ["sum", "rows"], ["output"], allowzero=1),
        ],
        "affine",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", weight.shape[0]])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for a, n in ((weight, "w"), (offset, "b"), (rows, "rows"))],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def expect_off(answer, path, model, batches, place, call, **options):
    """Fail unless parity raises ValueError naming the batch at `place`, and some number."""
    try:
        result = answer.parity(path, model, batches, **options)
    except ValueError as error:
        said, text = re.search(r"batch (\d+)", str(error)), str(error)[:200]
        first = said is not None and int(said[1]) == place
        what = f"the ValueError from {call} does not name the first batch that is off"
        expect_that(first, what, yours=text, wanted=f"batch {place}")
        rest = re.search(r"\d|inf|nan", re.sub(r"batch \d+", "", text), re.IGNORECASE)
        expect_that(
            rest is not None, f"the ValueError from {call} does not say how far it is off", yours=text
        )
        return
    expect_that(False, f"no error from {call}", yours=f"returned {result}", wanted="ValueError")


WEIGHT = [[1.0, -2.0], [0.5, 4.0], [0.0, 8.0]]
ONES = torch.ones(2, 3)  # rows of [1.5, 10] with WEIGHT


def compared(answer, folder, gen, offset, batches=3, **options):
    """The difference of a model and a file that adds an offset, which is 0 in the first row alone."""
    path = write(Path(folder) / "other.onnx", WEIGHT, offset)
    xs = [torch.randint(-4, 5, (n, 3), generator=gen).float() for n in (3, 1, 5)[:batches]]
    return answer.parity(str(path), Affine(WEIGHT).train(), xs, **options)


def test_difference(answer, tmp_path, gen):
    """parity returns the largest difference over all batches, as a float."""
    yours = compared(answer, tmp_path, gen, 0.0)
    expect_equal(yours, 0.0, "parity(path, model, batches) of the same numbers")
    suspects = {"it is the mean": lambda: 0.375, "it has a sign": lambda: 0.25}
    yours = compared(answer, tmp_path, gen, [0.25, -0.5], atol=1.0)
    expect_equal(yours, 0.5, "parity(path, model, batches, atol=1.0)", suspects=suspects)
    model, path = Affine(WEIGHT), str(write(tmp_path / "w.onnx", [[1.0, -2.0], [0.5, 4.0], [0.125, 8.0]]))
    batches = [torch.tensor([[1.0, 1.0, s]]) for s in (1.0, -4.0, 2.0)]
    suspects = {"it is that of the last batch": lambda: 0.25, "it is that of the first batch": lambda: 0.125}
    yours = answer.parity(path, model, batches, atol=1.0)
    expect_equal(yours, 0.5, "parity, where the second batch is off most", suspects=suspects)


def test_tolerances(answer, tmp_path):
    """A result may be off by atol + rtol · |torch|, and no more, in any element of any batch."""
    model, path = Affine(WEIGHT), str(write(tmp_path / "other.onnx", WEIGHT, [0.0, 0.25]))  # 10.25 for 10
    for right in ({"atol": 0.26, "rtol": 0.0}, {"atol": 0.0, "rtol": 0.026}, {"atol": 0.13, "rtol": 0.013}):
        for batch in (ONES, -ONES):
            call = f"parity(…, {right}), where 10 is off by 0.25"
            try:
                expect_equal(answer.parity(path, model, [batch], **right), 0.25, call)
            except ValueError as error:
                expect_that(False, f"{call}, raises ValueError, though it may be", yours=str(error)[:150])
    for wrong in (
        {"atol": 0.24, "rtol": 0.0},
        {"atol": 0.0, "rtol": 0.0245},
        {"atol": 0.12, "rtol": 0.012},
        {},
    ):
        expect_off(answer, path, model, [ONES], 0, f"parity(…, {wrong}), where 10 is off by 0.25,", **wrong)
    path = str(write(tmp_path / "first.onnx", WEIGHT, [0.25, 0.0]))  # 1.75 for 1.5, beside 10
    expect_off(answer, path, model, [ONES], 0, "parity(…, rtol=0.1), 1.75 for 1.5", rtol=0.1, atol=0.0)


def test_which_batch(answer, tmp_path):
    """The error names the first batch that is off, counted from 0."""
    model, path = Affine(WEIGHT), str(write(tmp_path / "w.onnx", [[1.0, -2.0], [0.5, 4.0], [0.125, 8.0]]))
    rows = [torch.tensor([[1.0, 1.0, s]]) for s in (0.0, 1.0, 8.0, 0.0)]
    expect_off(answer, path, model, rows, 1, "parity of four batches, of which 1 and 2 are off")
    expect_off(answer, path, model, rows[:1] * 2 + rows[2:], 2, "parity of four batches, of which 2 is off")


@pytest.mark.fine
def test_one_file(answer, gen):
    """One row is example enough; the file holds all weights, and no other is written."""
    folder, model, before, after = exported(answer, 1)
    files = sorted(file.name for file in Path(folder.name).rglob("*"))
    expect_equal(files, ["net.onnx"], "the files that export_onnx writes")
    expect_equal(after, before, "the modes of the model's modules after export_onnx")
    expect_results(folder.name, model, gen)


@pytest.mark.fine
def test_modes_after_errors(answer, gen, monkeypatch, tmp_path):
    """Each module has its mode back after what raises, too; gradients are recorded as before."""

    def fail(*_, **__):
        raise RuntimeError("an operator that ONNX does not know")

    monkeypatch.setattr(torch.onnx, "export", fail)
    model = build(gen)
    with modes_kept("export_onnx has failed", model), pytest.raises(RuntimeError):
        answer.export_onnx(model, torch.zeros(2, 4, 5), tmp_path / "net.onnx")
    path = write(tmp_path / "other.onnx", WEIGHT, [0.25, -0.5])
    model = nn.Sequential(Affine(WEIGHT)).train()
    model[0].eval()
    for batches in ([ONES], [ONES[:, :2]]):
        with modes_kept("parity has failed", model), pytest.raises(Exception):  # noqa: B017
            answer.parity(path, model, batches)
    with modes_kept("parity(path, model, batches)", model):
        answer.parity(path, model, [ONES], atol=1.0)


@pytest.mark.fine
def test_other_shapes(answer, tmp_path):
    """Results of another shape are off, also where they would broadcast."""
    path = write(tmp_path / "flat.onnx", [[1.0], [0.5], [0.0]], shape=())
    column = write(tmp_path / "row.onnx", WEIGHT, shape=(2, 1))
    for file, weight in ((path, [[1.0, 1.0], [0.5, 0.5], [0.0, 0.0]]), (column, WEIGHT)):
        expect_off(answer, file, Affine(weight), [ONES], 0, "parity of other shapes", atol=100.0)


@pytest.mark.fine
def test_nan_and_infinity(answer, tmp_path):
    """NaN and infinity are equal to themselves alone, whatever the tolerances."""
    inf, nan = math.inf, math.nan
    for mine, theirs in ((nan, nan), (inf, inf), (nan, 0.0), (0.0, nan), (inf, 0.0), (0.0, inf), (inf, -inf)):
        path = write(tmp_path / "special.onnx", WEIGHT, [theirs, 0.0])
        model, call = Affine(WEIGHT, [mine, 0.0]), f"parity where torch gives {mine} and ONNX {theirs}"
        if mine == theirs or (math.isnan(mine) and math.isnan(theirs)):
            expect_equal(answer.parity(path, model, [ONES]), 0.0, call)
        else:
            expect_off(answer, path, model, [ONES], 0, call, atol=1.0, rtol=0.5)


def oracle(answer, gen):
    model, example = build(gen), torch.randn(3, 4, 6, generator=gen)

    @cache
    def session():
        with tempfile.TemporaryDirectory() as folder:
            answer.export_onnx(model, example, Path(folder) / "net.onnx")
            return session_of(folder)

    def results(size):
        return lambda gen: run(session(), torch.randn(size, 4, 6, generator=gen))

    def six_models(**options):
        """By how much each is off that is not what was exported, or which batch is told to be off."""

        def case(gen):
            found = []
            for _ in range(6):
                more = torch.randint(40, (2,), generator=gen) / 64  # numbers that float32 adds up exactly
                xs = [torch.randint(-4, 5, (n, 3), generator=gen).float() for n in (1, 2, 1, 3)]
                with tempfile.TemporaryDirectory() as folder:
                    path = write(Path(folder) / "other.onnx", [*WEIGHT[:2], [more[0], 8.0 + more[1]]])
                    try:
                        found.append(answer.parity(str(path), Affine(WEIGHT).train(), xs, **options))
                    except ValueError as error:
                        found.append(re.search(r"batch \d+", str(error))[0])
            return found

        return case

    return {
        "a batch of 1": results(1),
        "a batch of 5": results(5),
        "six models, all near enough": six_models(atol=99.0),
        "six models within or beyond atol": six_models(atol=1.01, rtol=0.0),
        "six models within or beyond rtol": six_models(atol=0.0, rtol=0.051),
    }
