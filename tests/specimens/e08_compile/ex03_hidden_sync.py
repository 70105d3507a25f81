"""Answers to hidden_sync that people write."""

from grader.authoring.specimen import Right, Wrong

INIT = "    total, hits, count, norms = 0.0, 0, 0, []\n"
LOOP = "    for features, labels in batches:\n"
LOGITS = "        logits = model(features)  # (batch, time, classes)\n"
NUMBER = "        number = labelled.sum()  # (): this and all below stay on the device\n"
LOSSES = '        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")\n'
LOSS = "        loss = losses / number.clamp(min=1)\n"
ZERO = "        optimizer.zero_grad()\n"
BACK = "        loss.backward()\n"
NORM = "        norm = torch.stack([g.norm() for g in gradients]).norm()\n"
GRADIENTS = "        gradients = [p.grad for p in model.parameters() if p.grad is not None]\n"
FACTOR = "        factor = torch.where(norm > max_norm, max_norm / norm, 1.0)  # (): 1 where nothing is to be scaled\n"
SCALE = "        for g in gradients:\n            g.mul_(factor)\n"
STEP = "        optimizer.step()\n"
TOTAL = "        total += losses.detach()\n"
HITS = "        hits += ((logits.argmax(-1) == labels) & labelled).sum()\n"
COUNT = "        count += number\n"
NORMS = "        norms.append(norm)  # one number for each batch, without a graph\n"
STACK = "    all_norms = torch.stack(norms)  # (batches,)\n"

WAITS = "the host waits"


def still(about, *edits):
    """One cause of the waits is left."""
    return Wrong(about, edits=edits, check="test_no_wait_in_a_step", says=WAITS)


