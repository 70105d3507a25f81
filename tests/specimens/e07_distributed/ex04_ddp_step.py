"""Answers to ddp_step that people write."""

from grader.authoring.specimen import Right, Wrong

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


def instead(body):
    return [(BODY, body)]


def backward(line):
    return [(SCALED, line)]


SPECIMENS = [
    Wrong(
        "the mean of each shard: rows in small shards count more",
        edits=backward("losses.mean().backward()"),
        check="test_uneven_shards",
        says="gradient of",
    ),
    Wrong(
        "divides by all rows, and forgets that DDP divides as well",
        edits=backward("(losses.sum() / rows).backward()"),
        check="test_shards_of_one_size",
        says="on rank 0 of 2",
    ),
    Wrong(
        "the rows of the first step for all steps",
        edits=[
            ("\n\ndef ddp_step(", "\n\nKNOWN = {}\n\n\ndef ddp_step("),
            (STATS, STATS + "    rows = KNOWN.setdefault(id(model), rows)\n"),
        ],
        check="test_uneven_shards",
        says="in step 2",
    ),
    Wrong(
        "its own loss",
        edits=[(RETURN, "    return losses.mean().item()\n")],
        check="test_shards_of_one_size",
        says="ddp_step(…) in step",
    ),
    Wrong(
        "the mean of the ranks' means",
        edits=[
            (STATS, STATS + "    mean = losses.detach().mean()\n    dist.all_reduce(mean)\n"),
            (RETURN, "    return mean.item() / dist.get_world_size()\n"),
        ],
        check="test_uneven_shards",
        says="ddp_step(…) in step",
    ),
    Wrong(
        "only rank 0 learns the loss",
        edits=[
            (
                "    dist.all_reduce(total)",
                "    mine = total.clone()\n    dist.reduce(mine, 0)\n    dist.all_reduce(total)",
            ),
            (RETURN, "    return (mine[0] / mine[1]).item()\n"),
        ],
        check="test_shards_of_one_size",
        says="on rank 1",
    ),
    Wrong(
        "returns a tensor",
        edits=[(RETURN, "    return total[0] / total[1]\n")],
        check="test_shards_of_one_size",
        says="float",
    ),
    Wrong(
        "the loss after the update",
        edits=[
            (
                RETURN,
                """    with torch.no_grad():
        after = loss_fn(model.module(inputs), targets).sum()
    dist.all_reduce(after)
    return after.item() / rows
""",
            )
        ],
        check="test_what_runs",
        says="loss_fn runs",
    ),
    Wrong(
        "model.module: nothing is synchronised",
        edits=[("losses = loss_fn(model(inputs)", "losses = loss_fn(model.module(inputs)")],
        check="test_uneven_shards",
    ),
    Wrong(
        "synchronises by hand, in one message",
        edits=[
            ("losses = loss_fn(model(inputs)", "losses = loss_fn(model.module(inputs)"),
            (
                SCALED + "\n",
                """(losses.sum() / rows).backward()
    gradients = [p.grad for p in model.parameters()]
    flat = torch.cat([g.flatten() for g in gradients])
    dist.all_reduce(flat)
    for g, part in zip(gradients, flat.split([g.numel() for g in gradients])):
        g.copy_(part.view_as(g))
""",
            ),
        ],
        check="test_what_runs",
        says="model runs",
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
        check="test_messages",
        says="too many messages",
    ),
    Wrong(
        "counts rows and losses apart, with a barrier",
        edits=[
            (
                STATS,
                """    count = torch.tensor(len(losses))
    dist.all_reduce(count)
    loss = losses.detach().sum()
    dist.all_reduce(loss)
    dist.barrier()
    loss, rows = loss.item(), count.item()
""",
            )
        ],
        check="test_messages",
        says="barrier",
    ),
    Wrong(
        "gathers the losses of all rows",
        edits=[
            (
                STATS,
                """    longest = torch.tensor(len(losses))
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    padded = losses.new_full((int(longest),), float("nan"))
    padded[: len(losses)] = losses.detach()
    parts = [torch.empty_like(padded) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, padded)
    known = torch.cat(parts)
    known = known[~known.isnan()]
    loss, rows = known.sum().item(), len(known)
""",
            )
        ],
        check="test_messages",
        says="too many bytes",
    ),
    Wrong(
        "a rank without rows takes part in the sums only",
        edits=[(ZERO, "    if len(inputs) == 0:\n        return loss / rows\n" + ZERO)],
        check="test_empty_shards",
    ),
    Wrong(
        "the sum over a shard from its mean",
        edits=[("losses.detach().sum()", "losses.detach().mean() * len(losses)")],
        check="test_empty_shards",
        says="ddp_step(…) in step",
    ),
    Wrong(
        "takes every NaN for the loss of an empty shard",
        edits=[(FORWARD, FORWARD + "    losses = torch.nan_to_num(losses)\n")],
        check="test_empty_shards",
        says="with targets of NaN",
    ),
    Wrong(
        "leaves the model out where there are no rows",
        edits=[
            (
                FORWARD,
                "    losses = loss_fn(model(inputs), targets) if len(inputs) else inputs.new_zeros(0)\n",
            ),
            (f"    {SCALED}", f"    if len(inputs):\n        {SCALED}"),
        ],
        check="test_empty_shards",
    ),
    Wrong("never clips", edits=[(CLIP, "")], check="test_clipping"),
    Wrong(
        "clips each parameter by itself",
        edits=[
            (
                "        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)",
                "        for p in model.parameters():\n            torch.nn.utils.clip_grad_norm_(p, max_norm)",
            )
        ],
        check="test_clipping",
    ),
    Wrong(
        "clips a gradient that is not yet divided",
        edits=[
            (SCALED, "losses.sum().backward()"),
            (
                CLIP,
                CLIP + "    for p in model.parameters():\n        p.grad *= dist.get_world_size() / rows\n",
            ),
        ],
        check="test_clipping",
    ),
    Wrong(
        "scales up as well",
        edits=[
            (
                "        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)",
                "        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])\n        for p in model.parameters():\n            p.grad *= max_norm / norm",
            )
        ],
        check="test_clipping",
    ),
    Wrong(
        "clips each rank's own gradient",
        edits=[
            ("losses = loss_fn(model(inputs)", "losses = loss_fn(model.module(inputs)"),
            (
                CLIP,
                CLIP
                + "    for p in model.parameters():\n        dist.all_reduce(p.grad)\n        p.grad /= dist.get_world_size()\n",
            ),
        ],
        check="test_clipping",
    ),
    Wrong("never clears the gradients", edits=[(ZERO, "")], check="test_old_gradients"),
    Wrong(
        "clears the gradients at the end",
        edits=[(STEP, STEP + ZERO)],
        check="test_old_gradients",
        says="has no gradient",
    ),
    Wrong(
        "steps by hand",
        edits=[
            (
                STEP,
                '    with torch.no_grad():\n        for p in model.parameters():\n            p -= optimizer.param_groups[0]["lr"] * p.grad\n',
            )
        ],
        check="test_uneven_shards",
    ),
    Wrong(
        "predictions and targets the wrong way round",
        edits=[("losses = loss_fn(model(inputs), targets)", "losses = loss_fn(targets, model(inputs))")],
        check="test_uneven_shards",
    ),
    Wrong(
        "puts everything into training mode",
        edits=[(FORWARD, "    model.train()\n" + FORWARD)],
        check="test_what_runs",
        says="mode",
    ),
    Wrong(
        "normalises the inputs in place",
        edits=[(FORWARD, FORWARD.replace("losses", "inputs.sub_(0.0).mul_(1.0 + 1e-12)\n    losses", 1))],
        check="test_what_runs",
        says="changes its inputs",
    ),
    Wrong(
        "clips the first group of the optimizer",
        edits=[("clip_grad_norm_(model.parameters()", 'clip_grad_norm_(optimizer.param_groups[0]["params"]')],
        check="test_clipping",
    ),
    Wrong(
        "counts rows in float16",
        edits=[("losses.new_tensor(len(losses))", "losses.new_tensor(len(losses)).half()")],
        check="test_uneven_shards",
    ),
    Wrong(
        "evaluation mode where there are no rows, for the batch norms",
        edits=[(FORWARD, "    if not len(inputs):\n        model.eval()\n" + FORWARD)],
        check="test_what_runs",
        says="on rank 1, train mode",
    ),
    Wrong(
        "old gradients times zero: NaN stays NaN",
        edits=[
            (
                "    optimizer.zero_grad()\n",
                "    for p in model.parameters():\n        if p.grad is not None:\n            p.grad *= 0\n",
            )
        ],
        check="test_old_gradients",
        says="with old gradients of NaN",
    ),
    Wrong(
        "a communication hook that sums, for good",
        edits=[
            (
                ZERO,
                ZERO
                + """    if not getattr(model, "sums", False):
        model.sums = True

        def send(state, bucket):
            return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0])

        model.register_comm_hook(None, send)
""",
            ),
            (SCALED, "(losses.sum() / rows).backward()"),
        ],
        check="test_what_runs",
        says="a backward of the caller's own",
    ),
    Wrong(
        "the inputs require gradients afterwards",
        edits=[(FORWARD, "    inputs.requires_grad_()\n" + FORWARD)],
        check="test_what_runs",
        says="changes its inputs",
    ),
    Wrong(
        "an error where the norm is NaN",
        edits=[("(model.parameters(), max_norm)", "(model.parameters(), max_norm, error_if_nonfinite=True)")],
        check="test_empty_shards",
        says="RuntimeError",
    ),
    Right(
        "scales the gradients after the backward, one message last",
        edits=instead("""
    optimizer.zero_grad(set_to_none=False)
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
"""),
    ),
    Right(
        "gathers the numbers of rows, and works while the loss travels",
        edits=instead("""
    world = dist.get_world_size()
    rows = [torch.zeros(1, dtype=torch.int64) for _ in range(world)]
    dist.all_gather(rows, torch.tensor([len(targets)]))
    rows = int(torch.cat(rows).sum())
    share = loss_fn(model(inputs), targets).sum() / rows
    told = share.detach().clone()
    work = dist.all_reduce(told, async_op=True)
    for p in model.parameters():
        p.grad = None
    (share * world).backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(list(model.module.parameters()), max_norm=max_norm)
    optimizer.step()
    work.wait()
    return told.item()
"""),
    ),
    Right(
        "a closure, and a weight for each row",
        edits=instead("""
    count = torch.tensor([float(inputs.size(0))])
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
"""),
    ),
    Right(
        "weighs the mean of each shard: no rows, no gradient, although the mean is NaN",
        edits=backward("(losses.mean() * len(losses) * dist.get_world_size() / rows).backward()"),
    ),
    Right(
        "gathers pairs of Python numbers",
        edits=[
            (
                STATS,
                """    pairs = [None] * dist.get_world_size()
    dist.all_gather_object(pairs, (losses.sum().item(), len(losses)))
    loss, rows = map(sum, zip(*pairs))
""",
            )
        ],
    ),
    Wrong(
        "sums in the dtype of the inputs, which may be integers",
        edits=[("losses.new_tensor(len(losses))])", "losses.new_tensor(len(losses))]).to(inputs.dtype)")],
        check="test_uneven_shards",
    ),
    Wrong(
        "floating numbers from integer inputs, which a model may tell apart",
        edits=[(FORWARD, FORWARD.replace("(inputs)", "(inputs.double())"))],
        check="test_uneven_shards",
        says="AdamW",
    ),
    Wrong(
        "a way of its own for one rank, on which nothing is clipped",
        edits=[
            (
                CLIP,
                CLIP.replace("is not None:", "is not None and dist.get_world_size() > 1:"),
            )
        ],
        check="test_shards_of_one_size",
        says="clipped",
    ),
    Wrong(
        "divides by a norm of 0",
        edits=[
            (
                CLIP,
                "    if max_norm is not None:\n"
                "        grads = [p.grad for p in model.parameters()]\n"
                "        norm = sum(float(g.double().square().sum()) for g in grads) ** 0.5\n"
                "        for g in grads:\n"
                "            g.mul_(min(1.0, max_norm / norm))\n",
            )
        ],
        check="test_clipping",
        says="ZeroDivisionError",
    ),
]
