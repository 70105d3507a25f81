"""What grades dtype_and_device_mismatch: dtypes in and out, buffers, devices, copies, values, gradients."""

import copy

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host
from grader.checks.registered import expect_registered, randomize, state_of

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
STORES, FEATURES, CLASSES = 7, 4, 3


def numbers(gen, *shape, dtype=np.float64):
    return torch.randn(*shape, generator=gen, dtype=torch.float64).numpy().astype(dtype)


def statistics(gen, dtype=np.float64):
    """Mean, deviation and class weight: halves, which every floating dtype holds."""
    mean = torch.randint(-8, 9, (FEATURES,), generator=gen).numpy() / 2
    std = torch.randint(1, 5, (FEATURES,), generator=gen).numpy() / 2
    class_weight = torch.randint(1, 9, (CLASSES,), generator=gen).numpy() / 2
    return mean.astype(dtype), std.astype(dtype), class_weight.astype(dtype)


def make(answer, gen):
    mean, std, class_weight = statistics(gen)
    model = answer.ChurnModel(STORES, mean, std, class_weight=class_weight)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def rows(gen, n, features=np.float64, store=np.int16, label=np.int32):
    return {
        "store": torch.randint(STORES, (n,), generator=gen).numpy().astype(store),
        "features": (numbers(gen, n, FEATURES) * 3).astype(features),
        "label": torch.randint(CLASSES, (n,), generator=gen).numpy().astype(label),
    }


def exact_logits(state, arrays, dtype):
    """In float64, from features that are rounded to the model's dtype."""
    w = {name: t.double() for name, t in state.items()}
    x = torch.tensor(arrays["features"].astype(np.float64)).to(dtype).double()
    parts = [w["store.weight"][torch.tensor(arrays["store"].astype(np.int64))], (x - w["mean"]) / w["std"]]
    return torch.cat(parts, 1) @ w["score.weight"].T + w["score.bias"]


def exact_loss(state, arrays, dtype):
    w = state["class_weight"].double()
    label = torch.tensor(arrays["label"].astype(np.int64))
    logp = exact_logits(state, arrays, dtype).log_softmax(1).gather(1, label[:, None])[:, 0]
    return -(w[label] * logp).sum() / w[label].sum()