SPECIMENS = [
    Wrong(
        "old gradients become zeros from the second batch on: what only the first has used is moved on",
        edits=[(ZERO, "        optimizer.zero_grad(set_to_none=not norms)\n")],
        check="test_epoch",
        says="long",
    ),
    Wrong(
        "old gradients become zeros, so that weight decay goes on",
        edits=[(ZERO, "        optimizer.zero_grad(set_to_none=False)\n")],
        check="test_one_step_for_each_batch",
        says="unused",
    ),
    still("still takes the loss as a number", (TOTAL, "        total += losses.item()\n")),
    still("float instead of item", (TOTAL, "        total += float(losses)\n")),
    still(
        "still branches on the norm",
        (FACTOR, "        factor = max_norm / norm if norm > max_norm else 1.0\n"),
    ),
    still(
        "still indexes with a mask",
        (LOSSES, '        losses = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum")\n'),
    ),
    still(
        "the number of labelled positions by nonzero",
        (NUMBER, "        number = torch.as_tensor(len(labelled.nonzero()), device=labels.device)\n"),
    ),
    still("max of a tensor", (LOSS, "        loss = losses / max(number, 1)\n")),
    still(
        "lists for the accuracy",
        (
            HITS,
            "        hits += sum(a == b for a, b in zip(logits.argmax(-1).flatten().tolist(), labels.flatten().tolist()))\n",
        ),
    ),
    still(
        "a running maximum by max",
        (NORMS, "        norms = [max([*norms, norm])]\n"),
        (
            '"clipped": int((all_norms > max_norm).sum())',
            '"clipped": int(clipped)',
        ),
        (INIT, INIT + "    clipped = 0\n"),
        (STEP, STEP + "        clipped += norm > max_norm\n"),
    ),
    still("skips batches by `any`", (ZERO, "        if not labelled.any():\n            pass\n" + ZERO)),
    still(
        "looks at the loss before the step",
        (ZERO, '        assert loss.isfinite(), "the loss is broken"\n' + ZERO),
    ),
    still(
        "the clipping that looks for NaN",
        (
            NORM,
            "        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=True)\n",
        ),
        (FACTOR + SCALE, ""),
    ),
    still("prints the loss", (TOTAL, TOTAL + '        print(f"loss {loss:.3f}", end="\\r")\n')),
    still("makes progress visible by str", (TOTAL, TOTAL + "        str(loss)\n")),
    still(
        "copies to the host, without waiting",
        (TOTAL, '        total += losses.detach().to("cpu", non_blocking=True)\n'),
    ),
    still(
        "synchronises itself",
        (
            STEP,
            STEP + "        if logits.device.type != 'cpu':\n            torch.accelerator.synchronize()\n",
        ),
    ),
    still(
        "compares devices by moving",
        (HITS, "        hits += ((logits.cpu().argmax(-1) == labels.cpu()) & labelled.cpu()).sum()\n"),
    ),
    still("classes by unique", (HITS, HITS + "        labels.unique()\n")),
    Wrong(
        "waits for each batch at the end",
        edits=[
            (INIT, "    total, hits, count, norms = [], 0, 0, []\n"),
            (TOTAL, "        total.append(losses.detach())\n"),
            ("float(total / count)", "float(sum(t.item() for t in total) / count)"),
        ],
        check="test_no_wait_in_a_step",
        says="too often",
    ),
    Wrong(
        "waits once in ten batches",
        edits=[(NORMS, NORMS + "        if len(norms) % 10 == 0:\n            loss.item()\n")],
        check="test_waits_do_not_grow",
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
        "no step for a batch without labels",
        edits=[
            (
                ZERO,
                "        if labels.device.type == 'cpu' and not labelled.any():\n            continue\n"
                + ZERO,
            )
        ],
        check="test_no_labels",
    ),
    Wrong(
        "the mean of the batches' means",
        edits=[
            (TOTAL, "        total += loss.detach()\n"),
            ("float(total / count)", "float(total / len(norms))"),
        ],
        check="test_epoch",
        says="loss",
    ),
    Wrong(
        "means over all positions, labelled or not",
        edits=[(COUNT, "        count += torch.ones_like(labels).sum()\n")],
        check="test_epoch",
    ),
    Wrong(
        "views that transposed labels do not have",
        edits=[
            (
                LOSSES,
                LOSSES.replace("logits.flatten(0, 1)", "logits.view(-1, logits.shape[-1])").replace(
                    "labels.flatten()", "labels.view(-1)"
                ),
            )
        ],
        check="test_any_layout",
    ),
    Wrong(
        "trains on the sum",
        edits=[(LOSS, "        loss = losses\n")],
        check="test_epoch",
    ),
    Wrong(
        "unlabelled positions are hits of class 0",
        edits=[(HITS, "        hits += (logits.argmax(-1) == labels.clamp(min=0)).sum()\n")],
        check="test_epoch",
        says="accuracy",
    ),
    Wrong(
        "unlabelled positions are trained as class 0",
        edits=[
            (LOSSES, LOSSES.replace("labels.flatten(), ignore_index=-100", "labels.flatten().clamp(min=0)"))
        ],
        check="test_epoch",
    ),
    Wrong("never scales", edits=[(SCALE, "")], check="test_epoch"),
    Wrong(
        "always scales",
        edits=[("torch.where(norm > max_norm, max_norm / norm, 1.0)", "max_norm / norm.clamp(min=1e-9)")],
        check="test_epoch",
    ),
    Wrong(
        "the norm of each parameter",
        edits=[
            (SCALE, "        for g in gradients:\n            g.mul_((max_norm / g.norm()).clamp(max=1.0))\n")
        ],
        check="test_epoch",
    ),
    Wrong(
        "the norm of the optimizer's first group",
        edits=[(GRADIENTS, GRADIENTS.replace("model.parameters()", 'optimizer.param_groups[0]["params"]'))],
        check="test_groups",
    ),
    Wrong(
        "counts a norm that is just max_norm",
        edits=[("(all_norms > max_norm)", "(all_norms >= max_norm)")],
        check="test_norm_at_the_limit",
        says="clipped",
    ),
    Wrong(
        "clamps the gradients",
        edits=[(SCALE, "        for g in gradients:\n            g.clamp_(-max_norm, max_norm)\n")],
        check="test_epoch",
    ),
    Wrong("always norm 1", edits=[(INIT, "    max_norm = 1.0\n" + INIT)], check="test_epoch"),
    Wrong(
        "another default",
        edits=[("max_norm: float = 1.0", "max_norm: float = 0.5")],
        check="test_default_norm",
    ),
    Wrong(
        "the largest norm after scaling",
        edits=[
            (NORMS, "        norms.append(norm * factor)\n"),
            ("(all_norms > max_norm).sum()", "(all_norms >= max_norm * 0.999).sum()"),
        ],
        check="test_epoch",
    ),
    Wrong(
        "the last norm",
        edits=[("all_norms.max()", "all_norms[-1]")],
        check="test_epoch",
    ),
    Wrong(
        "clipped as a float",
        edits=[("int((all_norms", "float((all_norms")],
        check="test_epoch",
    ),
    Wrong(
        "tensors in the report",
        edits=[("float(total / count)", "total / count")],
        check="test_epoch",
    ),
    Wrong(
        "a running loss with its graph",
        edits=[(TOTAL, "        total = total + losses\n")],
        check="test_nothing_piles_up",
    ),
    Wrong(
        "keeps all logits for the end",
        edits=[
            (INIT, INIT + "    kept = []\n"),
            (HITS, "        kept.append((logits.detach(), labels))\n"),
            (
                STACK,
                STACK + "    hits = sum((logits.argmax(-1) == labels).sum() for logits, labels in kept)\n",
            ),
        ],
        check="test_nothing_piles_up",
    ),
    Wrong(
        "a list of all batches first",
        edits=[(LOOP, LOOP.replace("in batches", "in list(batches)"))],
        check="test_nothing_piles_up",
        says="earlier batches",
    ),
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_one_step_for_each_batch"),
    Wrong(
        "evaluates once more for the accuracy",
        edits=[(HITS, HITS.replace("logits.argmax", "model(features).argmax"))],
        check="test_one_step_for_each_batch",
    ),
    Wrong(
        "switches to training mode",
        edits=[(INIT, "    model.train()\n" + INIT)],
        check="test_one_step_for_each_batch",
    ),
    Wrong(
        "marks the labels in place",
        edits=[(LOSSES, "        labels[~labelled] = -1\n" + LOSSES.replace("-100", "-1"))],
        check="test_epoch",
    ),
    Wrong(
        "wants a list of batches",
        edits=[("float(total / count)", "float(total / count) * len(batches) / len(batches)")],
        check="test_epoch",
    ),
    Wrong(
        "a gradient for every parameter",
        edits=[(GRADIENTS, "        gradients = [p.grad for p in model.parameters()]\n")],
        check="test_epoch",
    ),
    Right(
        "clip_grad_norm_, masked means, one read",
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
                GRADIENTS + NORM + FACTOR + SCALE,
                "        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n",
            ),
            (
                STACK,
                """    all_norms = torch.stack(norms).double()
    loss, accuracy, largest, clipped = torch.stack(
        [total / count, hits / count, all_norms.max(), (all_norms > max_norm).sum()]
    ).tolist()
    return {"loss": loss, "accuracy": accuracy, "largest_norm": largest, "clipped": round(clipped)}
""",
            ),
        ],
    ),
    Right(
        "a state of tensors, foreach, gradients by autograd.grad",
        edits=[
            (
                ZERO + BACK + GRADIENTS,
                """        owners = [p for p in model.parameters() if p.requires_grad]
        found = torch.autograd.grad(loss, owners, allow_unused=True)
        optimizer.zero_grad()
        for p, g in zip(owners, found):
            p.grad = g
        gradients = [g for g in found if g is not None]
""",
            ),
            (NORM, "        norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in gradients]))\n"),
            (SCALE, "        torch._foreach_mul_(gradients, factor)\n"),
        ],
    ),
    Wrong(
        "an old gradient of a frozen parameter takes part",
        edits=[
            (
                ZERO,
                "        for p in model.parameters():\n            if p.requires_grad:\n                p.grad = None\n",
            )
        ],
        check="test_one_step_for_each_batch",
        says="old gradients",
    ),
    Wrong(
        "labels and predictions are kept for a count at the end",
        edits=[
            (INIT, INIT + "    pairs = []\n"),
            (HITS, "        pairs.append((logits.argmax(-1), labels))\n"),
            (STACK, STACK + "    hits = sum((mine == labels).sum() for mine, labels in pairs)\n"),
        ],
        check="test_nothing_piles_up",
        says="or labels",
    ),
    Wrong(
        "asks for the next batch ahead of the step, while the logits of the last one have a name",
        edits=[
            (
                LOOP,
                "    stream = iter(batches)\n    ahead = next(stream, None)\n    while ahead is not None:\n"
                "        features, labels = ahead\n        ahead = next(stream, None)\n",
            )
        ],
        check="test_nothing_piles_up",
        says="earlier batches",
    ),
    Wrong(
        "hides that the model has diverged",
        edits=[(TOTAL, "        total += losses.detach().nan_to_num()\n")],
        check="test_no_labels",
        says="all NaN",
    ),
    Wrong(
        "keeps the hits of each position until the end",
        edits=[
            (INIT, INIT + "    kept = []\n"),
            (HITS, "        kept.append((logits.argmax(-1) == labels) & labelled)\n"),
            (STACK, STACK + "    hits = sum(mask.sum() for mask in kept)\n"),
        ],
        check="test_nothing_piles_up",
        says="something of each batch is kept",
    ),
    Right(
        "single numbers of each batch, put together at the end",
        edits=[
            (INIT, INIT + "    rows = []\n"),
            (HITS, "        right = ((logits.argmax(-1) == labels) & labelled).sum()\n"),
            (TOTAL, ""),
            (COUNT, "        rows.append(torch.stack([losses.detach().double(), right, number]))\n"),
            (STACK, STACK + "    total, hits, count = torch.stack(rows).sum(0)\n"),
        ],
    ),
    Wrong(
        "adds up in the dtype of the logits",
        edits=[
            (HITS, HITS.replace(".sum()", ".sum().to(logits.dtype)")),
            (COUNT, "        count += number.to(logits.dtype)\n"),
        ],
        check="test_half_precision",
        says="297",
    ),
    Right(
        "adds up in float64",
        edits=[
            (TOTAL, "        total += losses.detach().double()\n"),
            (HITS, HITS.replace(".sum()", ".double().sum()")),
            (COUNT, "        count += number.double()\n"),
        ],
    ),
]
