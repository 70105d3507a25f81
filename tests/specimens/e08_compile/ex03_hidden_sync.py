"""Answers to hidden_sync that people write."""

from grader.authoring.specimen import Right, Works, Wrong

INIT = "    total, hits, count, norms = 0.0, 0, 0, []\n"
NUMBER = "        number = labelled.sum()  # (): this and all below stay on the device\n"
LOSSES = '        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")\n'
LOSS = "        loss = losses / number.clamp(min=1)\n"
ZERO = "        optimizer.zero_grad()\n"
BACK = "        loss.backward()\n"
NORMS = "        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm))  # (): it scales by 1 at most\n"
STEP = "        optimizer.step()\n"
TOTAL = "        total += losses.detach()\n"
HITS = "        hits += ((logits.argmax(-1) == labels) & labelled).sum()\n"
COUNT = "        count += number\n"
LAST = """    return {
        "loss": float(total / count),
        "accuracy": float(hits / count),
        "largest_norm": float(torch.stack(norms).max()),
    }
"""
BY_HAND = """        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.stack([g.norm() for g in gradients]).norm()
"""


SPECIMENS = [
    Wrong(
        "still branches on the norm, and indexes with a mask",
        edits=[
            (
                NORMS,
                BY_HAND
                + "        if norm > max_norm:\n            for g in gradients:\n                g.mul_(max_norm / norm)\n"
                + "        norms.append(norm)\n",
            ),
            (
                LOSSES,
                '        losses = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum")\n',
            ),
        ],
        check="test_no_wait_in_a_step",
        says="in step 0",
        rung="job",
    ),
    Wrong(
        "waits once in ten steps, to log",
        edits=[(NORMS, NORMS + "        if len(norms) % 10 == 0:\n            print(loss.item())\n")],
        check="test_no_wait_in_a_step",
        says="in step 9",
        rung="job",
    ),
    Wrong(
        "the mean of the batches' means",
        edits=[
            (TOTAL, "        total += loss.detach()\n"),
            ("float(total / count)", "float(total / len(norms))"),
        ],
        check="test_epoch",
        says="the batches' means",
        rung="job",
    ),
    Wrong(
        "means over all positions, labelled or not",
        edits=[(COUNT, "        count += labels.numel()\n")],
        check="test_epoch",
        says="without a label count",
        rung="job",
    ),
    Wrong(
        "trains on the sum",
        edits=[(LOSS, "        loss = losses\n")],
        check="test_epoch",
        rung="job",
    ),
    Wrong(
        "unlabelled positions are hits of class 0",
        edits=[(HITS, "        hits += (logits.argmax(-1) == labels.clamp(min=0)).sum()\n")],
        check="test_epoch",
        says="as class 0",
        rung="job",
    ),
    Wrong(
        "drops the branch: always scales",
        edits=[
            (
                NORMS,
                BY_HAND
                + "        for g in gradients:\n            g.mul_(max_norm / norm)\n        norms.append(norm)\n",
            )
        ],
        check="test_epoch",
        says="weight",
        rung="job",
    ),
    Wrong(
        "the norm of each parameter",
        edits=[
            (
                NORMS,
                BY_HAND
                + "        for g in gradients:\n            g.mul_((max_norm / g.norm()).clamp(max=1.0))\n"
                + "        norms.append(norm)\n",
            )
        ],
        check="test_epoch",
        says="weight",
        rung="job",
    ),
    Wrong(
        "the last norm",
        edits=[("torch.stack(norms).max()", "norms[-1]")],
        check="test_epoch",
        says="last norm",
        rung="job",
    ),
    Wrong(
        "tensors in the report",
        edits=[("float(total / count)", "total / count")],
        check="test_epoch",
        says="float",
        rung="job",
    ),
    Wrong(
        "waits for each batch at the end",
        edits=[
            (INIT, "    total, hits, count, norms = [], 0, 0, []\n"),
            (TOTAL, "        total.append(losses.detach())\n"),
            ("float(total / count)", "float(sum(t.item() for t in total) / count)"),
        ],
        check="test_waits_at_the_end",
    ),
    Wrong(
        "NaN for a batch without labels",
        edits=[
            (LOSSES + LOSS, "        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())\n"),
            (TOTAL, "        total += loss.detach() * number\n"),
        ],
        check="test_no_labels",
    ),
    Wrong(
        "keeps predictions and labels for a count at the end",
        edits=[
            (INIT, INIT + "    pairs = []\n"),
            (HITS, "        pairs.append((logits.argmax(-1), labels))\n"),
            (LAST, "    hits = sum((mine == labels).sum() for mine, labels in pairs)\n" + LAST),
        ],
        check="test_nothing_piles_up",
        says="something of each batch is kept",
    ),
    Wrong(
        "marks the labels in place",
        edits=[(LOSSES, "        labels.masked_fill_(~labelled, -1)\n" + LOSSES.replace("-100", "-1"))],
        check="test_batches_stay",
        says="labels",
    ),
    Works(
        "lists of tensors, put together at the end, and cross_entropy's own mean",
        code="""
import torch
import torch.nn.functional as F


def train_epoch(model, optimizer, batches, max_norm=1.0):
    losses, counts, corrects, norms = [], [], [], []
    for features, labels in batches:
        optimizer.zero_grad()
        logits = model(features)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm))
        optimizer.step()
        mask = labels != -100
        losses.append(loss.detach())
        counts.append(mask.sum())
        corrects.append(((logits.argmax(dim=-1) == labels) & mask).sum())
    n = torch.stack(counts)
    return {
        "loss": ((torch.stack(losses) * n).sum() / n.sum()).item(),
        "accuracy": (torch.stack(corrects).sum() / n.sum()).item(),
        "largest_norm": max(norms).item(),
    }
""",
    ),
    Works(
        "running tensors with their graph, torch.where for the factor",
        code="""
import torch
import torch.nn.functional as F


def train_epoch(model, optimizer, batches, max_norm=1.0):
    total_loss, hits, count, largest = 0, 0, 0, torch.tensor(0.0)
    for features, labels in batches:
        logits = model(features)
        loss = F.cross_entropy(logits.transpose(1, 2), labels)
        optimizer.zero_grad()
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.stack([g.norm() for g in gradients]).norm()
        scale = torch.where(norm > max_norm, max_norm / norm, torch.ones_like(norm))
        for g in gradients:
            g.mul_(scale)
        optimizer.step()
        labelled = (labels != -100).sum()
        total_loss += loss * labelled
        count += labelled
        hits += (logits.argmax(-1) == labels).sum()
        largest = torch.maximum(largest.to(norm.device), norm)
    return {
        "loss": (total_loss / count).item(),
        "accuracy": (hits / count).item(),
        "largest_norm": largest.item(),
    }
""",
    ),
    Right(
        "masked means, one read",
        edits=[
            (
                LOSSES + LOSS,
                """        safe = labels.masked_fill(labels.eq(-100), 0)
        picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
        losses = -torch.where(labelled, picked, 0.0).sum()
        loss = losses / torch.maximum(number, torch.ones_like(number))
""",
            ),
            (
                LAST,
                """    numbers = torch.stack([total / count, hits / count, torch.stack(norms).max()])
    return dict(zip(("loss", "accuracy", "largest_norm"), numbers.tolist()))
""",
            ),
        ],
    ),
    Right(
        "foreach, gradients by autograd.grad, single numbers of each batch",
        edits=[
            (INIT, "    rows = []\n"),
            (
                BACK + NORMS,
                """        owners = [p for p in model.parameters() if p.requires_grad]
        gradients = torch.autograd.grad(loss, owners)
        for p, g in zip(owners, gradients):
            p.grad = g
        norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in gradients]))
        torch._foreach_mul_(gradients, torch.where(norm > max_norm, max_norm / norm, 1.0))
""",
            ),
            (TOTAL, ""),
            (HITS, "        right = ((logits.argmax(-1) == labels) & labelled).sum()\n"),
            (COUNT, "        rows.append(torch.stack([losses.detach().double(), right, number, norm]))\n"),
            (
                LAST,
                """    total, hits, count, _ = torch.stack(rows).sum(0)
    largest = torch.stack(rows)[:, 3].max()
    return {
        "loss": (total / count).item(), "accuracy": (hits / count).item(), "largest_norm": largest.item()
    }
""",
            ),
        ],
    ),
]
