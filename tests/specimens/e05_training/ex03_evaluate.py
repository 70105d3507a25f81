"""Answers to evaluate that people write."""

from grader.authoring.specimen import Right, Wrong

MODES = "    modes = [(layer, layer.training) for layer in model.modules()]\n"
RESTORE = """        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
"""
NO_GRAD = "        with torch.no_grad():\n"
LOOP = "            for inputs, targets in batches:\n"
LOSS = "                loss = loss_fn(model(inputs), targets)  # ()\n"
IF = "                if len(targets) > 0:  # else the loss is NaN, and times 0 it still is\n"
ADD = "                    total += loss.item() * len(targets)\n"
COUNT = "                    count += len(targets)\n"
RAISE = """    if count == 0:
        raise ValueError("There is nothing to evaluate: the batches hold no examples.")
"""
LAST = "    return total / count\n"

HEAD = """
    modes = [(layer, layer.training) for layer in model.modules()]
    total, count = 0.0, 0
    try:
        model.eval()
        with torch.no_grad():
            for inputs, targets in batches:
"""
WHOLE = (
    MODES
    + """    total, count = 0.0, 0
    try:
        model.eval()
"""
    + NO_GRAD
    + LOOP
    + LOSS
    + IF
    + ADD
    + COUNT
    + "    finally:\n"
    + RESTORE
    + RAISE
    + LAST
)


def instead(body):
    return [(WHOLE, body)]


