"""Answers to silent_broadcast_loss that people write."""

from grader.authoring.specimen import Right, Wrong

MSE = """    predictions, targets = _rows(predictions, targets)
    errors = (predictions - targets).square()  # (batch,)
"""
WEIGHTS = "    weights, errors = _rows(weights, errors)\n"
RETURN = "    return (weights * errors).sum() / weights.sum()\n"
MEAN = "        return errors.mean()\n"
SHARE = """    predictions, targets = _rows(predictions, targets)
    close = (predictions - targets).abs() <= tolerance
"""
CLOSE = "    return close.double().mean().item()\n"
SHAPE = "        if column.dim() not in (1, 2) or column.shape[1:] not in ((), (1,)) or not len(column):\n"
SIZES = "    if len({len(column) for column in columns}) > 1:\n"
ROWS = "    return [column.reshape(-1) for column in columns]\n"
LOSS = "    loss = weighted_mse(model(inputs), targets, weights)\n"
ZERO = "    optimizer.zero_grad()\n"
BACKWARD = "    loss.backward()\n"
STEP = "    optimizer.step()\n"
OLD_MSE = "    errors = (predictions - targets).square()\n"
OLD_SHARE = "    close = (predictions - targets).abs() <= tolerance\n"
LAST = "    return loss.item()\n"


def head(fix):
    """A repair at the top of both functions, in place of the shared one."""
    return [(MSE, fix + OLD_MSE), (SHARE, fix + OLD_SHARE)]


