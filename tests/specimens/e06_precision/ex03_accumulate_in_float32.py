"""Answers to accumulate_in_float32 that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WIDE = "        wide = torch.promote_types(x.dtype, torch.float32)\n"
SUM = "        batch_sum = x.sum(0, dtype=wide)  # (features,), without a wide copy of the batch\n"
TOTAL = "        total = batch_sum if total is None else total + batch_sum\n"
COUNT = "        count += len(x)\n"
EMPTY = "    if total is None or count == 0:\n"
RETURN = "    return total / count  # (features,)\n"

SPECIMENS = [
    Wrong(
        "converts the total at the end",
        edits=[(SUM, "        batch_sum = x.sum(0)\n"), (RETURN, "    return total.to(wide) / count\n")],
        check="test_long_corpus",
        says="it stalls",
        rung="job",
    ),
    Wrong(
        "a wide total of rounded batch sums",
        edits=[(SUM, "        batch_sum = x.sum(0).to(wide)\n")],
        check="test_sum_of_a_batch",
        says="sum of each batch is rounded",
        rung="job",
    ),
    Wrong(
        "a mean in the dtype of the batches",
        edits=[(RETURN, "    return (total / count).to(x.dtype)\n")],
        check="test_sum_of_a_batch",
        says="dtype",
        rung="job",
    ),
    Wrong(
        "a mean rounded on the way to float32",
        edits=[(RETURN, "    return (total / count).to(x.dtype).to(wide)\n")],
        check="test_sum_of_a_batch",
        says="mean is rounded",
        rung="job",
    ),
    Wrong(
        "fixes bfloat16 only",
        edits=[(WIDE, "        wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype\n")],
        check="test_overflow",
        rung="job",
    ),
    Wrong(
        "a mean of means",
        edits=[(SUM, "        batch_sum = x.to(wide).mean(0)\n"), (COUNT, "        count += 1\n")],
        check="test_every_row_counts_once",
        says="weigh each by its rows",
        rung="job",
    ),
    Wrong(
        "counts in the dtype of the batches",
        edits=[(COUNT, "        count = count + torch.tensor(len(x), dtype=x.dtype)\n")],
        check="test_long_corpus",
        rung="job",
    ),
    Wrong(
        "runs through the batches twice",
        code="""
import torch

def feature_means(batches):
    count = sum(len(x) for x in batches)
    total = sum(x.sum(0, dtype=torch.float32) for x in batches)
    return total / count
""",
        check="test_long_corpus",
        rung="job",
    ),
    Wrong(
        "everything in float32, float64 too",
        edits=[(WIDE, "        wide = torch.float32\n")],
        check="test_float64",
        says="dtype",
    ),
    Wrong(
        "float64 through float32",
        edits=[(SUM, "        batch_sum = x.float().sum(0, dtype=wide)\n")],
        check="test_float64",
        says="rounded to float32",
    ),
    Wrong(
        "stops at a batch without rows",
        edits=[(WIDE, "        if not len(x):\n            break\n" + WIDE)],
        check="test_batches_without_rows",
    ),
    Wrong(
        "NaN for no rows",
        edits=[(EMPTY, "    if total is None:\n")],
        check="test_no_rows",
        says="no error",
    ),
    Wrong(
        "gathers the batches first",
        edits=[("    for x in batches:\n", "    batches = list(batches)\n    for x in batches:\n")],
        check="test_batches_are_let_go",
        says="holds earlier batches",
    ),
    Wrong(
        "adds in place to the first row",
        edits=[
            (SUM, "        batch_sum = x[0].to(wide) if len(x) == 1 else x.sum(0, dtype=wide)\n"),
            (TOTAL, "        total = batch_sum if total is None else total.add_(batch_sum)\n"),
        ],
        check="test_batches_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "a loop over the rows",
        edits=[(SUM, "        batch_sum = sum(row.to(wide) for row in x)\n")],
        check="test_no_loop",
        says="grows",
    ),
    Wrong(
        "a total that starts on the CPU",
        edits=[
            (TOTAL, "        total = (torch.zeros(x.shape[1]) if total is None else total) + batch_sum\n")
        ],
        check="test_on_a_device",
    ),
    Works(
        "float32 for all",
        code="""
import torch

def feature_means(batches):
    total, count = 0.0, 0
    for x in batches:
        total = total + x.float().sum(0)
        count += len(x)
    return total / count
""",
    ),
    Works(
        "all batches side by side",
        code="""
import torch

def feature_means(batches):
    return torch.cat(list(batches)).float().mean(dim=0)
""",
    ),
    Works(
        "a running mean, as Welford's",
        code="""
import torch

def feature_means(batches):
    n, mean = 0, None
    for x in batches:
        for row in x.to(torch.float64):
            n += 1
            mean = row if mean is None else mean + (row - mean) / n
    if mean is None:
        raise ValueError("no rows")
    return mean.to(torch.float32)
""",
    ),
    Right(
        "a running mean in float64",
        code="""
import torch

def feature_means(batches):
    seen, mean, dtype = 0, 0.0, None
    for x in batches:
        if x.shape[0] == 0:
            continue
        dtype = torch.float64 if x.dtype is torch.float64 else torch.float32
        seen += x.shape[0]
        mean = mean + (x.double() - mean).sum(dim=0) / seen
    if not seen:
        raise ValueError("no rows")
    return mean.to(dtype)
""",
    ),
    Right(
        "a product with ones",
        edits=[(SUM, "        batch_sum = x.new_ones(len(x), dtype=wide) @ x.to(wide)\n")],
    ),
]
