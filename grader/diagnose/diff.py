"""How a tensor differs from the wanted one, in words and a small picture. Pure functions."""

import contextlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

import torch
from torch import Tensor

from grader.diagnose._compat import without_subclasses
from grader.diagnose.causes import (
    Evidence,
    Pattern,
    Suspects,
    cause_of_dtype,
    cause_of_pieces,
    cause_of_shape,
    cause_of_type,
    cause_of_values,
    fits,
    make_evidence,
    suspects_that_fit,
)
from grader.diagnose.causes.evidence import to_double
from grader.diagnose.causes.plain import ON_THE_CPU
from grader.diagnose.describe import describe, is_tensor, readable, tensor_text
from grader.diagnose.facts import in_short, small, value_facts
from grader.diagnose.heatmap import differs, draw
from grader.protocol.feedback import Fact, Feedback, Heatmap

WIDTH = 100
"""Columns of a line, with the name before it."""

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class _Asked:
    """What was called, and by what its result is judged: see `explain`."""

    call: str
    dims: tuple[str, ...]
    rtol: float
    atol: float
    inputs: dict[str, Tensor] = field(default_factory=dict)
    suspects: Suspects = field(default_factory=dict)
    before: Tensor | None = None

    def case(self, yours: Tensor, wanted: Tensor) -> Evidence:
        return make_evidence(
            yours, wanted, self.dims, self.inputs, self.rtol, self.atol, self.suspects, self.before
        )


def explain(
    yours: object,
    wanted: Tensor,
    *,
    call: str,
    dims: Sequence[str] = (),
    rtol: float = 0.0,
    atol: float = 0.0,
    inputs: Mapping[str, Tensor] | None = None,
    suspects: Suspects | None = None,
    before: Tensor | None = None,
) -> Feedback | None:
    """None where `yours` is what was wanted, else the feedback: facts, then at most one likely cause.

    Shape, dtype and kind of device have to be the same, and every value within atol + rtol·|wanted|;
    NaN is equal to NaN and inf to inf of the same sign.

    Args:
        yours: what came back, whatever it is.
        wanted: what it should be.
        call: the call as the learner would write it.
        dims: the names of the dims of `wanted`, one for each, or none.
        rtol: relative error granted.
        atol: absolute error granted.
        inputs: what the call was given, by name: a likely cause may lie there.
        suspects: mistakes in words, and how to make the tensor that each gives here.
        before: what stood in the place of `yours` before the call, for a weight or a `.grad`.

    Returns:
        At most 12 lines of 100 columns.
    """
    if is_same(yours, wanted) or _is_near(yours, wanted, rtol, atol):
        return None
    names = tuple(dims) if len(dims) == wanted.ndim else ()
    given = {
        n: t for n, value in (inputs or {}).items() if is_tensor(value) and (t := readable(value)) is not None
    }
    was = readable(before) if before is not None and before.shape == wanted.shape else None
    asked = _Asked(call, names, rtol, atol, given, suspects or {}, was)
    if not is_tensor(yours):
        return _other_type(yours, wanted, asked)
    assert isinstance(yours, Tensor)
    y, w = readable(yours), readable(wanted)
    if y is None or w is None:
        return _unreadable(yours, wanted, asked, y is None)
    return _other_tensor(yours, wanted, y, w, asked)


def _other_type(yours: object, wanted: Tensor, asked: _Asked) -> Feedback:
    w = readable(wanted)
    told = cause_of_type(yours, wanted if w is None else w, asked.rtol, asked.atol)
    if yours is None:
        told = _also_none(asked.suspects) or (told if _is_whole_result(asked.call) else None)
    wrong = _feedback(["type"], asked.call, _both(describe(yours), describe(wanted), asked.dims), told)
    return replace(wrong, kind="")  # two types that differ say what is wrong


def _also_none(suspects: Suspects) -> str | None:
    """The first suspect that gives None as well."""
    for told, make in suspects.items():
        with contextlib.suppress(Exception):  # it works on inputs that the answer may have changed
            if make() is None:
                return told
    return None


def _unreadable(yours: Tensor, wanted: Tensor, asked: _Asked, is_yours: bool) -> Feedback | None:
    """One of the two has no values that could be compared."""
    wrong_in = _mismatches(yours, wanted)
    unreadable = wanted.device.type != "meta" and is_yours
    facts = _kinds(yours, wanted, asked, wrong_in) + [Fact("values", "cannot be read")] * unreadable
    told = cause_of_pieces(yours) if unreadable else None
    return _feedback(wrong_in or ["values"], asked.call, facts, told) if wrong_in or unreadable else None


