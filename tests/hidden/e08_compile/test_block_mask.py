"""What grades block_mask: a mask of packed documents, blocks of patchworks; cut blocks, masks of one side."""

from functools import partial

import torch
from torch.nn.attention.flex_attention import create_block_mask

from grader.checks.contract import Contract, given, values


def warm_up():
    """Make torch import what its first block mask needs."""
    create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 4, 4, device="cpu", BLOCK_SIZE=2)


def number(gen, low, high):
    return int(torch.randint(low, high, (), generator=gen))


def shown(documents, window=None, *, back=0, ahead=False, around=False, whole=False, all_see=False):
    """Which key each query sees; what comes after `window` is as people get it wrong."""
    at = torch.arange(len(documents))
    behind = at[:, None] - at
    mask = torch.ones_like(behind, dtype=torch.bool) if whole else documents[:, None] == documents
    if not all_see:
        mask = mask & ((behind <= 0) if ahead else (behind >= 0))
    if window is not None:
        mask = mask & ((behind.abs() if ahead or around else behind) < window + back)
    return mask


def written(gen, window, least=7):
    """A sequence of four documents whose numbers are in no order."""
    lengths = torch.randint(least, least + 6, (4,), generator=gen)
    return given(
        torch.tensor([5, 9, 0, 3])[torch.randperm(4, generator=gen)].repeat_interleave(lengths), window
    )


def asked(answer, documents, *window):
    """The whole mask, by one call with a column of queries and a row of keys."""
    at, zero = torch.arange(len(documents)), torch.tensor(0)
    return answer.packed(documents, *window)(zero, zero, at[:, None], at[None])


def sequences(gen):
    return {
        "a window shorter than all documents": written(gen, number(gen, 3, 6)),
        "a window as long as some documents": written(gen, 8, least=6),
        "a window of one": written(gen, 1),
    }


packed = Contract(
    "packed(documents, window)",
    reference=shown,
    use=asked,
    dims="query key",
    inputs=sequences,
    suspects={
        "the window is one too long: a query itself is one of its `window` keys": partial(shown, back=1),
        "the window is one too short: a query itself is one of its `window` keys": partial(shown, back=-1),
        "queries see ahead, and not back": partial(shown, ahead=True),
        "queries see ahead: is q >= kv missing?": partial(shown, all_see=True),
        "queries see as far ahead as back": partial(shown, all_see=True, around=True),
        "queries see keys of other documents": partial(shown, whole=True),
        "the window is ignored": lambda documents, window=None: shown(documents),
    },
    fine=[
        values(
            inputs=lambda gen: [written(gen, None)], name="no_window", title="Without a window all is seen."
        )
    ],
)


def kind(part, block):
    return int(part.any()) + int(int(part.sum()) == block * block)


def table(mask_mod, queries, keys, block, value=kind):
    """Entry by entry; `value` tells that of a block from what is seen of its pairs."""
    q, kv = torch.arange(queries)[:, None], torch.arange(keys)
    mask = mask_mod(0, 0, q, kv).expand(queries, keys)
    rows = [some.split(block, 1) for some in mask.split(block)]
    return torch.tensor([[value(part, block) for part in row] for row in rows])


