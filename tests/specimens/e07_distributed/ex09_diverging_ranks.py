"""Answers to diverging_ranks that people write."""

from grader.authoring.specimen import Right, Works, Wrong

VALIDATE = """    sums = torch.tensor([0.0, len(inputs)], dtype=torch.float64)  # (2,), of one dtype everywhere
    if len(inputs):  # a mean over no rows is NaN
        with torch.no_grad():
            sums[0] = loss_fn(model.module(inputs), targets) * len(inputs)
    dist.all_reduce(sums)  # every rank comes here, with rows or without
    return (sums[0] / sums[1]).item()
"""
REDUCE = "    dist.all_reduce(sums)  # every rank comes here, with rows or without\n"
MEAN = "            mean = average(loss)  # on every rank, and the same: one that is not finite spoils it for all\n"
SKIP = """            if not math.isfinite(mean):
                continue  # a broken record must not ruin the weights
"""
STEP = """            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
LOG = "            if dist.get_rank() == 0:\n                log(mean)\n"
WAITED = "        waited = 0 if history[-1] < best else waited + 1\n"
STOP = f"""        # history is the same everywhere, so every rank can decide for itself
{WAITED}        best = min(best, history[-1])
        if waited == patience:
            break
"""


SPECIMENS = [
    Wrong(
        "the average for the log on rank 0 only",
        edits=[
            (MEAN, MEAN.replace("mean =", "shared =")),
            ("math.isfinite(mean)", "math.isfinite(shared)"),
            ("log(mean)", "log(average(loss))"),
        ],
        rung="job",
        check="test_nothing_happens",
        says="rank 0 waits in all_reduce",
    ),
    Wrong(
        "a rank skips its own broken batches",
        edits=[(MEAN + SKIP, "            if not torch.isfinite(loss):\n                continue\n" + MEAN)],
        rung="job",
        check="test_broken_records",
        says="waits in",
    ),
    Wrong(
        "a rank without rows leaves the validation early",
        edits=[(VALIDATE, "    if len(inputs) == 0:\n        return math.inf\n" + VALIDATE)],
        rung="job",
        check="test_no_rows_held_out",
        says="waits in",
    ),
    Wrong(
        "only rank 0 ends",
        edits=[("if waited == patience:", "if dist.get_rank() == 0 and waited == patience:")],
        rung="job",
        check="test_end",
        says="waits in",
    ),
    Wrong(
        "logs the loss of rank 0",
        edits=[("log(mean)", "log(loss.item())")],
        rung="job",
        check="test_nothing_happens",
        says="the loss of rank 0 alone",
    ),
    Wrong(
        "everybody logs",
        edits=[(LOG, "            log(mean)\n")],
        rung="job",
        check="test_nothing_happens",
        says="logged on rank 1",
    ),
    Wrong(
        "a rank with a broken batch puts in a loss of 0, and the step is taken",
        edits=[
            (
                MEAN,
                "            loss = loss if torch.isfinite(loss) else 0 * model.module[0].bias.sum()\n"
                + MEAN,
            )
        ],
        rung="job",
        check="test_broken_records",
    ),
    Wrong(
        "rank 0 decides by its own loss",
        edits=[
            (
                "            if not math.isfinite(mean):\n",
                """            fine = torch.isfinite(loss).int()
            dist.broadcast(fine, 0)
            if not fine:
""",
            )
        ],
        rung="job",
        check="test_broken_records",
    ),
    Wrong(
        "the average of the ranks' means",
        edits=[
            (
                REDUCE,
                "    if len(inputs):\n        sums = torch.stack([sums[0] / sums[1], torch.ones_like(sums[1])])\n"
                + REDUCE,
            )
        ],
        rung="job",
        check="test_nothing_happens",
        says="the mean of the ranks' means",
    ),
    Wrong(
        "validates on its own rows",
        edits=[(REDUCE, "")],
        rung="job",
        check="test_nothing_happens",
        says="this rank's own rows",
    ),
    Wrong(
        "NaN of no rows",
        edits=[("    if len(inputs):  # a mean over no rows is NaN\n", "    if True:\n")],
        rung="job",
        check="test_no_rows_held_out",
        says="NaN",
    ),
    Wrong(
        "validates in DDP, on the ranks that have rows",
        edits=[("loss_fn(model.module(inputs)", "loss_fn(model(inputs)")],
        rung="job",
        check="test_no_rows_held_out",
        says="waits in",
    ),
    Wrong(
        "never ends early", edits=[(STOP, "")], rung="job", check="test_end", says="wrong number of epochs"
    ),
    Wrong(
        "compares with the epoch before",
        edits=[("best = min(best, history[-1])", "best = history[-1]")],
        rung="job",
        check="test_end",
        says="wrong number of epochs",
    ),
    Wrong(
        "asks the gradients",
        edits=[
            (SKIP, ""),
            (
                "            optimizer.step()\n",
                """            if not all(torch.isfinite(p.grad).all() for p in model.parameters()):
                continue
            optimizer.step()