def _other_tensor(yours: Tensor, wanted: Tensor, y: Tensor, w: Tensor, asked: _Asked) -> Feedback | None:
    """`y` and `w` are the values of the two."""
    wrong_in = _mismatches(yours, wanted)
    facts = _kinds(yours, wanted, asked, wrong_in)
    if "shape" in wrong_in:
        case = asked.case(y, w)
        values, listed = small(y, w, asked.inputs)
        wrong_shape = _feedback(wrong_in, asked.call, facts + values, cause_of_shape(case), case=case)
        return replace(wrong_shape, listed=listed)
    wrong = differs(y, w, asked.rtol, asked.atol)
    if not wrong_in and not bool(wrong.any()):
        return None
    case = asked.case(y, w)
    if not wrong_in:
        facts, listed = value_facts(y, w, wrong, asked.dims, asked.before, asked.inputs)
        drawn = draw(wrong, asked.dims) if wrong.numel() > 1 else None
        told = _feedback(["values"], asked.call, facts, cause_of_values(case), drawn, case=case)
        return replace(told, listed=listed)
    if case.same(case.wanted) or not bool(wrong.any()):  # nothing is the same as nothing, too
        return _feedback(wrong_in, asked.call, facts, _cast(case, yours, wanted))
    facts += in_short(y, w, wrong, asked.dims)
    return _feedback(wrong_in, asked.call, facts, cause_of_values(case), case=case)


def _kinds(yours: Tensor, wanted: Tensor, asked: _Asked, wrong_in: Sequence[str]) -> list[Fact]:
    """dtype and shape of both, and the device where that is wrong."""
    on_device = "device" in wrong_in
    texts = [tensor_text(t, always_device=on_device) for t in (yours, wanted)]
    return _both(texts[0], texts[1], asked.dims)


def _is_whole_result(call: str) -> bool:
    """Whether this names what a call returned, as "f(x) of (2, 3)" does, and not a part of it."""
    return call[:1].isidentifier() and "(" in call.split()[0] and not call.endswith("]")


def is_same(yours: object, wanted: Tensor) -> bool:
    """Whether a look at the bits is enough, as for most right answers: ten times faster than the rest."""
    if not _is_alike(yours, wanted):
        return False
    try:
        return torch.equal(yours, wanted)
    except RuntimeError:  # not for every dtype and layout
        return False


def _is_near(yours: object, wanted: Tensor, rtol: float, atol: float) -> bool:
    """Whether all is finite and within tolerance, as for the other right answers."""
    if not (rtol or atol) or not _is_alike(yours, wanted) or wanted.layout is not torch.strided:
        return False
    y, w = to_double(yours.detach(), wanted.detach())
    # Not <=, which inf <= inf would meet: what is at the limit, or not finite, is looked at more closely.
    return bool(((y - w).abs() < w.abs().mul_(rtol).add_(atol)).all())


def _is_alike(yours: object, wanted: Tensor) -> TypeGuard[Tensor]:
    if not (type(yours) is Tensor and type(wanted) is Tensor and yours.device == wanted.device == _CPU):
        return False
    return yours.shape == wanted.shape and yours.dtype == wanted.dtype and yours.layout == wanted.layout


def _mismatches(yours: Tensor, wanted: Tensor) -> list[str]:
    with without_subclasses():
        found = {
            "shape": yours.shape != wanted.shape,
            "dtype": yours.dtype != wanted.dtype,
            "device": yours.device.type != wanted.device.type,
        }
    return [aspect for aspect, wrong in found.items() if wrong]


def _feedback(
    wrong_in: list[str],
    call: str,
    facts: list[Fact],
    cause: str | None,
    heatmap: Heatmap | None = None,
    case: Evidence | None = None,
) -> Feedback:
    """What is told; of a `case` without a cause also what would fit."""
    what = " and ".join(filter(None, (", ".join(wrong_in[:-1]), wrong_in[-1])))
    told = tuple(Fact(name, _cut(text)) for name, text in facts)
    if heatmap:
        heatmap = heatmap._replace(note=_cut(heatmap.note, len(f"{heatmap.rows[0]}   ()")))
    is_pattern = isinstance(cause, Pattern)
    unproven = fits(case) if case and (is_pattern or not cause) else ()
    suspects = [told for told in suspects_that_fit(case) if told != cause] if case else []
    return Feedback(
        _headline(f"wrong {what} from {call}"),
        told,
        heatmap,
        _cut(str(cause or "")),
        kind="pattern" if is_pattern else "values",
        suspects=tuple(map(_cut, suspects)),
        fits=tuple(map(_cut, unproven)),
    )


def _cut(text: str, taken: int = 0) -> str:
    longest = WIDTH - len("  wanted  ") - taken
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _headline(text: str) -> str:
    """On two lines where it has to be: which call it was comes last, and must not be cut off."""
    if len(text) <= WIDTH:
        return text
    return "\n".join(textwrap.wrap(text, WIDTH - 4, max_lines=2, placeholder=" …", break_on_hyphens=False))


def _both(yours: str, wanted: str, dims: Sequence[str]) -> list[Fact]:
    named = f"   ({', '.join(dims)})" if dims else ""
    return [Fact("yours", yours), Fact("wanted", wanted + named)]


def _cast(case: Evidence, yours: Tensor, wanted: Tensor) -> str | None:
    if yours.device.type != wanted.device.type:
        where = ON_THE_CPU if yours.device.type == "cpu" else "moved away?"
        return f"right values, but {where}" if case.are_right() else None
    return cause_of_dtype(case)
