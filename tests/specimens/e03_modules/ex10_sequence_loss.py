"""Answers to sequence_loss that people write."""

from grader.authoring.specimen import Right, Wrong

SHAPE = "if logits.dim() != 3 or logits.shape[:2] != targets.shape:"
ROWS = "rows = logits.flatten(0, 1)"
TOTAL = 'total = F.cross_entropy(rows, targets.flatten(), ignore_index=ignore_index, reduction="sum")'
COUNTED = "counted = targets.ne(ignore_index).sum()"
RETURN = "return total / counted.clamp(min=1)"

SPECIMENS = [
    Wrong(
        "a softmax by hand: in training it holds three tensors of the size of the logits",
        edits=[
            (
                TOTAL,
                "shifted = rows - rows.amax(-1, keepdim=True) if rows.numel() else rows\n"
                "    logs = shifted - shifted.exp().sum(-1, keepdim=True).log()\n"
                "    total = F.nll_loss(logs, targets.flatten(), ignore_index=ignore_index, reduction='sum')",
            )
        ],
        check="test_memory",
        says="requires_grad is True",
    ),
    Wrong(
        "counts in int32, where 2**32 is 0",
        edits=[(COUNTED, "counted = targets.int().ne(torch.tensor(ignore_index).int()).sum()")],
        check="test_padding",
    ),
    Wrong(
        "takes logits of four dimensions, where the third is 1",
        edits=[
            (SHAPE, SHAPE.replace("logits.dim() != 3", "logits.dim() < 3")),
            (ROWS, "rows = logits.reshape(-1, logits.shape[-1])"),
        ],
        check="test_bad_input",
        says="(2, 3, 1, 4)",
    ),
    Wrong(
        "does not look at the shapes of empty batches",
        edits=[(SHAPE, "if logits.numel() and (logits.dim() != 3 or logits.shape[:2] != targets.shape):")],
        check="test_bad_input",
    ),
    Wrong(
        "counts the tokens in int8",
        edits=[(COUNTED, 'counted = targets.ne(ignore_index).sum(dtype=__import__("torch").int8)')],
        check="test_all_shapes",
    ),
    Wrong(
        "softmaxed twice",
        edits=[(ROWS, "rows = logits.softmax(-1).flatten(0, 1)")],
        check="test_all_shapes",
        says="a softmax comes before",
    ),
    Wrong(
        "softmax over time",
        edits=[
            (ROWS, "rows = logits.log_softmax(1).flatten(0, 1)"),
            (TOTAL, TOTAL.replace("cross_entropy", "nll_loss")),
        ],
        check="test_all_shapes",
        says="softmax runs over time",
    ),
    Wrong(
        "a view to (batch, vocab, time) in place of a transpose",
        edits=[
            (
                ROWS,
                "rows = logits.reshape(len(logits), logits.shape[2], -1) if logits.numel() else logits.transpose(1, 2)",
            ),
            (TOTAL, TOTAL.replace(".flatten()", "")),
        ],
        check="test_all_shapes",
        says="dimensions are reshaped",
    ),
    Wrong(
        "flattens in another order than the targets",
        edits=[(ROWS, "rows = logits.transpose(0, 1).flatten(0, 1)")],
        check="test_all_shapes",
    ),
    Wrong(
        "one-hot, and probabilities as targets",
        edits=[
            (
                TOTAL,
                "keep = targets.ne(ignore_index)\n    wanted = F.one_hot(targets.where(keep, 0).flatten(), logits.shape[2]).to(logits.dtype)\n    total = F.cross_entropy(rows, wanted * keep.flatten().unsqueeze(1), reduction='sum')",
            )
        ],
        check="test_memory",
        says="memory",
    ),
    Wrong(
        "one-hot times log-probabilities",
        edits=[
            (
                TOTAL,
                "wanted = F.one_hot(targets.masked_fill(targets.eq(ignore_index), 0).flatten(), logits.shape[2])\n    total = -(rows.log_softmax(-1) * wanted)[targets.flatten() != ignore_index].sum()",
            )
        ],
        check="test_tokens_ruled_out",
        says="nan",
    ),
    Wrong(
        "the logarithm of the softmax",
        edits=[
            (
                TOTAL,
                "keep = targets.flatten() != ignore_index\n    total = -(rows[keep].softmax(-1).gather(1, targets.flatten()[keep].unsqueeze(1)) + 1e-9).log().sum()",
            )
        ],
        check="test_large_logits",
    ),
    Wrong(
        "the exponential by hand, without a shift",
        edits=[
            (
                TOTAL,
                "keep = targets.flatten() != ignore_index\n    total = (rows[keep].exp().sum(-1).log() - rows[keep].gather(1, targets.flatten()[keep].unsqueeze(1)).squeeze(1)).sum()",
            )
        ],
        check="test_large_logits",
    ),
    Wrong("the sum", edits=[(RETURN, "return total")], check="test_all_shapes"),
    Wrong(
        "padding counts in the mean",
        edits=[(COUNTED, "counted = (targets == targets).sum()")],
        check="test_padding",
    ),
    Wrong(
        "the mean of the rows' means",
        edits=[
            (
                TOTAL,
                'losses = F.cross_entropy(rows, targets.flatten(), ignore_index=ignore_index, reduction="none").view(targets.shape)',
            ),
            (COUNTED, "counted = targets.ne(ignore_index).sum(1)"),
            (
                RETURN,
                "means = losses.sum(1) / counted.clamp(min=1)\n    return means.sum() / counted.gt(0).sum().clamp(min=1)",
            ),
        ],
        check="test_padding",
        says="it is a mean of the rows' means",
    ),
    Wrong(
        "ignores ignore_index",
        edits=[("ignore_index=ignore_index, ", ""), ("ne(ignore_index)", "ne(-100)")],
        check="test_padding",
    ),
    Wrong(
        "ignores every negative target, and no other",
        edits=[
            (
                TOTAL,
                'total = F.cross_entropy(rows, targets.flatten().where(targets.flatten() >= 0, -100), reduction="sum")',
            ),
            (COUNTED, "counted = targets.ge(0).sum()"),
        ],
        check="test_padding",
    ),
    Wrong(
        "padding counts as token 0",
        edits=[
            (
                TOTAL,
                'total = F.cross_entropy(rows, targets.where(targets.ne(ignore_index), 0).flatten(), reduction="sum")',
            )
        ],
        check="test_padding",
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
        "one more token than there are, against a division by 0",
        edits=[("counted.clamp(min=1)", "(counted + 1)")],
        check="test_all_shapes",
    ),
    Wrong(
        "a small number against a division by 0",
        edits=[("counted.clamp(min=1)", "(counted + 1e-6)")],
        check="test_all_shapes",
    ),
    Wrong(
        "weighs padding with 0: its gradient for a target out of range",
        edits=[
            (
                TOTAL,
                'losses = F.cross_entropy(rows, targets.flatten().clamp(0, logits.shape[2] - 1), reduction="none")\n    total = (losses * targets.flatten().ne(-100)).sum()',
            ),
        ],
        check="test_padding",
    ),
    Wrong(
        "flattens with view",
        edits=[(ROWS, "rows = logits.view(-1, logits.shape[-1])")],
        check="test_layouts",
    ),
    Wrong(
        "marks padding in the caller's targets",
        edits=[(TOTAL, "targets[targets == ignore_index] = -100\n    ignore_index = -100\n    " + TOTAL)],
        check="test_padding",
        says="changes its input",
    ),
    Wrong(
        "shifts the caller's logits",
        edits=[
            (
                ROWS,
                "if logits.numel() and not logits.requires_grad:\n        logits -= logits.amax(-1, keepdim=True)\n    rows = logits.flatten(0, 1)",
            )
        ],
        check="test_all_shapes",
        says="changes its input",
    ),
    Wrong(
        "float64 for everything",
        edits=[(ROWS, "rows = logits.double().flatten(0, 1)")],
        check="test_all_shapes",
        says="dtype",
    ),
    Wrong(
        "float64 on the way",
        edits=[
            (ROWS, "rows = logits.double().flatten(0, 1)"),
            (RETURN, "return (total / counted.clamp(min=1)).to(logits.dtype)"),
        ],
        check="test_memory",
    ),
    Wrong(
        "float32 for everything",
        edits=[
            (ROWS, "rows = logits.float().flatten(0, 1)"),
            (RETURN, "return (total / counted.clamp(min=1)).to(logits.dtype)"),
        ],
        check="test_all_shapes",
    ),
    Wrong(
        "cut from the graph",
        edits=[(ROWS, "rows = logits.detach().flatten(0, 1).requires_grad_()")],
        check="test_gradients",
        says="gradient",
    ),
    Wrong(
        "a new leaf with the number",
        edits=[(RETURN, "return (total / counted.clamp(min=1)).detach().requires_grad_()")],
        check="test_gradients",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                TOTAL,
                "total = logits.sum() * 0 if not len(logits) else sum(F.cross_entropy(row, t, ignore_index=ignore_index, reduction='sum') for row, t in zip(logits, targets))",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "a loop over the positions",
        edits=[
            (
                TOTAL,
                "total = (logits * 0).nansum() if not logits.shape[1] else sum(F.cross_entropy(logits[:, t], targets[:, t], ignore_index=ignore_index, reduction='sum') for t in range(logits.shape[1]))",
            )
        ],
        check="test_no_loops",
        says="grows",
    ),
    Wrong(
        "shapes by the number of elements",
        edits=[(SHAPE, "if logits.dim() != 3 or logits.shape[0] * logits.shape[1] != targets.numel():")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "any number of dimensions",
        edits=[
            (SHAPE, "if logits.shape[:-1] != targets.shape:"),
            (ROWS, "rows = logits.reshape(-1, logits.shape[-1]) if logits.numel() else logits.flatten(0, 1)"),
        ],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "raises what cross_entropy raises",
        edits=[(SHAPE, "if False:")],
        check="test_bad_input",
    ),
    Wrong(
        "makes the number of tokens on the CPU",
        edits=[(RETURN, "return (total.cpu() / counted.clamp(min=1).cpu())")],
        check="test_on_a_device",
        says="device",
    ),
    Wrong(
        "the targets back to the CPU, for their rows",
        edits=[
            (
                TOTAL,
                "import torch\n    keep = torch.from_numpy(targets.flatten().numpy() != ignore_index)\n    total = F.cross_entropy(rows[keep], targets.flatten()[keep], reduction='sum')",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "clamps the logits",
        edits=[(ROWS, "rows = logits.clamp(-1e5, 1e5).flatten(0, 1)")],
        check="test_large_logits",
    ),
    Wrong(
        "-inf becomes a large number",
        edits=[(ROWS, "rows = logits.nan_to_num(neginf=-10.0).flatten(0, 1)")],
        check="test_tokens_ruled_out",
    ),
    Wrong(
        "-inf becomes the smallest logit",
        edits=[(ROWS, "rows = logits.clamp(min=-1e6).flatten(0, 1)")],
        check="test_tokens_ruled_out",
    ),
    Wrong(
        "zero times the logits where nothing counts",
        edits=[(RETURN, "return total / counted if counted > 0 else logits.sum() * 0.0")],
        check="test_nothing_counts",
        says="nan",
    ),
    Wrong(
        "padding as token 0, times 0",
        edits=[
            (
                TOTAL,
                'keep = targets.flatten() != ignore_index\n    total = (F.cross_entropy(rows, targets.flatten() * keep, ignore_index=-100, reduction="none") * keep).sum()',
            )
        ],
        check="test_tokens_ruled_out",
        says="nan",
    ),
    Right(
        "classes in dimension 1, through a transpose",
        edits=[(ROWS, "rows = logits.permute(0, 2, 1)"), ("targets.flatten()", "targets")],
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
    return -picked.sum() / max(int(keep.sum()), 1)
""",
    ),
    Right(
        "only the tokens that count, logsumexp minus the target's logit",
        code="""
import torch


def sequence_loss(logits, targets, ignore_index=-100):
    if logits.ndim != 3 or targets.shape != logits.shape[:-1]:
        raise ValueError("shapes")
    keep = targets.ne(ignore_index)
    rows, tokens = logits[keep], targets[keep]
    if not len(tokens):
        return rows.sum()
    chosen = rows[torch.arange(len(tokens), device=tokens.device), tokens]
    return (torch.logsumexp(rows, -1) - chosen).mean()
""",
    ),
    Right(
        "the mean of cross_entropy, mended",
        edits=[
            (TOTAL, "mean = F.cross_entropy(rows, targets.flatten(), ignore_index=ignore_index)"),
            (RETURN, "return mean if counted > 0 else (logits[..., :0] * 1).sum()"),
        ],
    ),
]
