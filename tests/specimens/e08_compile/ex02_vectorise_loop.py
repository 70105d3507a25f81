"""Answers to vectorise_loop that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SHAPE = "    batch, _, dim = states.shape\n"
WIDE = "    wide = torch.promote_types(states.dtype, torch.float32)\n"
KNOWN = "    known = (word_ids >= 0) & (word_ids < words)  # (batch, time)\n"
SLOT = "    slot = torch.where(known, word_ids, words)[..., None]  # (batch, time, 1): one slot more, for the rest\n"
ZEROS = "    sums = torch.zeros(batch, words + 1, dim, dtype=wide, device=states.device)\n"
SUMS = (
    "    sums = sums.scatter_add(1, slot.expand(states.shape), states.to(wide))  # (batch, words + 1, dim)\n"
)
COUNT0 = "    counts = torch.zeros(batch, words + 1, 1, dtype=wide, device=states.device)\n"
COUNTS = (
    "    counts = counts.scatter_add(1, slot, torch.ones_like(slot, dtype=wide))  # (batch, words + 1, 1)\n"
)
RETURN = "    return (sums / counts.clamp(min=1))[:, :words].to(states.dtype)  # (batch, words, dim)\n"
BODY = SHAPE + WIDE + KNOWN + SLOT + ZEROS + SUMS + COUNT0 + COUNTS + RETURN


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "a loop over texts is left",
        edits=instead("""
    rows = []
    for row, ids in zip(states, word_ids):
        slot = torch.where((ids >= 0) & (ids < words), ids, words)
        sums = row.new_zeros(words + 1, row.shape[-1]).index_add(0, slot, row)
        counts = torch.bincount(slot, minlength=words + 1).clamp(min=1)
        rows.append((sums / counts[:, None])[:words])
    return torch.stack(rows)
"""),
        check="test_no_loop_over_batch",
        says="grows with batch",
        rung="job",
    ),
    Wrong(
        "a loop over words is left",
        edits=instead("""
    means = []
    for word in range(words):
        mine = (word_ids == word).unsqueeze(-1)
        total = torch.where(mine, states, 0.0).sum(1)
        means.append(total / mine.sum(1).clamp(min=1))
    return torch.stack(means, 1)
"""),
        check="test_no_loop_over_words",
        says="grows with words",
        rung="job",
    ),
    Wrong(
        "a loop over pieces is left",
        edits=[
            (
                SUMS,
                "    for t in range(states.shape[1]):\n        at = slot[:, t : t + 1].expand(-1, 1, dim)\n"
                "        sums = sums.scatter_add(1, at, states[:, t : t + 1].to(wide))\n",
            )
        ],
        check="test_no_loop_over_time",
        says="grows with time",
        rung="job",
    ),
    Wrong(
        "clamps the ids: special tokens land in the first word",
        edits=[(SLOT, "    slot = word_ids.clamp(0, words).unsqueeze(-1)\n")],
        check="test_values",
        says="land in the first word",
        rung="job",
    ),
    Wrong(
        "index_put, for which -1 is the last word",
        edits=instead("""
    rows = torch.arange(len(states))[:, None].expand(word_ids.shape)
    sums = states.new_zeros(len(states), words, states.shape[-1]).index_put((rows, word_ids), states, accumulate=True)
    ones = torch.ones_like(states[..., :1])
    counts = states.new_zeros(len(states), words, 1).index_put((rows, word_ids), ones, accumulate=True)
    return sums / counts.clamp(min=1)
"""),
        check="test_values",
        says="land in the last word",
        rung="job",
    ),
    Wrong(
        "sums, not means",
        edits=[("sums / counts.clamp(min=1)", "sums")],
        check="test_values",
        says="sums",
        rung="job",
    ),
    Wrong(
        "divides by all pieces",
        edits=[("counts.clamp(min=1)", "states.shape[1]")],
        check="test_values",
        says="all pieces",
        rung="job",
    ),
    Wrong(
        "words without pieces are NaN",
        edits=[("counts.clamp(min=1)", "counts")],
        check="test_values",
        says="NaN",
        rung="job",
    ),
    Wrong(
        "numbers the runs of neighbours, and misses words without pieces",
        edits=[
            (
                SLOT,
                "    starts = torch.cat([word_ids[:, :1] >= 0, word_ids.diff(dim=1).ne(0)], 1) & known\n"
                "    slot = torch.where(known, starts.cumsum(1) - 1, words)[..., None]\n",
            )
        ],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "cuts the graph",
        edits=[(SUMS, SUMS.replace("states.to", "states.detach().to"))],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "a one-hot matrix, with NaN replaced",
        edits=instead("""
    wide = torch.promote_types(states.dtype, torch.float32)
    mine = word_ids[:, None, :] == torch.arange(words, device=states.device)[:, None]
    total = torch.where(mine[..., None], states.to(wide)[:, None], 0.0).sum(2)
    return (total / mine.sum(2, keepdim=True).clamp(min=1)).to(states.dtype)
