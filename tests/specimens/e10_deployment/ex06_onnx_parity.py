"""Answers to onnx_parity that people write.

Those whose mistake lies elsewhere take the older exporter, which needs a tenth of the time.
"""

from grader.authoring.specimen import Right, Works, Wrong

EXPORT = """        torch.onnx.export(
            model,
            (rows,),
            path,
            input_names=["input"],
            output_names=["output"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
"""
OLD = """        torch.onnx.export(
            model,
            (rows,),
            str(path),
            input_names=["input"],
            output_names=["output"],
            dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}},
            dynamo=False,
        )
"""
FAST = (EXPORT, OLD)
WITH = "    with _evaluating(model):\n"
MODES = "    modes = [(module, module.training) for module in model.modules()]\n    model.eval()\n"
RESTORE = """    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
"""
QUIET = "    with _evaluating(model), torch.no_grad():\n"
LOOP = "        for place, x in enumerate(batches):\n"
SHAPE = """            if yours.shape != wanted.shape:
                raise ValueError(f"batch {place}: {tuple(yours.shape)} for {tuple(wanted.shape)}")
"""
OFF = "            off = (yours - wanted).abs().masked_fill(same, 0.0)\n"
WITHIN = "            within = same | ((off <= atol + rtol * wanted.abs()) & wanted.isfinite())\n"
FAIL = """            if not within.all():
                raise ValueError(f"batch {place} is off by up to {off.max():.3g}")
"""
LARGEST = "            largest = max(largest, float(off.max()))\n"


def fast(*edits):
    """With the older exporter."""
    return [FAST, *edits]


