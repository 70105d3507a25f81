"""What grades onnx_parity: what is in the file, for other batch sizes; modes; each way of being off."""

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

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, modes_kept, unchanged

pytestmark = [
    pytest.mark.needs("onnx", "onnxruntime", "onnxscript"),
    pytest.mark.filterwarnings("ignore"),  # of the exporters of PyTorch
]


class Warm(nn.Module):
    """Does something else in training mode, in Python: the exporters know batch norm and dropout."""

    def forward(self, x):
        return 1.5 * x if self.training else x


class Net(nn.Module):
    """Sequences of 4 steps with 6 features; batch norm and dropout change in training mode.

    One matrix has more than 1 kB, from where `onnx.save_model` puts weights into another file if asked to.
    """

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 5)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Sequential(nn.Dropout(0.5), Warm())
        self.head = nn.Sequential(nn.Linear(20, 24), nn.BatchNorm1d(24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, x):
        x = 1.5 * x if self.training else x  # as Warm does: the outermost module has a mode, too
        return self.head(self.drop(torch.relu(self.norm(self.embed(x)))).flatten(1))


def warm_up():
    """Make torch import what its first export to ONNX needs."""
    torch.onnx.export(nn.Linear(2, 3).eval(), (torch.ones(4, 2),), io.BytesIO(), dynamo=True, verbose=False)


def build(gen):
    """In training mode but for one part, with running statistics of some batches."""
    model = Net()
    with torch.no_grad():
        for t in model.state_dict().values():
            if t.is_floating_point():
                t.copy_(0.5 + torch.rand(t.shape, generator=gen))
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    model.train()
    model.head.eval()
    return model


def modes_of(model):
    return {name or "the model": module.training for name, module in model.named_modules()}


def state_of(model, example):
    return {name: t.clone() for name, t in {**model.state_dict(), "the example": example}.items()}


def evaluated(model, x):
    """In float64, without touching the model."""
    other = Net()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        return other.double().eval()(x.double())


@cache
def exported(answer):
    """One export for all checks, since it takes a second: the model, what was written, what has changed."""
    gen = torch.Generator().manual_seed(5)
    model, example = build(gen), torch.randn(1, 4, 6, generator=gen)
    next(model.parameters()).requires_grad_(False)
    before = modes_of(model), state_of(model, example)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "net.exported"
        path.write_bytes(b"an older file")
        answer.export_onnx(model, example, path)
        files = {file.name: file.read_bytes() for file in Path(name).rglob("*") if file.is_file()}
    return model, files, before, (modes_of(model), state_of(model, example))


def session_of(files):
    import onnxruntime

    expect_that(
        "net.exported" in files, "export_onnx writes no file at path", yours=", ".join(files) or "no file"
    )
    try:
        return onnxruntime.InferenceSession(files["net.exported"], providers=["CPUExecutionProvider"])
    except Exception as error:
        raise CheckFailure(
            f"ONNX Runtime does not load what export_onnx has written\n  yours   {str(error)[:300]}\n"
            "  likely  the weights lie in a file beside it"
        ) from None


def run(session, x):
    try:
        return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
    except Exception as error:
        raise CheckFailure(
            f"the exported model does not run on a batch of {len(x)}\n  yours   {str(error)[:200]}"
        ) from None


def test_one_file(answer):
    """The file holds all weights, and nothing else is written."""
    _, files, *_ = exported(answer)
    expect_equal(sorted(files), ["net.exported"], "the files that export_onnx writes")
    session_of(files)


def test_names_and_sizes(answer):
    """There are one input and one output, with their names, a free batch and fixed other sizes."""
    session = session_of(exported(answer)[1])
    for ends, name, sizes in (
        (session.get_inputs(), "input", [4, 6]),
        (session.get_outputs(), "output", [3]),
    ):
        expect_equal([end.name for end in ends], [name], f"the names of each {name}")
        batch, *others = ends[0].shape
        expect_that(not isinstance(batch, int), f"the batch of the {name} is fixed", yours=batch)
        expect_equal(others, sizes, f"the other sizes of the {name}")


def test_other_batches(answer, gen):
    """The file computes what the model computes in evaluation mode, for batches of any size."""
    session = session_of(exported(answer)[1])
    for size in (1, 2, 3, 8, 33):
        x = torch.randn(size, 4, 6, generator=gen)
        wanted = evaluated(exported(answer)[0], x).float()
        call = f"the exported model on a batch of {size}"
        for _ in range(2):
            expect_close(run(session, x), wanted, call, ulps=500, scale=max(1.0, float(wanted.abs().max())))


def test_export_leaves_the_model_alone(answer):
    """After the export each module has its mode back, and no parameter, buffer or example has changed."""
    model, _, (modes, state), (modes_now, state_now) = exported(answer)
    expect_equal(modes_now, modes, "the modes of the model's modules after export_onnx")
    for name, t in state.items():
        expect_equal(state_now[name], t, f"{name} after export_onnx")
    frozen, *others = (p.requires_grad for p in model.parameters())
    expect_equal(
        (frozen, all(others)), (False, True), "requires_grad of the first parameter and of all others"
    )


def test_export_that_fails(answer, gen, monkeypatch, tmp_path):
    """Each module has its mode back after an export that raises, too."""

    def fail(*_, **__):
        raise RuntimeError("an operator that ONNX does not know")

    monkeypatch.setattr(torch.onnx, "export", fail)
    model = build(gen)
    with modes_kept("export_onnx has failed", model), pytest.raises(Exception) as raised:
        answer.export_onnx(model, torch.zeros(2, 4, 5), tmp_path / "net.onnx")
    if isinstance(raised.value, NotImplementedError):
        raise raised.value


# --- parity, with files that are written by hand


class Notes(list):
    """A list that a copy of a model writes into as well."""

    def __deepcopy__(self, memo):
        return self


class Affine(nn.Module):
    """x @ weight + offset; counts its calls, and notes in which mode and with which gradients."""

    def __init__(self, weight, offset=0.0, shape=(-1,)):
        super().__init__()
        self.weight = nn.Parameter(torch.as_tensor(weight, dtype=torch.float32))
        self.register_buffer("offset", torch.as_tensor(offset, dtype=torch.float32))
        self.drop = nn.Dropout(0.9)
        self.shape = shape
        self.seen = Notes()

    def forward(self, x):
        result = self.drop(x @ self.weight + self.offset).unflatten(1, self.shape)
        self.seen.append((len(x), self.training, result.requires_grad))
        return result


class Ignores(nn.Module):
    """Fills in the last feature, in place."""

    def forward(self, x):
        x[:, -1] = 7.0
        return x


class Doubles(nn.Module):
    """Doubles its argument, in place."""

    def forward(self, x):
        return x.mul_(2.0)


def write(path, weight, offset=0.0, *, names=("input", "output"), shape=()):
    """An ONNX file of x @ weight + offset, in the given shape for each row."""
    from onnx import TensorProto, helper, numpy_helper, save

    weight = np.asarray(weight, np.float32)
    offset = np.broadcast_to(np.asarray(offset, np.float32), weight.shape[1:]).copy()
    rows = np.array([-1, *(shape or weight.shape[1:])], np.int64)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", [names[0], "w"], ["product"]),
            helper.make_node("Add", ["product", "b"], ["sum"]),
            helper.make_node("Reshape", ["sum", "rows"], [names[1]], allowzero=1),
        ],
        "affine",
        [helper.make_tensor_value_info(names[0], TensorProto.FLOAT, ["n", weight.shape[0]])],
        [helper.make_tensor_value_info(names[1], TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for a, n in ((weight, "w"), (offset, "b"), (rows, "rows"))],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def expect_off(answer, path, model, batches, place, call, far=(), **options):
    """Fail unless parity raises ValueError naming the batch at `place`, and a number near one in `far`."""
    try:
        result = answer.parity(path, model, batches, **options)
    except ValueError as error:
        said = re.search(r"batch (\d+)", str(error))
        expect_that(
            said is not None and int(said[1]) == place,
            f"the ValueError from {call} does not name the batch",
            yours=str(error)[:200],
            wanted=f"batch {place}",
        )
        rest = re.sub(r"batch \d+", "", str(error))
        says_how_far = re.search(r"\d|inf|nan", rest, re.IGNORECASE) is not None
        if far:
            told = [float(number) for number in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?", rest)]
            says_how_far = any(0.75 * f < number < 1.25 * f for f in far for number in told)
        expect_that(
            says_how_far,
            f"the ValueError from {call} does not say how far it is off",
            yours=str(error)[:200],
            wanted=f"batch {place}, and {far[0] if far else 'a number'}",
        )
        return
    except NotImplementedError:
        raise
    except Exception as error:
        yours = f"{type(error).__name__}: {str(error)[:200]}"
        raise CheckFailure(f"wrong error from {call}\n  yours   {yours}\n  wanted  ValueError") from None
    raise CheckFailure(f"no error from {call}\n  yours   returned {result}\n  wanted  ValueError")


WEIGHT = [[1.0, -2.0], [0.5, 4.0], [0.0, 8.0]]
ONES = torch.ones(2, 3)  # rows of [1.5, 10] with WEIGHT


def test_difference(answer, tmp_path, gen):
    """parity returns the largest difference over all batches, as a float."""
    model = Affine(WEIGHT).eval()
    path = write(tmp_path / "same.onnx", WEIGHT)
    batches = [torch.randint(-4, 5, (n, 3), generator=gen).float() for n in (3, 1, 5)]
    expect_equal(answer.parity(path, model, batches), 0.0, "parity(path, model, batches) of the same numbers")
    expect_equal(answer.parity(str(path), model, iter(batches)), 0.0, "parity with a str and an iterator")
    expect_equal(answer.parity(path, model, []), 0.0, "parity(path, model, [])")
    expect_equal(answer.parity(path, model, [torch.ones(0, 3), torch.ones(1, 3)]), 0.0, "parity with no rows")
    path = write(tmp_path / "other.onnx", WEIGHT, [0.25, -0.5])
    for tolerances in ({"atol": 1.0}, {"atol": 0.5, "rtol": 0.0}, {"atol": 0.0, "rtol": 0.5}):
        batches = [ONES, torch.tensor([[1.0, 0.0, 1.0]]), torch.ones(4, 3)]
        yours = answer.parity(path, model, batches, **tolerances)
        expect_that(isinstance(yours, float), "parity returns no float", yours=yours)
        expect_equal(yours, 0.5, f"parity(path, model, batches, {tolerances})")
    offset = write(tmp_path / "weights.onnx", [[1.0, -2.0], [0.5, 4.0], [0.125, 8.0]])
    batches = [torch.tensor([[1.0, 1.0, s]]) for s in (1.0, -4.0, 2.0)]
    expect_equal(answer.parity(offset, model, batches, atol=1.0), 0.5, "parity, largest in the second batch")


def expect_within(answer, path, model, batch, call, **options):
    """A batch is off by 0.25, which the options allow."""
    try:
        found = answer.parity(path, model, [batch], **options)
    except ValueError as error:
        why = f"{call} raises ValueError, though the results are off by 0.25, no more than they may"
        expect_that(False, why, yours=str(error)[:150])
    else:
        expect_equal(found, 0.25, call)


def test_tolerances(answer, tmp_path):
    """A result may be off by atol + rtol · |torch|, and no more, in any element of any batch."""
    model = Affine(WEIGHT).eval()
    path = write(tmp_path / "other.onnx", WEIGHT, [0.0, 0.25])  # 10.25 in place of 10
    for right in ({"atol": 0.26, "rtol": 0.0}, {"atol": 0.0, "rtol": 0.026}, {"atol": 0.13, "rtol": 0.013}):
        for ones, about in ((ONES, "batches"), (-ONES, "batches with negative results")):
            expect_within(answer, path, model, ones, f"parity(…, {about}, {right})", **right)
    for wrong in (
        {"atol": 0.24, "rtol": 0.0}, {"atol": 0.0, "rtol": 0.0245}, {"atol": 0.12, "rtol": 0.012}, {},
        {"atol": 0.1}, {"rtol": 0.01}, {"atol": 0.0, "rtol": 0.0}, {"atol": 0.0, "rtol": 0.02475},
    ):  # fmt: skip
        far = () if wrong else (0.25, 0.025, 10.25)  # the difference, as a share, or the results themselves
        expect_off(answer, path, model, [ONES], 0, f"parity(path, model, batches, {wrong})", far, **wrong)
    path = write(tmp_path / "first.onnx", WEIGHT, [0.25, 0.0])  # 1.75 in place of 1.5, beside 10
    expect_off(
        answer,
        path,
        model,
        [ONES],
        0,
        "parity(…, rtol=0.1, atol=0), 1.75 for 1.5 beside 10",
        rtol=0.1,
        atol=0.0,
    )
    close = [[1.0, -2.0], [0.5, 4.0], [0.0, 8.0005]]
    expect_equal(
        round(answer.parity(write(tmp_path / "close.onnx", close), model, [ONES]), 6),
        0.0005,
        "parity, off by 5e-5",
    )
    far = write(tmp_path / "far.onnx", [[1.0, -2.0], [0.5, 4.0], [0.0, 8.002]])
    expect_off(answer, far, model, [ONES], 0, "parity with the default tolerances, off by 2e-4")
    small = write(tmp_path / "small.onnx", [[5.25e-6]])
    expect_equal(
        round(answer.parity(small, Affine([[0.0]]).eval(), [torch.ones(1, 1)]), 9), 5.25e-6, "parity near 0"
    )
    small = write(tmp_path / "small.onnx", [[2e-5]])
    expect_off(answer, small, Affine([[0.0]]).eval(), [torch.ones(1, 1)], 0, "parity near 0, off by 2e-5")


def test_which_batch(answer, tmp_path):
    """The error names the first batch that is off, wherever in it the wrong number is."""
    model = Affine(WEIGHT).eval()
    path = write(tmp_path / "other.onnx", [[1.0, -2.0], [0.5, 4.0], [0.0, 9.0]])
    right, wrong = torch.tensor([[1.0, 1.0, 0.0]] * 3), torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, -1.0]])
    for batches, place in (
        ([wrong], 0), ([right, wrong], 1), ([right, right, wrong, right, 2 * wrong], 2),
        ([wrong.flip(0), right], 0), ([right[:0], right[:1], right, wrong], 3),
    ):  # fmt: skip
        expect_off(
            answer, path, model, iter(batches), place, f"parity, where batch {place} is the first that is off"
        )


