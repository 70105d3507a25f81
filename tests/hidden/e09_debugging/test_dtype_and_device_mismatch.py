"""What grades dtype_and_device_mismatch: buffers, batches, another device; other dtypes, copies."""

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that, modes_kept
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host
from grader.checks.registered import state_of

STORES, FEATURES, CLASSES = 7, 4, 3
CALL = "predict(model, arrays)"


def halves(gen, low, high, size):
    """Numbers that every floating dtype holds."""
    return torch.randint(low, high, (size,), generator=gen).numpy() / 2


def make(answer, gen, dtype=np.float64):
    """The model, and the arrays of which it was made."""
    arrays = halves(gen, -8, 9, FEATURES), halves(gen, 1, 5, FEATURES), halves(gen, 1, 9, CLASSES)
    arrays = [array.astype(dtype) for array in arrays]
    model = answer.ChurnModel(STORES, arrays[0], arrays[1], class_weight=arrays[2])
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model, arrays


def rows(gen, n=6, features=np.float64, store=np.int16, label=np.int32):
    return {
        "store": torch.randint(STORES, (n,), generator=gen).numpy().astype(store),
        "features": (3 * torch.randn(n, FEATURES, generator=gen).double().numpy()).astype(features),
        "label": torch.randint(CLASSES, (n,), generator=gen).numpy().astype(label),
    }


def exact_logits(model, made, arrays, dtype=torch.float32):
    """In float64, from parameters, the arrays of the model and features that are rounded to its dtype."""
    w = {name: t.detach().cpu().double() for name, t in model.named_parameters()}
    mean, std, _ = (torch.tensor(array.astype(np.float64)) for array in made)
    x = torch.tensor(arrays["features"].astype(np.float64)).to(dtype).double()
    parts = [w["store.weight"][torch.tensor(arrays["store"].astype(np.int64))], (x - mean) / std]
    return torch.cat(parts, 1) @ w["score.weight"].T + w["score.bias"]


def exact_loss(logits, made, arrays, weighted=True):
    weight = torch.tensor(made[2].astype(np.float64)) if weighted else torch.ones(CLASSES).double()
    label = torch.tensor(arrays["label"].astype(np.int64))
    own = weight[label]
    return -(own * logits.log_softmax(1).gather(1, label[:, None])[:, 0]).sum() / own.sum()


def expect_loss(yours, logits, made, arrays, call, dtype=torch.float32):
    suspects = {"class_weight is left out": lambda: exact_loss(logits, made, arrays, False).to(dtype)}
    wanted = exact_loss(logits, made, arrays).to(dtype)
    expect_close(yours, wanted, call, scale=30.0, suspects=suspects)


def expect_probabilities(yours, logits, call, dtype=torch.float32):
    expect_that(isinstance(yours, np.ndarray), f"{call} is no NumPy array", yours=yours)
    expect_equal(str(yours.dtype), "float32", f"the dtype of {call}")
    ulps = 160.0 * torch.finfo(dtype).eps / torch.finfo(torch.float32).eps
    expect_close(torch.from_numpy(yours), logits.softmax(1).float(), call, ulps=max(ulps, 160.0), scale=1.0)


def test_buffers(answer, gen):
    """mean, std and class_weight are float32 buffers, and are saved with the model."""
    model, made = make(answer, gen)
    buffers, plain = (
        dict(model.named_buffers()),
        "a plain attribute neither moves nor is saved with the model",
    )
    for name, array in zip(("mean", "std", "class_weight"), made, strict=True):
        trained = name in dict(model.named_parameters())
        why = "a parameter is what an optimizer gets" if trained else plain
        expect_that(
            name in buffers, f"{name} is no buffer of ChurnModel(…)", likely=f"{why}: `register_buffer`"
        )
        expect_that(name in model.state_dict(), f"{name} is not saved with the model")
        expect_equal(buffers[name], torch.tensor(array, dtype=torch.float32), f"{name} of ChurnModel(…)")


def test_values(answer, gen):
    """Loss, gradient and probabilities are right, with labels and without."""
    (model, made), arrays = make(answer, gen), rows(gen)
    logits = exact_logits(model, made, arrays).requires_grad_()
    (gradient,) = torch.autograd.grad(exact_loss(logits, made, arrays), logits)
    loss = answer.training_loss(model, answer.to_batch(dict(arrays), model))
    expect_loss(loss.detach(), logits.detach(), made, arrays, "training_loss(model, batch)")
    loss.backward()
    expect_close(model.score.bias.grad, gradient.sum(0).float(), "the gradient of score.bias", scale=30.0)
    del arrays["label"]
    expect_probabilities(answer.predict(model, arrays), logits.detach(), f"{CALL} without labels")


def test_batch_is_where_the_model_is(answer, gen, device):
    """to_batch asks the model each time: its tensors are on the device to which the model has moved."""
    (model, _), arrays = make(answer, gen), rows(gen)
    answer.to_batch(dict(arrays), model)  # what is kept from here must do no harm
    batch = answer.to_batch(dict(arrays), model.to(device))
    for name in arrays:
        expect_that(
            is_simulated(batch[name]),
            f'to_batch(arrays, model)["{name}"] is not on the model\'s device',
            yours=batch[name],
            likely="the batch is to go where the model's parameters are: `.to(…)` with their device",
        )


