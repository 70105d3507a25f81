"""Answers to diverging_ranks that people write."""

from grader.authoring.specimen import Right, Wrong

TOTAL = """        # a mean over no rows is NaN, which times 0 is NaN
        total = loss_fn(model.module(inputs), targets) * len(inputs) if len(inputs) else torch.zeros(())
"""
SUMS = "    sums = torch.stack([total.double(), torch.tensor(len(inputs)).double()])  # (2,), of one dtype everywhere\n"
REDUCE = "    dist.all_reduce(sums)  # every rank comes here, with rows or without\n"
FRACTION = "    return (sums[0] / sums[1]).item()\n"
MEAN = "            mean = average(loss)  # on every rank, and the same: one that is not finite spoils it for all\n"
SKIP = """            if not math.isfinite(mean):
                continue  # a broken record must not ruin the weights
"""
STEP = """            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
LOG = "            if dist.get_rank() == 0:\n                log(mean)\n"
STOP = """        # history is the same everywhere, so every rank can decide for itself
        waited = 0 if history[-1] < best else waited + 1
        best = min(best, history[-1])
        if waited == patience:
            break
"""


def indented(text):
    return "".join("    " + line for line in text.splitlines(keepends=True))


SPECIMENS = [
    Wrong(
        "the average for the log on rank 0 only",
        edits=[
            (MEAN, MEAN.replace("mean =", "shared =")),
            ("math.isfinite(mean)", "math.isfinite(shared)"),
            ("log(mean)", "log(average(loss))"),
        ],
        check="test_nothing_happens",
        says="rank 0 waits in all_reduce",
    ),
    Wrong(
        "a rank skips its own broken batches",
        edits=[
            (MEAN + SKIP, "            if not torch.isfinite(loss):\n                continue\n" + MEAN),
        ],
        check="test_broken_records",
    ),
    Wrong(
        "a rank without rows leaves the validation early",
        edits=[(TOTAL, "        if len(inputs) == 0:\n            return math.inf\n" + TOTAL)],
        check="test_no_rows_held_out",
    ),
    Wrong(
        "only rank 0 ends",
        edits=[(STOP, "        if dist.get_rank() == 0:\n" + indented(STOP))],
        check="test_end",
    ),
    Wrong(
        "everybody logs",
        edits=[(LOG, "            log(mean)\n")],
        check="test_nothing_happens",
        says="is logged on rank 1",
    ),
    Wrong(
        "logs the loss of rank 0",
        edits=[("log(mean)", "log(loss.item())")],
        check="test_nothing_happens",
        says="is logged on rank 0",
    ),
    Wrong(
        "logs tensors",
        edits=[("log(mean)", "log(torch.tensor(mean))")],
        check="test_nothing_happens",
        says="other types",
    ),
    Wrong(
        "logs steps that were skipped",
        edits=[(LOG, ""), (MEAN, MEAN + LOG)],
        check="test_broken_records",
        says="is logged",
    ),
    Wrong(
        "a rank with a broken batch puts in a loss of 0",
        edits=[
            (
                MEAN,
                "            loss = loss if torch.isfinite(loss) else sum(p.sum() * 0 for p in model.parameters())\n"
                + MEAN,
            )
        ],
        check="test_broken_records",
    ),
    Wrong(
        "asks the gradients",
        edits=[
            (SKIP, ""),
            (
                STEP,
                """            optimizer.zero_grad()
            loss.backward()
            if not all(torch.isfinite(p.grad).all() for p in model.parameters()):
                continue
            optimizer.step()
""",
            ),
        ],
        check="test_broken_records",
        says="L1",
    ),
    Wrong(
        "skips a step only if it is broken on every rank",
        edits=[("if not math.isfinite(mean)", "if average(torch.isfinite(loss).float()) == 0")],
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
        check="test_broken_records",
    ),
    Wrong(
        "the average of the ranks' means",
        edits=[
            (SUMS + REDUCE + FRACTION, "    return average(total / max(len(inputs), 1))\n"),
        ],
        check="test_nothing_happens",
        says="fit(…)",
    ),
    Wrong(
        "NaN of no rows",
        edits=[(" if len(inputs) else torch.zeros(())", "")],
        check="test_no_rows_held_out",
        says="NaN",
    ),
    Wrong(
        "float32 where there are no rows, float64 elsewhere",
        edits=[
            (
                "[total.double(), torch.tensor(len(inputs)).double()]",
                "[total, torch.tensor(len(inputs)).to(total)]",
            )
        ],
        check="test_no_rows_held_out",
    ),
    Wrong(
        "validates on its own rows",
        edits=[(REDUCE, "")],
        check="test_nothing_happens",
    ),
    Wrong(
        "each rank ends by its own rows",
        edits=[
            ("best, waited = math.inf, 0", "best, waited, own = math.inf, 0, []"),
            (
                STOP,
                """        with torch.no_grad():
            own.append(loss_fn(model.module(held_out[0]), held_out[1]).item())
        waited = 0 if own[-1] < best else waited + 1
        best = min(best, own[-1])
        if waited == patience:
            break
