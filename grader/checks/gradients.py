"""Compare an answer's gradients with those of a reference in float64."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grader.checks.failure import CheckFailure, Mismatch, Misuse, why_cut
from grader.checks.values import tolerance
from grader.diagnose.causes import Suspects
from grader.diagnose.describe import describe
from grader.diagnose.diff import explain, is_same

Function = Callable[..., Tensor]

CUT = "right values, so a part is cut from the graph (`.detach()`, `.data`), or a backward is wrong"
"""What can make gradients wrong while the values are right."""

NEARLY = 1e-9
"""How far from a multiple of each other two gradients may be that are one."""


def expect_gradients(
    fn: Function,
    inputs: Sequence[Tensor],
    reference: Function,
    *,
    gen: torch.Generator,
    call: str,
    names: str = "",
    second_order: bool = False,
    ulps: float | None = None,
    scale: float | None = None,
) -> None:
    """Fail unless `fn` has the gradients of `reference` at `inputs`, for a random cotangent.

    The reference runs first, on float64 clones. Every floating input gets a gradient, in its own
    dtype; integer and boolean inputs are passed on as they are.

    Args:
        fn: the answer, as a function of `inputs` that returns one tensor.
        inputs: the tensors; they are not changed.
        reference: the same function, written for float64.
        gen: draws the cotangent.
        call: the call as a learner would write it.
        names: the inputs' names, in order: ``"x weight"``.
        second_order: also compare the gradients of a random combination of the gradients.
        ulps, scale: see `expect_close`.

    Example:
        def test_gradients(answer, gen):
            x, w = torch.randn(4, 3, generator=gen), torch.randn(3, generator=gen)
            expect_gradients(answer.score, [x, w], torch.mv, gen=gen, call="score(x, w)", names="x w")
    """
    labels = names.split() or [f"input {i}" for i in range(len(inputs))]
    exact = [_leaf(x, torch.float64) for x in inputs]
    wanted_out = reference(*exact)
    if not torch.is_grad_enabled():
        raise CheckFailure(f"no gradient flows through {call}, nor anything else", likely=why_cut())
    if not wanted_out.requires_grad:
        raise Misuse("the reference has no gradient: this check cannot judge anything")
    cotangent = torch.randn(wanted_out.shape, generator=gen, dtype=torch.float64)
    wanted = _gradients(wanted_out, exact, cotangent, create_graph=second_order)

    leaves = [_leaf(x, x.dtype) for x in inputs]
    out = fn(*leaves)
    _expect_graph(out, wanted_out, call)
    yours = _gradients(out, leaves, cotangent.to(out.dtype), create_graph=second_order)
    are_values_right = partial(_is_close, out, wanted_out)
    _compare(yours, wanted, inputs, labels, f"through {call}", ulps, scale, are_values_right)
    if not second_order:
        return

    weights = [torch.randn(w.shape, generator=gen, dtype=torch.float64) for w in exact]
    wanted_second = _gradients(_combine(wanted, weights), exact, None, create_graph=False)
    combined = _combine(yours, weights)
    if not combined.requires_grad:
        raise CheckFailure(
            f"no second-order gradient through {call}",
            yours="the gradient is a constant: it cannot be differentiated again",
            likely="the graph is cut inside (`.detach()`, `.data`, `no_grad`)",
        )
    yours_second = _gradients(combined, leaves, None, create_graph=False)
    _compare(yours_second, wanted_second, inputs, labels, f"(second order) through {call}", ulps, scale)


def expect_gradient(
    yours: Tensor | None,
    wanted: Tensor,
    of: str,
    *,
    scale: float | None = None,
    suspects: Suspects | None = None,
    before: Tensor | None = None,
) -> None:
    """Fail unless the gradient `yours`, found in `.grad` or by autograd, is `wanted`.

    `before` is what stood in `.grad` earlier. For `scale` and `suspects` see `expect_close`.

    Example:
        def test_backward(answer):
            w = torch.tensor([1.0, 2.0], requires_grad=True)
            answer.penalty(w).backward()
            expect_gradient(w.grad, torch.tensor([2.0, 4.0]), "penalty(w) for w")
    """
    if yours is None:
        why = why_cut("no backward came here, `.grad` was cleared, or the graph is cut")
        raise CheckFailure(f"no gradient for {of}", yours="None", wanted=describe(wanted), likely=why)
    rtol, atol = tolerance(wanted, scale=scale)
    call = f"the gradient of {of}"
    difference = explain(yours, wanted, call=call, rtol=rtol, atol=atol, suspects=suspects, before=before)
    if difference is not None:
        raise CheckFailure(difference)


def _leaf(x: Tensor, dtype: torch.dtype) -> Tensor:
    if not x.is_floating_point():
        return x.clone()
    return x.detach().to(dtype).clone().requires_grad_()


def _gradients(
    out: Tensor, leaves: Sequence[Tensor], cotangent: Tensor | None, *, create_graph: bool
) -> list[Tensor | None]:
    differentiable = [x for x in leaves if x.requires_grad]
    found = iter(
        torch.autograd.grad(out, differentiable, cotangent, create_graph=create_graph, allow_unused=True)
    )
    return [next(found) if x.requires_grad else None for x in leaves]


def _expect_graph(out: object, wanted: Tensor, call: str) -> None:
    if not isinstance(out, Tensor) or out.shape != wanted.shape:
        raise Mismatch(f"wrong shape from {call}", yours=describe(out), wanted=describe(wanted.detach()))
    if not out.requires_grad:
        raise CheckFailure(
            f"no gradient flows through {call}", yours="a constant, without grad_fn", likely=why_cut()
        )


def _is_close(out: Tensor, wanted: Tensor) -> bool:
    """Whether the values are right, by and large."""
    right = wanted.detach().to(out.dtype)
    rtol, atol = tolerance(right)
    return bool(torch.isclose(out.detach(), right, 8 * rtol, 8 * atol, equal_nan=True).all())


def _combine(gradients: Sequence[Tensor | None], weights: Sequence[Tensor]) -> Tensor:
    terms = [(g.double() * w).sum() for g, w in zip(gradients, weights, strict=True) if g is not None]
    return torch.stack(terms).sum()


def _compare(
    yours: Sequence[Tensor | None],
    wanted: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    labels: Sequence[str],
    where: str,
    ulps: float | None,
    scale: float | None,
    are_values_right: Callable[[], bool] = bool,
) -> None:
    # The gradient for a single number is a sum over all that it is used for. It may cancel, and so does not
    # tell the size of what was added up.
    largest = max((float(w.detach().abs().max()) for w in wanted if w is not None and w.numel()), default=0.0)
    for mine, right, x, label in zip(yours, wanted, inputs, labels, strict=True):
        if right is None:
            if mine is not None and bool(mine.ne(0).any()):
                raise CheckFailure(f"a gradient for {label} {where}, where none is wanted")
            continue
        right = right.detach()
        if mine is None and not bool(right.ne(0).any()):
            continue
        if mine is None:
            why = why_cut(f"{label} is not used in the result, or the graph is cut on the way")
            raise CheckFailure(
                f"no gradient for {label} {where}", yours="None", wanted=describe(right), likely=why
            )
        mine, rounded = mine.detach(), right.to(x.dtype)
        if is_same(mine, rounded):
            continue
        size = largest if scale is None and right.numel() == 1 else scale
        rtol, atol = tolerance(right, ulps=ulps, scale=size, dtype=x.dtype)
        difference = explain(mine, rounded, call=f"the gradient for {label} {where}", rtol=rtol, atol=atol)
        if difference is None:
            continue
        is_told = difference.names_cause and _is_told_by_numbers(mine, right)
        if not is_told and are_values_right():
            difference = replace(difference, likely=CUT, kind="values")
        raise CheckFailure(difference)


def _is_told_by_numbers(yours: Tensor, wanted: Tensor) -> bool:
    """Whether NaN, or a factor, says more than that a part of the gradient is missing."""
    if yours.shape != wanted.shape or yours.is_complex():
        return True
    mine, right = yours.double().flatten(), wanted.double().flatten()
    lengths = mine.norm() * right.norm()
    return not bool(torch.isfinite(lengths)) or bool((mine @ right).abs() > (1 - NEARLY) * lengths)
