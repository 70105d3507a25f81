"""The right numbers in the wrong places."""

import itertools
import math

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import SAMPLE, Evidence, Pattern, orders, sample

SORTABLE = 100_000
FARTHEST_SHIFT = 4


def unchanged_input(case: Evidence) -> str | None:
    for name, value in case.inputs.items():
        if value.shape == case.yours.shape and case.agree(value, tried=len(case.inputs)):
            return f"this is {name} itself, unchanged"
    return None


def reordered(case: Evidence) -> str | None:
    """Yours holds the numbers of wanted at other positions of the same shape."""
    if not _same_sums(case):
        return None
    if not _same_numbers(case):
        return _still_in_input_order(case)
    return (
        permuted(case)
        or _reversed(case)
        or _rolled(case)
        or _still_in_input_order(case)
        or _reshaped(case)
        or _sorted(case)
        or _shuffled(case)
    )


def permuted(case: Evidence) -> str | None:
    """Also for another shape: yours has the dims of wanted in another order."""
    choices = orders(case.wanted.ndim)
    for order in choices:
        guess = case.wanted.permute(order)
        if guess.shape == case.yours.shape and case.agree(guess, tried=len(choices)):
            moved = [d for d, source in enumerate(order) if d != source]
            if len(moved) == 2:
                return f"right values, transposed: yours.transpose({moved[0]}, {moved[1]}) is wanted"
            back = ", ".join(str(order.index(d)) for d in range(len(order)))
            return f"right values, dims permuted: yours.permute({back}) is wanted"
    return None


def _same_sums(case: Evidence) -> bool:
    """A cheap necessary condition for the same numbers in any order."""
    yours, wanted = (
        t if torch.isfinite(t.sum()) else torch.where(torch.isfinite(t), t, 0)
        for t in (case.yours, case.wanted)
    )
    norm, size = float(torch.linalg.vector_norm(wanted)), math.sqrt(wanted.numel())
    room = (max(case.rtol, 1e-9) * norm + case.atol * size) * size
    if float((yours.sum() - wanted.sum()).abs()) > room:
        return False
    return abs(float(torch.linalg.vector_norm(yours)) - norm) <= room


def _same_numbers(case: Evidence) -> bool:
    """Whether yours may be wanted in any order: sorted, both are then the same, within tolerance too.

    Two sorts for some two hundred orders that need not be tried.
    """
    if case.is_complex or case.wanted.numel() > SORTABLE:
        return True
    return case.same(case.wanted.flatten().sort().values, case.yours.flatten().sort().values)


def _reversed(case: Evidence) -> str | None:
    long = [d for d, n in enumerate(case.wanted.shape) if n > 1][:4]
    subsets = [s for k in range(1, len(long) + 1) for s in itertools.combinations(long, k)]
    for subset in subsets:
        if case.agree(case.wanted.flip(subset), tried=len(subsets)):
            return f"right values, reversed along {' and '.join(case.name(d) for d in subset)}"
    return None


def _rolled(case: Evidence) -> str | None:
    tries = sum(case.wanted.shape)
    for d, n in enumerate(case.wanted.shape):
        # Where along d does wanted hold what yours starts with? A few columns are enough to tell.
        ours, theirs = case.yours.movedim(d, -1), case.wanted.movedim(d, -1)
        columns = (
            torch.unravel_index(sample(ours[..., 0].numel(), SAMPLE), ours.shape[:-1])
            if ours.ndim > 1
            else ()
        )
        # Expanded first: torch 2.11 cannot broadcast in an `isclose` for which NaN equals NaN.
        first = ours[..., :1].expand_as(theirs)
        alike = case.close(first[columns], theirs[columns]).reshape(-1, n).all(0)
        for start in alike.nonzero().flatten().tolist()[:4]:
            by = -start if start <= n // 2 else n - start
            if start and case.agree(case.wanted.roll(by, d), tried=tries):
                return f"right values, rolled by {by} along {case.name(d)}: torch.roll(wanted, {by}, {d})"
    return None


def shifted(case: Evidence) -> str | None:
    """All that overlaps after a small shift agrees; the numbers shifted in may be anything."""
    tries = 2 * FARTHEST_SHIFT * case.wanted.ndim
    for d, n in enumerate(case.wanted.shape):
        for k in range(1, min(FARTHEST_SHIFT, n // 2) + 1):
            for late in (True, False):
                yours = case.yours.narrow(d, k if late else 0, n - k)
                guess = case.wanted.narrow(d, 0 if late else k, n - k)
                if not case.same(guess, yours):
                    continue
                there = case.wanted.narrow(d, k if late else 0, n - k)
                alike = int(case.close(there, guess).sum())  # where rows are equal, a shift shows nowhere
                if case.agree(guess, yours, tried=tries, fitted=alike):
                    at_i = f"yours[i] is wanted[i {'-' if late else '+'} {k}]"
                    return f"right values, shifted by {k if late else -k} along {case.name(d)}: {at_i}"
    return None


def _still_in_input_order(case: Evidence) -> str | None:
    for name, value in case.inputs.items():
        if value.shape != case.yours.shape and case.agree(value, tried=len(case.inputs)):
            return f"the numbers are still in the order of {name}: permute or transpose before the reshape"
    return None


def _reshaped(case: Evidence) -> str | None:
    """Yours was reshaped to a shape for which dims should have been permuted, merged or split."""
    w = case.wanted
    views = [w.permute(order) for order in orders(w.ndim)]
    for d, n in enumerate(w.shape):
        if w.ndim < 4:
            splits = [_split(w, d, a) for a in range(2, min(n, 65)) if n % a == 0]
            views += [split.permute(order) for split in splits for order in orders(w.ndim + 1)]
    if any(case.agree(view, tried=len(views)) for view in views):
        return "right values in the wrong order: reshape does not swap dims; permute or transpose first"
    return None


def _split(values: Tensor, dim: int, outer: int) -> Tensor:
    shape = list(values.shape)
    shape[dim : dim + 1] = [outer, shape[dim] // outer]
    return values.view(shape)


def _sorted(case: Evidence) -> str | None:
    if _orderless(case):
        return None
    for d in range(case.wanted.ndim):
        for descending, way in ((False, ""), (True, ", largest first")):
            shuffles = _shuffles(case.wanted.shape[d]) * case.wanted.numel() / case.wanted.shape[d]
            if not case.informative(case.wanted, shuffles):
                continue
            if case.same(case.wanted.sort(d, descending=descending).values):
                return f"right values, but sorted along {case.name(d)}{way}"
            if case.same(case.wanted, case.yours.sort(d, descending=descending).values):
                return f"right values, but not sorted along {case.name(d)}{way}"
    return None


def _shuffled(case: Evidence) -> str | None:
    n = case.wanted.numel()
    if _orderless(case) or not case.informative(case.wanted, _shuffles(n)):
        return None
    if case.same(case.wanted.flatten().sort().values, case.yours.flatten().sort().values):
        return Pattern("the right numbers in the wrong order")
    return None


def _orderless(case: Evidence) -> bool:
    """That both hold the same numbers would prove nothing: indices, as of a sort, always do."""
    if case.is_complex or case.wanted.numel() > SORTABLE:
        return True
    return bool((case.wanted.flatten().sort().values.diff() == 1).all())


def _shuffles(n: int) -> float:
    """log2 of the number of orders of n elements: what a match up to order does not prove."""
    return math.lgamma(n + 1) / math.log(2)
