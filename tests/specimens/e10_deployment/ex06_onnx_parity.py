"""Answers to onnx_parity that people write.

Those whose mistake lies elsewhere take the older exporter, which needs a tenth of the time.
"""

from grader.authoring.specimen import Right, Wrong

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
ROWS = "    rows = torch.cat([example, example])  # a batch of 1 may be taken for a constant\n"
WITH = "    with _evaluating(model):\n"
MODES = "    modes = [(module, module.training) for module in model.modules()]\n    model.eval()\n"
RESTORE = """    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
"""
NAME = "    name = session.get_inputs()[0].name\n"
QUIET = "    with _evaluating(model), torch.no_grad():\n"
LOOP = "        for place, x in enumerate(batches):\n"
WANTED = "            wanted = model(x.clone()).double()  # (batch, …); some models work in place\n"
RUN = "            (found,) = session.run(None, {name: x.detach().contiguous().numpy()})\n"
YOURS = "            yours = torch.from_numpy(found).double()\n"
SHAPE = """            if yours.shape != wanted.shape:
                raise ValueError(f"batch {place}: {tuple(yours.shape)} for {tuple(wanted.shape)}")
"""
SAME = "            same = (yours == wanted) | (yours.isnan() & wanted.isnan())\n"
OFF = "            off = (yours - wanted).abs().masked_fill(same, 0.0)\n"
WITHIN = "            within = same | ((off <= atol + rtol * wanted.abs()) & wanted.isfinite())\n"
FAIL = """            if not within.all():
                raise ValueError(f"batch {place} is off by up to {off.max():.3g}")
"""
LARGEST = "            largest = max(largest, float(off.max()) if off.numel() else 0.0)\n"


def fast(*edits):
    """With the older exporter."""
    return [FAST, *edits]


