"""What a likely cause rests on: two tensors, and how little chance explains that they agree."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

CHANCE = 17.0
"""Bits of agreement that a cause needs: unrelated numbers get there once in 2**17 tries."""

FINE = 0.01
"""The coarsest resolution in which few numbers are called right."""

FITS = -math.inf
"""Bits that suffice for what is not told, and only kept as what fits as well."""

SAMPLE = 64
CENSUS = 2048
GRAINS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 100)
"""What whole numbers are divided by to become such as a small example has, 4/3 say, and meets often."""


def resolution(*dtypes: torch.dtype) -> float:
    """The coarsest `eps` among the dtypes; integers and bools count as exact (0)."""
    floats = [d for d in dtypes if d.is_floating_point or d.is_complex]
    return max((torch.finfo(d).eps for d in floats), default=0.0)


def to_double(*tensors: Tensor) -> list[Tensor]:
    """The tensors in float64, or all in complex128 where one of them is complex."""
    wide = torch.complex128 if any(t.is_complex() for t in tensors) else torch.float64
    return [t.to(wide) for t in tensors]


class Pattern(str):
    """A cause that says what the numbers look like, and not yet where that comes from."""

    __slots__ = ()


Suspects = Mapping[str, Callable[[], Any]]
"""For mistakes in words, such as "the mask is applied in every call": how to make what they give."""


@dataclass(frozen=True)
class Evidence:
    """What came back and what was wanted, both in double precision on the CPU.

    `rtol` and `atol` say when two numbers count as the same for a cause: the check's own tolerance,
    or the resolution of the dtypes where that is coarser. `inputs` and `before`, what stood in the place of
    `yours` before the call, are in double precision too. `needed` are the bits that a cause takes.
    """

    yours: Tensor
    wanted: Tensor
    dims: tuple[str, ...]
    inputs: dict[str, Tensor]
    rtol: float
    atol: float
    yours_dtype: torch.dtype
    wanted_dtype: torch.dtype
    suspects: Suspects = field(default_factory=dict)
    before: Tensor | None = None
    needed: float = CHANCE
    known_bits: dict[int, tuple[Tensor, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """`bits` of tensors seen before, by `id`; the tensor is kept, so that no other one gets its `id`."""

    @property
    def is_complex(self) -> bool:
        return self.wanted.is_complex()

    def name(self, dim: int) -> str:
        return self.dims[dim] if self.dims else f"dim {dim}"

    def close(self, yours: Tensor, guess: Tensor) -> Tensor:
        return torch.isclose(yours, guess, rtol=self.rtol, atol=self.atol, equal_nan=True)

    def same(self, guess: Tensor, yours: Tensor | None = None) -> bool:
        """The numbers of both, in row-major order, are equal within tolerance: a sample first, then all."""
        yours = self.yours if yours is None else yours
        if guess.numel() != yours.numel() or not guess.numel() or not self._ends_alike(guess, yours):
            return False
        if guess.numel() > 4 * SAMPLE:
            few = sample(guess.numel(), SAMPLE)
            if not bool(self.close(at(yours, few), at(guess, few)).all()):
                return False
        return bool(self.close(yours, guess.reshape(yours.shape)).all())

    def _ends_alike(self, guess: Tensor, yours: Tensor) -> bool:
        """Whether the first and the last number are close: most guesses fall here, and cost little."""
        if self.is_complex or guess.is_complex():
            return True
        for end in (0, -1):
            y, g = yours[(end,) * yours.ndim].item(), guess[(end,) * guess.ndim].item()
            if y == g or (y != y and g != g):
                continue
            if not (abs(y - g) <= self.atol + self.rtol * abs(g) and abs(y - g) < math.inf):
                return False
        return True

    def agree(self, guess: Tensor, yours: Tensor | None = None, *, tried: int = 1, fitted: int = 0) -> bool:
        """`guess` is `yours`, and that is no accident.

        Args:
            guess: what `yours` would be if the cause were the right one; any shape with as many elements.
            yours: the part of what came back that the cause speaks of; by default all of it.
            tried: how many guesses of this kind are made: each makes an accident more likely.
            fitted: how many elements went into finding the guess, and so prove nothing.
        """
        yours = self.yours if yours is None else yours
        if not self.same(guess, yours):
            return False
        bits = min(self.bits(guess), self.bits(yours)) * (yours.numel() - fitted)
        return bits >= self.needed + math.log2(max(tried, 1))

    def are_right(self) -> bool:
        """Yours has the wanted numbers, in their order: a fact, be they few; of zeros it says little."""
        if not self.same(self.wanted):
            return False
        wanted = self.wanted.reshape(self.yours.shape)
        near = torch.isclose(self.yours, wanted, rtol=min(self.rtol, FINE), atol=0.0, equal_nan=True)
        return bool(near.all() and (wanted != 0).any()) or self.agree(self.wanted)

    def maps(
        self,
        function: Callable[[Tensor], Tensor],
        start: Tensor,
        goal: Tensor,
        *,
        tried: int = 1,
        fitted: int = 0,
    ) -> bool:
        """`function`, which works element by element, turns `start` into `goal`: see `agree`."""
        if start.numel() > 4 * SAMPLE:
            few = sample(start.numel(), SAMPLE)
            if not bool(self.close(at(goal, few), function(at(start, few))).all()):
                return False
        image = function(start)
        # The likeliest to fail comes first, and it costs least.
        if not self.same(image, goal) or not self.informative(start):
            return False
        return self.agree(image, goal, tried=tried, fitted=fitted)

    def informative(self, values: Tensor, cost: float = 0.0) -> bool:
        """Meeting all these values by accident is out of the question, even with `cost` bits of freedom."""
        return self.bits(values) * values.numel() >= self.needed + cost

    def bits(self, values: Tensor) -> float:
        """How surprising it is, per element, that an unrelated number of this kind agrees: -log2(p).

        p is the chance that two elements picked at random agree within tolerance, and at least what evenly
        spread numbers with the same range and grain would give: small integers prove little.
        """
        if id(values) not in self.known_bits:
            self.known_bits[id(values)] = values, self._bits(values)
        return self.known_bits[id(values)][1]

    def _bits(self, values: Tensor) -> float:
        flat = torch.view_as_real(values) if values.is_complex() else values
        flat = flat.reshape(-1)
        few = flat[sample(flat.numel(), CENSUS)] if flat.numel() > CENSUS else flat
        known = few[torch.isfinite(few)].sort().values
        n = known.numel()
        if not n:
            return 0.0
        spread = float(known[-1] - known[0]) if n > 1 else float(known.abs())
        rms = float(known.square().mean().sqrt())
        step = max(grain(known), 2 * (self.atol + self.rtol * rms))
        if not 0 < step + spread < math.inf:
            return 0.0
        alike = 0.0
        if n > 1:
            above = torch.searchsorted(known, known + step / 2, right=True)
            below = torch.searchsorted(known, known - step / 2)
            alike = float((above - below - 1).sum()) / (n * (n - 1))
        return -math.log2(min(1.0, max(alike, step / (step + spread)))) * n / few.numel()


def grain(values: Tensor) -> float:
    """The step between neighbours of numbers such as 1, 2, 3 or 0.25, 0.5; 0 for any others."""
    scaled = values.new_tensor(GRAINS).unsqueeze(1) * values.reshape(-1)
    whole = ((scaled - scaled.round()).abs() <= 1e-6 * scaled.abs()).all(1)
    return next((1 / per_unit for per_unit, fits in zip(GRAINS, whole.tolist(), strict=True) if fits), 0.0)


def sample(count: int, size: int) -> Tensor:
    """`size` positions below `count`, always the same ones, in no step with any dimension."""
    generator = torch.Generator("cpu").manual_seed(0)
    return torch.randint(count, (size,), generator=generator, device="cpu")


def at(values: Tensor, positions: Tensor) -> Tensor:
    """The elements at row-major `positions`, without a copy of `values`."""
    return torch.take(values, positions)


@functools.cache
def orders(ndim: int) -> tuple[tuple[int, ...], ...]:
    """Every order of `ndim` dimensions but the one they have; two dims swapped come first."""
    plain = tuple(range(ndim))
    if ndim > 5:
        swaps = itertools.combinations(plain, 2)
        return tuple(tuple({a: b, b: a}.get(d, d) for d in plain) for a, b in swaps)
    found = [p for p in itertools.permutations(plain) if p != plain]
    return tuple(sorted(found, key=lambda p: sum(a != b for a, b in zip(p, plain, strict=True))))


def make_evidence(
    yours: Tensor,
    wanted: Tensor,
    dims: Sequence[str],
    inputs: Mapping[str, Tensor],
    rtol: float,
    atol: float,
    suspects: Suspects | None = None,
    before: Tensor | None = None,
) -> Evidence:
    """Widen everything to double precision and set the tolerance by which causes are judged."""
    eps = resolution(yours.dtype, wanted.dtype)
    y, w = to_double(yours, wanted)
    few = at(w, sample(w.numel(), CENSUS)) if w.numel() > CENSUS else w
    finite = few[torch.isfinite(few)]
    rms = float(finite.abs().square().mean().sqrt()) if finite.numel() else 0.0
    if wanted.numel() < 3:  # one or two numbers prove something only when they agree to the last digits
        rtol, atol = 2 * eps, 0.0
    else:
        own = eps * (8 if eps < 1e-5 else 2)
        rtol, atol = max(rtol, own), max(atol, own * rms)
    readable = {name: t.to(y.dtype) for name, t in inputs.items() if y.is_complex() or not t.is_complex()}
    names = tuple(dims) if len(dims) == wanted.ndim else ()
    was = None if before is None or before.is_complex() else before.double()
    return Evidence(y, w, names, readable, rtol, atol, yours.dtype, wanted.dtype, suspects or {}, was)