def test_not_finite(answer, tmp_path):
    """NaN and infinity are equal to themselves, and to nothing else."""
    inf, nan, x = math.inf, math.nan, torch.ones(1, 1)
    for torch_, onnx_, right in (
        (nan, nan, True), (inf, inf, True), (-inf, -inf, True), (nan, 1.0, False), (1.0, nan, False),
        (inf, 1.0, False), (1.0, inf, False), (inf, -inf, False), (-inf, inf, False), (nan, inf, False),
        (inf, nan, False), (1.0, -inf, False), (nan, -1.0, False), (-1.0, nan, False),
    ):  # fmt: skip
        model = Affine([[1.0, 1.0, 1.0]], [0.0, torch_, 0.0]).eval()
        path = write(tmp_path / "file.onnx", [[1.0, 1.0, 1.0]], [0.0, onnx_, 0.0])
        call = f"parity with {torch_} from torch and {onnx_} from ONNX"
        if right:
            expect_equal(answer.parity(path, model, [x, x]), 0.0, call)
        else:
            expect_off(answer, path, model, [x], 0, call)
    model = Affine([[1.0, 1.0]], [nan, 0.0]).eval()
    path = write(tmp_path / "file.onnx", [[1.0, 1.0]], [nan, 0.5])
    expect_equal(answer.parity(path, model, [x], atol=1.0), 0.5, "parity with NaN beside a difference")
    expect_off(answer, path, model, [x], 0, "parity with NaN beside a difference that is too large")