"""),
        check="test_memory",
        says="words * time",
    ),
    Wrong(
        "the end of the text lands in the last word",
        edits=[
            (SLOT, "    slot = torch.where(word_ids < 0, words, word_ids.clamp(max=words - 1))[..., None]\n")
        ],
        check="test_cut_off",
    ),
    Wrong(
        "multiplies by 0 what belongs to no word",
        edits=[
            (SLOT, "    slot = torch.where(known, word_ids, 0).unsqueeze(-1)\n"),
            (SUMS, SUMS.replace("states.to(wide)", "states.to(wide) * known[:, :, None]")),
            (COUNTS, "    counts = counts.scatter_add(1, slot, known[:, :, None].to(wide))\n"),
        ],
        check="test_padding",
    ),
    Wrong(
        "sums in the dtype of the states",
        edits=[(WIDE, "    wide = states.dtype\n")],
        check="test_half_precision",
    ),
    Wrong(
        "float32 for float64 too", edits=[(WIDE, "    wide = torch.float32\n")], check="test_dtype_is_kept"
    ),
    Wrong(
        "makes its zeros on the CPU",
        edits=[(ZEROS, ZEROS.replace(", device=states.device", ""))],
        check="test_stays_on_the_device",
    ),
    Wrong(
        "marks the ids in place",
        edits=[(SLOT, "    word_ids[~known] = words\n    slot = word_ids.unsqueeze(-1)\n")],
        check="test_arguments_are_left_alone",
        says="word_ids",
    ),
    Wrong(
        "as many words as the largest id says, where it is less",
        edits=[(SHAPE, SHAPE + "    known_words = int(word_ids.max()) + 1\n")],
        check="test_empty",
    ),
    Works(
        "a product with a one-hot mask",
        code="""
import torch


def pool_words(states, word_ids, words):
    mask = (word_ids.unsqueeze(1) == torch.arange(words).view(1, -1, 1)).float()
    counts = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    return torch.bmm(mask, states) / counts
""",
    ),
    Works(
        "one_hot and einsum, with a column for those of no word",
        code="""
import torch
import torch.nn.functional as F


def pool_words(states, word_ids, words):
    one_hot = F.one_hot(word_ids + 1, num_classes=words + 1)[:, :, 1:].to(states.dtype)
    summed = torch.einsum("btw,btd->bwd", one_hot, states)
    counts = one_hot.sum(dim=1).unsqueeze(-1)
    return summed / torch.clamp(counts, min=1e-9)
""",
    ),
    Works(
        "scatter_add_ into new zeros, with a place more",
        code="""
import torch


def pool_words(states, word_ids, words):
    b, t, d = states.size()
    ids = word_ids.masked_fill(word_ids < 0, words).unsqueeze(-1)
    out = torch.zeros(b, words + 1, d)
    out.scatter_add_(1, ids.expand(-1, -1, d), states)
    n = torch.zeros(b, words + 1, 1)
    n.scatter_add_(1, ids, torch.ones(b, t, 1))
    return (out / n.clamp(min=1))[:, :-1]
""",
    ),
    Right(
        "index_add on flat rows, without those that belong to no word",
        edits=instead("""
    batch, time, dim = states.shape
    known = (0 <= word_ids) & (word_ids < words)
    row, time = known.nonzero(as_tuple=True)
    target = row * words + word_ids[row, time]
    sums = torch.zeros(batch * words, dim, dtype=torch.float64, device=states.device)
    sums = sums.index_add(0, target, states[row, time].double())
    counts = torch.bincount(target, minlength=batch * words).clamp(min=1)
    return (sums / counts[:, None]).reshape(batch, words, dim).to(states.dtype)
"""),
    ),
    Right(
        "the mean of scatter_reduce",
        edits=instead("""
    spare = torch.full_like(word_ids, words)
    slot = torch.where(word_ids.ge(0) & word_ids.lt(words), word_ids, spare)
    source = states if states.dtype == torch.float64 else states.float()
    empty = source.new_zeros((states.size(0), words + 1, states.size(2)))
    means = empty.scatter_reduce(1, slot[..., None].expand_as(states), source, reduce="mean", include_self=False)
    return means.narrow(1, 0, words).type_as(states)
"""),
    ),
]
