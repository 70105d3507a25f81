"""Answers to vectorise_loop that people write."""

from grader.authoring.specimen import Right, Wrong

SHAPE = "    batch, _, dim = states.shape\n"
WIDE = "    wide = torch.promote_types(states.dtype, torch.float32)\n"
KNOWN = "    known = (word_ids >= 0) & (word_ids < words)  # (batch, time)\n"
SLOT = "    slot = torch.where(known, word_ids, words).unsqueeze(-1)  # (batch, time, 1): one slot more, for the rest\n"
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
        "puts single pieces where they belong, and those outside too",
        edits=[
            (
                WIDE,
                "    if states.shape[1] == 1 and words:\n"
                "        at = word_ids.clamp(0, words - 1)[..., None].expand(states.shape)\n"
                "        return states.new_zeros(batch, words, dim).scatter(1, at, states)\n" + WIDE,
            )
        ],
        check="test_pieces_without_a_word",
        says="one piece",
    ),
    Wrong(
        "ids in the dtype of the states",
        edits=[(SLOT, SLOT.replace("word_ids, words)", "word_ids.to(states.dtype), words).long()"))],
        check="test_narrow_dtypes",
        says="2100",
    ),
    Wrong(
        "a loop over rows is left",
        edits=instead("""
    rows = []
    for row, ids in zip(states, word_ids):
        known = (ids >= 0) & (ids < words)
        slot = torch.where(known, ids, words)
        sums = row.new_zeros(words + 1, row.shape[-1], dtype=torch.promote_types(row.dtype, torch.float32)).index_add(0, slot, row.to(torch.promote_types(row.dtype, torch.float32)))
        counts = torch.bincount(slot, minlength=words + 1).clamp(min=1)
        rows.append((sums / counts[:, None])[:words].to(row.dtype))
    return torch.stack(rows) if rows else states.new_zeros(0, words, states.shape[-1])
"""),
        check="test_cost",
        says="grows with batch",
    ),
    Wrong(
        "a loop over words is left",
        edits=instead("""
    means = []
    for word in range(words):
        mine = (word_ids == word).unsqueeze(-1)
        total = torch.where(mine, states.double(), 0.0).sum(1)
        means.append((total / mine.sum(1).clamp(min=1)).to(states.dtype))
    return torch.stack(means, 1) if means else states.new_zeros(len(states), 0, states.shape[-1])
"""),
        check="test_cost",
        says="grows with words",
    ),
    Wrong(
        "a loop over pieces, by Python numbers",
        edits=[
            (
                SUMS,
                "    for time in range(states.shape[1]):\n        sums = sums.scatter_add(1, slot[:, time:time + 1].expand(-1, 1, dim), states[:, time:time + 1].to(wide))\n",
            )
        ],
        check="test_cost",
        says="grows with time",
    ),
    Wrong(
        "a one-hot matrix",
        edits=instead("""
    wide = torch.promote_types(states.dtype, torch.float32)
    mine = (word_ids.unsqueeze(1) == torch.arange(words, device=states.device)[:, None]).to(wide)
    counts = mine.sum(-1, keepdim=True).clamp(min=1)
    return (mine @ states.to(wide) / counts).to(states.dtype)
"""),
        check="test_memory",
        says="words * time",
    ),
    Wrong(
        "a mask of all words, pieces and features",
        edits=instead("""
    wide = torch.promote_types(states.dtype, torch.float32)
    mine = (word_ids.unsqueeze(1) == torch.arange(words, device=states.device)[:, None]).unsqueeze(-1)
    total = torch.where(mine, states.to(wide).unsqueeze(1), 0.0).sum(2)
    return (total / mine.sum(2).clamp(min=1)).to(states.dtype)
"""),
        check="test_memory",
    ),
    Wrong(
        "forgets the ids from `words` on: they land in the next row",
        edits=instead("""
    batch, time, dim = states.shape
    wide = torch.promote_types(states.dtype, torch.float32)
    known = word_ids >= 0
    flat = (torch.arange(batch, device=states.device)[:, None] * words + word_ids)[known].clamp(max=max(batch * words - 1, 0))
    sums = torch.zeros(batch * words, dim, dtype=wide, device=states.device)
    counts = torch.zeros(batch * words, dtype=wide, device=states.device)
    if batch * words and len(flat):
        sums = sums.index_add(0, flat, states[known].to(wide))
        counts = counts.index_add(0, flat, torch.ones_like(flat, dtype=wide))
    return (sums / counts.clamp(min=1)[:, None]).view(batch, words, dim).to(states.dtype)
"""),
        check="test_pieces_without_a_word",
    ),
    Wrong(
        "clamps the ids: special tokens land in the first word",
        edits=[(SLOT, "    slot = word_ids.clamp(0, words).unsqueeze(-1)\n")],
        check="test_means",
    ),
    Wrong(
        "clamps the ids: the end of the text lands in the last word",
        edits=[
            (
                SLOT,
                "    slot = torch.where(word_ids < 0, words, word_ids.clamp(max=max(words - 1, 0))).unsqueeze(-1)\n",
            )
        ],
        check="test_means",
    ),
    Wrong(
        "special tokens count, with zeros",
        edits=[
            (SLOT, "    slot = word_ids.clamp(0, words).unsqueeze(-1)\n"),
            (SUMS, SUMS.replace("states.to(wide)", "torch.where(known[:, :, None], states, 0).to(wide)")),
        ],
        check="test_means",
    ),
    Wrong(
        "multiplies by 0 what belongs to no word",
        edits=[
            (SLOT, "    slot = torch.where(known, word_ids, 0).unsqueeze(-1)\n"),
            (SUMS, SUMS.replace("states.to(wide)", "states.to(wide) * known[:, :, None]")),
            (COUNTS, "    counts = counts.scatter_add(1, slot, known[:, :, None].to(wide))\n"),
        ],
        check="test_pieces_without_a_word",
    ),
    Wrong(
        "differences of a running sum",
        edits=instead("""
    batch, time, dim = states.shape
    if 0 in (batch, time, words):
        return states.new_zeros(batch, words, dim)
    known = (word_ids >= 0) & (word_ids < words)
    key, order = torch.where(known, word_ids, words).sort(dim=1, stable=True)
    ordered = torch.where(known[:, :, None], states, 0).double().gather(1, order[:, :, None].expand(states.shape))
    running = torch.cat([ordered.new_zeros(batch, 1, dim), ordered.cumsum(1)], 1)
    edges = torch.searchsorted(key.contiguous(), torch.arange(words + 1, device=key.device).expand(batch, -1).contiguous())
    counts = edges.diff(dim=1).unsqueeze(-1)
    sums = running.gather(1, edges.unsqueeze(-1).expand(-1, -1, dim)).diff(dim=1)
    return (sums / counts.clamp(min=1)).to(states.dtype)
"""),
        check="test_broken_words",
    ),
    Wrong("sums, not means", edits=[("sums / counts.clamp(min=1)", "sums")], check="test_means"),
    Wrong(
        "divides by all pieces",
        edits=[("counts.clamp(min=1)", "max(states.shape[1], 1)")],
        check="test_means",
    ),
    Wrong(
        "words without pieces are NaN",
        edits=[("counts.clamp(min=1)", "counts")],
        check="test_means",
        says="NaN",
    ),
    Wrong(
        "a small number against division by zero",
        edits=[("counts.clamp(min=1)", "(counts + 1e-3)")],
        check="test_means",
    ),
    Wrong(
        "the last piece instead of the mean",
        edits=[(SUMS, SUMS.replace("scatter_add", "scatter")), ("sums / counts.clamp(min=1)", "sums")],
        check="test_means",
    ),
    Wrong(
        "starts the mean from a zero that counts",
        edits=[
            (SUMS, '    sums = sums.scatter_reduce(1, slot.expand(states.shape), states.to(wide), "mean")\n'),
            ("sums / counts.clamp(min=1)", "sums"),
        ],
        check="test_means",
    ),
    Wrong(
        "runs of neighbours",
        edits=instead("""
    wide = torch.promote_types(states.dtype, torch.float32)
    batch, time, dim = states.shape
    if 0 in (batch, time, words):
        return states.new_zeros(batch, words, dim)
    known = (word_ids >= 0) & (word_ids < words)
    starts = torch.cat([torch.ones_like(word_ids[:, :1]), word_ids.diff(dim=1).ne(0).long()], 1)
    run = starts.cumsum(1) - 1
    slot = torch.where(known & (run < words), run, words).unsqueeze(-1)
    sums = torch.zeros(batch, words + 1, dim, dtype=wide, device=states.device).scatter_add(1, slot.expand(states.shape), states.to(wide))
    counts = torch.zeros(batch, words + 1, 1, dtype=wide, device=states.device).scatter_add(1, slot, torch.ones_like(slot, dtype=wide))
    return (sums / counts.clamp(min=1))[:, :words].to(states.dtype)
"""),
        check="test_means",
    ),
    Wrong(
        "ids counted from the back",
        edits=[(RETURN, RETURN.replace("[:, :words]", "[:, :words].flip(1)"))],
        check="test_means",
    ),
    Wrong(
        "one row's ids for all rows",
        edits=[(SUMS, SUMS.replace("slot.expand", "slot[:1].expand"))],
        check="test_means",
    ),
    Wrong(
        "sums in the dtype of the states",
        edits=[(WIDE, "    wide = states.dtype\n")],
        check="test_narrow_dtypes",
    ),
    Wrong(
        "counts in the dtype of the states",
        edits=[
            (
                COUNT0 + COUNTS,
                COUNT0.replace("dtype=wide", "dtype=states.dtype")
                + COUNTS.replace("dtype=wide", "dtype=states.dtype"),
            )
        ],
        check="test_a_very_long_word",
    ),
    Wrong(
        "shares in the dtype of the states",
        edits=[
            (
                RETURN,
                """    shares = (states / counts.gather(1, slot)).to(states.dtype).to(wide)
    means = torch.zeros_like(sums).scatter_add(1, slot.expand(states.shape), shares)
    return means[:, :words].to(states.dtype)
""",
            )
        ],
        check="test_a_very_long_word",
    ),
    Wrong("float32 for float64 too", edits=[(WIDE, "    wide = torch.float32\n")], check="test_float64"),
    Wrong(
        "returns the wide dtype",
        edits=[(RETURN, RETURN.replace(".to(states.dtype)", ""))],
        check="test_narrow_dtypes",
    ),
    Wrong(
        "cuts the graph",
        edits=[(SUMS, SUMS.replace("states.to", "states.detach().to"))],
        check="test_gradients",
    ),
    Wrong(
        "by NumPy",
        edits=instead("""
    import numpy as np

    batch, time, dim = states.shape
    values, ids = states.detach().double().numpy(), word_ids.numpy()
    sums, counts = np.zeros((batch, words + 1, dim)), np.zeros((batch, words + 1, 1))
    slot = np.where((ids >= 0) & (ids < words), ids, words)
    rows = np.arange(batch)[:, None]
    np.add.at(sums, (rows, slot), values)
    np.add.at(counts, (rows, slot), 1.0)
    return torch.from_numpy((sums / np.maximum(counts, 1))[:, :words]).to(states.dtype)
"""),
        check="test_gradients",
    ),
    Wrong(
        "makes its zeros on the CPU",
        edits=[(ZEROS, ZEROS.replace(", device=states.device", ""))],
        check="test_on_a_device",
    ),
    Wrong(
        "marks the ids in place",
        edits=[(SLOT, "    word_ids[~known] = words\n    slot = word_ids.unsqueeze(-1)\n")],
        check="test_means",
        says="word_ids",
    ),
    Wrong(
        "clears the padding in place",
        edits=[(SLOT, "    with torch.no_grad():\n        states[~known] = 0\n" + SLOT)],
        check="test_means",
        says="states",
    ),
    Wrong(
        "as many words as the batch has",
        edits=[
            (
                SHAPE,
                SHAPE + "    words = min(words, int(word_ids.max()) + 1) if word_ids.numel() else words\n",
            )
        ],
        check="test_all_pieces_in_one_place",
    ),
    Wrong(
        "a batch without pieces has no largest id",
        edits=[(SHAPE, SHAPE + "    assert word_ids.max() > -10\n")],
        check="test_empty",
    ),
    Wrong(
        "views that transposed states do not have",
        edits=[(SUMS, SUMS.replace("states.to(wide)", "states.view(-1).view(states.shape).to(wide)"))],
        check="test_strided",
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
    Wrong(
        "ids in 32 bits, in which 2**32 is the first word",
        edits=[(SHAPE, SHAPE + "    word_ids = word_ids.int().long()\n")],
        check="test_pieces_without_a_word",
        says="outside",
    ),
    Wrong(
        "sums and counts in the dtype of the states, bfloat16 too, where each addition is wider",
        edits=[(WIDE, "    wide = torch.float32 if states.dtype == torch.float16 else states.dtype\n")],
        check="test_narrow_dtypes",
        says="rounded more than once",
    ),
    Wrong(
        "a double of inf made finite, which only float64 shows",
        edits=[
            (
                "    return (sums / counts.clamp(min=1))[:, :words]",
                "    means = (sums / counts.clamp(min=1)).double().nan_to_num(nan=float('nan'))\n    return means[:, :words]",
            )
        ],
        check="test_broken_words",
        says="float64",
    ),
    Wrong(
        "a product with a one-hot matrix where it is small",
        edits=[
            (
                KNOWN,
                "    if words < 4:\n"
                "        hot = (word_ids.unsqueeze(1) == torch.arange(words, device=states.device)[:, None]).to(wide)\n"
                "        means = hot @ states.to(wide) / hot.sum(-1, keepdim=True).clamp(min=1)\n"
                "        return means.to(states.dtype)\n" + KNOWN,
            )
        ],
        check="test_broken_words",
        says="words=1",
    ),
    Right(
        "a product with a sparse matrix",
        code='''"""Words as rows of a sparse matrix."""

import torch
def pool_words(states, word_ids, words):
    batch, time, dim = states.shape
    wide = torch.promote_types(states.dtype, torch.float32)
    known = (word_ids >= 0) & (word_ids < words)
    slots = batch * (words + 1)
    row = torch.where(known, word_ids, words) + (words + 1) * torch.arange(batch, device=states.device).unsqueeze(1)
    row = row.reshape(-1)
    column = torch.arange(batch * time, device=states.device)
    ones = torch.ones(batch * time, dtype=wide, device=states.device)
    matrix = torch.sparse_coo_tensor(torch.stack([row, column]), ones, (slots, batch * time))
    flat = states.reshape(batch * time, dim).to(wide)
    sums = torch.sparse.mm(matrix, flat) if batch * time else flat.new_zeros(slots, dim)
    counts = torch.zeros(slots, dtype=wide, device=states.device).index_add(0, row, ones).clamp(min=1)
    return (sums / counts.unsqueeze(1)).reshape(batch, words + 1, dim)[:, :words].to(states.dtype)
''',
    ),
    Wrong(
        "takes texts of one piece for empty ones",
        edits=[
            (
                SHAPE,
                SHAPE + "    if states.shape[1] <= 1:\n        return states.new_zeros(batch, words, dim)\n",
            )
        ],
        check="test_means",
        says="6 x 1",
    ),
    Wrong(
        "widens half precision outside the graph",
        edits=[
            (
                SUMS,
                SUMS.replace(
                    "states.to(wide)", "(states if states.dtype == wide else states.detach()).to(wide)"
                ),
            )
        ],
        check="test_gradients",
        says="bfloat16",
    ),
]