def test_shapes(answer, tmp_path):
    """Results of other shapes are off, also where they would broadcast."""
    for torch_, onnx_ in (((2, 1), ()), ((1, 2), ()), ((-1,), (2, 1)), ((-1,), (1, 2)), ((-1, 1), (1, 2))):
        model = Affine([[1.0, 1.0]], shape=torch_).eval()
        path = write(tmp_path / "file.onnx", [[1.0, 1.0]], shape=onnx_)
        call = f"parity of rows in shape {torch_} from torch and {onnx_ or (2,)} from ONNX"
        for size in (1, 2):
            expect_off(answer, path, model, [torch.ones(size, 1)], 0, call)
    path = write(tmp_path / "file.onnx", [[1.0]])
    expect_off(
        answer, path, Affine([[1.0, 1.0]]).eval(), [torch.ones(2, 1)], 0, "parity with one column for two"
    )
    model = Affine([[1.0, 1.0]], shape=(2, 1)).eval()
    path = write(tmp_path / "file.onnx", [[1.0, 1.0]], shape=(2, 1))
    expect_equal(answer.parity(path, model, [torch.ones(3, 1)]), 0.0, "parity of results in three dimensions")


def test_parity_modes(answer, tmp_path):
    """The model is in evaluation mode while it runs, without a graph, and in its own modes afterwards."""
    path = write(tmp_path / "file.onnx", WEIGHT, names=("tokens", "scores"))
    for training in (True, False):
        model = nn.Sequential(Affine(WEIGHT), nn.Dropout(0.5)).train(training)
        model[0].drop.train(not training)
        model[0].weight.requires_grad_(training)
        with modes_kept("parity", model), unchanged("parity", weight=model[0].weight):
            yours = answer.parity(path, model, [ONES, ONES])
        expect_equal(yours, 0.0, "parity of a model with dropout")
        expect_equal(
            model[0].seen, [(2, False, False)] * 2, "(rows, training, graph) of the model's calls in parity"
        )
        other = write(tmp_path / "other.onnx", WEIGHT, 1.0)
        with modes_kept("parity raised ValueError", model):
            expect_off(answer, other, model, [ONES], 0, "parity of a model with dropout")
        with modes_kept("parity failed", model), pytest.raises(Exception):  # noqa: B017 - whatever torch says
            answer.parity(path, model, [torch.ones(2, 7)])
        broken = nn.Sequential(Affine(WEIGHT), nn.Linear(99, 1)).train(training)
        with modes_kept("parity of a model that raises", broken), pytest.raises(Exception):  # noqa: B017
            answer.parity(path, broken, [ONES])
        missing = tmp_path / "missing.onnx"
        with modes_kept("parity found no file at path", model), pytest.raises(Exception):  # noqa: B017
            answer.parity(missing, model, [ONES])
        with torch.no_grad(), modes_kept("parity within torch.no_grad()", model):
            answer.parity(path, model, [ONES])


