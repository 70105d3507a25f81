"""Answers to accumulate_in_float32 that people write."""

from grader.authoring.specimen import Right, Wrong

WIDE = "        wide = torch.promote_types(x.dtype, torch.float32)\n"
SUM = "        batch_sum = x.sum(0, dtype=wide)  # (features,), without a wide copy of the batch\n"
START = "    total, count = None, 0\n"
TOTAL = "        total = batch_sum if total is None else total + batch_sum\n"
COUNT = "        count += len(x)\n"
EMPTY = "    if total is None or count == 0:\n"
RETURN = "    return total / count  # (features,)\n"


def instead(body):
    body = "".join(f"    {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))
    return [
        (
            START + "    for x in batches:\n" + WIDE + SUM + TOTAL + COUNT + EMPTY,
            body + "    if count == 0:\n",
        )
    ]


SPECIMENS = [
    Wrong(
        "one row is its own mean",
        edits=[
            (SUM, "        batch_sum = x[0].to(wide) if len(x) == 1 else x.sum(0, dtype=wide)\n"),
            (RETURN, "    return total if count == 1 else total / count\n"),
        ],
        check="test_batches_are_left_alone",
    ),
    Wrong(
        "holds the batch before the last",
        edits=[(START, START + "    held = [None, None]\n"), (WIDE, "        held = [held[1], x]\n" + WIDE)],
        check="test_batches_are_let_go",
        says="earlier batches",
    ),
    Wrong("as it was", edits=[(SUM, "        batch_sum = x.sum(0)\n")], check="test_long_corpus"),
    Wrong(
        "converts the total at the end",
        edits=[(SUM, "        batch_sum = x.sum(0)\n"), (RETURN, "    return total.to(wide) / count\n")],
        check="test_long_corpus",
        says="wrong values",
    ),
    Wrong(
        "a wide total of rounded batch sums",
        edits=[(SUM, "        batch_sum = x.sum(0).to(wide)\n")],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "a wide total of means of batches in 16 bits",
        edits=[(SUM, "        batch_sum = x.mean(0).to(wide) * len(x) if len(x) else x.sum(0).to(wide)\n")],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "rounds the total after each batch",
        edits=[(TOTAL, "        total = (batch_sum if total is None else total + batch_sum).to(x.dtype)\n")],
        check="test_long_corpus",
    ),
    Wrong(
        "a mean in the dtype of the batches",
        edits=[(RETURN, "    return (total / count).to(x.dtype)\n")],
        check="test_sum_of_a_batch",
        says="dtype",
    ),
    Wrong(
        "a mean rounded on the way to float32",
        edits=[(RETURN, "    return (total / count).to(x.dtype).to(wide)\n")],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "bfloat16 for the sums of float16",
        edits=[(WIDE, WIDE + "        x = x.bfloat16() if x.dtype == torch.float16 else x\n")],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "float16 for the sums of bfloat16",
        edits=[(WIDE, WIDE + "        x = x.half() if x.dtype == torch.bfloat16 else x\n")],
        check="test_overflow",
    ),
    Wrong(
        "clamps to what float16 holds",
        edits=[(TOTAL, TOTAL + "        total = total.clamp(-65504, 65504)\n")],
        check="test_overflow",
    ),
    Wrong(
        "fixes float16 only",
        edits=[(WIDE, "        wide = torch.float32 if x.dtype == torch.float16 else x.dtype\n")],
        check="test_long_corpus",
    ),
    Wrong(
        "fixes bfloat16 only",
        edits=[(WIDE, "        wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype\n")],
        check="test_overflow",
    ),
    Wrong(
        "everything in float32, float64 too",
        edits=[(WIDE, "        wide = torch.float32\n")],
        check="test_every_row_counts_once",
        says="dtype",
    ),
    Wrong(
        "float64 through float32",
        edits=[(SUM, "        batch_sum = x.float().sum(0, dtype=wide)\n")],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "a float64 result",
        edits=[(WIDE, "        wide = torch.float64\n")],
        check="test_every_row_counts_once",
        says="float64",
    ),
    Wrong(
        "a float32 total for float64 batches",
        edits=[
            (TOTAL, "        total = batch_sum.float() if total is None else total + batch_sum.float()\n")
        ],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "a mean of means",
        edits=[
            (SUM, "        batch_sum = x.to(wide).mean(0)\n"),
            (COUNT, "        count += 1\n"),
        ],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "an exponential average",
        edits=instead("""
total, count = None, 1
for x in batches:
    mean = x.sum(0, dtype=torch.promote_types(x.dtype, torch.float32)) / max(1, len(x))
    total = mean if total is None else 0.99 * total + 0.01 * mean
if total is None:
    raise ValueError
"""),
        check="test_every_row_counts_once",
    ),
    Wrong(
        "counts in the dtype of the batches",
        edits=[
            (COUNT, "        count = count + torch.tensor(len(x), dtype=x.dtype)\n"),
        ],
        check="test_long_corpus",
    ),
    Wrong(
        "counts on the device",
        edits=[(COUNT, "        count = count + torch.tensor(len(x), device=x.device)\n")],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "skips batches of one row",
        edits=[(WIDE, "        if len(x) == 1 and total is not None:\n            continue\n" + WIDE)],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "stops at a batch without rows",
        edits=[(WIDE, "        if not len(x):\n            break\n" + WIDE)],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "over the wrong dim",
        edits=[(SUM, "        batch_sum = x.sum(1, dtype=wide)\n")],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "leaves NaN out",
        edits=[(SUM, "        batch_sum = x.nansum(0, dtype=wide)\n")],
        check="test_inf_and_nan",
    ),
    Wrong(
        "puts numbers in the place of inf",
        edits=[(SUM, "        batch_sum = x.to(wide).nan_to_num().sum(0)\n")],
        check="test_inf_and_nan",
    ),
    Wrong(
        "gathers the batches first",
        edits=instead("""
batches = list(batches)
count = sum(map(len, batches))
total = torch.cat(batches).to(torch.promote_types(batches[0].dtype, torch.float32)).sum(0) if count else None
"""),
        check="test_batches_are_let_go",
        says="keeps batches",
    ),
    Wrong(
        "gathers wide copies",
        edits=instead("""
wide = [x.to(torch.promote_types(x.dtype, torch.float32)) for x in batches]
count = sum(map(len, wide))
total = sum(x.sum(0) for x in wide)
"""),
        check="test_batches_are_let_go",
        says="keeps batches",
    ),
    Wrong(
        "runs through the batches twice",
        edits=instead("""
count = sum(len(x) for x in batches)
total = sum(x.sum(0, dtype=torch.promote_types(x.dtype, torch.float32)) for x in batches)
"""),
        check="test_long_corpus",
    ),
    Wrong(
        "asks for the first batch by its index",
        edits=[(START, START + "    batches[0] if batches else None\n")],
        check="test_long_corpus",
    ),
    Wrong(
        "adds in place to the first row",
        edits=instead("""
total, count = None, 0
for x in batches:
    wide = torch.promote_types(x.dtype, torch.float32)
    if total is None and len(x) == 1:
        total = x[0].to(wide)
    elif total is None:
        total = x.sum(0, dtype=wide)
    else:
        total += x.sum(0, dtype=wide)
    count += len(x)
"""),
        check="test_batches_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "a total kept from call to call",
        edits=[
            (START, "    total, count = feature_means.__dict__.setdefault('kept', [None, 0])\n"),
            (COUNT, COUNT + "        feature_means.kept = [total, count]\n"),
        ],
        check="test_sum_of_a_batch",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                SUM,
                "        batch_sum = x.new_zeros(x.shape[1], dtype=wide)\n        for row in x:\n            batch_sum = batch_sum + row\n",
            )
        ],
        check="test_no_loop",
        says="grows",
    ),
    Wrong(
        "a loop over the features, with Python's floats",
        edits=[
            (
                SUM,
                "        batch_sum = torch.tensor([sum(column) for column in x.t().tolist()], dtype=wide)\n",
            )
        ],
        check="test_no_loop",
        says="grows",
    ),
    Wrong(
        "sums on the CPU",
        edits=[(SUM, "        batch_sum = x.cpu().sum(0, dtype=wide)\n")],
        check="test_on_a_device",
    ),
    Wrong(
        "a total that starts on the CPU",
        edits=[
            (
                TOTAL,
                "        total = (torch.zeros(x.shape[1], dtype=wide) if total is None else total) + batch_sum\n",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "NaN for no rows",
        edits=[(EMPTY, "    if total is None:\n")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "refuses a batch without rows",
        edits=[(WIDE, "        if not len(x):\n            raise ValueError('no rows')\n" + WIDE)],
        check="test_every_row_counts_once",
    ),
    Wrong(
        "fails on no batches",
        edits=[(EMPTY, "    if count == 0 and total.sum() == 0:\n")],
        check="test_bad_input",
        says="AttributeError",
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
        "a wide copy of each batch, the sums of all batches in a list",
        edits=instead("""
sums, count = [], 0
for x in batches:
    sums.append((x.float() if x.itemsize < 4 else x).sum(dim=0))
    count += x.size(0)
total = torch.stack(sums).sum(0) if sums else None
"""),
    ),
    Right(
        "a product with ones",
        edits=[(SUM, "        batch_sum = x.new_ones(len(x), dtype=wide) @ x.to(wide)\n")],
    ),
    Wrong(
        "keeps the first batch, whose dtype it asks for at the end",
        edits=[
            (START, "    first, total, count = None, None, 0\n"),
            (WIDE, "        first = x if first is None else first\n" + WIDE),
            (COUNT, COUNT + "        del x\n"),
            (RETURN, "    return (total / count).to(torch.promote_types(first.dtype, torch.float32))\n"),
        ],
        check="test_batches_are_let_go",
        says="holds earlier batches",
    ),
    Wrong(
        "adds in the default dtype, which is float32 as a rule",
        edits=[(WIDE, WIDE.replace("torch.float32", "torch.get_default_dtype()"))],
        check="test_sum_of_a_batch",
        says="default",
    ),
    Wrong(
        "asks the batches whether they are true",
        edits=[(START, '    if not batches:\n        raise ValueError("no batches")\n' + START)],
        check="test_every_row_counts_once",
        says="ambiguous",
    ),
]
