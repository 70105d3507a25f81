"""What grades weighted_mse and share_within: rows and columns, sizes that differ; shapes, dtype, cost."""

import itertools

import torch

from grader.checks.contract import Contract, dtypes, errors, flat_cost, given, untouched, values

REFUSED = (ValueError, RuntimeError)
SIZES = [((4, 1), (1,)), ((4, 1), (1, 1)), ((1,), (4,)), ((1, 1), (4, 1)), ((4,), (3,)), ((2, 1), (4,))]
SHAPES = [
    *[((4, 1), (1, 4)), ((1, 4), (4,)), ((1, 4), (1, 4)), ((4, 2), (4, 2)), ((4, 1), (4, 2)), ((2, 2), (4,))],
    *[((4, 4), (4, 4)), ((4, 1, 1), (4,)), ((4,), (4, 1, 1)), ((), (4,)), ((1,), ())],
]


def mse(x, y, w=None):
    """Row by row; every form is flat."""
    x, y = x.flatten(), y.flatten()
    w = torch.ones_like(x) if w is None else w.flatten()
    return (w * (x - y) ** 2).sum() / w.sum()


def table(x, y, w=None):
    """Every prediction minus every target."""
    e = (x.view(-1, 1) - y.flatten()).square()
    return e.mean() if w is None else (w * e).sum() / w.sum()


def crossed(x, y, w=None):
    """The right errors, each times every weight."""
    return mse(x, y) * (1 if w is None else x.numel())


def share(x, y, tolerance=0.1):
    return ((x.flatten() - y.flatten()).abs() <= tolerance).double().mean().item()


def batch(gen, size, *forms):
    """Predictions, targets and weights, each as a row or as a column."""
    (x, y), w = torch.randn(2, size, generator=gen), torch.rand(size, generator=gen) + 0.1
    return [t[:, None] if form == "column" else t for t, form in zip((x, y, w), forms, strict=False)]


def plain(gen):
    forms = itertools.product(["column", "row"], repeat=2)
    drawn = {
        f"predictions in a {p}, targets in a {t}": batch(gen, size, p, t)
        for (p, t), size in zip(forms, (5, 5, 4, 6), strict=True)
    }
    return {about: given(*args) for about, args in drawn.items()} | {
        "a house alone": given(*batch(gen, 1, "column", "row"))
    }


def weighted(gen):
    forms = itertools.product(["column", "row"], repeat=3)
    sets = {
        f"predictions in a {p}, targets in a {t}, weights in a {w}": batch(gen, 5, p, t, w)
        for p, t, w in forms
    }
    sets["a house alone, weighted"] = batch(gen, 1, "column", "row", "row")
    return {about: given(*args) for about, args in sets.items()}


def shares(gen):
    found = {}
    for p, t in itertools.product(["column", "row"], repeat=2):
        x, y = batch(gen, 40, p, t)
        found[f"predictions in a {p}, targets in a {t}"] = given(y.view_as(x) + 0.3 * x, y, 0.2)
    x, y = batch(gen, 40, "column", "row")
    return {**found, "the tolerance by default": given(y[:, None] + 0.2 * x, y)}


def zeros(shapes):
    return lambda gen: {
        f"predictions {a} and targets {b}": given(torch.zeros(a), torch.zeros(b)) for a, b in shapes
    }


def zero_weights(shapes):
    return lambda gen: {
        f"4 predictions and weights {w}": given(torch.zeros(4, 1), torch.ones(4), torch.ones(w))
        for w in shapes
    }


PAIRS = "a column met a row and became a table: this is about all pairs"

weighted_mse = Contract(
    "weighted_mse(predictions, targets, weights)",
    reference=mse,
    inputs=lambda gen: {**plain(gen), **weighted(gen)},
    gradient="predictions",
    scale=1.0,
    suspects={
        "each weight counts for every error: weights in a row met errors in a column": crossed,
        PAIRS: lambda x, y, w=None: table(x, y, None if w is None else w.flatten()),
        f"{PAIRS}, weighted": lambda x, y, w=None: table(x, y, None if w is None else w.view(-1, 1)),
        "the weights do not count": lambda x, y, w=None: mse(x, y),
        "divided by the number of examples, not by the sum of the weights": lambda x, y, w=None: (
            mse(x, y, w) * (1 if w is None else w.mean())
        ),
    },
    job=[
        values(inputs=plain, title="Row i belongs to row i, in rows and in columns."),
        values(
            inputs=weighted,
            name="weights",
            title="So it is with weights, and they count relative to their sum.",
        ),
        errors(REFUSED, zeros(SIZES), name="sizes", title="Batches of different sizes raise an error."),
        errors(
            REFUSED,
            zero_weights([(1,), (1, 1), (3,)]),
            name="number_of_weights",
            title="Another number of weights than of predictions raises an error.",
        ),
    ],
    fine=[
        errors(REFUSED, zeros(SHAPES), name="shapes", title="Other shapes raise an error."),
        errors(
            REFUSED,
            zero_weights([(1, 4), (4, 4), (4, 1, 1), (4, 2), ()]),
            name="shapes_of_weights",
            title="Other shapes of weights raise an error.",
        ),
        dtypes(torch.float64),
        untouched(),
        flat_cost(lambda n: (torch.ones(n, 1), torch.zeros(n), torch.ones(n)), over="rows"),
    ],
)
share_within = Contract(
    "share_within(predictions, targets, tolerance)",
    reference=share,
    inputs=shares,
    suspects={
        PAIRS: lambda x, y, tolerance=0.1: (
            ((x.view(-1, 1) - y.flatten()).abs() <= tolerance).double().mean().item()
        ),
        "this is how many, not which share": lambda *args: 40 * share(*args),
        "an error below 0 is large as well: take abs()": lambda x, y, tolerance=0.1: (
            ((x.flatten() - y.flatten()) <= tolerance).double().mean().item()
        ),
    },
    job=[errors(REFUSED, zeros(SIZES), name="sizes", title="Batches of different sizes raise an error.")],
    fine=[
        errors(REFUSED, zeros(SHAPES), name="shapes", title="Other shapes raise an error."),
        untouched(),
        flat_cost(lambda n: (torch.ones(n, 1), torch.zeros(n)), over="rows"),
    ],
)
