"""What a step made of a value, told by the value from before it: a weight, or a `.grad`."""

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Evidence, Pattern, resolution

ROUNDING = 32.0
MOST_TIMES = 10
ENOUGH = 4


def stepped(case: Evidence) -> str | None:
    """How yours has changed since, where a word can tell it."""
    before = case.before
    if before is None or case.is_complex or before.shape != case.yours.shape:
        return None
    eps = max(resolution(case.yours_dtype, case.wanted_dtype), torch.finfo(torch.float64).eps)
    size = max(float(t.abs().max()) for t in (before, case.yours, case.wanted))
    room = ROUNDING * eps * size
    if not room < float("inf") or _are(before, case.wanted, room):
        return None
    if _are(case.yours, before, room):
        return "unchanged: this is the value from before"
    if _are(case.yours, 2 * before - case.wanted, room):
        return "changed the wrong way, and as much as it should be: a plus for a minus?"
    if _are(case.yours, before + case.wanted, room):
        return "this is what is wanted, added to the value from before"
    if _are(case.yours, case.wanted - before, room):
        return "the value from before is missing: it is replaced, where something is to be added to it"
    return _times(case, before, room)


def _are(one: Tensor, other: Tensor, room: float) -> bool:
    return bool(torch.allclose(one, other, rtol=0.0, atol=room))


def _times(case: Evidence, before: Tensor, room: float) -> str | None:
    """Any other multiple of the step proves something only where there are several numbers."""
    step, moved = case.wanted - before, case.yours - before
    place = step.abs().argmax()
    longest = step.flatten()[place].item()
    if abs(longest) < 1000 * room:
        return None
    ratio = moved.flatten()[place].item() / longest
    if not _are(moved, ratio * step, room * max(1.0, abs(ratio))):
        return None
    most = MOST_TIMES if case.yours.numel() >= ENOUGH else 2
    counts = [n for n in range(2, most + 1) for r in (ratio, 1 / ratio) if abs(r - n) < 1e-4 * n]
    if not counts and case.yours.numel() < ENOUGH:
        return None
    if not counts:
        return Pattern(f"changed {ratio:.4g} times as much as it should be")
    n = counts[0]
    times = "twice" if n == 2 else f"{n} times"
    return f"changed {times if ratio > 1 else 'half' if n == 2 else f'1/{n}'} as much as it should be"