SPECIMENS = [
    Wrong(
        "burns the batch size in, with the older exporter",
        edits=[
            (
                EXPORT,
                OLD.replace(
                    '            dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}},\n', ""
                ),
            )
        ],
        check="test_other_batches",
        rung="job",
    ),
    Wrong(
        "exports in training mode", edits=[(WITH, "    if True:\n")], check="test_other_batches", rung="job"
    ),
    Wrong(
        "names of its own",
        edits=[(EXPORT, OLD.replace('["input"]', '["x"]').replace('"input":', '"x":'))],
        check="test_names_and_sizes",
        rung="job",
    ),
    Wrong(
        "the mean difference",
        edits=fast((LARGEST, LARGEST.replace("off.max()", "off.mean()"))),
        check="test_difference",
        rung="job",
    ),
    Wrong(
        "the difference of the last batch",
        edits=fast((LARGEST, "            largest = float(off.max())\n")),
        check="test_difference",
        rung="job",
    ),
    Wrong("with a sign", edits=fast((OFF, OFF.replace(".abs()", ""))), check="test_difference", rung="job"),
    Wrong(
        "a relative tolerance with a sign",
        edits=fast((WITHIN, WITHIN.replace("wanted.abs()", "wanted"))),
        check="test_tolerances",
        rung="job",
    ),
    Wrong(
        "no atol", edits=fast((WITHIN, WITHIN.replace("atol + ", ""))), check="test_tolerances", rung="job"
    ),
    Wrong(
        "an AssertionError",
        edits=fast((FAIL, FAIL.replace("ValueError", "AssertionError"))),
        check="test_tolerances",
        rung="job",
    ),
    Wrong(
        "counts from 1",
        edits=fast((LOOP, LOOP.replace("enumerate(batches)", "enumerate(batches, 1)"))),
        check="test_which_batch",
        rung="job",
    ),
    Wrong(
        "the first batch only",
        edits=fast((LARGEST, LARGEST + "            break\n")),
        check="test_which_batch",
        rung="job",
    ),
    Wrong(
        "one element within is enough",
        edits=fast((FAIL, FAIL.replace("within.all()", "within.any() and len(x)"))),
        check="test_which_batch",
        rung="job",
    ),
    Wrong(
        "the weights in a file beside it",
        edits=[("            external_data=False,\n", "")],
        check="test_one_file",
    ),
    Wrong(
        "no finally",
        edits=fast(
            (RESTORE, "    yield\n    for module, training in modes:\n        module.training = training\n")
        ),
        check="test_modes_after_errors",
    ),
    Wrong(
        "NaN is within",
        edits=fast(
            (
                FAIL,
                "            if (off > atol + rtol * wanted.abs()).any():\n                raise ValueError(f'batch {place} is off')\n",
            )
        ),
        check="test_nan_and_infinity",
    ),
    Wrong("broadcasts", edits=fast((SHAPE, "")), check="test_other_shapes"),
    Works(
        "the tutorial's export, and NumPy's allclose",
        code="""
import numpy as np
import onnxruntime
import torch


def export_onnx(model, example, path):
    model.eval()
    batch = torch.export.Dim("batch")
    torch.onnx.export(
        model, (example,), path, input_names=["input"], output_names=["output"],
        dynamic_shapes=({0: batch},), dynamo=True,
    )


def parity(path, model, batches, *, rtol=1e-4, atol=1e-5):
    session = onnxruntime.InferenceSession(str(path))
    model.eval()
    worst = 0.0
    for i, x in enumerate(batches):
        with torch.no_grad():
            wanted = model(x).numpy()
        got = session.run(None, {"input": x.numpy()})[0]
        diff = float(np.abs(got - wanted).max())
        if not np.allclose(got, wanted, rtol=rtol, atol=atol):
            raise ValueError(f"batch {i} differs by {diff}")
        worst = max(worst, diff)
    return worst
""",
    ),
    Works(
        "the older exporter, and tensors",
        code="""
import onnxruntime as ort
import torch


def export_onnx(model, example, path):
    model.eval()
    axes = {"input": {0: "batch_size"}, "output": {0: "batch_size"}}
    torch.onnx.export(model, example, str(path), input_names=["input"], output_names=["output"], dynamic_axes=axes, dynamo=False)
    model.train()


@torch.no_grad()
def parity(path, model, batches, *, rtol=1e-4, atol=1e-5):
    session, largest = ort.InferenceSession(str(path)), 0.0
    for number, x in enumerate(batches):
        expected = model.eval()(x)
        actual = torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
        off = (actual - expected).abs()
        if (off > atol + rtol * expected.abs()).any():
            raise ValueError(f"batch {number}: off by {off.max().item():.3g}")
        largest = max(largest, off.max().item())
    return largest
""",
    ),
    Right(
        "the older exporter, and NumPy",
        code="""
import os

import numpy as np
import onnxruntime
import torch


def modes_kept(function):
    def inner(first, second, *args, **kwargs):
        model = first if isinstance(first, torch.nn.Module) else second
        modes = {module: module.training for module in model.modules()}
        model.eval()
        try:
            return function(first, second, *args, **kwargs)
        finally:
            for module in modes:
                module.training = modes[module]

    return inner


@modes_kept
def export_onnx(model, example, path):
    torch.onnx.export(
        model,
        example.detach().clone(),
        os.fspath(path),
        dynamo=False,
        input_names=["input"],
        output_names=["output"],
        dynamic_axes={"input": [0], "output": [0]},
    )


@modes_kept
@torch.inference_mode()
def parity(path, model, batches, *, rtol=1e-4, atol=1e-5):
    session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])
    (source,) = (node.name for node in session.get_inputs())
    worst = [0.0]
    for i, batch in enumerate(batches):
        right = model(batch.clone()).numpy().astype(np.float64)
        mine = session.run(None, {source: np.ascontiguousarray(batch.detach().numpy())})[0].astype(np.float64)
        if right.shape != mine.shape or not np.allclose(mine, right, rtol=rtol, atol=atol, equal_nan=True):
            raise ValueError(f"batch {i} differs: {mine} is not {right}")
        finite = np.isfinite(right) & np.isfinite(mine)
        worst += np.abs(mine[finite] - right[finite]).tolist()
    return max(worst)
""",
    ),
    Right(
        "copies of the model, which nobody else sees",
        edits=fast(
            (MODES + RESTORE, "    yield\n"),
            (WITH, "    import copy\n\n    model = copy.deepcopy(model).eval()\n" + WITH),
            (QUIET, "    import copy\n\n    model = copy.deepcopy(model).eval()\n" + QUIET),
        ),
    ),
]