def reshaped(mask_mod, queries, keys, block):
    """Cut by a reshape that never brings the dimensions of blocks together."""
    mask = mask_mod(0, 0, torch.arange(queries)[:, None], torch.arange(keys)).expand(queries, keys)
    parts = mask.reshape(queries // block, keys // block, block, block)
    return parts.any(3).any(2).long() + parts.all(3).all(2).long()


def corners(part, block):
    return kind(part[[0, 0, -1, -1], [0, -1, 0, -1]], 2)


def patchwork(gen, rows, columns, block, cut=(0, 0)):
    """Blocks of all three kinds, and a table to look the pairs up in, which has no more than there are."""
    kinds = torch.randint(0, 3, (rows, columns), generator=gen)
    kinds[0, :3], kinds[-1, -2:] = torch.tensor([2, 0, 1]), 2
    each = kinds.repeat_interleave(block, 0).repeat_interleave(block, 1)
    chance = torch.rand(each.shape, generator=gen) < 0.6
    seen = ((each == 2) | ((each == 1) & chance))[: len(each) - cut[0], : each.shape[1] - cut[1]]
    return given(lambda b, h, q, kv: seen[q, kv], *seen.shape, block)


def of_heads(gen):
    ahead = torch.arange(6).reshape(2, 3) * 4 + number(gen, 1, 4)
    return given(lambda b, h, q, kv: q + ahead[b, h] >= kv, 12, 16, 4)


def one_sided(gen):
    some = number(gen, 1, 8)
    return {
        "keys of a prefix": given(lambda b, h, q, kv: kv < some, 6, 9, 3),
        "queries behind a prefix": given(lambda b, h, q, kv: q >= some, 9, 6, 3),
    }


def causal(b, h, q, kv):
    return q >= kv


def masks(gen):
    return {
        "a square patchwork": patchwork(gen, 7, 7, number(gen, 3, 6)),
        "more keys than queries": patchwork(gen, 5, 9, 3),
        "more queries than keys": patchwork(gen, 8, 6, 4),
        "a causal mask": given(causal, 20, 20, 4),
    }


def tabled(answer, *call):
    """The table in int64: any whole numbers will do."""
    return torch.as_tensor(answer.block_table(*call)).long()


block_table = Contract(
    "block_table(mask_mod, queries, keys, block)",
    reference=table,
    use=tabled,
    dims="row column",
    inputs=masks,
    suspects={
        "1 and 2 are mixed up: 1 where some pairs are seen, 2 where all are": lambda *call: (
            table(*call) * 2 % 3
        ),
        "some and all are one: 2 where something is seen": lambda *call: 2 * table(*call).clamp(max=1),
        "some and all are one: 1 where something is seen": lambda *call: table(*call).clamp(max=1),
        "blocks where some pairs are seen count as empty": lambda *call: table(*call) // 2 * 2,
        "a block is taken for its corners": partial(table, value=corners),
        "a block is taken for its first pair": partial(table, value=lambda part, block: 2 * int(part[0, 0])),
        "rows are keys, and columns queries": lambda *call: table(*call).T,
        "blocks are runs of pairs, and no squares: reshape alone does not cut them": reshaped,
    },
    fine=[
        values(
            inputs=lambda gen: {
                "queries cut": patchwork(gen, 4, 3, 4, cut=(1, 0)),
                "keys cut": patchwork(gen, 3, 5, 3, cut=(0, 2)),
                "both cut": patchwork(gen, 3, 4, 5, cut=(3, 1)),
            },
            suspects={
                "a block that is cut is 2 where all that is left of it is seen": partial(
                    table, value=lambda part, block: int(part.any()) + int(part.all())
                )
            },
            name="cut_blocks",
            title="A block that reaches behind the end is never full.",
        ),
        values(inputs=one_sided, name="one_sided", title="A mask may look at queries or at keys alone."),
        values(
            inputs=lambda gen: [of_heads(gen)],
            name="first_head",
            title="The mask is asked for b = 0 and h = 0.",
        ),
    ],
)


def weighed(run, numbers):
    found = run().long()
    return found * numbers[: found.shape[0], : found.shape[1]]


def oracle(answer, gen):
    """What is seen, and the tables, times random numbers: 0, 1 and 2 would soon be guessed."""
    numbers = torch.rand(64, 64, generator=gen)
    runs = {f"packed, {name}": partial(asked, answer, *call.args) for name, call in sequences(gen).items()}
    runs |= {f"the table, {name}": partial(tabled, answer, *call.args) for name, call in masks(gen).items()}
    return {name: partial(weighed, run, numbers) for name, run in runs.items()}