""",
            ),
        ],
        rung="fine",
        check="test_loss_decides",
        says="inf",
    ),
    Wrong(
        "logs tensors",
        edits=[("log(mean)", "log(torch.tensor(mean))")],
        rung="fine",
        check="test_losses_are_floats",
        says="that are logged",
    ),
    Wrong(
        "evaluation mode for the validation, then all of the model back in training mode",
        edits=[
            ("        history.append(validate(", "        model.eval()\n        history.append(validate("),
            (STOP, "        model.train()\n" + STOP),
        ],
        rung="fine",
        check="test_modes",
        says="layer 1",
    ),
    Wrong(
        "a validation loss of NaN is never worse",
        edits=[(WAITED, "        waited = waited + 1 if history[-1] >= best else 0\n")],
        rung="fine",
        check="test_validation_of_nan",
    ),
    Works(
        "a flag by MIN; zeros in float32 where there are no rows; evaluation mode for the validation",
        code="""
import math

import torch
import torch.distributed as dist


def average(value):
    total = value.detach().clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


def validate(model, loss_fn, held_out):
    inputs, targets = held_out
    sums = torch.zeros(2)
    if len(inputs) > 0:
        model.eval()
        with torch.no_grad():
            loss = loss_fn(model.module(inputs), targets)
        model.train()
        sums = torch.stack([loss * len(inputs), torch.tensor(float(len(inputs)))])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def fit(model, loss_fn, optimizer, batches, held_out, epochs, patience, log):
    history = []
    best, waited = math.inf, 0
    for _ in range(epochs):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            ok = torch.isfinite(loss).int()
            dist.all_reduce(ok, op=dist.ReduceOp.MIN)
            if not ok:
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean = average(loss)
            if dist.get_rank() == 0:
                log(mean)
        history.append(validate(model, loss_fn, held_out))
        waited = 0 if history[-1] < best else waited + 1
        best = min(best, history[-1])
        if waited >= patience:
            break
    return history
""",
    ),
    Works(
        "a backward always, and a step where DDP's gradients are finite; rank 0 sends round when to stop",
        edits=[
            (SKIP, ""),
            (
                "            optimizer.step()\n",
                """            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), math.inf)
            if not torch.isfinite(norm):
                continue
            optimizer.step()
""",
            ),
            (
                STOP,
                """        stop = torch.tensor(0)
        if dist.get_rank() == 0:
            waited = 0 if history[-1] < best else waited + 1
            best = min(best, history[-1])
            stop.fill_(waited >= patience)
        dist.broadcast(stop, src=0)
        if stop:
            break
""",
            ),
        ],
    ),
    Right(
        "flags by MAX, an object from rank 0 for the end, gathered sums",
        edits=[
            (
                "            if not math.isfinite(mean):\n",
                """            broken = torch.tensor(float(not torch.isfinite(loss)))
            dist.all_reduce(broken, op=dist.ReduceOp.MAX)
            if broken.item() > 0:
""",
            ),
            (
                REDUCE + "    return (sums[0] / sums[1]).item()\n",
                """    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, sums.tolist())
    return sum(t for t, _ in parts) / sum(n for _, n in parts)
""",
            ),
            (
                STOP,
                """        stop = [False]
        if dist.get_rank() == 0:
            waited = 0 if history[-1] < best else waited + 1
            best = min(best, history[-1])
            stop = [waited >= patience]
        dist.broadcast_object_list(stop, src=0)
        if stop[0]:
            break
""",
            ),
        ],
    ),
    Right(
        "losses of rows that may be none, a backward always, and a step if the mean is finite",
        edits=[
            (
                VALIDATE,
                """    with torch.no_grad():
        mean = loss_fn(model.module(inputs), targets)
    total = torch.where(torch.tensor(len(inputs) > 0), mean * len(inputs), 0.0)
    return average(total) / average(torch.tensor(float(len(inputs))))
""",
            ),
            (SKIP, ""),
            (
                STEP,
                """            model.zero_grad()
            loss.backward()
            if mean - mean != 0:
                model.zero_grad()
                continue
            optimizer.step()
""",
            ),
        ],
    ),
]
