"""Answers to no_sync_accumulation that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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
CONTEXT = "nullcontext() if is_last else model.no_sync()"

PAGE = """
import torch
import torch.distributed as dist


def accumulated_step(model, loss_fn, optimizer, pieces):
    optimizer.zero_grad()
    n = len(pieces)
    total = 0.0
    with model.no_sync():
        for inputs, targets in pieces[:-1]:
            loss = loss_fn(model(inputs), targets).mean() / n
            loss.backward()
            total += loss.item()
    inputs, targets = pieces[-1]
    loss = loss_fn(model(inputs), targets).mean() / n
    loss.backward()
    total += loss.item()
    optimizer.step()
    total = torch.tensor(total)
    dist.all_reduce(total)
    return (total / dist.get_world_size()).item()
"""


SPECIMENS = [
    Wrong(
        "only the backward inside no_sync",
        edits=[
            (
                INSIDE,
                f"""        losses = loss_fn(model(inputs), targets)
        with {CONTEXT}:
            losses.sum().backward()
""",
            )
        ],
        rung="job",
        check="test_one_synchronisation",
        says="forward and backward",
    ),
    Wrong(
        "no_sync for all pieces",
        edits=[(CONTEXT, "model.no_sync()")],
        rung="job",
        check="test_equal_pieces",
        says="nothing is synchronised",
    ),
    Wrong(
        "the loss of its own rows",
        edits=[(REDUCE, REDUCE + "    own = losses.mean().item()\n"), (RETURN, "    return own\n")],
        rung="job",
        check="test_equal_pieces",
    ),
    Wrong(
        "never clears the gradients",
        code=PAGE.replace(ZERO, ""),
        rung="job",
        check="test_equal_pieces",
        says="gradients from before",
    ),
    Wrong(
        "one backward at the end, of the sum of all",
        edits=[
            (
                BODY,
                ZERO
                + """    first = [loss_fn(model.module(inputs), targets) for inputs, targets in pieces[:-1]]
    losses = torch.cat([*first, loss_fn(model(pieces[-1][0]), pieces[-1][1])])
    mine = torch.tensor([losses.sum().item(), float(len(losses))])
    dist.all_reduce(mine)
    loss, rows = mine.tolist()
    (losses.sum() * dist.get_world_size() / rows).backward()
"""
                + STEP
                + RETURN,
            )
        ],
        rung="job",
        check="test_one_piece_at_a_time",
        says="one backward at the end",
    ),
    Wrong(
        "joins the pieces to one batch",
        edits=[(ZERO, "    pieces = [tuple(torch.cat(parts) for parts in zip(*pieces))]\n" + ZERO)],
        rung="job",
        check="test_one_piece_at_a_time",
        says="rows that the model runs on",
    ),
    Wrong(
        "counts its own rows only",
        edits=[
            (
                REDUCE,
                "    rows = mine[1].item() * dist.get_world_size()\n    dist.all_reduce(mine)\n    loss = mine[0].item()\n",
            )
        ],
        rung="fine",
        check="test_uneven_pieces",
    ),
    Wrong(
        "takes every NaN for the mean over no rows",
        edits=[
            (
                "losses = loss_fn(model(inputs), targets)  # (rows,)",
                "losses = loss_fn(model(inputs), targets).nan_to_num()",
            )
        ],
        rung="fine",
        check="test_empty_pieces",
        says="in step 2",
    ),
    Wrong(
        "passes over pieces without rows",
        edits=[(LAST, LAST + "        if len(inputs) == 0:\n            continue\n")],
        rung="fine",
        check="test_empty_pieces",
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
        rung="fine",
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "switches the synchronisation by hand, and an error leaves it off",
        edits=[
            (
                INSIDE,
                """        model.require_backward_grad_sync = is_last
        losses = loss_fn(model(inputs), targets)
        losses.sum().backward()
""",
            )
        ],
        rung="fine",
        check="test_after_an_error",
        says="still on",
    ),
    Wrong(
        "takes the last piece out of the list",
        edits=[
            (LOOP, "    last = pieces.pop()\n" + LOOP.replace("pieces,", "[*pieces, last],")),
            (LAST, "        is_last = number > len(pieces)\n"),
        ],
        rung="fine",
        check="test_what_runs",
        says="changes the pieces",
    ),
    Wrong(
        "clears after the step only",
        code=PAGE.replace(ZERO, "").replace(STEP, STEP + ZERO),
        rung="fine",
        check="test_old_gradients",
        says="gradients from before",
    ),
    Works(
        "after the page of no_sync: means, the last piece apart",
        code=PAGE,
    ),
    Works(
        "after nanoGPT: a flag by hand, a sum of losses, cleared at the end",
        code="""
import torch
import torch.distributed as dist


def accumulated_step(model, loss_fn, optimizer, pieces):
    model.train()
    lossf = 0.0
    for micro_step, (X, Y) in enumerate(pieces):
        model.require_backward_grad_sync = micro_step == len(pieces) - 1
        loss = loss_fn(model(X), Y).mean() / len(pieces)
        lossf = lossf + loss
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    dist.all_reduce(lossf.detach_())
    return lossf.item() / dist.get_world_size()
""",
    ),
    Right(
        "counts rows first, scales each piece's loss, and keeps the last piece apart",
        edits=[
            (
                BODY,
                """    rows = torch.tensor([sum(targets.shape[0] for _, targets in pieces)])
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
""",
            )
        ],
    ),
    Right(
        "the inner module on every piece, and one message with everything",
        edits=[
            (
                BODY,
                """    optimizer.zero_grad(set_to_none=False)
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
""",
            )
        ],
    ),
]
