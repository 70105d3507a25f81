"""Answers to sequence_loss that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SHAPE = "if logits.shape[:-1] != targets.shape:"
ROWS = "rows = logits.flatten(0, 1)"
TOTAL = 'total = F.cross_entropy(rows, targets.flatten(), ignore_index=ignore_index, reduction="sum")'
COUNTED = "counted = targets.ne(ignore_index).sum()"
RETURN = "return total / counted.clamp(min=1)"
KEEP = "keep = targets.flatten() != ignore_index\n    "

SPECIMENS = [
    Wrong(
        "softmaxed twice",
        edits=[(ROWS, "rows = logits.softmax(-1).flatten(0, 1)")],
        check="test_values",
        says="a softmax comes before",
        rung="job",
    ),
    Wrong(
        "softmax over time",
        edits=[
            (ROWS, "rows = logits.log_softmax(1).flatten(0, 1)"),
            (TOTAL, TOTAL.replace("cross_entropy", "nll_loss")),
        ],
        check="test_values",
        says="softmax runs over time",
        rung="job",
    ),
    Wrong(
        "a view to (batch, vocab, time) in place of a transpose",
        edits=[
            (ROWS, "rows = logits.reshape(len(logits), logits.shape[2], -1)"),
            (TOTAL, TOTAL.replace(".flatten()", "")),
        ],
        check="test_values",
        says="dimensions are reshaped",
        rung="job",
    ),
    Wrong("the sum", edits=[(RETURN, "return total")], check="test_values", says="it is the sum", rung="job"),
    Wrong(
        "padding counts in the mean",
        edits=[(COUNTED, "counted = (targets == targets).sum()")],
        check="test_padding",
        says="padding counts in the mean",
        rung="job",
    ),
    Wrong(
        "the mean of the rows' means",
        edits=[
            (
                TOTAL,
                "losses = F.cross_entropy(logits.mT, targets, ignore_index=ignore_index, reduction='none')",
            ),
            (COUNTED, "counted = targets.ne(ignore_index).sum(1)"),
            (RETURN, "return (losses.sum(1) / counted.clamp(min=1)).mean()"),
        ],
        check="test_padding",
        says="it is a mean of the rows' means",
        rung="job",
    ),
    Wrong(
        "ignores ignore_index",
        edits=[("ignore_index=ignore_index, ", ""), ("ne(ignore_index)", "ne(-100)")],
        check="test_padding",
        rung="job",
    ),
    Wrong(
        "the logarithm of the softmax",
        edits=[
            (
                TOTAL,
                KEEP
                + "chances = rows[keep].softmax(-1).gather(1, targets.flatten()[keep].unsqueeze(1))\n"
                + "    total = -(chances + 1e-9).log().sum()",
            )
        ],
        check="test_large_logits",
        rung="job",
    ),
    Wrong(
        "cut from the graph",
        edits=[(ROWS, "rows = logits.detach().flatten(0, 1).requires_grad_()")],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                TOTAL,
                "total = logits.sum() * 0\n    for row, t in zip(logits, targets):\n"
                "        total = total + F.cross_entropy(row, t, ignore_index=ignore_index, reduction='sum')",
            )
        ],
        check="test_no_loop",
        rung="job",
    ),
    Wrong(
        "leaves the mean to cross_entropy: NaN where nothing counts",
        edits=[(TOTAL, TOTAL.replace(', reduction="sum"', "")), (RETURN, "return total")],
        check="test_nothing_counts",
        says="nan",
    ),
    Wrong(
        "a constant 0 where nothing counts",
        edits=[(RETURN, "if counted == 0:\n        return logits.new_zeros(())\n    return total / counted")],
        check="test_nothing_counts",
        says="constant",
    ),
    Wrong(
        "one-hot times log-probabilities",
        edits=[
            (
                TOTAL,
                KEEP
                + "wanted = F.one_hot((targets.flatten() * keep).clamp(min=0), logits.shape[2])\n"
                + "    total = -(rows.log_softmax(-1) * wanted)[keep].sum()",
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "flattens with view",
        edits=[(ROWS, "rows = logits.view(-1, logits.shape[-1])")],
        check="test_strides",
    ),
    Wrong(
        "marks padding in the caller's targets",
        edits=[(TOTAL, "targets[targets == ignore_index] = -100\n    ignore_index = -100\n    " + TOTAL)],
        check="test_arguments_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "does not look at the shapes",
        edits=[(SHAPE, "if False:")],
        check="test_errors",
    ),
    Works(
        "nanoGPT's",
        code="""
from torch.nn import functional as F


def sequence_loss(logits, targets, ignore_index=-100):
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=ignore_index)
""",
    ),
    Works(
        "Hugging Face's",
        code="""
from torch.nn import CrossEntropyLoss


def sequence_loss(logits, targets, ignore_index=-100):
    loss_fct = CrossEntropyLoss(ignore_index=ignore_index)
    return loss_fct(logits.contiguous().view(-1, logits.shape[-1]), targets.contiguous().view(-1))
""",
    ),
    Works(
        "classes moved to dimension 1",
        code="""
from torch.nn import functional as F


def sequence_loss(logits, targets, ignore_index=-100):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=ignore_index)
""",
    ),
    Right(
        "gather from log-probabilities",
        code="""
import torch


def sequence_loss(logits, targets, ignore_index=-100):
    if logits.ndim != 3 or tuple(targets.shape) != tuple(logits.shape[:2]):
        raise ValueError("shapes")
    keep = targets != ignore_index
    safe = torch.where(keep, targets, torch.zeros_like(targets))
    picked = logits.log_softmax(dim=-1).gather(-1, safe[..., None])[..., 0]
    picked = torch.where(keep, picked, torch.zeros_like(picked))
    return -picked.sum() / keep.sum().clamp(min=1)
""",
    ),
    Right(
        "classes in dimension 1, the sum over those that count",
        code="""
from torch.nn import functional as F


def sequence_loss(logits, targets, ignore_index=-100):
    if targets.shape != logits.shape[:2]:
        raise ValueError("shapes")
    total = F.cross_entropy(logits.permute(0, 2, 1), targets, ignore_index=ignore_index, reduction="sum")
    return total / (targets != ignore_index).sum().clamp(min=1)
""",
    ),
]