""",
            ),
        ],
        check="test_end",
    ),
    Wrong("never ends early", edits=[(STOP, "")], check="test_end", says="number of losses"),
    Wrong(
        "an equal loss is good enough",
        edits=[("history[-1] < best", "history[-1] <= best")],
        check="test_end",
    ),
    Wrong(
        "counts bad epochs in all",
        edits=[("waited = 0 if history[-1] < best else waited + 1", "waited += not history[-1] < best")],
        check="test_end",
    ),
    Wrong(
        "compares with the epoch before",
        edits=[("best = min(best, history[-1])", "best = history[-1]")],
        check="test_end",
    ),
    Wrong(
        "evaluation mode for the validation, and for ever",
        edits=[("    inputs, targets = held_out\n", "    inputs, targets = held_out\n    model.eval()\n")],
        check="test_nothing_happens",
        says="leaves DDP in another mode",
    ),
    Wrong(
        "validates in DDP, on the ranks that have rows",
        edits=[("loss_fn(model.module(inputs)", "loss_fn(model(inputs)")],
        check="test_no_rows_held_out",
    ),
    Wrong(
        "a loss of -inf is a fine one",
        edits=[("not math.isfinite(mean)", "not mean < math.inf")],
        check="test_broken_records",
        says="minus inf",
    ),
    Wrong(
        "skips steps with gradients that are not finite too",
        edits=[
            (
                "            optimizer.step()\n",
                """            if not all(p.grad.isfinite().all() for p in model.parameters()):
                continue
            optimizer.step()
""",
            )
        ],
        check="test_broken_records",
        says="gradients of NaN",
    ),
    Wrong(
        "logs before the step",
        edits=[(STEP, ""), (LOG, LOG + STEP)],
        check="test_end",
        says="each time that log is called",
    ),
    Wrong(
        "a validation loss of NaN is never worse",
        edits=[
            (
                "waited = 0 if history[-1] < best else waited + 1",
                "waited = waited + 1 if history[-1] >= best else 0",
            )
        ],
        check="test_end",
        says="a validation loss of NaN",
    ),
    Wrong(
        "clears the gradients behind the step, not before the first",
        edits=[
            ("            optimizer.zero_grad()\n", ""),
            (
                "            optimizer.step()\n",
                "            optimizer.step()\n            optimizer.zero_grad()\n",
            ),
        ],
        check="test_nothing_happens",
    ),
    Wrong(
        "averages in the loss itself, before its backward",
        edits=[("value.detach().clone()", "value.detach()")],
        check="test_nothing_happens",
    ),
    Wrong(
        "leaves a validation loss of NaN out of the mean, as if it were one of no rows",
        edits=[
            (
                "sums = torch.stack([total.double(), torch.tensor(len(inputs)).double()])",
                "sums = torch.stack([total.double(), torch.tensor(len(inputs)).double()]).nan_to_num()",
            )
        ],
        check="test_no_rows_held_out",
        says="with a held out target of NaN",
    ),
    Wrong(
        "a NaN in the middle is kept as the best",
        edits=[("best = min(best, history[-1])", "best = min(history[-1], best)")],
        check="test_end",
        says="NaN in the second",
    ),
    Wrong(
        "wants the loss to fall by 0.0001",
        edits=[("history[-1] < best ", "history[-1] < best - 1e-4 ")],
        check="test_end",
        says="0.00002",
    ),
    Right(
        "flags by MIN, an object from rank 0 for the end, gathered sums",
        edits=[
            (
                "            if not math.isfinite(mean):\n",
                """            ok = torch.isfinite(loss.detach()).to(torch.int64)
            dist.all_reduce(ok, op=dist.ReduceOp.MIN)
            if ok.item() == 0:
""",
            ),
            (
                SUMS + REDUCE + FRACTION,
                """    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, (float(total), len(inputs)))
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
        "sums of losses of rows that may be none, a backward always, and a step if all agree",
        edits=[
            (
                TOTAL,
                "        mean = loss_fn(model.module(inputs), targets)\n        total = torch.where(torch.tensor(len(inputs) > 0), mean * len(inputs), 0.0)\n",
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
            (
                STOP,
                "        if len(history) - 1 - history.index(min(history)) >= patience:\n            return history\n",
            ),
        ],
    ),
    Wrong(
        "each rank adds up the sums beginning with its own, which rounds differently",
        edits=[
            (
                REDUCE,
                "    parts = [torch.empty_like(sums) for _ in range(dist.get_world_size())]\n    dist.all_gather(parts, sums)\n    for rank, part in enumerate(parts):\n        if rank != dist.get_rank():\n            sums = (sums.float() + part.float()).double()\n",
            )
        ],
        check="test_nothing_happens",
        says="in the last digits",
    ),
    Right(
        "each rank adds up the sums in the order of the ranks",
        edits=[
            (
                REDUCE,
                "    parts = [torch.empty_like(sums) for _ in range(dist.get_world_size())]\n    dist.all_gather(parts, sums)\n    sums = sum(parts)\n",
            )
        ],
    ),
]
