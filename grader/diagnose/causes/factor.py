"""Wrong by a constant: a factor, or a term that was added."""

import math
from collections.abc import Iterator

import torch

from grader.diagnose.causes.evidence import Evidence, Pattern, sample

Factor = tuple[float, str]

BEYOND = 4
"""How many times the tolerance an error has to be: a constant of about that size fits all small errors."""

BASES: list[Factor] = [
    (1 / math.log(2), "log2 where the natural log is wanted"),
    (math.log(2), "the natural log where log2 is wanted"),
    (1 / math.log(10), "log10 where the natural log is wanted"),
    (math.log(10), "the natural log where log10 is wanted"),
    (180 / math.pi, "degrees where radians are wanted"),
    (math.pi / 180, "radians where degrees are wanted"),
    (1 / 255, "every value is 1/255 of the wanted one: scaled as pixels are?"),
    (255.0, "every value is 255 × the wanted one: are these pixels that should be scaled?"),
]


def factor(case: Evidence) -> str | None:
    """Every value is the same multiple of the wanted one."""
    families = (
        [(-1.0, "the sign is flipped")],
        [*_counts(case), *_doubled()],
        _roots(case),
        _bessel(case),
        BASES,
    )
    place = case.wanted.nan_to_num(0, 0, 0).abs().argmax()
    y, w = case.yours.flatten()[place].item(), case.wanted.flatten()[place].item()
    telling = not case.is_complex and math.isfinite(w)
    for family in families:
        for ratio, told in family:
            # The largest number alone rules out nearly all of them, and costs no operation.
            if telling and not abs(y / ratio - w) <= case.atol + case.rtol * abs(w):
                continue
            if case.maps(lambda t, c=ratio: t / c, case.yours, case.wanted, tried=len(family)):  # type: ignore[misc]
                return told
    ratio = (case.yours.flatten()[place] / case.wanted.flatten()[place]).item()
    if not math.isfinite(abs(ratio)) or ratio == 0 or _is_slight(case, y - w, w):
        return None
    if case.maps(lambda t: t / ratio, case.yours, case.wanted, fitted=1):
        return _times(ratio)
    return None


def _times(ratio: complex) -> str:
    digits = next(n for n in (6, 9, 12, 17) if f"{ratio:.{n}g}" != "1" or n == 17)
    return Pattern(f"every value is {ratio:.{digits}g} × the wanted one")


def additive(case: Evidence) -> str | None:
    """Every value is too large or too small by the same amount."""
    few = sample(case.wanted.numel(), min(case.wanted.numel(), 64))
    gaps = (case.yours.flatten()[few] - case.wanted.flatten()[few]).flatten()
    finite = gaps[torch.isfinite(gaps)]
    if case.is_complex or not finite.numel():
        return None
    gap = float(finite.median())
    size = float(case.wanted.flatten()[few].abs().nan_to_num(0, 0, 0).median())
    if _is_slight(case, gap, size) or not case.maps(lambda t: t - gap, case.yours, case.wanted, fitted=1):
        return None
    told = f"every value is {abs(gap):.6g} too {'large' if gap > 0 else 'small'}"
    counts = abs(gap) == 1 and bool((case.wanted == case.wanted.round()).all())
    return f"{told}: off by one?" if counts else Pattern(told)


def _is_slight(case: Evidence, error: complex, size: complex) -> bool:
    """Whether an error in a number of this size is hardly more than what is granted."""
    return abs(error) <= BEYOND * (case.atol + case.rtol * abs(size))


def factor_along(case: Evidence) -> str | None:
    """Off by a factor, or a term, that is the same all along one dim."""
    if int(case.close(case.yours, case.wanted).sum()) > case.wanted.numel() // 10:
        return None  # an error in few places is better told by where it is
    if bool((case.yours.isnan() & ~case.wanted.isnan()).any()):
        return None  # NaN is the graver mistake
    worst, size = (float(t.abs().max()) for t in (case.yours - case.wanted, case.wanted))
    if _is_slight(case, worst, size):
        return None
    for d, n in enumerate(case.wanted.shape):
        if n < 2:
            continue
        sizes = case.wanted.nan_to_num(0, 0, 0) if not case.is_complex else case.wanted
        place = sizes.abs().argmax(d, keepdim=True)
        name, y, w = case.name(d), case.yours.gather(d, place), case.wanted.gather(d, place)
        fitted = int(case.close(case.wanted, w.expand_as(case.wanted)).sum())  # all, where rows are equal
        if case.agree(case.wanted * (y / w), fitted=fitted, tried=case.wanted.ndim):
            if case.wanted.numel() == n:  # all there is lies along this dim
                return _times((y / w).item())
            return Pattern(
                f"off by a factor that is the same all along {name}: a sum, norm or count over it?"
            )
        if case.agree(case.wanted + (y - w), fitted=fitted, tried=case.wanted.ndim):
            return Pattern(
                f"off by a number that is the same all along {name}: a mean, sum or maximum over it?"
            )
    return None


def _sizes(case: Evidence) -> dict[int, str]:
    """The counts that a formula may divide by, and what each of them counts."""
    found: dict[int, str] = {}
    for d, name in enumerate(case.dims):
        found.setdefault(case.wanted.shape[d], f"the size of {name}")
    for name, value in case.inputs.items():
        for d, n in enumerate(value.shape):
            found.setdefault(n, f"{name}.shape[{d}]")
    if not case.dims:
        for d, n in enumerate(case.wanted.shape):
            found.setdefault(n, f"the size of dim {d}")
    for name, value in case.inputs.items():
        found.setdefault(value.numel(), f"{name}.numel()")
        for d, n in enumerate(value.shape):
            if n:
                found.setdefault(value.numel() // n, f"{name}.numel() / {name}.shape[{d}]")
    return {n: label for n, label in found.items() if n > 2}  # twice has too many reasons


def _counts(case: Evidence) -> Iterator[Factor]:
    for n, label in _sizes(case).items():
        yield float(n), f"every value is {n} × the wanted one, and {n} is {label}: a sum for a mean?"
        yield 1 / n, f"every value is 1/{n} of the wanted one, and {n} is {label}: a mean for a sum?"


def _doubled() -> Iterator[Factor]:
    yield 2.0, Pattern("every value is twice the wanted one")
    yield 0.5, Pattern("every value is half the wanted one")


def _roots(case: Evidence) -> list[Factor]:
    return [
        (ratio, f"every value is {name} × the wanted one, and {n} is {label}")
        for n, label in _sizes(case).items()
        for ratio, name in ((math.sqrt(n), f"sqrt({n})"), (1 / math.sqrt(n), f"1/sqrt({n})"))
    ]


def _bessel(case: Evidence) -> list[Factor]:
    found: list[Factor] = []
    for n, label in _sizes(case).items():
        too_large = f"divided by n - 1 where n is wanted (correction=0), n = {n}, {label}"
        too_small = f"divided by n where n - 1 is wanted (correction=1), n = {n}, {label}"
        # what was divided by a deviation has the inverse factor of the deviation itself
        either = f"n and n - 1 are taken for each other in a variance (correction), n = {n}, {label}"
        r = n / (n - 1)
        found += [(r, too_large), (1 / r, too_small), (math.sqrt(r), either), (1 / math.sqrt(r), either)]
    return found
