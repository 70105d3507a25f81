"""Answers to dtype_and_device_mismatch that people write."""

from grader.authoring.specimen import Right, Wrong

MEAN = 'self.register_buffer("mean", torch.tensor(mean, dtype=dtype))  # (features,)\n'
STD = 'self.register_buffer("std", torch.tensor(std, dtype=dtype))  # (features,)\n'
WEIGHT = 'self.register_buffer("class_weight", torch.tensor(class_weight, dtype=dtype))  # (classes,)\n'
NORMAL = "        features = (features - self.mean) / self.std  # (rows, features)\n"
ASKED = "    weight = model.score.weight  # asked each time: a model moves, and is cast\n"
DTYPES = '    dtypes = {"store": torch.int64, "features": weight.dtype, "label": torch.int64}\n'
OWN = (
    "    arrays = {name: np.array(array) for name, array in arrays.items()}  # torch takes no reversed ones\n"
)
BATCH = "    return {name: torch.as_tensor(array).to(weight.device, dtypes[name]) for name, array in arrays.items()}\n"
LOSS = '    return F.cross_entropy(logits, batch["label"], weight=model.class_weight)\n'
RESULT = "    return logits.detach().softmax(dim=-1).float().cpu().numpy()"

SPECIMENS = [
    Wrong(
        "divides once and keeps the result",
        edits=[
            (
                NORMAL,
                "        self.__dict__.setdefault('factor', 1 / self.std)\n"
                "        features = (features - self.mean) * self.factor\n",
            )
        ],
        check="test_buffers",
        says="earlier predict",
    ),
    Wrong(
        "a missing feature is zero",
        edits=[
            (BATCH, "    arrays = {name: np.nan_to_num(array) for name, array in arrays.items()}\n" + BATCH)
        ],
        check="test_missing_numbers",
        says="row 1 has a NaN",
    ),
    Wrong(
        "NaN is hidden",
        edits=[(RESULT, RESULT.replace("softmax(dim=-1)", "nan_to_num().softmax(dim=-1)"))],
        check="test_missing_numbers",
    ),
    Wrong(
        "labels are for training",
        edits=[
            (
                BATCH,
                "    arrays = {k: a for k, a in arrays.items() if model.training or k != 'label'}\n" + BATCH,
            )
        ],
        check="test_arrays_of_all_dtypes",
        says="label",
    ),
    Wrong(
        "class weights are made to sum to one, in the buffer itself",
        edits=[
            (LOSS, LOSS.replace("model.class_weight", "model.class_weight.div_(model.class_weight.sum())"))
        ],
        check="test_models_in_all_dtypes",
        says="class_weight",
    ),
    Wrong(
        "stores and labels by way of the features' dtype",
        edits=[(BATCH, BATCH.replace(".to(weight.device, dtypes[name])", ".to(weight).to(dtypes[name])"))],
        check="test_arrays_of_all_dtypes",
        says="label",
    ),
    Wrong(
        "statistics by way of float32",
        edits=[(MEAN, MEAN.replace("torch.tensor(mean,", 'torch.tensor(mean.astype("f4"),'))],
        check="test_default_dtype",
        says="mean of ChurnModel",
    ),
    Wrong(
        "integer features by way of float32",
        edits=[
            (
                "torch.as_tensor(array)",
                'torch.as_tensor(array.astype("f4") if name == "features" and array.dtype.kind in "iu" else array)',
            )
        ],
        check="test_arrays_of_all_dtypes",
        says="features",
    ),
    Wrong(
        "halves stay halves",
        edits=[(MEAN, MEAN.replace("dtype=dtype", "dtype=torch.float16 if mean.itemsize == 2 else dtype"))],
        check="test_buffers_are_copies",
        says="float16",
    ),
    Wrong(
        "predict clears the gradients",
        edits=[(RESULT, "    model.zero_grad()\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
        says="clears",
    ),
    Wrong(
        "plain attributes in float32",
        edits=[
            (MEAN, "self.mean = torch.tensor(mean, dtype=dtype)\n"),
            (STD, "self.std = torch.tensor(std, dtype=dtype)\n"),
            (WEIGHT, "self.class_weight = torch.tensor(class_weight, dtype=dtype)\n"),
        ],
        check="test_buffers",
        says="class_weight",
    ),
    Wrong(
        "plain attributes, moved along at each call",
        edits=[
            (MEAN, "self.mean = torch.tensor(mean, dtype=dtype)\n"),
            (STD, "self.std = torch.tensor(std, dtype=dtype)\n"),
            (
                NORMAL,
                "        features = (features - self.mean.to(features)) / self.std.to(features)\n",
            ),
        ],
        check="test_on_a_device",
        says="copies between",
    ),
    Wrong(
        "the class weight is a plain attribute",
        edits=[(WEIGHT, "self.class_weight = torch.tensor(class_weight, dtype=dtype)\n")],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "buffers that are not saved",
        edits=[(MEAN, 'self.register_buffer("mean", torch.tensor(mean, dtype=dtype), persistent=False)\n')],
        check="test_buffers",
    ),
    Wrong(
        "buffers in float64, cast when they are used",
        edits=[
            (MEAN, 'self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))\n'),
            (STD, 'self.register_buffer("std", torch.tensor(std, dtype=torch.float64))\n'),
            (
                NORMAL,
                "        features = (features - self.mean.to(features.dtype)) / self.std.to(features.dtype)\n",
            ),
        ],
        check="test_buffers",
        says="dtype",
    ),
    Wrong(
        "parameters without a gradient",
        edits=[(MEAN, "self.mean = nn.Parameter(torch.tensor(mean, dtype=dtype), requires_grad=False)\n")],
        check="test_buffers",
    ),
    Wrong(
        "float() of from_numpy: the caller's memory where that is float32 already",
        edits=[(MEAN, 'self.register_buffer("mean", torch.from_numpy(mean).float())\n')],
        check="test_buffers_are_copies",
        says="written to",
    ),
    Wrong(
        "the class weight shares the caller's memory",
        edits=[
            (WEIGHT, 'self.register_buffer("class_weight", torch.as_tensor(class_weight, dtype=dtype))\n')
        ],
        check="test_buffers_are_copies",
    ),
    Wrong(
        "float32 buffers whatever the default",
        edits=[(MEAN, 'self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))\n')],
        check="test_default_dtype",
    ),
    Wrong(
        "features are float32 always",
        edits=[('"features": weight.dtype', '"features": torch.float32')],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "the whole model in float64",
        edits=[
            (ASKED, "    model = model.double()\n" + ASKED),
        ],
        check="test_models_in_all_dtypes",
        says="dtype",
    ),
    Wrong(
        "everything in the model's dtype",
        edits=[
            (BATCH, BATCH.replace("dtypes[name]", "weight.dtype if name != 'store' else torch.int64")),
        ],
        check="test_arrays_of_all_dtypes",
    ),
    Wrong(
        "stores are int32: an embedding takes them",
        edits=[('"store": torch.int64', '"store": torch.int32')],
        check="test_arrays_of_all_dtypes",
    ),
    Wrong(
        "labels are bytes: the loss takes them",
        edits=[('"label": torch.int64', '"label": torch.uint8')],
        check="test_arrays_of_all_dtypes",
    ),
    Wrong(
        "features go through float32",
        edits=[(BATCH, BATCH.replace("as_tensor(array)", "as_tensor(array).float()"))],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "NumPy's casts, which need an array of the model's dtype",
        edits=[
            (
                BATCH,
                BATCH.replace(
                    "torch.as_tensor(array)", "torch.as_tensor(array.astype(str(weight.dtype)[6:]))"
                ),
            )
        ],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "stores of a few bits",
        edits=[(BATCH, BATCH.replace("torch.as_tensor(array)", "torch.as_tensor(array.astype('float16'))"))],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "needs labels",
        edits=[
            (
                BATCH,
                "    return {name: torch.as_tensor(arrays[name]).to(weight.device, dtypes[name]) for name in dtypes}\n",
            )
        ],
        check="test_strided_and_missing_arrays",
    ),
    Wrong(
        "makes up labels",
        edits=[
            (
                ASKED,
                '    arrays.setdefault("label", np.zeros(len(arrays["store"]), np.int64))\n' + ASKED,
            )
        ],
        check="test_strided_and_missing_arrays",
    ),
    Wrong(
        "changes the caller's dict",
        edits=[
            (
                OWN + BATCH,
                "    for name in arrays:\n        arrays[name] = torch.as_tensor(arrays[name]).to(weight.device, dtypes[name])\n    return arrays\n",
            )
        ],
        check="test_arrays_of_all_dtypes",
        says="changes",
    ),
    Wrong(
        "the batch stays on the CPU",
        edits=[(BATCH, BATCH.replace("weight.device, dtypes", "dtypes"))],
        check="test_on_a_device",
    ),
    Wrong(
        "asks for CUDA",
        edits=[
            (
                BATCH,
                BATCH.replace(
                    "weight.device,", 'torch.device("cuda" if torch.cuda.is_available() else "cpu"),'
                ),
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "remembers device and dtype when the model is built",
        edits=[
            (
                "        self.score = nn.Linear(len(mean) + 3, len(class_weight))\n",
                "        self.score = nn.Linear(len(mean) + 3, len(class_weight))\n        self.where = self.score.weight.device, self.score.weight.dtype\n",
            ),
            (
                DTYPES,
                '    dtypes = {"store": torch.int64, "features": model.where[1], "label": torch.int64}\n',
            ),
            (BATCH, BATCH.replace("weight.device", "model.where[0]")),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "moves the features in forward",
        edits=[
            (BATCH, BATCH.replace("weight.device, dtypes", "dtypes")),
            (
                NORMAL,
                "        features, store = features.to(self.mean), store.to(self.mean.device)\n" + NORMAL,
            ),
            (LOSS, LOSS.replace('batch["label"]', 'batch["label"].to(logits.device)')),
        ],
        check="test_on_a_device",
        says="is not on the model's device",
    ),
    Wrong(
        "the loss on the CPU",
        edits=[
            (
                LOSS,
                '    return F.cross_entropy(logits.cpu(), batch["label"].cpu(), weight=model.class_weight.cpu())\n',
            )
        ],
        check="test_on_a_device",
        says="copies between",
    ),
    Wrong(
        "the loss in float32",
        edits=[
            (
                LOSS,
                '    return F.cross_entropy(logits.float(), batch["label"], weight=model.class_weight.float())\n',
            )
        ],
        check="test_models_in_all_dtypes",
        says="dtype",
    ),
    Wrong(
        "leaves out the class weight",
        edits=[(LOSS, '    return F.cross_entropy(logits, batch["label"])\n')],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "a loss of data: no gradient",
        edits=[
            (LOSS, '    return F.cross_entropy(logits.data, batch["label"], weight=model.class_weight)\n')
        ],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "clamps large logits",
        edits=[(LOSS, LOSS.replace("(logits,", "(logits.clamp(-100, 100),"))],
        check="test_certain_model",
    ),
    Wrong(
        "predict in the dtype of the model",
        edits=[(RESULT, "    return logits.detach().softmax(dim=-1).cpu().numpy()")],
        check="test_models_in_all_dtypes",
    ),
    Wrong(
        "predict in float64",
        edits=[(RESULT, "    return logits.detach().softmax(dim=-1).double().cpu().numpy()")],
        check="test_no_rows",
    ),
    Wrong(
        "predict forgets the way back from the device",
        edits=[(RESULT, "    return logits.detach().softmax(dim=-1).float().numpy()")],
        check="test_prediction_on_a_device",
    ),
    Wrong(
        "predict switches to evaluation mode",
        edits=[(RESULT, "    model.eval()\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
        says="flags",
    ),
    Wrong(
        "predict gives all modules the model's mode",
        edits=[(RESULT, "    model.train(model.training)\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
        says="flags",
    ),
    Wrong(
        "predict freezes the model to be rid of the error",
        edits=[(RESULT, "    model.requires_grad_(False)\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
        says="requires_grad",
    ),
    Wrong(
        "predict switches gradients off for good",
        edits=[(RESULT, "    torch.set_grad_enabled(False)\n" + RESULT)],
        check="test_prediction_leaves_the_model_alone",
    ),
    Wrong(
        "predict fetches row by row",
        edits=[
            (
                RESULT,
                "    return np.array([p.float().tolist() for p in logits.detach().softmax(dim=-1)], np.float32).reshape(logits.shape)",
            )
        ],
        check="test_prediction_on_a_device",
        says="copies from",
    ),
    Wrong(
        "predict fails without rows",
        edits=[
            (
                RESULT,
                "    return np.stack([row.float().numpy() for row in logits.detach().cpu().softmax(dim=-1)])",
            )
        ],
        check="test_no_rows",
    ),
    Wrong(
        "predict returns logits",
        edits=[(RESULT, "    return logits.detach().float().cpu().numpy()")],
        check="test_models_in_all_dtypes",
    ),
    Right(
        "loops over names, Tensor.type, sigmoid-free softmax on the host",
        edits=[
            (
                MEAN,
                'self.register_buffer("mean", torch.from_numpy(np.array(mean, copy=True)).to(dtype, copy=True))\n',
            ),
            (STD, 'self.register_buffer("std", torch.zeros(len(std)).copy_(torch.as_tensor(std)))\n'),
            (
                BATCH,
                """    batch = {}
    for name, array in arrays.items():
        tensor = torch.tensor(array.astype(np.int64 if dtypes[name] == torch.int64 else np.float64))
        batch[name] = tensor.to(dtypes[name]).to(weight.device)
    return batch
""",
            ),
            (
                RESULT,
                "    return torch.softmax(logits.to(torch.float64), -1).cpu().detach().numpy().astype(np.float32)",
            ),
        ],
    ),
    Right(
        "buffers by attribute, a guarded label, inference mode",
        edits=[
            (
                MEAN,
                "self.register_buffer('mean', None)\n        self.mean = torch.tensor(np.asarray(mean), dtype=dtype)\n",
            ),
            (DTYPES, ""),
            (
                BATCH,
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
                "    with torch.inference_mode():\n        return logits.softmax(dim=-1).to('cpu', torch.float32).numpy(force=True)",
            ),
        ],
    ),
    Wrong(
        "another name for class_weight",
        edits=[
            (
                "class_weight: np.ndarray) -> None:",
                "weights: np.ndarray) -> None:\n        class_weight = weights",
            ),
        ],
        check="test_models_in_all_dtypes",
        says="class_weight",
    ),
    Wrong(
        "stores through int32",
        edits=[
            (
                BATCH,
                BATCH.replace(
                    "torch.as_tensor(array)",
                    "torch.as_tensor(array.astype(np.int32) if name == 'store' else array)",
                ),
            )
        ],
        check="test_arrays_of_all_dtypes",
        says="store",
    ),
    Wrong(
        "mends features",
        edits=[(BATCH, BATCH.replace("torch.as_tensor(array)", "torch.as_tensor(np.nan_to_num(array))"))],
        check="test_arrays_of_all_dtypes",
        says="features",
    ),
    Wrong(
        "an array of the default dtype is not copied when that is float64",
        edits=[
            (
                MEAN,
                MEAN.replace(
                    "torch.tensor(mean, dtype=dtype)",
                    "torch.from_numpy(mean.astype(np.float64, copy=False)).to(dtype)",
                ),
            )
        ],
        check="test_buffers_are_copies",
        says="default dtype",
    ),
    Wrong(
        "switches gradients on when it is done",
        edits=[
            (
                RESULT,
                "    probabilities = logits.detach().softmax(dim=-1).float().cpu()\n    torch.set_grad_enabled(True)\n    return probabilities.numpy()",
            )
        ],
        check="test_prediction_leaves_the_model_alone",
        says="within no_grad",
    ),
]
