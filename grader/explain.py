"""How a tensor differs from the wanted one, in words and a small picture. Pure functions."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import torch
from torch import Tensor

from grader.causes import Case, Suspects, cause_of_shape, cause_of_type, cause_of_values, make_case
from grader.causes.evidence import to_double
from grader.describe import describe, is_tensor, plain, tensor_text
from grader.picture import differs, draw, first_of, label_at, picture, places

__all__ = ["describe", "explain", "is_same", "picture"]

WIDTH = 100

_CPU = torch.device("cpu")


def explain(
    yours: object,
    wanted: Tensor,
    *,
    call: str,
    dims: Sequence[str] = (),
    rtol: float = 0.0,
    atol: float = 0.0,
    inputs: Mapping[str, Tensor] | None = None,
    check_dtype: bool = True,
    suspects: Suspects | None = None,
) -> str | None:
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
        check_dtype: whether another dtype is wrong.
        suspects: mistakes in words, and how to make the tensor that each gives here.

    Returns:
        At most 12 lines of 100 columns.
    """
    if is_same(yours, wanted) or _is_near(yours, wanted, rtol, atol):
        return None
    names = tuple(dims) if len(dims) == wanted.ndim else ()
    w = plain(wanted)
    given = {
        n: t for n, value in (inputs or {}).items() if is_tensor(value) and (t := plain(value)) is not None
    }
    if not is_tensor(yours):
        facts = _both(describe(yours), describe(wanted), names)
        told = cause_of_type(yours, wanted if w is None else w, rtol, atol)
        if yours is None and not _is_whole_result(call):
            told = None
        return _message(["type"], call, facts, told)
    assert isinstance(yours, Tensor)
    y = plain(yours)
    wrong_in = _mismatches(yours, wanted, check_dtype)
    on_device = "device" in wrong_in
    facts = _both(
        tensor_text(yours, always_device=on_device), tensor_text(wanted, always_device=on_device), names
    )
    if y is None or w is None:
        unreadable = wanted.device.type != "meta" and y is None
        facts += ["values  cannot be read"] * unreadable
        return _message(wrong_in or ["values"], call, facts, None) if wrong_in or unreadable else None
    if "shape" in wrong_in:
        case = make_case(y, w, names, given, rtol, atol, suspects)
        return _message(wrong_in, call, facts, cause_of_shape(case))
    wrong = differs(y, w, rtol, atol)
    if not wrong_in and not bool(wrong.any()):
        return None
    case = make_case(y, w, names, given, rtol, atol, suspects)
    if not wrong_in:
        return _message(["values"], call, _value_facts(y, w, wrong, names), cause_of_values(case))
    if case.same(case.wanted) or not bool(wrong.any()):  # nothing is the same as nothing, too
        return _message(wrong_in, call, facts, _cast(case, yours, wanted))
    count, first = f"values  {_count(y, w, wrong, names)}", _first(y, w, wrong, names)
    both = f"{count}; first {first}"
    facts += [both] if len(both) <= WIDTH - 2 else [count, f"first   {first}"]
    return _message(wrong_in, call, facts, cause_of_values(case))


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


def _mismatches(yours: Tensor, wanted: Tensor, check_dtype: bool) -> list[str]:
    with torch._C.DisableTorchFunctionSubclass():
        found = {
            "shape": yours.shape != wanted.shape,
            "dtype": check_dtype and yours.dtype != wanted.dtype,
            "device": yours.device.type != wanted.device.type,
        }
    return [aspect for aspect, wrong in found.items() if wrong]


def _message(wrong_in: list[str], call: str, facts: list[str], cause: str | None) -> str:
    what = " and ".join(filter(None, (", ".join(wrong_in[:-1]), wrong_in[-1])))
    told = [f"likely  {cause}"] if cause else []
    lines = [*_headline(f"wrong {what} from {call}"), *(f"  {line}" for line in (*facts, *told))]
    return "\n".join(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in lines)


def _headline(text: str) -> list[str]:
    """On two lines where it has to be: which call it was comes last, and must not be cut off."""
    if len(text) <= WIDTH:
        return [text]
    return textwrap.wrap(
        text, WIDTH, subsequent_indent="    ", max_lines=2, placeholder=" …", break_on_hyphens=False
    )


def _both(yours: str, wanted: str, dims: Sequence[str]) -> list[str]:
    return [f"yours   {yours}", f"wanted  {wanted}" + (f"   ({', '.join(dims)})" if dims else "")]


def _cast(case: Case, yours: Tensor, wanted: Tensor) -> str | None:
    if yours.device.type != wanted.device.type:
        where = (
            "made on or moved to the CPU: device=x.device?" if yours.device.type == "cpu" else "moved away?"
        )
        return f"right values, but {where}" if case.agree(case.wanted) else None
    return f"right values; only the dtype differs: .to({wanted.dtype})" if case.agree(case.wanted) else None


def _value_facts(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> list[str]:
    first = _first(yours, wanted, wrong, dims)
    if wrong.numel() == 1:
        return [f"value   {first} in {describe(yours)}"]
    facts = [f"values  {_count(yours, wanted, wrong, dims)}", f"first   {first}"]
    if error := _largest_error(yours, wanted, wrong):
        facts.append(f"error   {error}")
    rows, note = draw(wrong, dims)
    for i, row in enumerate(rows):
        facts.append(f"{'        ' if i else 'where   '}{row}" + (f"   ({note})" if note and not i else ""))
    return facts


def _count(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> str:
    (values,) = to_double(yours)
    odd = {"NaN": values.isnan(), "inf": values.isinf()}
    kinds = ", ".join(f"{n} {kind}" for kind, mask in odd.items() if (n := int((mask & wrong).sum())))
    count, total = int(wrong.sum()), wrong.numel()
    said = (
        f"all {total} are wrong"
        if count == total
        else f"{count} of {total} {'is' if count == 1 else 'are'} wrong"
    )
    where = places(wrong, dims)
    return (
        f"{said} in {describe(wanted)}" + (f" ({kinds})" if kinds else "") + (f", {where}" if where else "")
    )


def _first(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> str:
    index = first_of(wrong)
    y, w = apart(yours[index].item(), wanted[index].item())
    where = label_at(index, dims)
    return f"at {where}: yours {y}, wanted {w}" if where else f"yours {y}, wanted {w}"


def apart(yours: complex, wanted: complex) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see that."""
    for digits in range(3, 18):
        pair = tuple(str(n) if isinstance(n, int) else f"{n:.{digits}g}" for n in (yours, wanted))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


def _largest_error(yours: Tensor, wanted: Tensor, wrong: Tensor) -> str:
    """Over the wrong elements where both are finite; empty where there is none or the values are bools."""
    if torch.bool in (yours.dtype, wanted.dtype):
        return ""
    y, w = to_double(yours, wanted)
    gap, size = (y - w).abs(), w.abs()
    counts = wrong & torch.isfinite(gap)
    absolute = float(torch.where(counts, gap, 0).max())
    relative = float(torch.where(counts & (size > 0), gap / size, 0).max())
    return f"at most {absolute:.3g}" + (f", relative {relative:.3g}" if relative else "") if absolute else ""