SPECIMENS = [
    Wrong(
        "leaves NaN out of the mean",
        edits=[(MEAN, "        return errors.nanmean()\n")],
        check="test_weights",
        says="one of them NaN",
    ),
    Wrong(
        "leaves NaN out of the weighted mean",
        edits=[(RETURN, RETURN.replace(".sum() / weights", ".nansum() / weights"))],
        check="test_weights",
        says="one of them NaN",
    ),
    Wrong(
        "train_step flattens the targets, whatever their shape",
        edits=[(LOSS, LOSS.replace("targets,", "targets.flatten(),"))],
        check="test_train_step_refuses",
        says="no error",
    ),
    Wrong(
        "leaves out the examples of weight 0, whose weights then have no gradient",
        edits=[
            (
                RETURN,
                "    keep = weights > 0\n"
                "    return (weights[keep] * errors[keep]).sum() / weights[keep].sum()\n",
            )
        ],
        check="test_gradients",
        says="weights",
    ),
    Wrong(
        "a little more than the tolerance, for rounding",
        edits=[("<= tolerance", "<= tolerance + 1e-6")],
        check="test_share_of_large_numbers",
        says="tolerance=0.0",
    ),
    Wrong(
        "a floor under the sum of the weights",
        edits=[(RETURN, RETURN.replace("weights.sum()", "weights.sum().clamp(min=1e-8)"))],
        check="test_weights",
    ),
    Wrong(
        "squeezes the predictions in train_step: the functions stay as they were",
        edits=[*head(""), (WEIGHTS, ""), (LOSS, LOSS.replace("model(inputs)", "model(inputs).squeeze(-1)"))],
        check="test_every_form",
    ),
    Wrong(
        "makes a column of the targets in train_step",
        edits=[*head(""), (WEIGHTS, ""), (LOSS, LOSS.replace("targets,", "targets.view(-1, 1),"))],
        check="test_every_form",
    ),
    Wrong("repairs the loss alone", edits=[(SHARE, OLD_SHARE)], check="test_share_within"),
    Wrong("repairs the share alone", edits=[(MSE, OLD_MSE)], check="test_every_form"),
    Wrong("forgets the weights", edits=[(WEIGHTS, "")], check="test_bad_weights"),
    Wrong(
        "forgets the weights, in a column",
        edits=[(WEIGHTS, "    errors = errors.unsqueeze(1)\n")],
        check="test_every_form",
    ),
    Wrong(
        "squeezes: any shape will do",
        edits=[
            (SHAPE, "        if False:\n"),
            (
                SIZES,
                "    columns = [column.squeeze() for column in columns]\n    if len({column.shape for column in columns}) > 1:\n",
            ),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "squeezes and broadcasts: sizes of one go through",
        edits=[
            (SHAPE, "        if column.squeeze().dim() > 1 or not column.numel():\n"),
            (SIZES, "    if False:\n"),
            (ROWS, "    return [column.squeeze() for column in columns]\n"),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "flattens: any shape with as many numbers",
        edits=[
            (SHAPE, "        if not column.numel():\n"),
            (SIZES, "    if len({column.numel() for column in columns}) > 1:\n"),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "targets.view_as(predictions)",
        edits=head("    targets = targets.view_as(predictions)\n"),
        check="test_bad_input",
    ),
    Wrong(
        "targets.unsqueeze(1), whatever they are",
        edits=head(
            "    targets = targets.unsqueeze(1)\n    if predictions.shape != targets.shape:\n        raise ValueError('shapes')\n"
        ),
        check="test_every_form",
    ),
    Wrong(
        "asks for the same shape",
        edits=head("    if predictions.shape != targets.shape:\n        raise ValueError('shapes differ')\n"),
        check="test_every_form",
    ),
    Wrong(
        "reshapes to the size of the predictions alone",
        edits=[(SIZES, "    if False:\n")],
        check="test_bad_input",
    ),
    Wrong(
        "lets a size of one go through",
        edits=[(SIZES, "    if len({len(column) for column in columns} - {1}) > 1:\n")],
        check="test_bad_input",
    ),
    Wrong(
        "lets empty batches through",
        edits=[(SHAPE, SHAPE.replace(" or not len(column)", ""))],
        check="test_bad_input",
    ),
    Wrong(
        "lets more columns through",
        edits=[
            (SHAPE, SHAPE.replace("column.shape[1:] not in ((), (1,)) or ", "")),
            (SIZES, "    if len({column.numel() for column in columns}) > 1:\n"),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "asserts",
        edits=[(SIZES, "    assert len({len(column) for column in columns}) == 1\n" + SIZES)],
        check="test_bad_input",
        says="AssertionError",
    ),
    Wrong(
        "says RuntimeError",
        edits=[('        raise ValueError(f"batches', '        raise RuntimeError(f"batches')],
        check="test_bad_input",
        says="RuntimeError",
    ),
    Wrong(
        "the mean of weighted errors",
        edits=[(RETURN, "    return (weights * errors).mean()\n")],
        check="test_weights",
    ),
    Wrong(
        "divides by the number of weights above 0",
        edits=[(RETURN, "    return (weights * errors).sum() / weights.gt(0).sum()\n")],
        check="test_weights",
    ),
    Wrong("ignores the weights", edits=[(RETURN, "    return errors.mean()\n")], check="test_every_form"),
    Wrong(
        "an epsilon in the sum of the weights",
        edits=[(RETURN, "    return (weights * errors).sum() / (weights.sum() + 1e-4)\n")],
        check="test_weights",
    ),
    Wrong("the sum", edits=[(MEAN, "        return errors.sum()\n")], check="test_every_form"),
    Wrong(
        "no gradient for the weights",
        edits=[(RETURN, "    weights = weights.detach()\n" + RETURN)],
        check="test_gradients",
    ),
    Wrong(
        "no gradient for the sum of the weights",
        edits=[(RETURN, "    return (weights * errors).sum() / weights.sum().detach()\n")],
        check="test_gradients",
    ),
    Wrong(
        "no gradient for the targets",
        edits=[(MSE, MSE.replace("- targets)", "- targets.detach())"))],
        check="test_gradients",
    ),
    Wrong(
        "no gradient for the predictions of one house",
        edits=[(MSE, MSE + "    if len(errors) == 1:\n        errors = errors.detach() + 0 * targets\n")],
        check="test_gradients",
    ),
    Wrong(
        "reshapes the caller's tensors",
        edits=[
            (ROWS, "    return [column.squeeze_(1) if column.dim() == 2 else column for column in columns]\n")
        ],
        check="test_every_form",
        says="changes",
    ),
    Wrong("the root", edits=[(MEAN, "        return errors.mean().sqrt()\n")], check="test_every_form"),
    Wrong(
        "always float32",
        edits=[(MSE, MSE.replace("(predictions - targets)", "(predictions - targets).float()"))],
        check="test_every_form",
    ),
    Wrong(
        "always float64",
        edits=[(MSE, MSE.replace("(predictions - targets)", "(predictions - targets).double()"))],
        check="test_every_form",
        says="dtype",
    ),
    Wrong("below the tolerance", edits=[(SHARE, SHARE.replace("<=", "<"))], check="test_share_within"),
    Wrong(
        "ignores the tolerance", edits=[(SHARE, SHARE.replace("tolerance", "0.1"))], check="test_share_within"
    ),
    Wrong(
        "another default",
        edits=[("tolerance: float = 0.1", "tolerance: float = 0.5")],
        check="test_share_within",
    ),
    Wrong(
        "a tolerance that grows with the targets",
        edits=[
            (
                SHARE,
                SHARE.replace(
                    "(predictions - targets).abs() <= tolerance",
                    "torch.isclose(predictions, targets, atol=tolerance)",
                ),
            )
        ],
        check="test_share_of_large_numbers",
    ),
    Wrong(
        "all but those that are too far away: NaN is not",
        edits=[
            (
                SHARE,
                SHARE.replace(
                    "(predictions - targets).abs() <= tolerance",
                    "~((predictions - targets).abs() > tolerance)",
                ),
            )
        ],
        check="test_share_of_large_numbers",
    ),
    Wrong(
        "flattens what the model gives",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model(inputs).flatten()"))],
        check="test_train_step_refuses",
        says="(6,)",
    ),
    Wrong(
        "a loop where there are no weights",
        edits=[(MEAN, "        return torch.stack([error for error in errors]).mean()\n")],
        check="test_no_loops",
    ),
    Wrong("signed errors", edits=[(SHARE, SHARE.replace(".abs()", ""))], check="test_share_within"),
    Wrong(
        "a tensor for the share",
        edits=[(CLOSE, "    return close.float().mean()\n")],
        check="test_share_within",
        says="type",
    ),
    Wrong(
        "NumPy, which takes no graph",
        edits=[
            (
                SHARE,
                SHARE.replace("(predictions - targets).abs()", "abs(predictions.numpy() - targets.numpy())"),
            ),
            (CLOSE, "    return float(close.mean())\n"),
        ],
        check="test_share_within",
    ),
    Wrong(
        "a number of houses", edits=[(CLOSE, "    return float(close.sum())\n")], check="test_share_within"
    ),
    Wrong(
        "a tensor for the loss",
        edits=[(LAST, "    return loss.detach()\n")],
        check="test_train_step",
        says="type",
    ),
    Wrong(
        "the loss after the step",
        edits=[(LAST, "    return weighted_mse(model(inputs), targets, weights).item()\n")],
        check="test_train_step",
    ),
    Wrong(
        "leaves the weights out of the step",
        edits=[(LOSS, LOSS.replace(", weights)", ")"))],
        check="test_train_step",
    ),
    Wrong("adds to old gradients", edits=[(ZERO, "")], check="test_train_step"),
    Wrong(
        "clears between backward and step",
        edits=[(ZERO + BACKWARD, BACKWARD + ZERO)],
        check="test_train_step",
    ),
    Wrong(
        "mends sizes in train_step",
        edits=[
            (
                LOSS,
                "    outputs = model(inputs)\n    targets = targets.reshape(-1)[:1].expand(len(outputs)) if targets.numel() != len(outputs) else targets\n    loss = weighted_mse(outputs[..., :1] if outputs.dim() > 1 else outputs, targets, weights)\n",
            )
        ],
        check="test_train_step_refuses",
    ),
    Wrong(
        "steps before it refuses",
        edits=[
            (
                LOSS,
                "    outputs = model(inputs)\n    optimizer.zero_grad()\n    (outputs - targets.reshape(-1)[0]).square().mean().backward()\n    optimizer.step()\n"
                + LOSS,
            )
        ],
        check="test_train_step_refuses",
    ),
    Wrong(
        "view",
        edits=[
            (
                ROWS,
                "    return [column.T.reshape(1, -1).view(-1) if column.stride()[0] == 1 else column.view(column.numel() // 1) if column.is_contiguous() else column.as_strided((len(column),), (1,)) for column in columns]\n",
            )
        ],
        check="test_layouts",
    ),
    Wrong(
        "a loop over the batch",
        edits=[
            (
                MSE,
                MSE.replace(
                    "(predictions - targets).square()",
                    "torch.stack([(p - t) ** 2 for p, t in zip(predictions, targets)])",
                ),
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Right(
        "columns in place of rows, torch's own loss",
        code="""
import torch
import torch.nn.functional as F


def as_column(*tensors):
    sizes = set()
    for t in tensors:
        if t.ndim == 1:
            t = t.unsqueeze(-1)
        if t.ndim != 2 or t.shape[1] != 1 or t.shape[0] == 0:
            raise ValueError("want (batch,) or (batch, 1)")
        sizes.add(t.shape[0])
    if len(sizes) != 1:
        raise ValueError("batch sizes differ")
    return tuple(t.unsqueeze(-1) if t.ndim == 1 else t for t in tensors)


def weighted_mse(predictions, targets, weights=None):
    if weights is None:
        return F.mse_loss(*as_column(predictions, targets))
    p, t, w = as_column(predictions, targets, weights)
    return torch.sum(w / w.sum() * (t - p) ** 2)


def share_within(predictions, targets, tolerance=0.1):
    p, t = as_column(predictions, targets)
    return int(((p - t).abs() <= tolerance).sum()) / len(p)


def train_step(model, optimizer, inputs, targets, weights=None):
    optimizer.zero_grad(set_to_none=False)
    value = weighted_mse(model(inputs), targets, weights)
    value.backward()
    optimizer.step()
    return float(value.detach())
""",
    ),
    Right(
        "einsum over the batch",
        edits=[
            (RETURN, "    return torch.einsum('i,i->', weights, errors) / torch.einsum('i->', weights)\n"),
            (ROWS, "    return [column.squeeze(1) if column.ndim == 2 else column for column in columns]\n"),
        ],
    ),
    Wrong(
        "train_step looks at columns only",
        code="""
import torch
def _column(t, name):
    if t.dim() not in (1, 2) or t.dim() == 2 and t.shape[1] != 1 or t.shape[0] == 0:
        raise ValueError(f"{name} must be (batch,) or (batch, 1), got {tuple(t.shape)}")
    return t.reshape(-1)
def _columns(*ts):
    out = [_column(t, f"argument {i}") for i, t in enumerate(ts)]
    if len({len(t) for t in out}) != 1:
        raise ValueError("batch sizes differ")
    return out
def weighted_mse(predictions, targets, weights=None):
    if weights is None:
        p, t = _columns(predictions, targets)
        return (p - t).square().mean()
    p, t, w = _columns(predictions, targets, weights)
    return (w * (p - t).square()).sum() / w.sum()
def share_within(predictions, targets, tolerance=0.1):
    p, t = _columns(predictions, targets)
    return ((p - t).abs() <= tolerance).double().mean().item()
def train_step(model, optimizer, inputs, targets, weights=None):
    p = model(inputs)
    loss = weighted_mse(p, targets, weights) if weights is not None or p.dim() == 2 else (p - targets.reshape(-1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""",
        check="test_train_step_refuses",
    ),
    Wrong(
        "the tolerance in float32",
        edits=[("abs() <= tolerance", "abs() <= torch.tensor(tolerance)")],
        check="test_share_of_large_numbers",
        says="float64",
    ),
    Wrong(
        "compares the squares",
        edits=[
            ("(predictions - targets).abs() <= tolerance", "(predictions - targets).square() <= tolerance**2")
        ],
        check="test_share_of_large_numbers",
        says="1e-30",
    ),
    Wrong(
        "ones of torch's default dtype where there are no weights",
        edits=[
            (MEAN, "        weights = torch.ones(len(errors), device=errors.device)\n"),
        ],
        check="test_dtype_and_device_of_the_inputs",
        says="float64",
    ),
    Wrong(
        "ones on torch's default device where there are no weights",
        edits=[
            (MEAN, "        weights = torch.ones(len(errors), dtype=errors.dtype)\n"),
        ],
        check="test_dtype_and_device_of_the_inputs",
    ),
]
