"""Compare a result in few bits with a run in float64, by what rounding in its dtype explains."""

import torch
from torch import Tensor

from grader.checks.failure import CheckFailure
from grader.diagnose.diff import explain

__all__ = ["expect_rounded"]


def rounding_error(exact: Tensor, dtype: torch.dtype, roundings: float = 1.0) -> Tensor:
    """How far from `exact` so many roundings to `dtype` may lead, number by number, in float64.

    One rounding to the nearest moves a number by at most half the distance of its neighbours: half of
    `eps` times the power of two below it, and half the smallest subnormal below the normal numbers.
    """
    info = torch.finfo(dtype)
    exponent = torch.frexp(exact.detach().double()).exponent - 1
    power = torch.ldexp(torch.ones_like(exact, dtype=torch.float64), exponent)
    return roundings * info.eps / 2 * power.clamp(min=info.smallest_normal)


def expect_rounded(
    yours: object,
    exact: Tensor,
    dtype: torch.dtype,
    call: str,
    *,
    roundings: float = 1.0,
    slack: Tensor | float = 0.0,
    dims: str = "",
) -> None:
    """Fail unless `yours` is in `dtype` and as near to `exact` as so many roundings bring it.

    Args:
        yours: what the answer returned, whatever it is.
        exact: the result of a run in float64.
        dtype: the dtype that the result should have.
        call: the call as a learner would write it.
        roundings: how often the numbers may have been rounded to `dtype`.
        slack: what the computation before the last rounding may be off, absolute; a tensor for one
            bound per number.
        dims: the names of the dimensions of `exact`.

    Example:
        def test_bfloat16(answer, gen):
            x = torch.randn(8, generator=gen).bfloat16()
            expect_rounded(answer.exp(x), x.double().exp(), torch.bfloat16, "exp(x)", roundings=2)
    """
    wanted = exact.detach().to(dtype)
    if isinstance(yours, Tensor) and (yours.shape, yours.dtype) == (wanted.shape, dtype):
        granted = rounding_error(exact, dtype, roundings) + slack
        near = (yours.detach().double() - exact.detach().double()).abs() <= granted
        # a number within what is granted counts as the wanted one: the feedback shows the others
        yours = torch.where(near, wanted, yours.detach())
    difference = explain(yours, wanted, call=call, dims=dims.split())
    if difference is not None:
        raise CheckFailure(difference)
