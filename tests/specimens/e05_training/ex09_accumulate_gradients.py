"""Answers to accumulated_step that people write."""

from grader.authoring.specimen import Right, Wrong

COUNT = "    count = sum(len(targets) for _, targets in pieces)\n"
RAISE = '    if count == 0:\n        raise ValueError("there is no example in any piece")\n'
ZERO = "    optimizer.zero_grad()  # once for all pieces, and to None\n"
SKIP = "        if len(targets) == 0:\n            continue  # its mean would be 0 / 0\n"
LOSS = "        loss = loss_fn(model(inputs), targets) * (len(targets) / count)  # (), the piece's share\n"
BACK = "        loss.backward()  # adds to .grad, and frees this graph\n"
TOTAL = (
    "        total = total + loss.detach()  # on the device; with its graph it would keep every activation\n"
)
STEP = "    optimizer.step()\n"
RETURN = "    return float(total)\n"
LOOP = "    total: Any = 0\n    for inputs, targets in pieces:\n" + SKIP + LOSS + BACK + TOTAL

SPECIMENS = [
    Wrong(
        "divides by the number of pieces",
        edits=[(LOSS, LOSS.replace("len(targets) / count", "1 / len(pieces)"))],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "divides by nothing",
        edits=[(LOSS, LOSS.replace(" * (len(targets) / count)", ""))],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "takes all pieces for as large as the first",
        edits=[(LOSS, LOSS.replace("len(targets) / count", "len(pieces[0][1]) / count"))],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "counts numbers, not examples",
        edits=[(LOSS, LOSS.replace("len(targets) / count", "targets.numel() / count"))],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "right gradients, but the mean of the pieces' losses",
        edits=[
            (LOSS, LOSS.replace(" * (len(targets) / count)", "")),
            (BACK, "        (loss * (len(targets) / count)).backward()\n"),
            (RETURN, "    return float(total) / len(pieces)\n"),
        ],
        check="test_steps_of_the_whole_batch",
        says="wrong loss",
    ),
    Wrong(
        "right gradients, but the loss of the last piece",
        edits=[(RETURN, "    return float(loss)\n")],
        check="test_steps_of_the_whole_batch",
        says="wrong loss",
    ),
    Wrong(
        "clears before each piece",
        edits=[(BACK, "        optimizer.zero_grad()\n" + BACK)],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong("never clears", edits=[(ZERO, "")], check="test_gradients_stay"),
    Wrong(
        "clears at the end",
        edits=[(ZERO, ""), (STEP, STEP + "    optimizer.zero_grad()\n")],
        check="test_gradients_stay",
    ),
    Wrong(
        "clears the model's gradients alone",
        edits=[(ZERO, "    model.zero_grad()\n")],
        check="test_gradients_stay",
        says="temperature",
    ),
    Wrong(
        "zeros in place of None",
        edits=[(ZERO, "    optimizer.zero_grad(set_to_none=False)\n")],
        check="test_without_gradient",
    ),
    Wrong(
        "gives zeros to those without a gradient",
        edits=[
            (
                STEP,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is None:
                p.grad = torch.zeros_like(p)
"""
                + STEP,
            )
        ],
        check="test_without_gradient",
    ),
    Wrong(
        "steps after each piece",
        edits=[(BACK, BACK + "        optimizer.step()\n"), (STEP + RETURN, RETURN)],
        check="test_runs",
    ),
    Wrong("forgets the step", edits=[(STEP + RETURN, RETURN)], check="test_runs"),
    Wrong(
        "joins the pieces",
        edits=[
            (
                LOOP,
                """    inputs = torch.cat([x for x, _ in pieces])
    targets = torch.cat([y for _, y in pieces])
    total = loss_fn(model(inputs), targets)
    total.backward()
""",
            )
        ],
        check="test_runs",
        says="one after another",
    ),
    Wrong(
        "one backward at the end",
        edits=[(BACK + TOTAL, "        total = total + loss\n"), (STEP, "    total.backward()\n" + STEP)],
        check="test_one_graph_at_a_time",
        says="alive",
    ),
    Wrong(
        "keeps the graphs",
        edits=[
            (BACK, "        loss.backward(retain_graph=True)\n"),
            (TOTAL, "        total = total + loss\n"),
        ],
        check="test_one_graph_at_a_time",
    ),
    Wrong(
        "gradients with a graph",
        edits=[(BACK, "        loss.backward(create_graph=True)\n")],
        check="test_one_graph_at_a_time",
    ),
    Wrong(
        "the model runs backwards through the list",
        edits=[("in pieces:\n        if", "in reversed(pieces):\n        if")],
        check="test_runs",
    ),
    Wrong(
        "drops the uneven tail",
        edits=[(SKIP, "        if len(targets) < len(pieces[0][1]):\n            continue\n")],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong("runs on empty pieces", edits=[(SKIP, "")], check="test_empty_pieces"),
    Wrong(
        "runs on empty pieces, and takes NaN for 0",
        edits=[
            (SKIP, ""),
            (LOSS, LOSS + "        loss = loss.nan_to_num() if len(targets) == 0 else loss\n"),
        ],
        check="test_empty_pieces",
    ),
    Wrong(
        "stops at an empty piece",
        edits=[(SKIP, SKIP.replace("continue", "break"))],
        check="test_empty_pieces",
    ),
    Wrong("no error without examples", edits=[(RAISE, "")], check="test_no_example"),
    Wrong(
        "returns 0 without examples",
        edits=[(RAISE, RAISE.replace('raise ValueError("there is no example in any piece")', "return 0.0"))],
        check="test_no_example",
    ),
    Wrong(
        "an error only without pieces",
        edits=[(RAISE, RAISE.replace("count == 0", "not pieces"))],
        check="test_no_example",
    ),
    Wrong("clears before the error", edits=[(RAISE + ZERO, ZERO + RAISE)], check="test_no_example"),
    Wrong(
        "waits for every piece",
        edits=[(TOTAL, "        total = total + loss.item()\n")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "a total on the CPU",
        edits=[(TOTAL, "        total = total + loss.detach().cpu()\n")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "a tensor",
        edits=[(RETURN, "    return total\n")],
        check="test_steps_of_the_whole_batch",
        says="float",
    ),
    Wrong(
        "a total in float32",
        edits=[(TOTAL, "        total = total + loss.detach().float()\n")],
        check="test_dtypes",
    ),
    Wrong(
        "the loss in float32",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model(inputs).float()"))],
        check="test_gradients_stay",
    ),
    Wrong("switches to training mode", edits=[(ZERO, ZERO + "    model.train()\n")], check="test_modes"),
    Wrong("ends in evaluation mode", edits=[(STEP, STEP + "    model.eval()\n")], check="test_modes"),
    Wrong(
        "clips",
        edits=[(STEP, "    nn.utils.clip_grad_norm_(model.parameters(), 1e3)\n" + STEP)],
        check="test_nothing_else",
    ),
    Wrong(
        "skips a step with inf or NaN",
        edits=[(STEP, "    if torch.isfinite(total):\n        optimizer.step()\n")],
        check="test_nothing_else",
    ),
    Wrong(
        "makes everything trainable",
        edits=[(ZERO, ZERO + "    model.requires_grad_(True)\n")],
        check="test_without_gradient",
    ),
    Wrong(
        "calls forward: no hook runs",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model.forward(inputs)"))],
        check="test_runs",
    ),
    Wrong(
        "turns inputs into floats",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model(inputs.double())"))],
        check="test_token_numbers",
    ),
    Wrong(
        "flattens targets to find their number",
        edits=[(COUNT, COUNT.replace("len(targets)", "targets.numel()"))],
        check="test_token_numbers",
    ),
    Right(
        "sums first, divides the gradients at the end",
        edits=[
            (LOSS, "        loss = loss_fn(model(inputs), targets) * targets.shape[0]\n"),
            (
                STEP + RETURN,
                """    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad /= count
    optimizer.step()
    return (total / count).item()
""",
            ),
        ],
    ),
    Right(
        "gradients from autograd.grad, losses in a list",
        edits=[
            (
                LOOP,
                """    params = [p for g in optimizer.param_groups for p in g["params"] if p.requires_grad]
    losses = []
    for inputs, targets in (piece for piece in pieces if piece[1].shape[0] > 0):
        loss = loss_fn(model(inputs), targets) * targets.shape[0] / count
        for p, gradient in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            if gradient is not None:
                p.grad = gradient if p.grad is None else p.grad + gradient
        losses.append(loss.detach())
    total = torch.stack(losses).sum()
""",
            )
        ],
    ),
    Wrong(
        "counts the labels of an example",
        edits=[
            (COUNT, COUNT.replace("len(targets)", "targets.numel()")),
            (LOSS, LOSS.replace("len(targets)", "targets.numel()")),
        ],
        check="test_uneven_shapes",
    ),
    Wrong(
        "counts the inputs",
        edits=[
            (COUNT, COUNT.replace("len(targets) for _, targets", "len(inputs) for inputs, _")),
            (LOSS, LOSS.replace("len(targets)", "len(inputs)")),
        ],
        check="test_uneven_shapes",
    ),
    Wrong(
        "at most sixteen pieces in a step",
        edits=[
            (
                BACK,
                "        loss.backward()\n        if len(pieces) > 16:\n            optimizer.step()\n            optimizer.zero_grad()\n",
            )
        ],
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "adds up the losses with their graphs",
        edits=[(TOTAL, "        total = total + loss\n")],
        check="test_graphs_do_not_pile_up",
        says="loss.detach()",
    ),
    Wrong(
        "a list of the losses, added up at the end",
        edits=[
            (TOTAL, "        losses.append(loss)\n"),
            ("    total: Any = 0\n", "    losses: Any = []\n"),
            (RETURN, "    return float(sum(losses))\n"),
        ],
        check="test_graphs_do_not_pile_up",
        says="4 graphs",
    ),
    Wrong(
        "takes a piece whose targets have no columns for one without examples",
        edits=[(SKIP, SKIP.replace("len(targets) == 0", "targets.numel() == 0"))],
        check="test_uneven_shapes",
        says="targets of one column or none",
    ),
    Wrong(
        "takes the pieces out of the caller's list, to free their memory",
        edits=[
            (
                "    for inputs, targets in pieces:\n" + SKIP,
                "    pieces = pieces if isinstance(pieces, list) else list(pieces)\n    while pieces:\n"
                "        inputs, targets = pieces.pop(0)\n" + SKIP,
            )
        ],
        check="test_runs",
        says="the caller's list",
    ),
    Wrong(
        "clears old gradients at the first piece, which may be one that is passed over",
        edits=[
            (ZERO, ""),
            (
                "    for inputs, targets in pieces:\n" + SKIP,
                "    for index, (inputs, targets) in enumerate(pieces):\n" + SKIP,
            ),
            (BACK, "        if index == 0:\n            optimizer.zero_grad()\n" + BACK),
        ],
        check="test_gradients_stay",
    ),
    Wrong(
        "leaves losses of later pieces out that are not finite",
        edits=[
            ("    total: Any = 0\n", "    total: Any = None\n"),
            (
                TOTAL,
                "        part = loss.detach()\n"
                "        total = part if total is None else torch.where(part.isfinite(), total + part, total)\n",
            ),
        ],
        check="test_nothing_else",
        says="second piece",
    ),
]
