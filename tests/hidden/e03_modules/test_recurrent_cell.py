"""What grades recurrent_cell: gates and their order, both cells, ends of rows; dtypes, devices."""

from functools import partial

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    untouched,
    values,
    without,
)

OWN = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "lstm", "gru", "rnn_tanh", "thnn_fused_lstm_cell")


def blocks(x, h, w_ih, w_hh, b_ih, b_hh, order):
    """What both weights give for each gate, a letter each."""
    a, b = x @ w_ih.mT + b_ih, h @ w_hh.mT + b_hh
    return {name: (a[:, rows], b[:, rows]) for name, rows in zip(order, slices(w_hh), strict=True)}


def slices(w_hh):
    hidden = w_hh.shape[1]
    return [slice(k, k + hidden) for k in range(0, len(w_hh), hidden)]


def lstm(x, h, c, *weights, order="ifgo", seen=torch.tanh, inner=torch.tanh, squashed=torch.sigmoid):
    """The cell; what comes behind the weights is as people get it wrong."""
    gates = {name: a + b for name, (a, b) in blocks(x, h, *weights, order).items()}
    new = squashed(gates["f"]) * c + squashed(gates["i"]) * inner(gates["g"])
    return squashed(gates["o"]) * seen(new), new


def other_way_round(*given):
    return lstm(*given)[::-1]


def gru(x, h, *weights, order="rzn", early=False, turned=False, unsplit=False):
    """The cell; what comes behind the weights is as people get it wrong."""
    parts = blocks(x, h, *weights, order)
    r, z = (sum(parts[name]).sigmoid() for name in "rz")
    a, b = parts["n"]
    if early:  # r meets h, before the product
        _, _, rows = slices(weights[1])
        n = (a + (r * h) @ weights[1][rows].mT + weights[3][rows]).tanh()
    else:
        n = (r * (a + b) if unsplit else a + r * b).tanh()
    return z * n + (1 - z) * h if turned else (1 - z) * n + z * h


def row_by_row(x, lengths, *weights, cell=gru, first=0, more=0, backwards=False):
    """Each row for itself, without its padding; what comes behind the weights is as people get it wrong."""
    states = []
    for row, length in zip(x, lengths.tolist(), strict=True):
        h = x.new_zeros(1, weights[1].shape[1])
        steps = row[first : max(0, length + more)]
        for step in steps.flip(0) if backwards else steps:
            h = cell(step[None], h, *weights)
        states.append(h)
    return torch.cat(states) if states else x.new_zeros(0, weights[1].shape[1])


def to_the_end(x, lengths, *weights):
    return row_by_row(x, torch.full_like(lengths, x.shape[1]), *weights)


def weights(gen, gates, features, hidden):
    shapes = [(gates * hidden, features), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,)]
    return [torch.randn(shape, generator=gen) for shape in shapes]


def step(gen, gates, batch, features, hidden):
    """The arguments of a cell."""
    held = [torch.randn(batch, hidden, generator=gen) for _ in range(gates - 2)]
    return given(torch.randn(batch, features, generator=gen), *held, *weights(gen, gates, features, hidden))


def steps(gates):
    return lambda gen: {
        "three rows": step(gen, gates, 3, 4, 2),
        "a single row": step(gen, gates, 1, 2, 5),
        "as many features as hidden": step(gen, gates, 4, 3, 3),
        "all sizes alike": step(gen, gates, 3, 3, 3),
    }


def rows(gen, lengths, time, features, hidden):
    x = 2 * torch.randn(len(lengths), time, features, generator=gen)
    return given(x, torch.tensor(lengths, dtype=torch.int64), *weights(gen, 3, features, hidden))


JOB = [without(*OWN)]
FINE = [dtypes(torch.float64), untouched(), device()]

lstm_cell = Contract(
    "lstm_cell(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)",
    reference=lstm,
    inputs=steps(4),
    gradient="x h c weight_ih weight_hh bias_ih bias_hh",
    dims=("batch hidden", "batch hidden"),
    scale=4.0,
    suspects={
        "the blocks are taken for i, f, o, g: they are i, f, g, o": partial(lstm, order="ifog"),
        "the blocks are taken for f, i, g, o: they are i, f, g, o": partial(lstm, order="figo"),
        "the blocks are taken for i, g, f, o: they are i, f, g, o": partial(lstm, order="igfo"),
        "new h has c itself: it is tanh of the new c": partial(lstm, seen=lambda c: c),
        "g is squashed by a sigmoid: it is by tanh": partial(lstm, inner=torch.sigmoid),
        "c comes first: return h, then c": other_way_round,
    },
    job=[*JOB, flat_cost(lambda n: step(torch.Generator(), 4, n, n, n), over="rows, features and hidden")],
    fine=FINE,
)
gru_cell = Contract(
    "gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)",
    reference=gru,
    inputs=steps(3),
    gradient="x h weight_ih weight_hh bias_ih bias_hh",
    dims="batch hidden",
    scale=4.0,
    suspects={
        "the blocks are taken for z, r, n: they are r, z, n": partial(gru, order="zrn"),
        "r meets h before the product: in PyTorch it meets weight_hh @ h + bias_hh": partial(gru, early=True),
        "r meets the part of x as well: it meets that of h alone": partial(gru, unsplit=True),
        "z keeps what 1 - z should: z is the share of the old h": partial(gru, turned=True),
        "z keeps what 1 - z should, and the blocks are taken for z, r, n": partial(
            gru, order="zrn", turned=True
        ),
    },
    job=[*JOB, flat_cost(lambda n: step(torch.Generator(), 3, n, n, n), over="rows, features and hidden")],
    fine=FINE,
)
last_states = Contract(
    "last_states(x, lengths, weight_ih, weight_hh, bias_ih, bias_hh)",
    reference=row_by_row,
    inputs=lambda gen: {
        "rows of three lengths": rows(gen, [3, 5, 1], 5, 4, 2),
        "all rows full": rows(gen, [4, 4], 4, 2, 3),
        "more steps than any row has": rows(gen, [2, 3, 4, 1], 6, 2, 5),
        "as many rows as steps": rows(gen, [3, 1, 2], 3, 3, 3),
    },
    gradient="x weight_ih weight_hh bias_ih bias_hh",
    dims="batch hidden",
    scale=4.0,
    suspects={
        "padding is read: the state is that behind all steps": to_the_end,
        "the last step of a row is not read": partial(row_by_row, more=-1),
        "a step too many is read: the last one is lengths - 1": partial(row_by_row, more=1),
        "the first step is not read": partial(row_by_row, first=1),
        "rows are read backwards": partial(row_by_row, backwards=True),
        "the state is that of the longest row for all": lambda x, lengths, *weights: row_by_row(
            x, lengths.max().expand(len(x)), *weights
        ),
    },
    job=[
        *JOB,
        flat_cost(lambda n: rows(torch.Generator(), [2] * n, 3, n, n), over="rows, features and hidden"),
    ],
    fine=[
        *FINE,
        values(
            inputs=lambda gen: {
                "a row of length 0": rows(gen, [2, 0, 3], 4, 2, 3),
                "nothing but rows of length 0": rows(gen, [0, 0], 2, 2, 3),
            },
            name="length_0",
            title="A row of length 0 has the state 0.",
        ),
        empties(inputs=lambda gen: [rows(gen, [], 3, 2, 4)], title="No rows give no states."),
    ],
)
