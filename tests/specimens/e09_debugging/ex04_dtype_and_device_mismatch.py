"""Answers to dtype_and_device_mismatch that people write."""

from grader.authoring.specimen import Right, Works, Wrong

MEAN = 'self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))  # (features,)'
STD = MEAN.replace("mean", "std")
WEIGHT = MEAN.replace("mean", "class_weight").replace("(features,)", "(classes,)")
NORMAL = "        features = (features - self.mean) / self.std  # (rows, features)\n"
BATCH = "torch.as_tensor(array).to(weight.device, dtypes[name])"
RETURN = f"    return {{name: {BATCH} for name, array in arrays.items()}}\n"
LOSS = 'F.cross_entropy(logits, batch["label"], weight=model.class_weight)'
RESULT = "    return logits.detach().softmax(dim=-1).float().cpu().numpy()"


def plain(line, name):
    """A tensor that is no buffer."""
    return (line, f"self.{name} = torch.tensor({name}, dtype=torch.float32)")


SPECIMENS = [
    Wrong(
        "plain attributes in float32",
        edits=[plain(MEAN, "mean"), plain(STD, "std"), plain(WEIGHT, "class_weight")],
        check="test_buffers",
        says="neither moves nor is saved",
        rung="job",
    ),
    Wrong(
        "plain attributes, moved along at each call",
        edits=[
            plain(MEAN, "mean"),
            plain(STD, "std"),
            (
                NORMAL,
                NORMAL.replace("self.mean", "self.mean.to(features)").replace(
                    "self.std", "self.std.to(features)"
                ),
            ),
        ],
        check="test_buffers",
        says="mean",
        rung="job",
    ),
    Wrong(
        "the class weight is forgotten on the CPU",
        edits=[plain(WEIGHT, "class_weight")],
        check="test_loss_on_a_device",
        rung="job",
    ),
    Wrong(
        "parameters without a gradient",
        edits=[
            (MEAN, "self.mean = nn.Parameter(torch.tensor(mean, dtype=torch.float32), requires_grad=False)")
        ],
        check="test_buffers",
        rung="job",
    ),
    Wrong(
        "buffers in float64: everything is promoted, up to the linear layer",
        edits=[(MEAN, 'self.register_buffer("mean", torch.from_numpy(mean))')],
        check="test_loss_of_the_example",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "the whole model in float64",
        edits=[("    weight = model", "    model.double()\n    weight = model")],
        check="test_batch_of_the_example",
        says="float64",
        rung="job",
    ),
    Wrong(
        "everything in the model's dtype, labels too",
        edits=[(BATCH, BATCH.replace("dtypes[name]", "weight.dtype if name != 'store' else torch.int64"))],
        check="test_batch_of_the_example",
        says="label",
        rung="job",
    ),
    Wrong(
        "needs labels",
        edits=[
            (
                RETURN,
                RETURN.replace("array)", "arrays[name])").replace(
                    "name, array in arrays.items()", "name in dtypes"
                ),
            )
        ],
        check="test_values",
        says="KeyError",
        rung="job",
    ),
    Wrong(
        "the batch stays on the CPU",
        edits=[(BATCH, "torch.as_tensor(array).to(dtypes[name])")],
        check="test_batch_is_where_the_model_is",
        says="where the model's parameters are",
        rung="job",
    ),
    Wrong(
        "predict forgets the way back from the device",
        edits=[(RESULT, RESULT.replace(".cpu()", ""))],
        check="test_prediction_on_a_device",
        rung="job",
    ),
    Wrong(
        "predict returns logits",
        edits=[(RESULT, RESULT.replace(".softmax(dim=-1)", ""))],
        check="test_probabilities_of_the_example",
        says="softmax is missing",
        rung="job",
    ),
    Wrong(
        "leaves out the class weight, to be rid of the error",
        edits=[(LOSS, 'F.cross_entropy(logits, batch["label"])')],
        check="test_values",
        says="class_weight is left out",
        rung="job",
    ),
    Wrong(
        "a loss of data: no gradient",
        edits=[(LOSS, LOSS.replace("logits,", "logits.data,"))],
        check="test_loss_of_the_example",
        rung="job",
    ),
    Wrong(
        "features are float32 always",
        edits=[('"features": weight.dtype', '"features": torch.float32')],
        check="test_models_in_all_dtypes",
        says="dtype",
    ),
    Wrong(
        "predict in the dtype of the model",
        edits=[(RESULT, RESULT.replace(".float()", ""))],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "float() of from_numpy: the caller's memory where that is float32 already",
        edits=[(MEAN, 'self.register_buffer("mean", torch.from_numpy(mean).float())')],
        check="test_buffers_are_copies",
        says="share it",
    ),
    Wrong(
        "writes to the caller's dict",
        edits=[
            (
                RETURN,
                f"    for name, array in arrays.items():\n        arrays[name] = {BATCH}\n    return arrays\n",
            )
        ],
        check="test_arrays_of_other_dtypes",
        says="writes to the dict",
    ),
    Wrong(
        "the loss on the CPU",
        edits=[
            (LOSS, 'F.cross_entropy(logits.cpu(), batch["label"].cpu(), weight=model.class_weight.cpu())')
        ],
        check="test_copies",
        says="copies between",
    ),
    Wrong(
        "predict switches to evaluation mode, and stays there",
        edits=[(RESULT, "    model.eval()\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
    ),
    Works(
        "float() and long(), sent to where the model is",
        edits=[
            (MEAN, 'self.register_buffer("mean", torch.from_numpy(mean).float())'),
            (STD, 'self.register_buffer("std", torch.from_numpy(std).float())'),
            (WEIGHT, 'self.register_buffer("class_weight", torch.from_numpy(class_weight).float())'),
            (
                RETURN,
                """    device = next(model.parameters()).device
    batch = {
        "store": torch.from_numpy(arrays["store"]).long().to(device),
        "features": torch.from_numpy(arrays["features"]).float().to(device),
    }
    if "label" in arrays:
        batch["label"] = torch.from_numpy(arrays["label"]).long().to(device)
    return batch
""",
            ),
            (
                '    batch = to_batch(arrays, model)\n    logits = model(batch["store"], batch["features"])  # (rows, classes)\n'
                + RESULT,
                "    model.eval()\n    with torch.no_grad():\n        batch = to_batch(arrays, model)\n"
                '        logits = model(batch["store"], batch["features"])\n'
                "    return logits.softmax(dim=-1).cpu().numpy()",
            ),
        ],
    ),
    Works(
        "NumPy casts, and torch.tensor on the device",
        edits=[
            (MEAN, 'self.register_buffer("mean", torch.FloatTensor(mean))'),
            (
                RETURN,
                """    batch = {}
    for name, array in arrays.items():
        array = array.astype(np.float32 if name == "features" else np.int64)
        batch[name] = torch.tensor(array, device=weight.device)
    return batch
""",
            ),
            (RESULT, "    return F.softmax(logits, dim=1).detach().cpu().numpy()"),
        ],
    ),
    Right(
        "copies by NumPy, softmax in float64",
        edits=[
            (MEAN, 'self.register_buffer("mean", torch.from_numpy(mean.astype(np.float32).copy()))'),
            (STD, 'self.register_buffer("std", torch.zeros(len(std)).copy_(torch.as_tensor(std)))'),
            (
                RETURN,
                """    batch = {}
    for name, array in arrays.items():
        tensor = torch.tensor(array.astype(np.int64 if dtypes[name] == torch.int64 else np.float64))
        batch[name] = tensor.to(dtypes[name]).to(weight.device)
    return batch
""",
            ),
            (
                RESULT,
                "    return torch.softmax(logits.double(), -1).cpu().detach().numpy().astype(np.float32)",
            ),
        ],
    ),
    Right(
        "a guarded label, inference mode",
        edits=[
            (
                RETURN,
                """    device, dtype = model.mean.device, model.mean.dtype
    batch = {"store": torch.as_tensor(arrays["store"], device=device).long()}
    batch["features"] = torch.as_tensor(arrays["features"], device=device).to(dtype)
    if "label" in arrays:
        batch["label"] = torch.as_tensor(arrays["label"], dtype=torch.long, device=device)
    return batch
""",
            ),
            (
                RESULT,
                "    with torch.inference_mode():\n"
                "        return logits.softmax(dim=-1).to('cpu', torch.float32).numpy(force=True)",
            ),
        ],
    ),
]
