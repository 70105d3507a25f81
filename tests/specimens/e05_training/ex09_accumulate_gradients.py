"""Answers to accumulated_step that people write."""

from grader.authoring.specimen import Right, Works, Wrong

COUNT = "    count = sum(len(targets) for _, targets in pieces)\n"
RAISE = '    if count == 0:\n        raise ValueError("there is no example in any piece")\n'
ZERO = "    optimizer.zero_grad()  # once for all pieces, and to None\n"
SKIP = "        if len(targets) == 0:\n            continue  # its mean would be 0 / 0\n"
LOSS = "        loss = loss_fn(model(inputs), targets) * (len(targets) / count)  # (), the piece's share\n"
BACK = "        loss.backward()  # adds to .grad, and frees this graph\n"
TOTAL = "        total = total + loss.detach()  # with its graph it would hold those of all pieces\n"
STEP = "    optimizer.step()\n"
RETURN = "    return float(total)\n"
LOOP = "    total: Any = 0\n    for inputs, targets in pieces:\n" + SKIP + LOSS + BACK + TOTAL

SPECIMENS = [
    Wrong(
        "divides by the number of pieces",
        edits=[(LOSS, LOSS.replace("len(targets) / count", "1 / len(pieces)"))],
        rung="job",
        check="test_steps_of_the_whole_batch",
        says="mean of the pieces' losses",
    ),
    Wrong(
        "the right loss, but each piece's gradient counts alike",
        edits=[
            (LOSS, LOSS.replace(" * (len(targets) / count)", "")),
            (BACK, "        (loss / len(pieces)).backward()\n"),
            (TOTAL, "        total = total + loss.detach() * len(targets) / count\n"),
        ],
        rung="job",
        check="test_steps_of_the_whole_batch",
        says="counts alike",
    ),
    Wrong(
        "clears before each piece",
        edits=[(BACK, "        optimizer.zero_grad()\n" + BACK)],
        rung="job",
        check="test_steps_of_the_whole_batch",
        says="last piece alone counts",
    ),
    Wrong(
        "never clears",
        edits=[(ZERO, "")],
        rung="job",
        check="test_steps_of_the_whole_batch",
        says="gradients of earlier calls",
    ),
    Wrong(
        "drops the uneven tail",
        edits=[(SKIP, "        if len(targets) < len(pieces[0][1]):\n            continue\n")],
        rung="job",
        check="test_steps_of_the_whole_batch",
    ),
    Wrong(
        "a tensor",
        edits=[(RETURN, "    return total\n")],
        rung="job",
        check="test_steps_of_the_whole_batch",
        says="float",
    ),
    Wrong(
        "steps after each piece",
        edits=[(BACK, BACK + "        optimizer.step()\n"), (STEP + RETURN, RETURN)],
        rung="job",
        check="test_what_runs",
        says="3 times",
    ),
    Wrong(
        "forgets the step",
        edits=[(STEP + RETURN, RETURN)],
        rung="job",
        check="test_what_runs",
        says="0 times",
    ),
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
        rung="job",
        check="test_what_runs",
        says="put together again",
    ),
    Wrong(
        "one backward at the end",
        edits=[(BACK + TOTAL, "        total = total + loss\n"), (STEP, "    total.backward()\n" + STEP)],
        rung="job",
        check="test_one_graph_at_a_time",
        says="backward at the end",
    ),
    Wrong(
        "turns inputs into floats",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model(inputs.double())"))],
        rung="job",
        check="test_class_numbers",
    ),
    Wrong(
        "adds up the losses with their graphs",
        edits=[(TOTAL, "        total = total + loss\n")],
        rung="fine",
        check="test_graphs_do_not_pile_up",
        says="loss.detach()",
    ),
    Wrong(
        "clears at the end",
        edits=[(ZERO, ""), (STEP, STEP + "    optimizer.zero_grad()\n")],
        rung="fine",
        check="test_gradients_stay",
        says="was cleared",
    ),
    Wrong(
        "clears the model's gradients alone",
        edits=[(ZERO, "    model.zero_grad()\n")],
        rung="fine",
        check="test_gradients_stay",
        says="temperature",
    ),
    Wrong(
        "zeros in place of None",
        edits=[(ZERO, "    optimizer.zero_grad(set_to_none=False)\n")],
        rung="fine",
        check="test_parameters_without_gradient",
    ),
    Wrong("runs on empty pieces", edits=[(SKIP, "")], rung="fine", check="test_empty_pieces"),
    Wrong("no error without examples", edits=[(RAISE, "")], rung="fine", check="test_no_example"),
    Wrong(
        "clears before the error",
        edits=[(RAISE + ZERO, ZERO + RAISE)],
        rung="fine",
        check="test_no_example",
        says="is cleared, though",
    ),
    Wrong(
        "counts the inputs",
        edits=[
            (COUNT, COUNT.replace("len(targets) for _, targets", "len(inputs) for inputs, _")),
            (LOSS, LOSS.replace("len(targets)", "len(inputs)")),
        ],
        rung="fine",
        check="test_rows_of_targets",
    ),
    Wrong(
        "a total in float32",
        edits=[(TOTAL, "        total = total + loss.detach().float()\n")],
        rung="fine",
        check="test_float64",
    ),
    Wrong(
        "switches to training mode",
        edits=[(ZERO, ZERO + "    model.train()\n")],
        rung="fine",
        check="test_modes_and_hooks",
    ),
    Wrong(
        "calls forward: no hook runs",
        edits=[(LOSS, LOSS.replace("model(inputs)", "model.forward(inputs)"))],
        rung="fine",
        check="test_modes_and_hooks",
        says="model.forward",
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
        rung="fine",
        check="test_modes_and_hooks",
        says="the caller's list",
    ),
    Wrong(
        "clips",
        edits=[(STEP, "    nn.utils.clip_grad_norm_(model.parameters(), 1e3)\n" + STEP)],
        rung="fine",
        check="test_large_losses",
    ),
    Wrong(
        "skips a step with inf or NaN",
        edits=[(STEP, "    if torch.isfinite(total):\n        optimizer.step()\n")],
        rung="fine",
        check="test_not_finite",
    ),
    Works(
        "as people write it after nanoGPT, each piece by its size",
        code="""
def accumulated_step(model, loss_fn, optimizer, pieces):
    n = sum(len(y) for x, y in pieces)
    lossf = 0.0
    for X, Y in pieces:
        logits = model(X)
        loss = loss_fn(logits, Y)
        loss = loss * len(Y) / n
        lossf += loss.item()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return lossf
""",
    ),
    Works(
        "as Hugging Face's trainer has it since it divides by the number of items",
        code="""
import torch


def accumulated_step(model, loss_fn, optimizer, pieces):
    model.train()
    num_items_in_batch = torch.tensor(sum(inputs.shape[0] for inputs, _ in pieces))
    tr_loss = torch.tensor(0.0)
    for inputs, labels in pieces:
        loss = loss_fn(model(inputs), labels) * inputs.shape[0]
        loss = loss / num_items_in_batch
        loss.backward()
        tr_loss += loss.detach()
    optimizer.step()
    model.zero_grad()
    return tr_loss.item()
""",
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
]
