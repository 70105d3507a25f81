"""Answers to no_sync_accumulation that people write."""

from grader.authoring.specimen import Right, Wrong

ZERO = "    optimizer.zero_grad()\n"
SUMS = "    mine = torch.zeros(2, dtype=torch.float64)  # sum of losses, number of rows\n"
LOOP = "    for number, (inputs, targets) in enumerate(pieces, start=1):\n"
LAST = "        is_last = number == len(pieces)\n"
INSIDE = """        # DDP decides in the forward whether the backward will synchronise: it belongs inside as well
        with nullcontext() if is_last else model.no_sync():
            losses = loss_fn(model(inputs), targets)  # (rows,)
            losses.sum().backward()
"""
COUNT = "        mine += torch.tensor([losses.sum().item(), len(losses)], dtype=torch.float64)\n"
REDUCE = "    dist.all_reduce(mine)\n    loss, rows = mine.tolist()\n"
SCALE = """    for p in model.parameters():
        p.grad *= dist.get_world_size() / rows  # DDP has divided by the number of ranks
"""
STEP = "    optimizer.step()\n"
RETURN = "    return loss / rows\n"
BODY = ZERO + SUMS + LOOP + LAST + INSIDE + COUNT + REDUCE + SCALE + STEP + RETURN


def instead(body):
    return [(BODY, body)]


def inside(body):
    return [(INSIDE, body)]


