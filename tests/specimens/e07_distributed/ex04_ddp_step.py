"""Answers to ddp_step that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FORWARD = "    losses = loss_fn(model(inputs), targets)  # (rows,)\n"
STATS = """    total = torch.stack([losses.detach().sum(), losses.new_tensor(len(losses))])  # (2,)
    dist.all_reduce(total)  # sums of the losses and of the rows of all ranks
    loss, rows = total.tolist()
"""
ZERO = "    optimizer.zero_grad()\n"
BACKWARD = """    # DDP divides the sum of all ranks' gradients by their number, where the number of rows is wanted
    (losses.sum() * (dist.get_world_size() / rows)).backward()
"""
CLIP = """    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # the same on every rank
"""
STEP = "    optimizer.step()\n"
RETURN = "    return loss / rows\n"
BODY = FORWARD + STATS + ZERO + BACKWARD + CLIP + STEP + RETURN
SCALED = "(losses.sum() * (dist.get_world_size() / rows)).backward()"


SPECIMENS = [
    Wrong(
        "divides by all rows, and forgets that DDP divides as well",
        edits=[(SCALED, "(losses.sum() / rows).backward()")],
        rung="job",
        check="test_equal_shares",
        says="which DDP has done",
    ),
    Wrong(
        "the sum over a share, which takes steps too large",
        edits=[(SCALED, "losses.sum().backward()")],
        rung="job",
        check="test_equal_shares",
    ),
    Wrong(
        "its own loss",
        edits=[(RETURN, "    return losses.mean().item()\n")],
        rung="job",
        check="test_equal_shares",
        says="only the rows of this rank",
    ),
    Wrong(
        "only rank 0 learns the loss",
        edits=[
            (SCALED, "losses.mean().backward()"),
            ("    dist.all_reduce(total)", "    dist.reduce(total, 0)"),
        ],
        rung="job",
        check="test_equal_shares",
        says="on rank 1",
    ),
    Wrong(
        "returns a tensor",
        edits=[(RETURN, "    return total[0] / total[1]\n")],
        rung="job",
        check="test_equal_shares",
        says="float",
    ),
    Wrong(
        "model.module: nothing is synchronised",
        edits=[("loss_fn(model(inputs)", "loss_fn(model.module(inputs)")],
        rung="job",
        check="test_equal_shares",
    ),
    Wrong(
        "never clears the gradients",
        edits=[(ZERO, "")],
        rung="job",
        check="test_equal_shares",
        says="clear them before the backward",
    ),
    Wrong(
        "clears after the step only",
        edits=[(ZERO, ""), (STEP, STEP + ZERO)],
        rung="fine",
        check="test_old_gradients",
        says="clear them before the backward",
    ),
    Wrong(
        "predictions and targets the wrong way round",
        edits=[("loss_fn(model(inputs), targets)", "loss_fn(targets, model(inputs))")],
        rung="job",
        check="test_labels",
    ),
    Wrong(
        "the mean of each share: rows in small shares count more",
        edits=[(SCALED, "losses.mean().backward()")],
        rung="fine",
        check="test_uneven_shares",
        says="whatever its number of rows",
    ),
    Wrong(
        "a rank without rows takes part in the sums only",
        edits=[(ZERO, "    if len(inputs) == 0:\n        return loss / rows\n" + ZERO)],
        rung="fine",
        check="test_empty_shares",
    ),
    Wrong(
        "the sum over a share from its mean",
        edits=[("losses.detach().sum()", "losses.detach().mean() * len(losses)")],
        rung="fine",
        check="test_empty_shares",
        says="nan",
    ),
    Wrong(
        "takes every NaN for the mean over no rows",
        edits=[(FORWARD, FORWARD + "    losses = torch.nan_to_num(losses)\n")],
        rung="fine",
        check="test_empty_shares",
        says="in step 3",
    ),
    Wrong("never clips", edits=[(CLIP, "")], rung="fine", check="test_clipping", says="not clipped"),
    Wrong(
        "scales up as well",
        edits=[
            (
                CLIP,
                """    if max_norm is not None:
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        for p in model.parameters():
            p.grad *= max_norm / norm
""",
            )
        ],
        rung="fine",
        check="test_clipping",
        says="max_norm=1000",
    ),
    Wrong(
        "averages gradients that DDP has averaged",
        edits=[
            (
                CLIP,
                """    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
"""
                + CLIP,
            )
        ],
        rung="fine",
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "the loss after the update, on the way to another one",
        edits=[(STEP, STEP + "    loss_fn(model(inputs), targets)\n")],
        rung="fine",
        check="test_what_runs",
        says="the model runs",
    ),
    Wrong(
        "puts everything into training mode",
        edits=[(FORWARD, "    model.train()\n" + FORWARD)],
        rung="fine",
        check="test_what_runs",
        says="training flags",
    ),
    Works(
        "the tutorial's step",
        edits=[
            (
                BODY,
                """    model.train()
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, targets).mean()
    loss.backward()
    optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return total.item() / dist.get_world_size()
""",
            )
        ],
    ),
    Works(
        "the sum of losses over a count of rows, with a barrier",
        edits=[
            (
                BODY,
                """    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets).mean()
    loss.backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    stats = torch.zeros(2)
    stats[0] += loss.item() * len(inputs)
    stats[1] += len(inputs)
    dist.barrier()
    dist.all_reduce(stats)
    return (stats[0] / stats[1]).item()
""",
            )
        ],
    ),
    Right(
        "scales the gradients after the backward, one message last",
        edits=[
            (
                BODY,
                """    optimizer.zero_grad(set_to_none=False)
    loss = loss_fn(model(inputs), targets).sum()
    loss.backward()
    sums = torch.tensor([loss.item(), inputs.shape[0]])
    dist.all_reduce(sums, op=dist.ReduceOp.SUM)
    factor = dist.get_world_size() / sums[1].item()
    for p in model.parameters():
        p.grad.mul_(factor)
    if max_norm is not None:
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        if norm > max_norm:
            for p in model.parameters():
                p.grad.mul_(max_norm / norm)
    optimizer.step()
    return float(sums[0] / sums[1])
""",
            )
        ],
    ),
    Right(
        "a closure, a weight for each row, and a message before and after",
        edits=[
            (
                BODY,
                """    count = torch.tensor(inputs.size(0))
    dist.all_reduce(count)
    weight = 1.0 / count.item()

    def closure():
        optimizer.zero_grad(set_to_none=True)
        losses = loss_fn(model(inputs), targets)
        losses.backward(torch.full_like(losses, weight * dist.get_world_size()))
        if max_norm:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        return (losses.detach() * weight).sum()

    loss = optimizer.step(closure)
    dist.all_reduce(loss)
    return loss.item()
""",
            )
        ],
    ),
    Right(
        "weighs the mean of each share, and gathers pairs of Python numbers",
        edits=[
            (
                STATS,
                """    pairs = [None] * dist.get_world_size()
    dist.all_gather_object(pairs, (losses.sum().item(), len(losses)))
    loss, rows = map(sum, zip(*pairs))
""",
            ),
            (SCALED, "(losses.mean() * len(losses) * dist.get_world_size() / rows).backward()"),
        ],
    ),
]