SPECIMENS = [
    Wrong(
        "turns gradients on at the end, for everybody",
        edits=[("    return largest\n", "    torch.set_grad_enabled(True)\n    return largest\n")],
        check="test_parity_modes",
        says="gradients are on",
    ),
    Wrong(
        "names the batch and not how far it is off",
        edits=[("batch {place} is off by up to {off.max():.3g}", "batch {place} differs")],
        check="test_tolerances",
        says="how far",
    ),
    Wrong(
        "burns the batch size in",
        edits=[('            dynamic_shapes=({0: torch.export.Dim("batch")},),\n', "")],
        check="test_names_and_sizes",
        says="fixed",
    ),
    Wrong(
        "the weights in a file beside it",
        edits=[("            external_data=False,\n", "")],
        check="test_one_file",
    ),
    Wrong("exports in training mode", edits=[(WITH, "    if True:\n")], check="test_other_batches"),
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
    ),
    Wrong(
        "all sizes are free",
        edits=[(EXPORT, OLD.replace('"input": {0: "batch"}', '"input": {0: "batch", 1: "time"}'))],
        check="test_names_and_sizes",
    ),
    Wrong(
        "names of its own",
        edits=[(EXPORT, OLD.replace('["input"]', '["x"]').replace('"input":', '"x":'))],
        check="test_names_and_sizes",
    ),
    Wrong(
        "no name for the output",
        edits=[
            (
                EXPORT,
                OLD.replace('            output_names=["output"],\n', "").replace(
                    ', "output": {0: "batch"}', ""
                ),
            )
        ],
        check="test_names_and_sizes",
    ),
    Wrong(
        "writes another file, too",
        edits=fast((ROWS, ROWS + "    torch.save(model.state_dict(), Path(path).with_suffix('.pt'))\n")),
        check="test_one_file",
    ),
    Wrong(
        "adds an ending of its own",
        edits=[(EXPORT, OLD.replace("str(path)", "str(path) + '.onnx'"))],
        check="test_one_file",
    ),
    Wrong(
        "does not overwrite",
        edits=fast((ROWS, ROWS + "    if Path(path).exists():\n        return\n")),
        check="test_one_file",
    ),
    Wrong(
        "exports a freshly built model",
        edits=fast(
            (
                ROWS,
                ROWS
                + "    import copy\n\n    model = copy.deepcopy(model)\n    for m in model.modules():\n        if hasattr(m, 'reset_running_stats'):\n            m.reset_running_stats()\n",
            )
        ),
        check="test_other_batches",
    ),
    Wrong(
        "stays in evaluation mode",
        edits=fast((RESTORE, "    yield\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "one mode for all modules",
        edits=fast((RESTORE, "    try:\n        yield\n    finally:\n        model.train(modes[0][1])\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "training mode afterwards",
        edits=fast((RESTORE, "    try:\n        yield\n    finally:\n        model.train()\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "no finally",
        edits=fast(
            (RESTORE, "    yield\n    for module, training in modes:\n        module.training = training\n")
        ),
        check="test_export_that_fails",
    ),
    Wrong(
        "tries the model first, in training mode",
        edits=fast((ROWS, ROWS + "    model(rows)\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "writes to the example",
        edits=fast((ROWS, ROWS + "    example.zero_()\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "rounds the weights to float16",
        edits=fast((ROWS, ROWS + "    model.half().float()\n")),
        check="test_export_leaves_the_model_alone",
    ),
    Wrong(
        "the mean difference",
        edits=fast((LARGEST, LARGEST.replace("off.max()", "off.mean()"))),
        check="test_difference",
    ),
    Wrong(
        "the difference of the last batch",
        edits=fast((LARGEST, "            largest = float(off.max()) if off.numel() else 0.0\n")),
        check="test_difference",
    ),
    Wrong(
        "a tensor",
        edits=fast(("    return largest\n", "    return torch.tensor(largest)\n")),
        check="test_difference",
    ),
    Wrong("with a sign", edits=fast((OFF, OFF.replace(".abs()", ""))), check="test_which_batch"),
    Wrong(
        "the relative difference",
        edits=fast(
            (
                LARGEST,
                "            largest = max(largest, float((off / wanted.abs().clamp(min=1e-9)).max()) if off.numel() else 0.0)\n",
            )
        ),
        check="test_difference",
    ),
    Wrong(
        "an error without rows",
        edits=fast((LARGEST, "            largest = max(largest, float(off.max()))\n")),
        check="test_difference",
    ),
    Wrong(
        "an error without batches",
        edits=fast(
            ("    largest = 0.0\n", "    batches = list(batches)\n    batches[0]\n    largest = 0.0\n")
        ),
        check="test_difference",
    ),
    Wrong("a Path only", edits=fast((NAME, NAME + "    path.exists()\n")), check="test_difference"),
    Wrong(
        "indexes batches",
        edits=fast((LOOP, "        for place in range(len(batches)):\n            x = batches[place]\n")),
        check="test_difference",
    ),
    Wrong(
        "a relative tolerance with a sign",
        edits=fast((WITHIN, WITHIN.replace("wanted.abs()", "wanted"))),
        check="test_tolerances",
        says="no more than they may",
    ),
    Wrong(
        "no rtol", edits=fast((WITHIN, WITHIN.replace(" + rtol * wanted.abs()", ""))), check="test_tolerances"
    ),
    Wrong("no atol", edits=fast((WITHIN, WITHIN.replace("atol + ", ""))), check="test_tolerances"),
    Wrong(
        "the larger of the two tolerances",
        edits=fast(
            (
                WITHIN,
                "            within = same | ((off <= (rtol * wanted.abs()).clamp(min=atol)) & wanted.isfinite())\n",
            )
        ),
        check="test_tolerances",
    ),
    Wrong(
        "rtol of what ONNX Runtime gives",
        edits=fast((WITHIN, WITHIN.replace("wanted.abs()", "yours.abs()"))),
        check="test_tolerances",
    ),
    Wrong(
        "rtol of the largest result",
        edits=fast((WITHIN, WITHIN.replace("wanted.abs()", "(wanted.abs().max() if wanted.numel() else 0)"))),
        check="test_tolerances",
    ),
    Wrong(
        "tolerances the wrong way round",
        edits=fast(
            ("*, rtol: float = 1e-4, atol: float = 1e-5", "*, rtol: float = 1e-5, atol: float = 1e-4")
        ),
        check="test_tolerances",
    ),
    Wrong(
        "fixed tolerances",
        edits=fast((WITHIN, WITHIN.replace("atol + rtol *", "1e-5 + 1e-4 *"))),
        check="test_difference",
    ),
    Wrong(
        "an AssertionError",
        edits=fast((FAIL, FAIL.replace("ValueError", "AssertionError"))),
        check="test_tolerances",
    ),
    Wrong("returns, and raises nothing", edits=fast((FAIL, "")), check="test_tolerances", says="no error"),
    Wrong(
        "one element within is enough",
        edits=fast((FAIL, FAIL.replace("within.all()", "within.any() and len(x)"))),
        check="test_which_batch",
    ),
    Wrong(
        "the first row only",
        edits=fast(
            (WANTED, WANTED.replace("model(x.clone())", "model(x.clone())[:1]")),
            (YOURS, YOURS.replace("found)", "found)[:1]")),
        ),
        check="test_which_batch",
    ),
    Wrong(
        "the first batch only",
        edits=fast((LARGEST, LARGEST + "            break\n")),
        check="test_which_batch",
    ),
    Wrong(
        "counts from 1",
        edits=fast((LOOP, LOOP.replace("enumerate(batches)", "enumerate(batches, 1)"))),
        check="test_which_batch",
    ),
    Wrong(
        "does not say which batch",
        edits=fast((FAIL, FAIL.replace("batch {place} is", "it is"))),
        check="test_which_batch",
    ),
    Wrong(
        "names the last batch that is off",
        edits=fast(
            (
                FAIL,
                '            if not within.all():\n                late = f"batch {place} is off by up to {off.max():.3g}"\n',
            ),
            ("    largest = 0.0\n", "    largest, late = 0.0, None\n"),
            ("    return largest\n", "    if late:\n        raise ValueError(late)\n    return largest\n"),
        ),
        check="test_which_batch",
    ),
    Wrong(
        "NaN is within",
        edits=fast(
            (
                FAIL,
                "            if (off > atol + rtol * wanted.abs()).any():\n                raise ValueError(f'batch {place} is off')\n",
            )
        ),
        check="test_not_finite",
    ),
    Wrong(
        "NaN is never equal",
        edits=fast((SAME, "            same = yours == wanted\n")),
        check="test_not_finite",
    ),
    Wrong(
        "NaN is always equal",
        edits=fast(
            (SAME, SAME.replace("(yours.isnan() & wanted.isnan())", "yours.isnan() | wanted.isnan()"))
        ),
        check="test_not_finite",
    ),
    Wrong(
        "infinity less infinity",
        edits=fast(
            (SAME, "            same = yours.isnan() & wanted.isnan()\n"),
            (OFF, OFF),
            (WITHIN, "            within = same | (off <= atol + rtol * wanted.abs())\n"),
        ),
        check="test_not_finite",
    ),
    Wrong(
        "infinity allows everything",
        edits=fast((WITHIN, WITHIN.replace(" & wanted.isfinite()", ""))),
        check="test_not_finite",
    ),
    Wrong(
        "all infinities are equal",
        edits=fast((SAME, SAME + "            same = same | (yours.isinf() & wanted.isinf())\n")),
        check="test_not_finite",
    ),
    Wrong(
        "nan_to_num",
        edits=fast(
            (YOURS, YOURS.replace(".double()", ".nan_to_num().double()")),
            (WANTED, WANTED.replace(".double()", ".nan_to_num().double()")),
        ),
        check="test_not_finite",
    ),
    Wrong("broadcasts", edits=fast((SHAPE, "")), check="test_shapes"),
    Wrong(
        "compares flat",
        edits=fast((SHAPE, "            yours, wanted = yours.flatten(), wanted.flatten()\n" + SHAPE)),
        check="test_shapes",
    ),
    Wrong(
        "counts elements",
        edits=fast(
            (
                SHAPE,
                SHAPE.replace("yours.shape != wanted.shape", "yours.numel() != wanted.numel()")
                + "            yours = yours.reshape(wanted.shape)\n",
            )
        ),
        check="test_shapes",
    ),
    Wrong(
        "the file's input is named input",
        edits=fast((NAME, '    name = "input"\n')),
        check="test_parity_modes",
    ),
    Wrong(
        "runs the model as it is",
        edits=fast((QUIET, "    with torch.no_grad():\n")),
        check="test_parity_modes",
    ),
    Wrong(
        "records a graph",
        edits=fast(
            (QUIET, "    with _evaluating(model):\n"),
            (WANTED, WANTED.replace(".double()", ".detach().double()")),
        ),
        check="test_parity_modes",
    ),
    Wrong(
        "runs the model twice",
        edits=fast((WANTED, "            model(x)\n" + WANTED)),
        check="test_parity_modes",
    ),
    Wrong(
        "lets the model write to batches",
        edits=fast((WANTED, WANTED.replace(".clone()", ""))),
        check="test_any_batches",
        says="changes",
    ),
    Wrong(
        "ONNX Runtime gets what the model has written over",
        edits=fast(
            (
                WANTED,
                "            x = x.detach().clone(memory_format=torch.contiguous_format)\n"
                + WANTED.replace(".clone()", ""),
            )
        ),
        check="test_any_batches",
        says="off",
    ),
    Wrong(
        "adds a suffix",
        edits=[
            (EXPORT, OLD.replace("str(path)", "str(Path(path).with_suffix('.onnx'))")),
        ],
        check="test_one_file",
    ),
    Wrong(
        "needs contiguous batches",
        edits=fast((WANTED, "            x.view(-1)\n" + WANTED)),
        check="test_any_batches",
    ),
    Wrong(
        "writes to batches",
        edits=fast((WANTED, "            x.detach().clamp_(-3, 3)\n" + WANTED)),
        check="test_any_batches",
        says="changes",
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
    Right(
        "the exporter's own program, a dimension found by itself",
        edits=[
            (
                EXPORT,
                """        program = torch.onnx.export(
            model,
            (rows,),
            input_names=["input"],
            output_names=["output"],
            dynamic_shapes=[{0: torch.export.Dim.DYNAMIC}],
            dynamo=True,
            verbose=False,
        )
        program.save(str(path), external_data=False)
""",
            ),
        ],
    ),
    Wrong(
        "batches that require no gradient from now on",
        edits=fast((RUN, RUN.replace("x.detach()", "x.requires_grad_(False)"))),
        check="test_any_batches",
        says="requires_grad",
    ),
    Wrong(
        "says what would be allowed, and not how far it is off",
        edits=fast((FAIL, FAIL.replace("is off by up to {off.max():.3g}", "exceeds {rtol=}, {atol=}"))),
        check="test_tolerances",
        says="how far it is off",
    ),
    Wrong(
        "switches gradients off, and on again where nothing is off",
        edits=[
            (
                "    with _evaluating(model), torch.no_grad():\n        for place",
                "    with _evaluating(model):\n        torch.set_grad_enabled(False)\n        for place",
            ),
            ("    return largest\n", "    torch.set_grad_enabled(True)\n    return largest\n"),
        ],
        check="test_parity_modes",
        says="gradients are off",
    ),
    Wrong(
        "freezes the model for the export, and for ever",
        edits=[FAST, (ROWS, ROWS + "    model.requires_grad_(False)\n")],
        check="test_export_leaves_the_model_alone",
        says="requires_grad",
    ),
    Wrong(
        "freezes the model for the export, and lets all of it learn afterwards",
        edits=[
            (EXPORT, OLD + "        model.requires_grad_(True)\n"),
            (ROWS, ROWS + "    model.requires_grad_(False)\n"),
        ],
        check="test_export_leaves_the_model_alone",
        says="requires_grad",
    ),
    Wrong(
        "parity freezes the model, so that no graph is recorded",
        edits=fast(("    largest = 0.0\n", "    largest = 0.0\n    model.requires_grad_(False)\n")),
        check="test_parity_modes",
        says="requires_grad",
    ),
    Wrong(
        "names the batch that is furthest off",
        edits=fast(
            (
                FAIL,
                """            far = float(off.max()) if off.numel() else 0.0
            if not within.all() and (worst is None or far > worst[0]):
                worst = far, f"batch {place} is off by up to {far:.3g}"
""",
            ),
            ("    largest = 0.0\n", "    largest, worst = 0.0, None\n"),
            (
                "    return largest\n",
                "    if worst:\n        raise ValueError(worst[1])\n    return largest\n",
            ),
        ),
        check="test_which_batch",
        says="batch 2",
    ),
    Wrong(
        "writes large weights into a file beside it",
        edits=[
            (
                EXPORT,
                OLD
                + "    import onnx\n\n"
                + "    large = {'save_as_external_data': True, 'location': Path(path).name + '.data'}\n"
                + "    onnx.save_model(onnx.load(path), path, **large)\n",
            )
        ],
        check="test_one_file",
        says="the files that export_onnx writes",
    ),
    Wrong(
        "only the parts are put into evaluation mode, and not the model around them",
        edits=[
            (
                MODES,
                MODES.replace(
                    "    model.eval()\n", "    for part in model.children():\n        part.eval()\n"
                ),
            )
        ],
        check="test_other_batches",
    ),
    Wrong(
        "reads the file in evaluation mode already, which stays if there is none",
        edits=fast(
            (
                "    session = onnxruntime.InferenceSession(str(path)",
                "    modes = [(module, module.training) for module in model.modules()]\n"
                "    model.eval()\n    session = onnxruntime.InferenceSession(str(path)",
            ),
            (NAME, NAME + "    for module, training in modes:\n        module.training = training\n"),
        ),
        check="test_parity_modes",
        says="found no file",
    ),
    Wrong(
        "leaves gradients off where the model raises",
        edits=fast(
            (QUIET, WITH),
            (
                WANTED + RUN,
                RUN
                + "            before = torch.is_grad_enabled()\n            torch.set_grad_enabled(False)\n"
                + WANTED
                + "            torch.set_grad_enabled(before)\n",
            ),
        ),
        check="test_parity_modes",
        says="parity of a model that raises",
    ),
]