SPECIMENS = [
    Wrong(
        "only the backward inside no_sync",
        edits=inside("""        losses = loss_fn(model(inputs), targets)
        with nullcontext() if is_last else model.no_sync():
            losses.sum().backward()
"""),
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "synchronises at every piece",
        edits=[("nullcontext() if is_last else model.no_sync()", "nullcontext()")],
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "no_sync for all pieces",
        edits=[("nullcontext() if is_last else model.no_sync()", "model.no_sync()")],
        check="test_pieces_of_one_size",
        says="on rank 0 of 2",
    ),
    Wrong(
        "the tutorial's step: means over means",
        edits=instead(
            ZERO
            + "    total = 0.0\n"
            + LOOP
            + LAST
            + """        with nullcontext() if is_last else model.no_sync():
            loss = loss_fn(model(inputs), targets).mean() / len(pieces)
            loss.backward()
        total += loss.detach()
    dist.all_reduce(total)
"""
            + STEP
            + "    return total.item() / dist.get_world_size()\n"
        ),
        check="test_uneven_pieces",
    ),
    Wrong(
        "counts its own rows only",
        edits=[(REDUCE, "    loss, rows = mine.tolist()\n    rows *= dist.get_world_size()\n")],
        check="test_uneven_pieces",
    ),
    Wrong(
        "divides by the rows of all ranks, and forgets that DDP divides as well",
        edits=[("p.grad *= dist.get_world_size() / rows", "p.grad /= rows")],
        check="test_pieces_of_one_size",
        says="of 2",
    ),
    Wrong(
        "the loss of its own rows",
        edits=[
            (RETURN, "    return (mine_before[0] / mine_before[1]).item()\n"),
            (REDUCE, "    mine_before = mine.clone()\n" + REDUCE),
        ],
        check="test_pieces_of_one_size",
        says="accumulated_step(…) in step",
    ),
    Wrong(
        "adds up losses over the ranks piece by piece",
        edits=[
            (
                COUNT,
                "        told = torch.tensor([losses.sum().item(), len(losses)])\n        dist.all_reduce(told)\n        mine += told\n",
            ),
            ("    dist.all_reduce(mine)\n", ""),
        ],
        check="test_messages",
        says="too many messages",
    ),
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_old_gradients"),
    Wrong(
        "clears the gradients before each piece",
        edits=[(LAST, LAST + "        optimizer.zero_grad()\n")],
        check="test_pieces_of_one_size",
    ),
    Wrong(
        "clears the gradients at the end",
        edits=[(STEP, STEP + ZERO)],
        check="test_old_gradients",
        says="has no gradient",
    ),
    Wrong(
        "a step for each piece",
        edits=[(STEP, ""), (COUNT, COUNT + STEP.replace("    ", "        "))],
        check="test_one_piece_at_a_time",
    ),
    Wrong(
        "one backward at the end, of the sum of all",
        edits=instead(
            ZERO
            + """    losses = torch.cat([loss_fn(model.module(inputs), targets) for inputs, targets in pieces[:-1]] or [torch.zeros(0)])
    last = loss_fn(model(pieces[-1][0]), pieces[-1][1])
    mine = torch.tensor([losses.sum().item() + last.sum().item(), float(len(losses) + len(last))])
    dist.all_reduce(mine)
    loss, rows = mine.tolist()
    ((losses.sum() + last.sum()) * dist.get_world_size() / rows).backward()
"""
            + STEP
            + RETURN
        ),
        check="test_one_piece_at_a_time",
        says="saved tensors",
    ),
    Wrong(
        "adds up losses that carry their graphs",
        edits=[
            (COUNT, "        mine = mine + torch.stack([losses.sum(), torch.tensor(len(losses))])\n"),
            (REDUCE, "    mine = mine.detach()\n" + REDUCE),
        ],
        check="test_one_piece_at_a_time",
        says="add up loss.detach()",
    ),
    Wrong(
        "joins the pieces to one batch",
        edits=[(ZERO, "    pieces = [tuple(torch.cat(parts) for parts in zip(*pieces))]\n" + ZERO)],
        check="test_one_piece_at_a_time",
        says="rows that the model runs on",
    ),
    Wrong(
        "takes every NaN for the loss of an empty piece",
        edits=[
            (
                "losses = loss_fn(model(inputs), targets)  # (rows,)",
                "losses = loss_fn(model(inputs), targets).nan_to_num()",
            )
        ],
        check="test_uneven_pieces",
        says="with a target of NaN",
    ),
    Wrong(
        "passes over pieces without rows",
        edits=[(LAST, LAST + "        if len(inputs) == 0:\n            continue\n")],
        check="test_uneven_pieces",
    ),
    Wrong(
        "the sum over a piece from its mean",
        edits=[("[losses.sum().item(), len(losses)]", "[losses.mean().item() * len(losses), len(losses)]")],
        check="test_uneven_pieces",
        says="accumulated_step(…) in step",
    ),
    Wrong(
        "switches the synchronisation by hand, and an error leaves it off",
        edits=inside("""        model.require_backward_grad_sync = is_last
        losses = loss_fn(model(inputs), targets)
        losses.sum().backward()
"""),
        check="test_after_an_error",
        says="of a plain backward after a ZeroDivisionError",
    ),
    Wrong(
        "swallows errors",
        edits=[
            (
                BODY,
                "    try:\n"
                + "".join("    " + line for line in BODY.splitlines(keepends=True))
                + "    except Exception:\n        return 0.0\n",
            )
        ],
        check="test_after_an_error",
        says="raises where loss_fn does",
    ),
    Wrong(
        "synchronises by hand, tensor by tensor",
        edits=[
            ("nullcontext() if is_last else model.no_sync()", "model.no_sync()"),
            (
                "        p.grad *= dist.get_world_size() / rows",
                "        dist.all_reduce(p.grad)\n        p.grad /= rows",
            ),
        ],
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "returns a tensor",
        edits=[(RETURN, "    return mine[0] / mine[1]\n")],
        check="test_pieces_of_one_size",
        says="float",
    ),
    Wrong(
        "enters no_sync by hand, and leaves it where nothing is raised",
        edits=inside("""        context = nullcontext() if is_last else model.no_sync()
        context.__enter__()
        losses = loss_fn(model(inputs), targets)
        losses.sum().backward()
        context.__exit__(None, None, None)
"""),
        check="test_after_an_error",
        says="a gradient on rank 0",
    ),
    Wrong(
        "passes over pieces without rows, except for the last one",
        edits=inside(
            """        if not len(inputs) and not is_last:
            continue
"""
            + INSIDE
        ),
        check="test_one_piece_at_a_time",
        says="rows that the model runs on",
    ),
    Wrong(
        "scales the gradients of the first group",
        edits=[("for p in model.parameters()", 'for p in optimizer.param_groups[0]["params"]')],
        check="test_old_gradients",
    ),
    Wrong(
        "everything in training mode",
        edits=[(ZERO, "    model.train()\n" + ZERO)],
        check="test_one_piece_at_a_time",
        says="changes the mode",
    ),
    Wrong(
        "takes the last piece out of the list",
        edits=[
            (LOOP, "    last = pieces.pop()\n" + LOOP.replace("pieces,", "[*pieces, last],")),
            (LAST, "        is_last = number > len(pieces)\n"),
        ],
        check="test_one_piece_at_a_time",
        says="changes the pieces",
    ),
    Wrong(
        "the last piece is the one that `is` the last",
        edits=[
            (LOOP, "    for piece in pieces:\n        inputs, targets = piece\n"),
            (LAST, "        is_last = piece is pieces[-1]\n"),
        ],
        check="test_messages",
        says="too many",
    ),
    Wrong(
        "old gradients times zero: NaN stays NaN",
        edits=[
            (
                ZERO,
                "    for p in model.parameters():\n        if p.grad is not None:\n            p.grad *= 0\n",
            )
        ],
        check="test_old_gradients",
        says="of nan",
    ),
    Wrong(
        "the flag comes back after an Exception, not after a KeyboardInterrupt",
        edits=[
            (
                INSIDE,
                """        model.require_backward_grad_sync = is_last
        try:
            losses = loss_fn(model(inputs), targets)
        except Exception:
            model.require_backward_grad_sync = True
            raise
        losses.sum().backward()
""",
            )
        ],
        check="test_after_an_error",
    ),
    Right(
        "counts rows first, scales each piece's loss, and keeps the last piece apart",
        edits=instead("""
    rows = torch.tensor([sum(targets.shape[0] for _, targets in pieces)])
    dist.all_reduce(rows)
    factor = dist.get_world_size() / rows.item()
    for p in model.parameters():
        p.grad = None

    def run(inputs, targets):
        loss = loss_fn(model(inputs), targets).sum() * factor
        loss.backward()
        return loss.detach()

    *first, last = pieces
    with model.no_sync():
        found = [run(*piece) for piece in first]
    total = torch.stack([*found, run(*last)]).sum()
    dist.all_reduce(total)
    optimizer.step()
    return float(total / dist.get_world_size())
"""),
    ),
    Right(
        "the inner module on every piece, and one message with everything",
        edits=instead("""
    optimizer.zero_grad(set_to_none=False)
    told = [0.0, 0.0]
    for inputs, targets in pieces:
        losses = loss_fn(model.module(inputs), targets)
        losses.backward(torch.ones_like(losses))
        told = [told[0] + losses.sum().item(), told[1] + len(targets)]
    parameters = list(model.parameters())
    flat = torch.cat([p.grad.flatten() for p in parameters] + [parameters[0].new_tensor(told)])
    dist.all_reduce(flat)
    *parts, (loss, rows) = flat.split([*(p.numel() for p in parameters), 2])
    for p, part in zip(parameters, parts):
        p.grad.copy_(part.view_as(p) / rows)
    optimizer.step()
    return (loss / rows).item()
"""),
    ),
    Right(
        "one ExitStack around all pieces but the last, sums travel while the gradients are scaled",
        edits=[
            ("from contextlib import nullcontext", "from contextlib import ExitStack"),
            (
                BODY,
                """    model.zero_grad()
    sums = torch.zeros(2)
    with ExitStack() as stack:
        stack.enter_context(model.no_sync())
        for left, (inputs, targets) in zip(range(len(pieces) - 1, -1, -1), pieces):
            if not left:
                stack.close()
            losses = loss_fn(model(inputs), targets)
            losses.sum().backward()
            sums += torch.stack([losses.detach().sum(), losses.new_tensor(losses.numel())])
    work = dist.all_reduce(sums, async_op=True)
    torch._foreach_mul_([p.grad for p in model.parameters()], float(dist.get_world_size()))
    work.wait()
    torch._foreach_div_([p.grad for p in model.parameters()], sums[1].item())
    optimizer.step()
    return sums[0].item() / sums[1].item()
""",
            ),
        ],
    ),
    Wrong(
        "synchronises in the last piece that has rows: what runs behind it sends the buffers once more",
        edits=[
            (
                "is_last = number == len(pieces)",
                "is_last = number == max((n for n, (x, _) in enumerate(pieces, 1) if len(x)), default=len(pieces))",
            )
        ],
        check="test_messages",
        says="2 broadcast",
    ),
]