def test_loss_on_a_device(answer, gen, device):
    """Loss and backward run on another device, and give what they give on the CPU."""
    (model, made), arrays = make(answer, gen), rows(gen)
    logits = exact_logits(model, made, arrays)
    loss = answer.training_loss(model.to(device), answer.to_batch(dict(arrays), model))
    loss.backward()
    expect_loss(on_host(loss), logits, made, arrays, "training_loss(…) on another device")


def test_prediction_on_a_device(answer, gen, device):
    """predict brings its result from another device to NumPy."""
    (model, made), arrays = make(answer, gen), rows(gen)
    logits = exact_logits(model, made, arrays)
    expect_probabilities(answer.predict(model.to(device), arrays), logits, f"{CALL} on another device")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_models_in_all_dtypes(answer, gen, dtype):
    """A model that is cast gets features in its dtype, has its loss in it, and predicts in float32."""
    (model, made), arrays = make(answer, gen), rows(gen)
    logits = exact_logits(model.to(dtype), made, arrays, dtype)
    batch = answer.to_batch(dict(arrays), model)
    wanted = torch.tensor(arrays["features"]).to(dtype)
    expect_equal(batch["features"], wanted, f'to_batch(arrays, model)["features"] for a model in {dtype}')
    loss = answer.training_loss(model, batch).detach()
    expect_loss(loss, logits, made, arrays, f"training_loss(…) of a model in {dtype}", dtype)
    expect_probabilities(answer.predict(model, arrays), logits, f"{CALL} of a model in {dtype}", dtype)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda d: d.__name__)
def test_buffers_are_copies(answer, gen, dtype):
    """Who writes to the arrays after the model was built does not change the model."""
    model, made = make(answer, gen, dtype)
    before = state_of(model)
    for name, array in zip(("mean", "std", "class_weight"), made, strict=True):
        array += 5
        call = f"{name} after its {dtype.__name__} array was written to"
        shared = {
            "it is the array's memory: `from_numpy` and `as_tensor` share it": lambda a=array: torch.tensor(a)
        }
        expect_equal(model.get_buffer(name), before[name], call, suspects=shared)


KINDS = [(np.float32, np.uint8, np.int64), (np.float16, np.int64, np.int8), (np.int32, np.int8, np.uint8)]


@pytest.mark.fine
@pytest.mark.parametrize("kinds", KINDS, ids=lambda kinds: " ".join(k.__name__ for k in kinds))
def test_arrays_of_other_dtypes(answer, gen, kinds):
    """Features, stores and labels of other dtypes become the same batch, and a dict of its own."""
    (model, _), arrays = make(answer, gen), rows(gen, 5, *kinds)
    before = dict(arrays)
    batch = answer.to_batch(arrays, model)
    expect_that(all(arrays[k] is before[k] for k in before), "to_batch writes to the dict of arrays")
    for name, array in before.items():
        wanted = torch.tensor(array.astype(np.float32 if name == "features" else np.int64))
        expect_equal(batch[name], wanted, f'to_batch(arrays, model)["{name}"] of {array.dtype}')


@pytest.mark.fine
def test_copies(answer, gen, device):
    """Each array crosses once, loss and backward copy nothing, and the prediction comes back in one copy."""
    (model, _), arrays = make(answer, gen), rows(gen)
    model.to(device)
    with count_traffic() as traffic:
        batch = answer.to_batch(dict(arrays), model)
    there, back = "copies to the device", "copies from the device"
    expect_that(
        traffic.to_device <= 3, f"{there} in to_batch(…)", yours=traffic.to_device, wanted="3 at most"
    )
    with count_traffic() as traffic:
        answer.training_loss(model, batch).backward()
    expect_no_traffic(traffic, "loss and backward")
    with count_traffic() as traffic:
        answer.predict(model, arrays)
    expect_that(traffic.to_host <= 1, f"{back} in {CALL}", yours=traffic.to_host, wanted="1 at most")


@pytest.mark.fine
def test_prediction_leaves_the_model_alone(answer, gen):
    """predict leaves modes and gradients as they are."""
    (model, _), arrays = make(answer, gen), rows(gen)
    model.store.eval()
    model.store.weight.grad = half_done = torch.ones_like(model.store.weight)
    with modes_kept(CALL, model):
        answer.predict(model, arrays)
    expect_that(all(p.requires_grad for p in model.parameters()), f"{CALL} freezes the model")
    expect_that(model.store.weight.grad is half_done, f"{CALL} clears the gradients of a step under way")


def oracle(answer, gen):
    (model, _), arrays = make(answer, gen), rows(gen)

    def gradients():
        answer.training_loss(model, answer.to_batch(dict(arrays), model)).backward()
        return [p.grad for _, p in sorted(model.named_parameters())]

    def batch():
        found = answer.to_batch(dict(arrays), model)
        return [found[name] for name in sorted(found)]

    return {
        "a batch": batch,
        "the gradients of the loss": gradients,
        "probabilities": lambda: torch.tensor(answer.predict(model, arrays)),
        "the model's state": lambda: {name: t.float() for name, t in sorted(model.state_dict().items())},
    }