def test_any_batches(answer, tmp_path, gen):
    """Batches may require gradients and lie in memory in any way, and are left as they are."""
    path, model = write(tmp_path / "file.onnx", WEIGHT, 0.25), Affine(WEIGHT).eval()
    base = torch.randint(-4, 5, (3, 4), generator=gen).float()
    for how, x in {
        "that requires a gradient": base[:, :3].clone().requires_grad_(),
        "transposed": base.T,
        "a part": base[:, 1:],
        "with steps": base.repeat(1, 2)[:, ::2][:, :3],
        "expanded": base[:1, :3].expand(5, 3),
    }.items():
        with unchanged("parity(path, model, batches)", x=x):
            expect_within(answer, path, model, x, f"parity of a batch {how}, with atol=1.0", atol=1.0)
    call = "parity of a model that works in place"
    for part, matters, factor, x in [(Ignores, 0.0, 1.0, base[:, 1:]), (Doubles, 1.0, 2.0, torch.eye(3))]:
        weight = np.array(WEIGHT) * [[1.0], [1.0], [matters]]
        in_place = nn.Sequential(part(), Affine(weight)).eval()
        path = write(tmp_path / "two.onnx", factor * weight, 0.25)
        with unchanged(call, x=x):
            expect_within(answer, path, in_place, x, f"{call}, with atol=1.0", atol=1.0)


def oracle(answer, gen):
    x = torch.randn(5, 4, 6, generator=gen)
    weight = torch.randint(-8, 9, (3, 2), generator=gen).float()
    batches = [torch.randint(-8, 9, (n, 3), generator=gen).float() for n in (2, 4)]
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name) / "file.onnx", weight, [0.25, -0.75])
        off = answer.parity(path, Affine(weight), batches, atol=1.0)
    return [run(session_of(exported(answer)[1]), x), off]
