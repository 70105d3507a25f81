"""Answers to predict that must fail, and some that must pass."""

from grader.authoring.specimen import Right, Wrong

SIZE = """    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}: a batch holds at least one row")
"""
PLACED = "    placed = next(chain(model.parameters(), model.buffers()), inputs)\n"
MODES = "    modes = [(layer, layer.training) for layer in model.modules()]\n"
EVAL = "        model.eval()\n"
MODE = "        with torch.inference_mode():\n"
SPLIT = "            for batch in inputs.split(batch_size):  # of no rows: one empty batch\n"
RUN = "                outputs = model(batch.to(placed.device, copy=True))  # (batch, *outputs), perhaps in place\n"
KEEP = '                parts.append(outputs.to("cpu", copy=True))  # a view would hold all of its base\n'
DEL = "                del outputs  # or it is there still while the model runs on the next batch\n"
RESTORE = """        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
"""
LAST = "    return torch.cat(parts)  # (rows, *outputs): outside of inference mode, so it is an ordinary tensor\n"
BODY = SIZE + PLACED + MODES + "    parts = []\n    try:\n" + EVAL + MODE + SPLIT + RUN + KEEP + DEL
BODY += "    finally:\n" + RESTORE + LAST

SPECIMENS = [
    Wrong(
        "goes to the device of the last parameter",
        edits=[(PLACED, "    placed = [inputs, *model.buffers(), *model.parameters()][-1]\n")],
        check="test_on_two_devices",
    ),
    Wrong(
        "hands inputs that fit into one batch to the model as they are",
        edits=[
            ("batch.to(placed.device, copy=True)", "batch.to(placed.device, copy=len(inputs) > batch_size)")
        ],
        check="test_models_in_place",
        says="5) of 5 rows",
    ),
    Wrong(
        "no rows: runs on a row of zeros, and drops its result",
        edits=[
            (
                MODES,
                MODES
                + "    rows = len(inputs)\n    inputs = inputs if rows else inputs.new_zeros(1, *inputs.shape[1:])\n",
            ),
            (LAST, "    return torch.cat(parts)[:rows].clone()\n"),
        ],
        check="test_no_rows",
        says="rows in the call of the model for no rows",
    ),
    Wrong(
        "puts modes back after errors, but not after Ctrl-C",
        edits=[
            (
                "    finally:\n" + RESTORE,
                "    except Exception:\n" + RESTORE + "        raise\n    if True:\n" + RESTORE,
            )
        ],
        check="test_errors",
        says="training flag",
    ),
    Wrong(
        "at most 64 rows, whatever is asked for",
        edits=[("inputs.split(batch_size)", "inputs.split(min(batch_size, 64))")],
        check="test_every_row_once",
    ),
    Wrong(
        "leaves inference mode at the end alone",
        edits=[
            (
                "        with torch.inference_mode():\n",
                "        inference = torch.inference_mode()\n        inference.__enter__()\n        if True:\n",
            ),
            ("    finally:\n", "        inference.__exit__(None, None, None)\n    finally:\n"),
        ],
        check="test_errors",
        says="inference mode",
    ),
    Wrong(
        "all rows at once",
        edits=[(SPLIT, "            for batch in [inputs]:\n")],
        check="test_every_row_once",
        says="rows in each call",
    ),
    Wrong(
        "drops the short batch",
        edits=[
            (
                SPLIT,
                "            for batch in [b for b in inputs.split(batch_size) if len(b) == batch_size]:\n",
            ),
            (LAST, "    return torch.cat(parts) if parts else torch.empty(0)\n"),
        ],
        check="test_every_row_once",
    ),
    Wrong(
        "pads the short batch",
        edits=[
            (
                RUN,
                "                n = len(batch)\n                batch = torch.cat([batch, batch[-1:].repeat(batch_size - n, *[1] * (batch.dim() - 1))])\n                outputs = model(batch.to(placed.device))[:n]\n",
            )
        ],
        check="test_every_row_once",
        says="rows in each call",
    ),
    Wrong(
        "batch_size batches rather than batches of batch_size",
        edits=[("inputs.split(batch_size)", "inputs.chunk(batch_size)")],
        check="test_every_row_once",
    ),
    Wrong(
        "ignores batch_size",
        edits=[("inputs.split(batch_size)", "inputs.split(64)")],
        check="test_every_row_once",
    ),
    Wrong(
        "another default",
        edits=[("batch_size: int = 64", "batch_size: int = 32")],
        check="test_default_batches_of_64",
    ),
    Wrong(
        "squeezes",
        edits=[(RUN, RUN.replace("  #", ".squeeze()  #"))],
        check="test_every_row_once",
    ),
    Wrong(
        "row by row",
        edits=[
            (
                RUN,
                "                outputs = torch.stack([model(row[None].to(placed.device))[0] for row in batch])\n",
            )
        ],
        check="test_every_row_once",
    ),
    Wrong(
        "calls forward: hooks do not run",
        edits=[("= model(batch", "= model.forward(batch")],
        check="test_every_row_once",
        says="hook",
    ),
    Wrong(
        "casts to float32",
        edits=[("batch.to(placed.device, copy=True)", "batch.to(placed.device, torch.float32, copy=True)")],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "results into float32",
        edits=[('"cpu", copy=True)', '"cpu", torch.float32, copy=True)')],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "results in the dtype of the inputs",
        edits=[('"cpu", copy=True)', '"cpu", inputs.dtype, copy=True)')],
        check="test_shapes_and_dtypes",
        says="dtype",
    ),
    Wrong(
        "results as long as the number of rows, one number each, as a column",
        edits=[(LAST, "    result = torch.cat(parts)\n    return result.reshape(len(inputs), -1)\n")],
        check="test_shapes_and_dtypes",
    ),
    Wrong(
        "nothing for no rows",
        edits=[(PLACED, "    if len(inputs) == 0:\n        return torch.empty(0)\n" + PLACED)],
        check="test_no_rows",
        says="shape",
    ),
    Wrong(
        "asks the model for no rows in whatever mode it is",
        edits=[
            (
                PLACED,
                PLACED
                + "    if len(inputs) == 0:\n        with torch.no_grad():\n            return model(inputs.to(placed.device)).cpu().clone()\n",
            ),
        ],
        check="test_no_rows",
        says="training flag",
    ),
    Wrong(
        "returns the inputs for no rows",
        edits=[(PLACED, "    if len(inputs) == 0:\n        return inputs.clone()\n" + PLACED)],
        check="test_no_rows",
    ),
    Wrong(
        "cannot cat nothing",
        edits=[
            (
                SPLIT,
                "            for batch in (inputs[i : i + batch_size] for i in range(0, len(inputs), batch_size)):\n",
            )
        ],
        check="test_no_rows",
    ),
    Wrong(
        "finds the shape with an extra run each time",
        edits=[
            (SPLIT, "            parts.append(model(inputs[:0].to(placed.device)).cpu())\n" + SPLIT),
        ],
        check="test_every_row_once",
        says="rows in each call",
    ),
    Wrong(
        "no error for a batch size of 0",
        edits=[(SIZE, "    batch_size = max(batch_size, 1)\n")],
        check="test_impossible_batches",
    ),
    Wrong(
        "refuses only 0",
        edits=[
            ("    if batch_size < 1:", "    if batch_size == 0:"),
            ("inputs.split(batch_size)", "inputs.split(abs(batch_size))"),
        ],
        check="test_impossible_batches",
    ),
    Wrong(
        "asserts",
        edits=[(SIZE, "    assert batch_size >= 1\n")],
        check="test_impossible_batches",
        says="wrong error",
    ),
    Wrong(
        "raises after it has changed the modes",
        edits=[
            (SIZE, ""),
            (EVAL, EVAL + SIZE),
            ("    try:\n", "    if True:\n"),
            ("    finally:\n", "    if True:\n"),
        ],
        check="test_impossible_batches",
        says="training flag",
    ),
    Wrong("forgets eval", edits=[(EVAL, "")], check="test_modes", says="training flag"),
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
        "gives all layers the mode of the model",
        edits=[(RESTORE, "        model.train(modes[0][1])\n")],
        check="test_modes",
        says="training flag of",
    ),
    Wrong(
        "from the outside in, with train: shared layers follow the last",
        edits=[(RESTORE, "        for layer, training in modes:\n            layer.train(training)\n")],
        check="test_a_layer_in_two_places",
        says="shared",
    ),
    Wrong(
        "only where the model says that it trains",
        edits=[
            (EVAL, "        if model.training:\n            model.eval()\n"),
        ],
        check="test_modes",
    ),
    Wrong(
        "no_grad in place of inference mode",
        edits=[(MODE, "        with torch.no_grad():\n")],
        check="test_modes",
        says="is_inference_mode_enabled",
    ),
    Wrong(
        "records graphs and detaches",
        edits=[(MODE, "        if True:\n"), (LAST, "    return torch.cat(parts).detach()\n")],
        check="test_modes",
        says="is_inference_mode_enabled",
    ),
    Wrong(
        "restores only where nothing went wrong",
        edits=[("    try:\n", "    if True:\n"), ("    finally:\n", "    if True:\n")],
        check="test_errors",
        says="training flag of",
    ),
    Wrong(
        "swallows errors",
        edits=[
            (
                "    finally:\n",
                "    except Exception:\n        parts.append(torch.zeros(len(inputs)))\n    finally:\n",
            )
        ],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "puts the batches together in inference mode",
        edits=[
            (DEL, DEL + "            result = torch.cat(parts)\n"),
            (LAST, "    return result\n"),
        ],
        check="test_ordinary_result",
        says="inference mode",
    ),
    Wrong(
        "decorated with inference_mode",
        edits=[("def predict(", "@torch.inference_mode()\ndef predict("), (MODE, "        if True:\n")],
        check="test_ordinary_result",
        says="inference mode",
    ),
    Wrong(
        "a single batch is returned as it is",
        edits=[(LAST, "    return parts[0] if len(parts) == 1 else torch.cat(parts)\n")],
        check="test_ordinary_result",
        says="inference mode",
    ),
    Wrong(
        "a single batch is returned as it is, without a copy",
        edits=[
            (
                SIZE,
                SIZE
                + "    if len(inputs) <= batch_size and not any(True for _ in model.parameters()):\n        return model(inputs)\n",
            )
        ],
        check="test_ordinary_result",
        says="view of its input",
    ),
    Wrong(
        "clears the gradients",
        edits=[(EVAL, EVAL + "        model.zero_grad()\n")],
        check="test_nothing_changes",
        says="gone",
    ),
    Wrong(
        "switches requires_grad off, and on again for all",
        edits=[
            (EVAL, EVAL + "        model.requires_grad_(False)\n"),
            ("    finally:\n", "    finally:\n        model.requires_grad_(True)\n"),
        ],
        check="test_nothing_changes",
        says="requires_grad",
    ),
    Wrong(
        "switches gradients on afterwards",
        edits=[("    finally:\n", "    finally:\n        torch.set_grad_enabled(True)\n")],
        check="test_nothing_changes",
        says="is_grad_enabled",
    ),
    Wrong(
        "detaches the inputs in place",
        edits=[(PLACED, PLACED + "    inputs.requires_grad_(False)\n")],
        check="test_nothing_changes",
        says="requires_grad of its input",
    ),
    Wrong(
        "keeps a copy of the model for next time",
        edits=[
            ("\n\ndef predict(", "\n\n_ready = {}\n\n\ndef predict("),
            (
                SIZE,
                SIZE
                + "    import copy\n    given, model = model, _ready.setdefault(model, copy.deepcopy(model).eval())\n",
            ),
        ],
        check="test_nothing_changes",
        says="learned since",
    ),
    Wrong(
        "lets the model write into the inputs",
        edits=[("batch.to(placed.device, copy=True)", "batch.to(placed.device)")],
        check="test_models_in_place",
        says="in place",
    ),
    Wrong(
        "holds the last result while the next batch runs",
        edits=[(DEL, "")],
        check="test_only_rows_are_held",
        says="del it",
    ),
    Wrong(
        "holds what the rows are a view of",
        edits=[('outputs.to("cpu", copy=True)', "outputs.cpu()")],
        check="test_only_rows_are_held",
        says="earlier batches",
    ),
    Wrong(
        "holds the results where they are, and moves them in the end",
        edits=[
            ('outputs.to("cpu", copy=True)', "outputs.clone()"),
            (LAST, "    return torch.cat(parts).cpu()\n"),
        ],
        check="test_on_a_device",
        says="back to the host",
    ),
    Wrong(
        "results stay on the device",
        edits=[('outputs.to("cpu", copy=True)', "outputs.clone()")],
        check="test_on_a_device",
    ),
    Wrong(
        "all inputs go to the device at once",
        edits=[(PLACED, PLACED + "    inputs = inputs.to(placed.device)\n")],
        check="test_on_a_device",
        says="copies to the device",
    ),
    Wrong(
        "the inputs stay on the CPU",
        edits=[("batch.to(placed.device, copy=True)", "batch.clone()")],
        check="test_on_a_device",
    ),
    Wrong(
        "looks only at parameters",
        edits=[("chain(model.parameters(), model.buffers())", "model.parameters()")],
        check="test_on_a_device",
    ),
    Wrong(
        "looks at buffers first",
        edits=[("chain(model.parameters(), model.buffers())", "chain(model.buffers(), model.parameters())")],
        check="test_on_a_device",
    ),
    Wrong(
        "fails where there are no parameters",
        edits=[("next(chain(model.parameters(), model.buffers()), inputs)", "next(model.parameters())")],
        check="test_ordinary_result",
    ),
    Wrong(
        "moves the model to the CPU",
        edits=[(PLACED, "    model = model.to(inputs.device)\n" + PLACED)],
        check="test_on_a_device",
    ),
    Right(
        "into memory that is laid out at the first batch",
        edits=[
            (
                BODY,
                """    if batch_size < 1:
        raise ValueError("batch_size < 1")
    tensors = [*model.parameters(), *model.buffers()]
    device = tensors[0].device if tensors else torch.device("cpu")
    training = {layer for layer in model.modules() if layer.training}
    result = None
    try:
        for layer in training:
            layer.training = False
        start = 0
        while start < len(inputs) or result is None:
            with torch.inference_mode():
                rows = model(inputs[start : start + batch_size].to(device, copy=True))
            if result is None:
                result = torch.empty((len(inputs), *rows.shape[1:]), dtype=rows.dtype)
            result[start : start + batch_size] = rows
            start += batch_size
            del rows
        return result
    finally:
        for layer in model.modules():
            layer.training = layer in training
""",
            )
        ],
    ),
    Right(
        "a data loader and a context manager",
        edits=[
            (
                "\n\ndef predict(",
                """

from contextlib import contextmanager

from torch.utils.data import DataLoader, TensorDataset


@contextmanager
def evaluating(model):
    before = {name: layer.training for name, layer in model.named_modules()}
    model.train(False)
    try:
        with torch.inference_mode():
            yield
    finally:
        for name, mode in before.items():
            model.get_submodule(name).training = mode


def device_of(model):
    for tensor in (*model.parameters(), *model.buffers()):
        return tensor.device
    return torch.device("cpu")


def predict(""",
            ),
            (
                BODY,
                """    if not batch_size > 0:
        raise ValueError(batch_size)
    device = device_of(model)
    loader = DataLoader(TensorDataset(inputs.detach()), batch_size=batch_size) if len(inputs) else [(inputs,)]
    results = []
    with evaluating(model):
        for (batch,) in loader:
            results.append(model(batch.to(device)).cpu().clone())
    return torch.cat([r.clone() for r in results], dim=0)
""",
            ),
        ],
    ),
    Wrong(
        "moves all batches to the device before the first one runs",
        edits=[
            (
                "for batch in inputs.split(batch_size):",
                "for batch in [b.to(placed.device, copy=True) for b in inputs.split(batch_size)]:",
            ),
            ("model(batch.to(placed.device, copy=True))", "model(batch)"),
        ],
        check="test_on_a_device",
        says="held",
    ),
    Wrong(
        "converts the results to the dtype of floating inputs",
        edits=[
            (
                "    return torch.cat(parts)",
                "    return torch.cat(parts).to(inputs.dtype if inputs.is_floating_point() and not parts[0].is_floating_point() else parts[0].dtype)",
            )
        ],
        check="test_shapes_and_dtypes",
        says="float32",
    ),
    Wrong(
        "takes contiguous() for a copy",
        edits=[
            (KEEP, "                parts.append(outputs.cpu().contiguous())\n"),
            ("torch.cat(parts)", "torch.cat([part.clone() for part in parts])"),
        ],
        check="test_only_rows_are_held",
        says="batches of 1",
    ),
    Wrong(
        "a copy of the model, so that its modes need not be put back",
        edits=[
            (PLACED, "    model = copy.deepcopy(model)\n" + PLACED),
            ("import torch\n", "import copy\n\nimport torch\n"),
        ],
        check="test_every_row_once",
        says="a copy of the model",
    ),
    Wrong(
        "seeds the global random stream, so that predictions repeat",
        edits=[(EVAL, "        torch.manual_seed(0)\n" + EVAL)],
        check="test_nothing_changes",
        says="random stream",
    ),
    Wrong(
        "copies all inputs, so that the model may work in place",
        edits=[(SPLIT, SPLIT.replace("inputs.split", "inputs.clone().split"))],
        check="test_only_rows_are_held",
        says="all of the inputs are copied",
    ),
    Wrong(
        "integers become int64, which an embedding wants",
        edits=[
            (
                RUN,
                "                if not batch.is_floating_point():\n                    batch = batch.long()\n"
                + RUN,
            )
        ],
        check="test_shapes_and_dtypes",
        says="torch.uint8",
    ),
    Wrong(
        "one start too many where batches of one row meet no rows, or one",
        edits=[
            (
                SPLIT,
                "            for start in range(0, max(len(inputs), 2), batch_size):\n"
                "                batch = inputs[start : start + batch_size]\n",
            )
        ],
        check="test_no_rows",
        says="batches of 1",
    ),
]
