"""Answers to train_and_eval_modes that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FIRST = "    model.eval()\n    history = "
TRAIN = "        model.train()  # again in each epoch: the validation has left evaluation mode behind\n"
AGAIN = "        model.eval()\n        history.append("
LAST = "    return history\n"

SPECIMENS = [
    Wrong(
        "never back to train",
        edits=[
            (TRAIN, ""),
            ("    for _ in range(epochs):\n", "    model.train()\n    for _ in range(epochs):\n"),
        ],
        check="test_modes_at_each_batch",
        says="evaluation mode for a training batch of epoch 2",
        rung="job",
    ),
    Wrong(
        "forgets eval before the first epoch",
        edits=[(FIRST, "    history = ")],
        check="test_modes_at_each_batch",
        says="training mode for a validation batch before the first epoch",
        rung="job",
    ),
    Wrong(
        "forgets eval after an epoch",
        edits=[(AGAIN, "        history.append(")],
        check="test_modes_at_each_batch",
        says="training mode for a validation batch after epoch 1",
        rung="job",
    ),
    Wrong(
        "takes no_grad for evaluation mode: never evaluates",
        edits=[(FIRST, "    model.train()\n    history = "), (AGAIN, "        history.append(")],
        check="test_weights_and_losses",
        says="validation runs in training mode",
        rung="job",
    ),
    Wrong(
        "trains in the mode in which the model came",
        edits=[(FIRST, "    came = model.training\n" + FIRST), (TRAIN, "        model.train(came)\n")],
        check="test_modes_at_each_batch",
        says="evaluation mode for a training batch of epoch 1",
        rung="job",
    ),
    Wrong(
        "only the first level of layers",
        edits=[
            (FIRST, "    for layer in model:\n        layer.training = False\n    history = "),
            (
                AGAIN,
                "        for layer in model:\n            layer.training = False\n        history.append(",
            ),
        ],
        check="test_modes_at_each_batch",
        rung="job",
    ),
    Wrong(
        "does not measure before training",
        edits=[("[_mean_loss(model, loss_fn, val_batches)]", "[]")],
        check="test_weights_and_losses",
        says="number of losses",
        rung="job",
    ),
    Wrong(
        "a mean of batch means",
        edits=[(".item() * len(targets)", ".item()"), ("count += len(targets)", "count += 1")],
        check="test_weights_and_losses",
        says="batches' means",
        rung="job",
    ),
    Wrong(
        "trains on at the end",
        edits=[(LAST, "    model.train()\n" + LAST)],
        check="test_evaluation_mode_at_the_end",
    ),
    Wrong(
        "switches only where the model says that it is in the other mode",
        edits=[(FIRST, "    if model.training:\n        model.eval()\n    history = ")],
        check="test_layers_in_other_modes",
    ),
    Wrong(
        "sets every layer's flag by hand",
        edits=[(TRAIN, "        for layer in model.modules():\n            layer.training = True\n")],
        check="test_a_model_that_overrides_train",
        says="though the model's own",
    ),
    Wrong(
        "evaluates without no_grad",
        edits=[("@torch.no_grad()\n", "")],
        check="test_no_graph",
        says="records a graph",
    ),
    Works(
        "as nanoGPT has it: eval and back to train around each estimate",
        code="""
import torch

@torch.no_grad()
def estimate_loss(model, loss_fn, batches):
    model.eval()
    losses, count = 0.0, 0
    for X, Y in batches:
        losses += loss_fn(model(X), Y).item() * len(Y)
        count += len(Y)
    model.train()
    return losses / count

def fit(model, loss_fn, optimizer, train_batches, val_batches, epochs):
    history = [estimate_loss(model, loss_fn, val_batches)]
    for _ in range(epochs):
        for X, Y in train_batches:
            loss = loss_fn(model(X), Y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        history.append(estimate_loss(model, loss_fn, val_batches))
    return history
""",
    ),
    Works(
        "every batch switches for itself",
        code="""
import torch

def fit(model, loss_fn, optimizer, train_batches, val_batches, epochs):
    def validate():
        loss, rows = 0, 0
        for x, y in val_batches:
            model.eval()
            out = model(x)
            loss += loss_fn(out, y).detach() * x.shape[0]
            rows += x.shape[0]
        return float(loss / rows)

    history = [validate()]
    for epoch in range(epochs):
        for x, y in train_batches:
            model.train()
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
        history.append(validate())
    return history
""",
    ),
    Right(
        "as PyTorch's MNIST example has it: train() switches, and test() switches",
        code="""
import torch

def train(model, loss_fn, train_loader, optimizer):
    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(data), target)
        loss.backward()
        optimizer.step()

def test(model, loss_fn, test_loader):
    model.eval()
    test_loss = 0
    rows = 0
    with torch.no_grad():
        for data, target in test_loader:
            test_loss += loss_fn(model(data), target).item() * len(data)
            rows += len(data)
    return test_loss / rows

def fit(model, loss_fn, optimizer, train_batches, val_batches, epochs):
    history = [test(model, loss_fn, val_batches)]
    for epoch in range(1, epochs + 1):
        train(model, loss_fn, train_batches, optimizer)
        history.append(test(model, loss_fn, val_batches))
    return history
""",
    ),
    Right(
        "back to training mode around each validation, evaluation mode at last",
        edits=[
            (FIRST, "    model.train(False)\n    history = "),
            (TRAIN, ""),
            ("    for _ in range(epochs):\n", "    model.train()\n    for _ in range(epochs):\n"),
            (
                AGAIN + "_mean_loss(model, loss_fn, val_batches))\n" + LAST,
                AGAIN
                + "_mean_loss(model, loss_fn, val_batches))\n        model.train()\n    return (model.eval(), history)[1]\n",
            ),
        ],
    ),
]