def expect_probabilities(yours, state, arrays, dtype, call):
    expect_that(isinstance(yours, np.ndarray), f"{call} is no NumPy array", yours=yours)
    expect_equal(str(yours.dtype), "float32", f"the dtype of {call}")
    wanted = exact_logits(state, arrays, dtype).softmax(1)
    # errors of the model's dtype in the logits, which are some tens large, become relative ones
    bound = 40 * 4 * max(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps)
    expect_equal(yours.shape, tuple(wanted.shape), f"the shape of {call}")
    error = (torch.tensor(yours).double() - wanted).abs().max().item() if wanted.numel() else 0.0
    expect_that(error <= bound, f"wrong probabilities in {call}", yours=f"off by {error:.3g}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_models_in_all_dtypes(answer, gen, dtype):
    """Loss, gradients and probabilities are right for a model in any floating dtype."""
    model = make(answer, gen).to(dtype)
    state, arrays = state_of(model), rows(gen, 6)
    leaves = {name: t.double().requires_grad_() for name, t in state.items()}
    wanted = exact_loss(leaves, arrays, dtype)
    names = ("score.weight", "score.bias", "store.weight")
    gradients = torch.autograd.grad(wanted, [leaves[name] for name in names])
    for turn in ("first", "second"):
        model.zero_grad()
        loss = answer.training_loss(model, answer.to_batch(arrays, model))
        expect_close(
            loss.detach(), wanted.detach().to(dtype), f"the {turn} training_loss(…) in {dtype}", scale=30.0
        )
        loss.backward()
        for name, right in zip(names, gradients, strict=True):
            yours = model.get_parameter(name).grad
            expect_close(yours, right.to(dtype), f"the gradient of {name} in {dtype}", scale=60.0)
    unlabelled = {name: arrays[name] for name in ("store", "features")}
    expect_probabilities(answer.predict(model, unlabelled), state, arrays, dtype, f"predict(…) in {dtype}")
    for name in ("mean", "std", "class_weight"):
        call = f"{name} of a model in {dtype}, after training_loss(…) and predict(…),"
        expect_equal(model.get_buffer(name), state[name], call)


KINDS = [
    (np.float64, np.uint8, np.int64),
    (np.float32, np.int64, np.int8),
    (np.float16, np.uint16, np.uint8),
    (np.int32, np.int32, np.int16),
    (np.int64, np.int8, np.uint16),
    (np.uint32, np.uint32, np.uint32),
]


@pytest.mark.parametrize("kinds", KINDS, ids=lambda kinds: " ".join(k.__name__ for k in kinds))
def test_arrays_of_all_dtypes(answer, gen, kinds):
    """Features of any floating or integer dtype, stores and labels of any integer dtype, become a batch."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model, arrays = make(answer, gen).to(dtype).train(dtype != torch.float64), rows(gen, 5, *kinds)
        if kinds[0] is np.int64:
            arrays["features"][0] = 2**24 + 1  # float64 holds it, float32 does not
        if kinds[0] is np.uint32:
            arrays["store"][0] = arrays["label"][0] = 2**31 + 1
        if np.issubdtype(kinds[0], np.floating):
            arrays["features"][0, 0] = np.inf
        before = {name: array.copy() for name, array in arrays.items()}
        batch = answer.to_batch(arrays, model)
        call, about = "to_batch(arrays, model)", f"for a model in {dtype}"
        expect_equal(sorted(batch), ["features", "label", "store"], f"the names in {call} {about}")
        wanted = torch.tensor(before["features"].astype(np.float64)).to(dtype)
        expect_close(batch["features"], wanted, f'{call}["features"] {about}')
        for name in ("store", "label"):
            wanted = torch.tensor(before[name].astype(np.int64))
            expect_equal(batch[name], wanted, f'{call}["{name}"] of {before[name].dtype} {about}')
        for name, array in arrays.items():
            same = isinstance(array, np.ndarray) and array.dtype == before[name].dtype
            expect_that(
                same and bool((array == before[name]).all()),
                f"{call} {about} changes {name}",
                yours=str(array),
            )
        if kinds[0] is not np.uint32:
            answer.training_loss(model, batch).backward()


def test_strided_and_missing_arrays(answer, gen):
    """Every other row of a table, and tables without labels, are as good as others."""
    model, arrays = make(answer, gen), rows(gen, 9)
    every_other = {name: array[::2] for name, array in arrays.items()}
    every_other["features"] = np.asfortranarray(every_other["features"])
    batch = answer.to_batch(every_other, model)
    wanted = torch.tensor(arrays["features"][::2], dtype=torch.float32)
    expect_close(batch["features"], wanted, "the features of every other row")
    del every_other["label"]
    expect_equal(
        sorted(answer.to_batch(every_other, model)), ["features", "store"], "the names without labels"
    )
    expect_that("label" not in every_other, "to_batch writes to the dict of arrays")


def test_no_rows(answer, gen):
    """A table without rows gives probabilities of no rows."""
    model = make(answer, gen)
    yours = answer.predict(model, rows(gen, 0))
    expect_equal(yours.shape, (0, CLASSES), "the shape of predict(model, arrays) of 0 rows")
    expect_equal(str(yours.dtype), "float32", "the dtype of predict(model, arrays) of 0 rows")
    shapes = {name: tuple(t.shape) for name, t in answer.to_batch(rows(gen, 0), model).items()}
    wanted = {"features": (0, FEATURES), "label": (0,), "store": (0,)}
    expect_equal(shapes, wanted, "the shapes in to_batch(arrays, model) of 0 rows")


def test_buffers(answer, gen):
    """mean, std and class_weight are saved with the model, move and are cast with it."""
    given = statistics(gen)
    model = answer.ChurnModel(STORES, *given)
    buffers = {"mean": (FEATURES,), "std": (FEATURES,), "class_weight": (CLASSES,)}
    parameters = {
        "store.weight": (STORES, 3),
        "score.weight": (CLASSES, FEATURES + 3),
        "score.bias": (CLASSES,),
    }
    expect_registered(model, "ChurnModel(…)", parameters=parameters, buffers=buffers)
    for name, array in zip(buffers, given, strict=True):
        wanted = torch.tensor(array, dtype=torch.float32)
        expect_equal(model.get_buffer(name), wanted, f"{name} of ChurnModel(…)")
    other = answer.ChurnModel(STORES, *statistics(gen))
    randomize(other, gen)
    arrays = rows(gen, 4)
    for earlier in ("", " and an earlier predict(…)"):
        model.load_state_dict(other.state_dict())
        yours = answer.predict(model, arrays)
        call = f"predict(…) after load_state_dict{earlier}"
        expect_probabilities(yours, state_of(other), arrays, torch.float32, call)
        other.load_state_dict({name: t / 3 + 0.5 for name, t in other.state_dict().items()})
    model.double()
    loss = answer.training_loss(model, answer.to_batch(arrays, model)).detach()
    wanted = exact_loss(state_of(model), arrays, torch.float64)
    expect_close(loss, wanted, "training_loss(…) of a model that is cast to float64 after use", scale=30.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64], ids=lambda d: d.__name__)
def test_buffers_are_copies(answer, gen, dtype):
    """Who writes to the arrays after the model was built does not change the model."""
    given = [np.arange(2, 2 + FEATURES).astype(dtype), np.arange(1, 1 + FEATURES).astype(dtype)]
    given.append(np.arange(1, 1 + CLASSES).astype(dtype))
    model = answer.ChurnModel(STORES, *given)
    with default_dtype(torch.float64):
        wide = answer.ChurnModel(STORES, *given)
    before, means = state_of(model), wide.mean.clone()
    for array in given:
        array += 5
    about = f"mean in float64, torch's default dtype, after a {dtype.__name__} array was written to"
    expect_equal(wide.mean, means, about)
    for name in ("mean", "std", "class_weight"):
        expect_equal(
            model.get_buffer(name), before[name], f"{name} after a {dtype.__name__} array was written to"
        )
        expect_equal(
            model.get_buffer(name).dtype,
            torch.float32,
            f"the dtype of {name}, made of a {dtype.__name__} array,",
        )


def test_default_dtype(answer, gen):
    """Where torch's default dtype is float64, the model starts and works in float64."""
    given, arrays = [*statistics(gen, np.float32)], rows(gen, 5, np.float32)
    given[0] = given[0].astype(np.float64) + 1 / 3
    with default_dtype(torch.float64):
        model = answer.ChurnModel(STORES, *given)
        batch = answer.to_batch(arrays, model)
        loss = answer.training_loss(model, batch)
    for name, t in {**model.state_dict(), "loss": loss, "features": batch["features"]}.items():
        expect_equal(t.dtype, torch.float64, f"the dtype of {name} where the default dtype is float64")
    expect_equal(
        model.mean, torch.tensor(given[0]), "mean of ChurnModel(…) where the default dtype is float64"
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_on_a_device(answer, gen, device, dtype):
    """On another device each array crosses once, and loss and backward copy nothing."""
    model, arrays = make(answer, gen).to(dtype), rows(gen, 5)
    state = state_of(model)
    twin = copy.deepcopy(model)
    model.to(device)
    answer.to_batch(arrays, model)  # what is kept from here must do no harm
    with count_traffic() as traffic:
        batch = answer.to_batch(arrays, model)
    for name, t in batch.items():
        expect_that(is_simulated(t), f"{name} of to_batch(…) is not on the model's device", yours=t)
    expect_that(traffic.to_device <= 3, "copies to the device in to_batch(…)", yours=traffic.to_device)
    expect_equal(traffic.to_host, 0, "copies from the device in to_batch(…)")
    with count_traffic() as traffic:
        loss = answer.training_loss(model, batch)
        loss.backward()
    expect_no_traffic(traffic, "loss and backward")
    expect_that(is_simulated(loss), "the loss is not on the model's device", yours=loss)
    wanted = exact_loss(state, arrays, dtype).to(dtype)
    expect_close(on_host(loss), wanted, "training_loss(…) on a device", scale=30.0)
    batch_at_home = answer.to_batch(arrays, twin)
    expect_that(
        not any(is_simulated(t) for t in batch_at_home.values()),
        "a batch for a model on the CPU is elsewhere",
    )


def test_prediction_leaves_the_model_alone(answer, gen):
    """predict switches no mode, freezes nothing and leaves all gradients; the model can be trained on."""
    model, arrays = make(answer, gen), rows(gen, 4)
    model.store.eval()
    model.score.bias.requires_grad_(False)
    model.store.weight.grad = half_done = torch.ones_like(model.store.weight)
    answer.predict(model, arrays)
    modes = [model.training, model.store.training, model.score.training]
    expect_equal(modes, [True, False, True], "the training flags of model, store and score after predict(…)")
    required = {name: p.requires_grad for name, p in model.named_parameters()}
    wanted = {"store.weight": True, "score.weight": True, "score.bias": False}
    expect_equal(required, wanted, "requires_grad of the parameters after predict(…)")
    expect_that(all(p.grad is None for p in model.score.parameters()), "predict(…) makes gradients")
    expect_that(model.store.weight.grad is half_done, "predict(…) clears the gradients of a step under way")
    expect_equal(half_done, torch.ones_like(half_done), "a gradient from before predict(…)")
    expect_that(torch.is_grad_enabled(), "gradients are switched off after predict(…)")
    with torch.no_grad():
        answer.predict(model, arrays)
        expect_that(not torch.is_grad_enabled(), "gradients are switched on by predict(…) within no_grad")
    answer.training_loss(model, answer.to_batch(arrays, model)).backward()


def test_prediction_on_a_device(answer, gen, device):
    """predict fetches its result from another device once, and returns it as a NumPy array."""
    model, arrays = make(answer, gen).train(), rows(gen, 5)
    state = state_of(model)
    model.to(device)
    with count_traffic() as traffic:
        yours = answer.predict(model, arrays)
    expect_probabilities(yours, state, arrays, torch.float32, "predict(model, arrays) on a device")
    expect_that(traffic.to_host <= 1, "copies from the device in predict(…)", yours=traffic.to_host)
    expect_that(traffic.to_device <= 3, "copies to the device in predict(…)", yours=traffic.to_device)


def test_missing_numbers(answer, gen):
    """A feature that is NaN gives NaN for its row, and for no other."""
    model, arrays = make(answer, gen), rows(gen, 4)
    arrays["features"][1, 2] = np.nan
    lost = torch.from_numpy(answer.predict(model, arrays)).isnan().all(1).tolist()
    expect_equal(lost, [False, True, False, False], "the rows of NaN in predict(…), where row 1 has a NaN")


def test_certain_model(answer, gen):
    """Features far from the mean give a finite loss, in which each class has its weight."""
    model = make(answer, gen)
    arrays = rows(gen, 8)
    arrays["features"] *= 100
    wanted = exact_loss(state_of(model), arrays, torch.float32).float()
    loss = answer.training_loss(model, answer.to_batch(arrays, model)).detach()
    expect_close(loss, wanted, "training_loss(…) of large features", scale=3e3)
    logits = torch.from_numpy(answer.predict(model, arrays))
    expect_close(logits.sum(1), torch.ones(8), "the sums of the probabilities of large features")


def oracle(answer, gen):
    results = []
    for dtype in (torch.float32, torch.float64):
        model, arrays = make(answer, gen).to(dtype), rows(gen, 6)
        batch = answer.to_batch(arrays, model)
        loss = answer.training_loss(model, batch)
        loss.backward()
        gradients = [p.grad for _, p in sorted(model.named_parameters())]
        predicted = torch.tensor(answer.predict(model, arrays))
        names = sorted(model.state_dict())
        results.append([loss.detach(), gradients, predicted, names, [batch[k] for k in sorted(batch)]])
    return results