SPECIMENS = [
    Wrong(
        "evaluates a copy",
        edits=[
            (
                "        model.eval()\n",
                "        import copy\n\n        model = copy.deepcopy(model).eval()\n",
            ),
        ],
        check="test_passed_on_as_they_are",
        says="not a copy",
    ),
    Wrong(
        "unpacks inputs that are a tuple",
        edits=[
            (
                LOSS,
                LOSS.replace(
                    "model(inputs)", "model(*inputs) if isinstance(inputs, tuple) else model(inputs)"
                ),
            )
        ],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "asks for an iterator in evaluation mode, outside of the try",
        edits=[
            ("    try:\n        model.eval()\n", "    model.eval()\n    batches = iter(batches)\n    try:\n")
        ],
        check="test_errors",
        says="iter(batches)",
    ),
    Wrong(
        "does not restore after Ctrl-C",
        edits=[
            (
                "    finally:\n" + RESTORE,
                "    except Exception:\n"
                + RESTORE
                + "        raise\n"
                + RESTORE.replace("        ", "    ", 1).replace("            layer", "        layer"),
            )
        ],
        check="test_errors",
        says="KeyboardInterrupt",
    ),
    Wrong(
        "a mean of batch means",
        edits=[("loss.item() * len(targets)", "loss.item()"), ("count += len(targets)", "count += 1")],
        check="test_every_example_counts_the_same",
        says="wrong loss",
    ),
    Wrong(
        "all batches have the size of the first",
        edits=[
            (LOSS, LOSS + "                size = locals().get('size') or len(targets)\n"),
            ("loss.item() * len(targets)", "loss.item() * size"),
            ("count += len(targets)", "count += size"),
        ],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "the sum over the batches",
        edits=[(LAST, "    return total\n")],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "counts numbers, not examples",
        edits=[("loss.item() * len(targets)", "loss.item() * targets.numel()")],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "drops the last batch where it is short",
        edits=[
            (
                IF,
                "                size = locals().get('size') or len(targets)\n                if len(targets) >= size:\n",
            )
        ],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "counts the inputs",
        edits=[
            ("loss.item() * len(targets)", "loss.item() * len(inputs)"),
            ("count += len(targets)", "count += len(inputs)"),
        ],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "an empty batch makes the loss NaN",
        edits=[(IF, "                if True:\n")],
        check="test_empty_batches",
    ),
    Wrong(
        "stops at an empty batch",
        edits=[(LOSS, "                if len(targets) == 0:\n                    break\n" + LOSS)],
        check="test_empty_batches",
    ),
    Wrong(
        "a loss of 0 without examples",
        edits=[(RAISE, "    if count == 0:\n        return 0.0\n")],
        check="test_empty_batches",
        says="no error",
    ),
    Wrong(
        "divides by zero without examples",
        edits=[(RAISE, "")],
        check="test_empty_batches",
        says="wrong error",
    ),
    Wrong(
        "raises for no batches before the modes are back",
        edits=[
            (
                "    finally:\n" + RESTORE + RAISE,
                "        if count == 0:\n            raise ValueError('nothing to evaluate')\n    except ValueError:\n        raise\n    else:\n"
                + RESTORE.replace("        for", "        for", 1),
            )
        ],
        check="test_empty_batches",
        says="training flag of",
    ),
    Wrong(
        "skips losses that are NaN",
        edits=[(IF, "                if len(targets) > 0 and loss == loss:\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "skips losses that are not finite",
        edits=[(IF, "                if len(targets) > 0 and bool(loss.isfinite()):\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "takes NaN for an empty batch, and inf for the largest number",
        edits=[(ADD, "                    total += loss.nan_to_num().item() * len(targets)\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "sums tensors in their dtype",
        edits=[
            (ADD, "                    total = total + loss * len(targets)\n"),
            (LAST, "    return float(total / count)\n"),
        ],
        check="test_double_precision",
    ),
    Wrong(
        "weighs in the dtype of the loss",
        edits=[("loss.item() * len(targets)", "(loss * len(targets)).item()")],
        check="test_double_precision",
        says="float16",
    ),
    Wrong(
        "sums in float32",
        edits=[
            ("total, count = 0.0, 0", "total, count = torch.zeros(()), 0"),
            (ADD, "                    total += loss.item() * len(targets)\n"),
            (LAST, "    return total.item() / count\n"),
        ],
        check="test_double_precision",
    ),
    Wrong(
        "rounds the losses through float32",
        edits=[("loss.item() * len", "loss.float().item() * len")],
        check="test_double_precision",
        says="float64",
    ),
    Wrong(
        "rounds the result",
        edits=[(LAST, "    return round(total / count, 4)\n")],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "returns a tensor",
        edits=[(LAST, "    return torch.tensor(total / count)\n")],
        check="test_every_example_counts_the_same",
        says="float",
    ),
    Wrong("forgets eval", edits=[("        model.eval()\n", "")], check="test_modes", says="training flag"),
    Wrong(
        "eval for the model and its children only",
        edits=[
            (
                "        model.eval()\n",
                "        model.training = False\n        for child in model.children():\n            child.training = False\n",
            )
        ],
        check="test_modes",
        says="training flag of layer",
    ),
    Wrong(
        "eval only where the model says that it trains",
        edits=[("        model.eval()\n", "        if model.training:\n            model.eval()\n")],
        check="test_modes",
    ),
    Wrong("records graphs", edits=[(NO_GRAD, "        if True:\n")], check="test_modes", says="graph"),
    Wrong(
        "no_grad for the model, not for the loss",
        edits=[
            (NO_GRAD, "        if True:\n"),
            (
                LOSS,
                "                with torch.no_grad():\n                    predictions = model(inputs)\n                loss = loss_fn(predictions, targets)\n",
            ),
        ],
        check="test_modes",
        says="loss_fn",
    ),
    Wrong(
        "stays in evaluation mode",
        edits=[(RESTORE, "        pass\n")],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "always back to training mode",
        edits=[(RESTORE, "        model.train()\n")],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "restores the mode of the model for all layers",
        edits=[(RESTORE, "        model.train(modes[0][1])\n")],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "restores layer by layer, with train: children follow",
        edits=[
            (RESTORE, "        for layer, training in reversed(modes):\n            layer.train(training)\n")
        ],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "train(mode) for each, also for a parent that shares a layer",
        edits=[(RESTORE, "        for layer, training in modes:\n            layer.train(training)\n")],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "only turns training on again",
        edits=[
            (
                RESTORE,
                "        if modes[0][1]:\n            for layer, training in modes:\n                layer.training = training\n",
            )
        ],
        check="test_modes",
    ),
    Wrong(
        "looks at the modes when it is too late",
        edits=[(MODES, "    model.eval()\n" + MODES)],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "restores only where nothing went wrong",
        edits=[
            ("    try:\n        model.eval()\n", "    if True:\n        model.eval()\n"),
            ("    finally:\n", "    if True:\n"),
        ],
        check="test_errors",
        says="after an error",
    ),
    Wrong(
        "swallows errors",
        edits=[
            (
                "    finally:\n",
                "    except RuntimeError:\n        pass\n    except Exception:\n        count = count or 1\n    finally:\n",
            )
        ],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "turns errors into ValueErrors",
        edits=[
            (
                "    finally:\n",
                "    except Exception as error:\n        raise ValueError('could not evaluate') from error\n    finally:\n",
            )
        ],
        check="test_errors",
        says="wrong error",
    ),
    Wrong(
        "recording stays off after an error",
        edits=[
            (
                NO_GRAD,
                "        was = torch.is_grad_enabled()\n        torch.set_grad_enabled(False)\n        if True:\n",
            ),
            ("    finally:\n", "        torch.set_grad_enabled(was)\n    finally:\n"),
        ],
        check="test_errors",
        says="is_grad_enabled",
    ),
    Wrong(
        "recording is always on afterwards",
        edits=[
            (NO_GRAD, "        torch.set_grad_enabled(False)\n        if True:\n"),
            ("    finally:\n", "    finally:\n        torch.set_grad_enabled(True)\n"),
        ],
        check="test_nothing_changes",
        says="is_grad_enabled",
    ),
    Wrong(
        "clears the gradients",
        edits=[("        model.eval()\n", "        model.eval()\n        model.zero_grad()\n")],
        check="test_nothing_changes",
        says="gone",
    ),
    Wrong(
        "switches requires_grad off instead, and on again for all",
        edits=[
            (NO_GRAD, "        model.requires_grad_(False)\n" + NO_GRAD),
            ("    finally:\n", "    finally:\n        model.requires_grad_(True)\n"),
        ],
        check="test_nothing_changes",
        says="requires_grad",
    ),
    Wrong(
        "calls forward: hooks do not run",
        edits=[("= loss_fn(model(inputs)", "= loss_fn(model.forward(inputs)")],
        check="test_passed_on_as_they_are",
        says="hook",
    ),
    Wrong(
        "makes tensors of the inputs",
        edits=[("= loss_fn(model(inputs)", "= loss_fn(model(torch.as_tensor(inputs))")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "makes float targets",
        edits=[("= loss_fn(model(inputs), targets)", "= loss_fn(model(inputs), targets.float())")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "flattens the targets",
        edits=[("= loss_fn(model(inputs), targets)", "= loss_fn(model(inputs), targets.flatten())")],
        check="test_passed_on_as_they_are",
    ),
    Wrong(
        "makes a list of the batches",
        edits=[("in batches:", "in list(batches):")],
        check="test_large_data",
        says="still held",
    ),
    Wrong(
        "counts the examples in a first pass",
        edits=[
            (
                MODES,
                "    if sum(len(targets) for _, targets in batches) == 0:\n        raise ValueError('no examples')\n"
                + MODES,
            )
        ],
        check="test_large_data",
    ),
    Wrong(
        "collects all predictions and computes one loss",
        edits=instead("""
    modes = [(layer, layer.training) for layer in model.modules()]
    try:
        model.eval()
        with torch.no_grad():
            pairs = [(model(inputs), targets) for inputs, targets in batches]
            if sum(len(targets) for _, targets in pairs) == 0:
                raise ValueError("no examples")
            return loss_fn(torch.cat([p for p, _ in pairs]), torch.cat([t for _, t in pairs])).item()
    finally:
        for layer, training in modes:
            layer.training = training
"""),
        check="test_large_data",
    ),
    Wrong(
        "keeps the predictions",
        edits=[
            ("total, count = 0.0, 0", "total, count, every = 0.0, 0, []"),
            (
                LOSS,
                "                every.append(model(inputs))\n                loss = loss_fn(every[-1], targets)\n",
            ),
        ],
        check="test_large_data",
        says="predictions",
    ),
    Wrong(
        "caches by model",
        edits=[
            ("\n\ndef evaluate(", "\n\n_known = {}\n\n\ndef evaluate("),
            (
                MODES,
                "    if id(batches) in _known and isinstance(batches, list) and _known[id(batches)][0] is model:\n        return _known[id(batches)][1]\n"
                + MODES,
            ),
            (LAST, "    _known[id(batches)] = (model, total / count)\n" + LAST),
        ],
        check="test_no_cache",
    ),
    Wrong(
        "waits twice for each batch",
        edits=[(IF, "                if not loss.isnan().item() or len(targets) > 0:\n")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "moves everything to the CPU",
        edits=[(LOSS, "                loss = loss_fn(model(inputs).cpu(), targets.cpu())\n")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "a total that is created on the CPU and copied",
        edits=[
            (
                ADD,
                "                    total += (loss.double() * torch.tensor(len(targets), device=loss.device)).item()\n",
            ),
        ],
        check="test_on_a_device",
        says="copies",
    ),
    Right(
        "inference_mode, and a total on the device",
        edits=instead("""
    was_training = {layer: layer.training for layer in model.modules()}
    total, count = None, 0
    for layer in was_training:
        layer.training = False
    try:
        with torch.inference_mode():
            for inputs, targets in batches:
                n = targets.shape[0]
                if n == 0:
                    continue
                share = loss_fn(model(inputs), targets).double() * n
                total = share if total is None else total + share
                count += n
    finally:
        for layer, training in was_training.items():
            layer.training = training
    if total is None:
        raise ValueError("no examples")
    return float(total / count)
"""),
    ),
    Right(
        "a context manager and fsum",
        edits=[
            (
                "\n\ndef evaluate(",
                """

from contextlib import contextmanager
from math import fsum


@contextmanager
def _evaluating(model):
    training = {name for name, layer in model.named_modules() if layer.training}
    model.train(False)
    try:
        yield
    finally:
        for name, layer in model.named_modules():
            layer.training = name in training


@torch.no_grad()
def evaluate(""",
            ),
            *instead("""
    shares, sizes = [], []
    with _evaluating(model):
        for inputs, targets in batches:
            loss = float(loss_fn(model(inputs), targets))
            sizes.append(targets.size(0))
            if sizes[-1]:
                shares.append(sizes[-1] * loss)
    if not shares:
        raise ValueError("no examples")
    # fsum raises for inf - inf, which a sum makes NaN
    return fsum(shares) / sum(sizes)
"""),
        ],
    ),
    Right(
        "a running mean in NumPy, with del",
        edits=instead("""
    import numpy as np

    modes = {layer: layer.training for layer in model.modules()}
    try:
        with torch.no_grad():
            model.eval()
            total, count = np.float64(0.0), 0
            for batch in iter(batches):
                inputs, targets = batch
                prediction = model(inputs)
                loss = loss_fn(prediction, targets).cpu().item()
                n = len(targets)
                if n:
                    total = total + np.float64(loss) * n
                    count += n
                del inputs, targets, batch, prediction
            if not count:
                raise ValueError("no examples")
            return float(total) / count
    finally:
        for layer in modes:
            layer.training = modes[layer]
"""),
    ),
    Wrong(
        "counts labels",
        edits=[
            (ADD, ADD.replace("len(targets)", "targets.numel()")),
            (COUNT, COUNT.replace("len(targets)", "targets.numel()")),
        ],
        check="test_every_example_counts_the_same",
    ),
    Wrong(
        "looks at the first batch to see whether there is one, and holds it",
        edits=[
            (
                LOOP,
                "            batches = iter(batches)\n            first = next(batches, None)\n            for inputs, targets in itertools.chain([] if first is None else [first], batches):\n",
            ),
            ("import torch\n", "import itertools\n\nimport torch\n"),
        ],
        check="test_large_data",
        says="still held",
    ),
    Wrong(
        "loss_fn stays in evaluation mode",
        edits=[
            (
                "        model.eval()\n",
                "        model.eval()\n        if isinstance(loss_fn, nn.Module):\n            loss_fn.eval()\n",
            )
        ],
        check="test_nothing_changes",
        says="loss_fn, a module",
    ),
    Wrong(
        "seeds dropout",
        edits=[("        model.eval()\n", "        model.eval()\n        torch.manual_seed(0)\n")],
        check="test_nothing_changes",
        says="random stream",
    ),
    Wrong(
        "leaves off where the sum is not finite",
        edits=[
            (
                COUNT,
                '                    count += len(targets)\n                    if not abs(total) < float("inf"):\n                        break\n',
            )
        ],
        check="test_nan_and_inf",
        says="runs of loss_fn",
    ),
    Wrong(
        "adds up at the end",
        edits=[
            ("total, count = 0.0, 0", "losses, count = [], 0"),
            (ADD, "                    losses.append((loss, len(targets)))\n"),
            (LAST, "    return sum(loss.item() * number for loss, number in losses) / count\n"),
        ],
        check="test_large_data",
        says="still held",
    ),
    Wrong(
        "takes a batch without labels for one without examples",
        edits=[(IF, IF.replace("len(targets) > 0", "targets.numel() > 0"))],
        check="test_every_example_counts_the_same",
        says="rows of one or no label",
    ),
    Wrong(
        "makes floats of integer inputs",
        edits=[
            (
                LOSS,
                "                if isinstance(inputs, torch.Tensor) and not inputs.is_floating_point():\n"
                "                    inputs = inputs.float()\n" + LOSS,
            )
        ],
        check="test_passed_on_as_they_are",
        says="uint8",
    ),
    Wrong(
        "gives the targets the shape of the predictions",
        edits=[
            (
                LOSS,
                """                out = model(inputs)
                if isinstance(out, torch.Tensor) and out.numel() == targets.numel():
                    targets = targets.view_as(out)
                loss = loss_fn(out, targets)
""",
            )
        ],
        check="test_passed_on_as_they_are",
        says="targets in",
    ),
    Wrong(
        "a sum of 0 passes for no examples",
        edits=[(RAISE, RAISE.replace("count == 0", "total == 0"))],
        check="test_double_precision",
        says="no examples",
    ),
]
