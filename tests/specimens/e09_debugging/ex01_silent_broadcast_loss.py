"""Answers to silent_broadcast_loss that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SHAPE = "        if column.dim() not in (1, 2) or column.shape[1:] not in ((), (1,)):\n"
SIZES = "    if len({len(column) for column in columns}) > 1:\n"
ROWS = "    return [column.reshape(-1) for column in columns]\n"
MEAN = "        return (predictions - targets).square().mean()\n"
ROOT = "    return (weights * errors).sum() / weights.sum()\n"
LINE = "        predictions, targets = _rows(predictions, targets)  # both (batch,)\n"
ALL = "    predictions, targets, weights = _rows(predictions, targets, weights)\n"
SHARE = "    predictions, targets = _rows(predictions, targets)\n    close"


def repaired(fix):
    """A repair at the top of both functions of the start."""
    return f"""
import torch
from torch.nn import functional as F

def weighted_mse(predictions, targets, weights=None):
{fix}
    errors = (predictions - targets).square()
    if weights is None:
        return errors.mean()
    return (weights * errors).sum() / weights.sum()

def share_within(predictions, targets, tolerance=0.1):
    weights = None
{fix}
    close = (predictions - targets).abs() <= tolerance
    return close.double().mean().item()
"""


FLATTENED = """
    predictions, targets = predictions.flatten(), targets.flatten()
    weights = None if weights is None else weights.flatten()
"""

SPECIMENS = [
    Wrong(
        "squeezes the predictions alone",
        code=repaired("    predictions = predictions.squeeze(-1)"),
        check="test_weighted_mse_values",
        says="all pairs",
        rung="job",
    ),
    Wrong(
        "flattens all, and asks for nothing: a single target goes with every prediction",
        code=repaired(FLATTENED),
        check="test_weighted_mse_sizes",
        says="no error",
        rung="job",
    ),
    Wrong(
        "makes a column of the targets, and leaves the weights a row",
        code=repaired(
            "    targets = targets.reshape(-1, 1)\n    predictions = predictions.reshape(-1, 1)\n"
            "    if predictions.shape != targets.shape:\n        raise ValueError('sizes')"
        ),
        check="test_weighted_mse_weights",
        says="each weight counts for every error",
        rung="job",
    ),
    Wrong(
        "asks for the same shape: a column and a row are refused",
        code=repaired(
            "    if predictions.shape != targets.shape:\n        raise ValueError('shapes differ')"
        ),
        check="test_weighted_mse_values",
        rung="job",
    ),
    Wrong(
        "repairs the loss, and forgets the share",
        edits=[(SHARE, "    close")],
        check="test_share_within_values",
        says="all pairs",
        rung="job",
    ),
    Wrong(
        "forgets to look at the weights",
        edits=[
            (ALL, "    predictions, targets = _rows(predictions, targets)\n    weights = weights.flatten()\n")
        ],
        check="test_weighted_mse_number_of_weights",
        says="no error",
        rung="job",
    ),
    Wrong(
        "mse_loss of the flat tensors, which only warns",
        edits=[
            (LINE + MEAN, "        return F.mse_loss(predictions.flatten(), targets.flatten())\n"),
            (
                "from torch import Tensor\n",
                "from torch import Tensor\nfrom torch.nn import functional as F\n",
            ),
        ],
        check="test_weighted_mse_sizes",
        says="no error",
        rung="job",
    ),
    Wrong(
        "lets a size of one go through",
        edits=[(SIZES, "    if len({len(column) for column in columns} - {1}) > 1:\n")],
        check="test_different_sizes",
        rung="job",
    ),
    Wrong(
        "asserts",
        edits=[(SIZES, "    assert len({len(column) for column in columns}) == 1\n" + SIZES)],
        check="test_different_sizes",
        says="AssertionError",
        rung="job",
    ),
    Wrong(
        "divides by the number of examples",
        edits=[(ROOT, "    return (weights * errors).mean()\n")],
        check="test_worked_example",
        says="sum of the weights",
        rung="job",
    ),
    Wrong(
        "a number of houses",
        edits=[("close.double().mean()", "close.double().sum()")],
        check="test_share_within_values",
        says="how many, not which share",
        rung="job",
    ),
    Wrong(
        "flattens whatever has as many numbers",
        edits=[
            (SHAPE, "        if False:\n"),
            (SIZES, "    if len({column.numel() for column in columns}) > 1:\n"),
        ],
        check="test_weighted_mse_shapes",
        says="no error",
    ),
    Wrong(
        "always float32",
        edits=[(ROWS, ROWS.replace("column.reshape(-1)", "column.reshape(-1).float()"))],
        check="test_weighted_mse_dtype_is_kept",
    ),
    Wrong(
        "reshapes the caller's tensors",
        edits=[(ROWS, "    return [c.squeeze_(1) if c.dim() == 2 else c for c in columns]\n")],
        check="test_weighted_mse_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "a loop over the batch",
        edits=[(ROOT, "    return sum(w * e for w, e in zip(weights, errors)) / weights.sum()\n")],
        check="test_weighted_mse_no_loop",
    ),
    Works(
        "view_as, which raises where the sizes differ",
        code=repaired(
            "    targets = targets.view_as(predictions)\n"
            "    weights = None if weights is None else weights.view_as(predictions)"
        ),
    ),
    Works(
        "squeezes everything and compares the shapes",
        code=repaired(
            "    predictions, targets = predictions.squeeze(), targets.squeeze()\n"
            "    if predictions.shape != targets.shape:\n"
            "        raise ValueError(f'{predictions.shape} and {targets.shape}')\n"
            "    if weights is not None:\n"
            "        weights = weights.squeeze()\n"
            "        if weights.shape != targets.shape:\n"
            "            raise ValueError('weights')"
        ),
    ),
    Works(
        "all flat, compared, and torch's own loss",
        code="""
import torch.nn.functional as F

def flat(*tensors):
    tensors = [t.flatten() for t in tensors]
    if len({t.shape for t in tensors}) != 1:
        raise ValueError("sizes differ")
    return tensors

def weighted_mse(predictions, targets, weights=None):
    if weights is None:
        return F.mse_loss(*flat(predictions, targets))
    p, t, w = flat(predictions, targets, weights)
    return (w * F.mse_loss(p, t, reduction="none")).sum() / w.sum()

def share_within(predictions, targets, tolerance=0.1):
    p, t = flat(predictions, targets)
    return float(((p - t).abs() <= tolerance).float().mean())
""",
    ),
    Right(
        "columns in place of rows, torch's own loss",
        code="""
import torch
import torch.nn.functional as F

def as_columns(*tensors):
    tensors = [t.unsqueeze(-1) if t.ndim == 1 else t for t in tensors]
    for t in tensors:
        if t.ndim != 2 or t.shape[1] != 1 or t.shape != tensors[0].shape:
            raise ValueError("want (batch,) or (batch, 1)")
    return tensors

def weighted_mse(predictions, targets, weights=None):
    if weights is None:
        return F.mse_loss(*as_columns(predictions, targets))
    p, t, w = as_columns(predictions, targets, weights)
    return torch.sum(w / w.sum() * (t - p) ** 2)

def share_within(predictions, targets, tolerance=0.1):
    p, t = as_columns(predictions, targets)
    return int(((p - t).abs() <= tolerance).sum()) / len(p)
""",
    ),
    Right(
        "einsum over the batch",
        edits=[
            (ROOT, "    return torch.einsum('i,i->', weights, errors) / torch.einsum('i->', weights)\n"),
            (ROWS, "    return [column.squeeze(1) if column.ndim == 2 else column for column in columns]\n"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
